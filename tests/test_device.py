"""A device is small: it needs numpy and msgspec, starts fast, and works where JAX is not installed."""

import subprocess
import sys
import textwrap
import time

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
    import numpy as np
    import sottovoce as sv
    from sottovoce.protocol.offers import LinearModel
    from sottovoce.privacy.accounting import Ledger
    from sottovoce.catalogue.resolve import mechanism_of
    from sottovoce.sim.users import user_of

    contract = sv.task("linucb", arms=4, dimension=3, rounds=1000, epsilon=2.0)
    user, mechanism = user_of(contract), mechanism_of(contract)
    ledger = Ledger(sv.budget(4.0))
    model = LinearModel(np.array([1.0, 0.0, 0.0]), np.eye(3), 0.1, 0.0)
    context = np.array([[0.1, 0.2, 0.3], [0.9, 0.1, 0.0], [0.0, 0.5, 0.5], [-1.0, 0.0, 0.0]])
    action = user.act(model, context, 0.5)
    ledger.spend(mechanism)
    report = sv.privatise(mechanism, user.message(model, context, action, 1.0))
    estimate = sv.decode(mechanism, report)
    assert int(action) == 1 and len(report) == 14 and estimate.gram.shape == (3, 3)
    assert not set(sys.modules) & set(HEAVY)
    print("whispered")
    """.replace("set(HEAVY)", repr(set(HEAVY)))
)


def python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_device_half_works_where_nothing_heavy_is_installed():
    assert python(DEVICE) == "whispered"


def test_the_command_line_says_what_to_install():
    code = WITHOUT + "from sottovoce.cli import main\nmain()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
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
