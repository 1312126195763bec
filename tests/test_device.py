"""A device is small: it needs numpy and msgspec, starts fast, and works where JAX is not installed."""

import json
import os
import shutil
import subprocess
import sys
import textwrap
import time
from datetime import date
from pathlib import Path

import sottovoce
import sottovoce as sv
from sottovoce.catalogue.resolve import contract_of
from sottovoce.catalogue.task_file import Privacy, TaskFile
from sottovoce.client import Limits
from sottovoce.client.terms import accept
from sottovoce.protocol.codec import from_text
from sottovoce.protocol.fields import Number
from sottovoce.protocol.permits import coin_of

HEAVY = ("jax", "scipy", "matplotlib", "typer", "rich", "starlette", "granian", "pyarrow")

WITHOUT = textwrap.dedent(
    f"""
    import sys
    class NotInstalled:
        def find_spec(self, name, path=None, target=None):
            if name.split(".")[0] in {HEAVY!r}:
                raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
    sys.meta_path.insert(0, NotInstalled())
    """
)

DEVICE = WITHOUT + textwrap.dedent(
    """
    import json
    from pathlib import Path
    from sottovoce.client import Device
    from sottovoce.client.http import Response
    from sottovoce.protocol.contract import contract_from, digest_of
    from sottovoce.protocol.offers import LinearModel, model_body, version_of

    class Server:
        contract, got = Path(sys.argv[1]).read_bytes(), []

        def request(self, method, path, body=None, headers=None):
            d = contract_from(self.contract).offers.dimension
            model = model_body("linear", LinearModel([1.0] * d, [[0.0] * d] * d, 0.0, 0.0))
            status = {"id": "films", "digest": digest_of(self.contract), "mode": "live", "state": "open",
                      "version": version_of(model)}
            if path.endswith("/permits"):
                return Response(200, {}, b'{"permits": [{"permit": "AAAA", "expires": 9999999999}]}')
            if method == "POST":
                self.got += json.loads(body)["reports"]
                return Response(200, {}, b'{"verdicts": ["accepted"]}')
            kind = path.rpartition("/")[2]
            return Response(200, {}, {"contract": self.contract, "model": model}.get(kind, json.dumps(status).encode()))

    device = Device("http://a.example", "films", transport=Server(), folder=sys.argv[2])
    decision = device.choose([{"length": 90}, {"length": 180}])
    assert decision.action == 1 and decision.reported
    assert device.observe(decision.id, 1.0)
    assert device.send(force=True).acknowledged == 1
    device.close()
    assert not set(sys.modules) & {HEAVY}
    Path(sys.argv[3]).write_text(json.dumps(Server.got[0]))
    """.replace("{HEAVY}", repr(set(HEAVY)))
)

DEVICE_HALF = ("protocol", "privacy", "users", "client")


def python(code: str, *words: str, path: Path | None = None) -> str:
    environment = os.environ | ({"PYTHONPATH": str(path)} if path else {})
    command = [sys.executable, "-c", code, *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def contract_of_a_learner_from_the_future() -> bytes:
    file = TaskFile(
        id="films", learner="linucb", horizon=1000, privacy=Privacy(epsilon=2.0), expires=date(2099, 1, 1),
        candidates=2, fields={"length": Number(low=60.0, high=200.0)},
    )  # fmt: skip
    return json.dumps(json.loads(contract_of(file)) | {"learning": {"learner": "unheard-of"}}).encode()


def test_a_device_is_built_from_the_contract_alone(tmp_path):
    """Only the device's four folders exist, nothing heavy is installed, and the learner is one nobody knows."""
    package, here = tmp_path / "sottovoce", Path(sottovoce.__file__).parent
    for folder in DEVICE_HALF:
        shutil.copytree(here / folder, package / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(here / "__init__.py", package)
    contract, sent, state = (tmp_path / name for name in ("contract.json", "report.json", "state"))
    contract.write_bytes(contract_of_a_learner_from_the_future())
    python(DEVICE, str(contract), str(state), str(sent), path=tmp_path)
    (mechanism, *_) = accept(contract.read_bytes(), "films", Limits()).mechanisms
    report = json.loads(sent.read_text())
    coin = coin_of(from_text(report["permit"]), from_text(report["nonce"]))[: mechanism.coin_size]
    assert sv.decode(mechanism, coin + from_text(report["payload"])).gram.shape == (2, 2)
    inspect = WITHOUT + "from sottovoce.client.inspection import main\nmain(['--device', sys.argv[1]])"
    assert "films" in python(inspect, str(state), path=tmp_path)


def test_the_command_line_says_what_to_install():
    code = WITHOUT + "from sottovoce.cli import main\nmain()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "pip install 'sottovoce[sim]'" in done.stderr


def test_importing_costs_little_more_than_numpy_and_no_jax():
    """At most 0.2 s more than numpy alone: the best of five tries each, in turn, so that a busy machine hurts both."""

    def seconds(module: str) -> float:
        start = time.perf_counter()
        python(f"import {module}")
        return time.perf_counter() - start

    tries = [(seconds("numpy"), seconds("sottovoce")) for _ in range(5)]
    numpy_alone, ours = (min(column) for column in zip(*tries, strict=True))
    assert ours - numpy_alone < 0.2
    assert python("import sys, sottovoce; print('jax' in sys.modules)") == "False"


def test_simulation_is_found_when_first_used():
    assert python("import sottovoce; print(sottovoce.simulate.__name__)") == "simulate"
