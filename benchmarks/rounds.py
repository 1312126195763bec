"""Microseconds of one round of one seed, by learner and number of seeds, on the GPU or CPU that JAX finds.

    python benchmarks/rounds.py [--seeds 4096 --seeds 65536] [--learner thompson] [--seconds 5] [--json FILE]

Rounds are private ones at epsilon 1; compiling is not counted. How many rounds are timed follows from how long the
first ones take, so that each line takes about as long as is asked for. NumPy, JAX and msgspec are all that is needed.
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any

import jax

from sottovoce import halves, task
from sottovoce.sim.run import simulate
from sottovoce.sim.worlds import world_of

ARMS: dict[str, Any] = {"world": "arms", "arms": 10}
LINEAR: dict[str, Any] = {"world": "linear", "arms": 20, "dimension": 20}
LINES: dict[str, dict[str, Any]] = {
    "tsallis-inf": ARMS,
    "thompson": ARMS,
    "kl-ucb": ARMS,
    "kl-moss": ARMS,
    "linucb paper": LINEAR,
    "linucb": LINEAR,
    "gradient": LINEAR,
    "scale-free": LINEAR,
}
FEW = 200
"""Rounds of the first look."""


def seconds(line: str, rounds: int, seeds: int) -> float:
    name, _, preset = line.partition(" ")
    shape = {key: value for key, value in LINES[line].items() if key != "world"}
    learner, user, mechanism = halves(task(name, preset or "practical", rounds=rounds, epsilon=1.0, **shape))
    world, run = world_of(LINES[line]["world"], **shape), {"rounds": rounds, "seeds": seeds, "checkpoints": 1}
    simulate(learner, user, world, mechanism=mechanism, **run)
    start = time.perf_counter()
    simulate(learner, user, world, mechanism=mechanism, **run)
    return time.perf_counter() - start


def measured(line: str, seeds: int, wanted: float) -> dict[str, Any]:
    few = seconds(line, FEW, seeds)
    rounds = max(FEW, int(FEW * wanted / few))
    found = seconds(line, rounds, seeds)
    return {"learner": line, "seeds": seeds, "rounds": rounds, "microseconds": 1e6 * found / rounds / seeds}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, action="append")
    parser.add_argument("--learner", choices=LINES, action="append")
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    device = jax.devices()[0].device_kind
    print(f"{device}, JAX {jax.__version__}")
    print(f"{'learner':>14} {'seeds':>9} {'rounds':>9} {'microseconds':>13}")
    rows = []
    for line in options.learner or LINES:
        for seeds in options.seeds or (64, 4096, 65536):
            rows.append(measured(line, seeds, options.seconds))
            row = rows[-1]
            print(f"{line:>14} {seeds:>9,} {row['rounds']:>9,} {row['microseconds']:>13.5f}", flush=True)
    if options.json:
        found = {"device": device, "jax": jax.__version__, "rows": rows}
        options.json.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
