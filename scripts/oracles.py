"""Freeze what Google's dp-accounting says about compositions: run by `make oracles`, read by tests/privacy.

dp-accounting pins old versions of its dependencies, so it lives in an environment of its own. Its privacy-loss
distributions live on a grid: pure reports here have epsilons on that grid, so they are exact, and for Gaussian reports
its "connect the dots" estimate is too large by about 1e-8 of itself.
"""

import json
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENT = ROOT / ".venv-oracles"
TARGET = ROOT / "tests" / "oracles" / "dp_accounting.json"
STEP = 2**-13

# Steps of epsilon and how many, for pure reports; distance and how many, for Gaussian ones.
COMPOSITIONS: list[tuple[list[tuple[int, int]], list[tuple[float, int]]]] = [
    ([(8192, 1)], []),
    ([(8192, 10)], []),
    ([(819, 100)], []),
    ([(819, 2000)], []),
    ([(4096, 20)], []),
    ([(32768, 5)], []),
    ([(819, 50), (8192, 3)], []),
    ([(819, 300), (2048, 40), (5734, 12), (16384, 2)], []),
    ([(819 + 77 * i, 1) for i in range(40)], []),
    ([], [(0.25, 1)]),
    ([], [(0.25, 30)]),
    ([], [(0.1, 10), (0.5, 4), (1.0, 1)]),
    ([], [(2.0, 3)]),
    ([(8192, 3)], [(0.25, 10)]),
    ([(819, 100)], [(0.5, 2)]),
    ([(1638, 200), (4096, 30), (8192, 5)], [(0.3, 6)]),
]
DELTAS = (1e-2, 1e-5, 1e-8)
EPSILONS = (0.5, 2.0, 5.0)


def main() -> None:
    """Evaluate here if dp-accounting is at hand, else in an environment made for it."""
    try:
        import dp_accounting  # noqa: F401
    except ImportError:
        python = ENVIRONMENT / "bin" / "python"
        if not python.exists():
            venv.create(ENVIRONMENT, with_pip=True)
            subprocess.run([python, "-m", "pip", "install", "--quiet", "dp-accounting==0.6.0"], check=True)
        subprocess.run([python, __file__], check=True)
        return
    TARGET.parent.mkdir(exist_ok=True)
    lines = ",\n".join(json.dumps(evaluate(pure, gaussian)) for pure, gaussian in COMPOSITIONS)
    TARGET.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    sys.stdout.write(f"{TARGET}: {len(COMPOSITIONS)} compositions\n")


def evaluate(pure: list[tuple[int, int]], gaussian: list[tuple[float, int]]) -> dict[str, Any]:
    """The composition, with (delta, its epsilon) and (epsilon, its delta) as dp-accounting has them."""
    from dp_accounting.pld import common
    from dp_accounting.pld import privacy_loss_distribution as pld

    parts = [
        pld.from_privacy_parameters(common.DifferentialPrivacyParameters(steps * STEP, 0.0), STEP).self_compose(count)
        for steps, count in pure
    ] + [
        pld.from_gaussian_mechanism(1 / distance, value_discretization_interval=STEP).self_compose(count)
        for distance, count in gaussian
    ]
    total = parts[0]
    for part in parts[1:]:
        total = total.compose(part)
    return {
        "pure": [(steps * STEP, count) for steps, count in pure],
        "gaussian": gaussian,
        "epsilon_of": [(delta, total.get_epsilon_for_delta(delta)) for delta in DELTAS],
        "delta_of": [(epsilon, total.get_delta_for_epsilon(epsilon)) for epsilon in EPSILONS],
    }


if __name__ == "__main__":
    main()
