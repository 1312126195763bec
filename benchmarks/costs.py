"""How the cost of simulating grows: in rounds, seeds, arms and dimension; and whether memory grows with the rounds.

    python benchmarks/costs.py [--of rounds] [--of memory] [--quick]

Seconds are of a second run, so without compiling; each size runs a few times and the fastest counts. Exponents are
fitted on all sizes; a fixed cost of a call makes them smaller than 1 where the runs are short. `memory` runs each
horizon in a process of its own and gives the most that it ever held.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from found import keep
from powers import power_of
from rich.console import Console

from sottovoce.cli.output import table_of

ROUNDS, SEEDS, REPEATS = 4_000, 64, 3
Case = dict[str, Any]
ARMS: Case = {"learner": "thompson", "world": "arms", "arms": 10}
FEATURES: Case = {"learner": "scale-free", "world": "linear", "arms": 10, "dimension": 10}
SIZES: dict[str, tuple[Case, list[int]]] = {
    "rounds": (ARMS, [1_000, 4_000, 16_000, 64_000, 256_000]),
    "seeds": (ARMS, [4, 16, 64, 256, 1024]),
    "arms": (ARMS, [2, 4, 8, 16, 32, 64, 128]),
    "dimension": (FEATURES, [2, 4, 8, 16, 32, 64]),
}
"""What grows, in which case, and how far."""
HORIZONS = [10_000, 100_000, 1_000_000]
MEMORY_SEEDS, CHECKPOINTS = 16, 100


def seconds_of(case: Case, rounds: int, seeds: int, repeats: int = REPEATS, checkpoints: int = 1) -> float:
    """The fastest of a few runs, after one that compiles."""
    from sottovoce import halves, task
    from sottovoce.sim.run import simulate
    from sottovoce.sim.worlds import world_of

    shape = {name: value for name, value in case.items() if name not in ("learner", "world")}
    learner, user, mechanism = halves(task(case["learner"], rounds=rounds, epsilon=1.0, **shape))
    world, found = world_of(case["world"], **shape), []
    for _ in range(repeats + 1):
        start = time.perf_counter()
        simulate(learner, user, world, rounds=rounds, mechanism=mechanism, seeds=seeds, checkpoints=checkpoints)
        found.append(time.perf_counter() - start)
    return min(found[1:])


def growth_of(what: str, sizes: list[int]) -> dict[str, Any]:
    """Seconds at each size, and the power law through them."""
    case, costs = SIZES[what][0], []
    for size in sizes:
        numbers = {"rounds": ROUNDS, "seeds": SEEDS} | ({what: size} if what in ("rounds", "seeds") else {})
        wider = case | ({what: size} if what in case else {})
        costs.append(seconds_of(wider, **numbers))
        print(f"{what} {size:,}: {costs[-1]:.4f} s", flush=True)
    law = power_of(sizes, costs)
    learner = case["learner"]
    return {"what": what, "learner": learner, "sizes": sizes, "costs": costs, "unit": "seconds", "law": law}


def memory_of(horizons: list[int]) -> dict[str, Any]:
    """Megabytes of a process for each horizon, and microseconds of a round."""
    rows = []
    for rounds in horizons:
        done = subprocess.run(
            [sys.executable, __file__, "--one", str(rounds)], check=True, capture_output=True, text=True
        )
        rows.append({"rounds": rounds} | json.loads(done.stdout))
        print(rows[-1], flush=True)
    law = power_of([row["rounds"] for row in rows], [row["megabytes"] for row in rows])
    return {"what": "memory", "learner": ARMS["learner"], "seeds": MEMORY_SEEDS, "rows": rows, "law": law}


def one(rounds: int) -> None:
    """One horizon in this process, as JSON."""
    seconds = seconds_of(ARMS, rounds, MEMORY_SEEDS, repeats=1, checkpoints=CHECKPOINTS)
    lines = Path("/proc/self/status").read_text().splitlines()
    peak = int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) / 1024
    print(json.dumps({"microseconds": 1e6 * seconds / rounds / MEMORY_SEEDS, "megabytes": peak}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--of", choices=[*SIZES, "memory"], action="append")
    parser.add_argument("--quick", action="store_true", help="the three smallest sizes of each; nothing is kept")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        one(options.one)
        return
    table = table_of("How the cost of simulating grows", "in", "learner", "from", "to", "exponent")
    for what in options.of or [*SIZES, "memory"]:
        if what == "memory":
            found = memory_of([1_000, 2_000, 4_000] if options.quick else HORIZONS)
            ends = [f"{row['rounds']:,} rounds: {row['megabytes']:,.0f} MB" for row in found["rows"]]
        else:
            found = growth_of(what, SIZES[what][1][: 3 if options.quick else None])
            ends = [f"{size:,}: {cost:.3f} s" for size, cost in zip(found["sizes"], found["costs"], strict=True)]
        table.add_row(what, found["learner"], ends[0], ends[-1], str(found["law"]))
        if not options.quick:
            keep("costs", what, found)
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
