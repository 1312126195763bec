"""A sweep of 10,000 pairs of seed and setting: how busy the cores are, and how much two workers do beside one.

    python benchmarks/sweep.py [--on local] [--rounds 20000] [--json FILE]        (--on ray needs `sottovoce[ray]`)

Every sweep starts its own workers and begins with nothing; compiled loops are kept between sweeps, and one that is not
measured fills them. The results of all sweeps are compared, bit for bit. Nothing else should run on the machine.
"""

import argparse
import json
import os
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from sottovoce.cli import keep_compiled_loops
from sottovoce.cli.output import table_of
from sottovoce.cli.sweep import workers_of
from sottovoce.lab.study.cells import CellResult, cells_of
from sottovoce.lab.study.file import Study
from sottovoce.lab.sweep.lead import sweep
from sottovoce.lab.sweep.shards import Shards, shards_of

SEEDS, BUDGETS = 100, 98
"""98 budgets, no privacy and uniform play: 100 settings."""
SHARD = 50


def study_of(rounds: int, budgets: int = BUDGETS) -> Study:
    epsilon = np.round(np.geomspace(0.25, 8, budgets), 4).tolist()
    return Study(learner="tsallis-inf", preset="paper", arms=10, epsilon=epsilon, rounds=rounds, seeds=SEEDS)


def measured(on: str, workers: int, study: Study) -> tuple[dict[str, Any], list[CellResult]]:
    cells = cells_of(study)
    shards = shards_of(study, len(cells), SHARD)
    with tempfile.TemporaryDirectory() as folder:
        kept = Shards(Path(folder), study, cells)
        with closing(workers_of(on, workers)) as staff:
            before, start = core_seconds(), time.perf_counter()
            results = sweep(study, cells, shards, kept, staff, lambda rounds: None)
            seconds = time.perf_counter() - start
            busy, idle = (after - early for after, early in zip(core_seconds(), before, strict=True))
    pairs = len(cells) * study.seeds
    found = {"on": on, "workers": workers, "pairs": pairs, "rounds": study.rounds, "seconds": seconds}
    return found | {"busy": busy / (busy + idle)}, results


def core_seconds() -> tuple[float, float]:
    """Of all cores together: busy, and idle or waiting for disks. What a host took from this machine is neither."""
    user, nice, system, idle, waiting, *_ = map(float, Path("/proc/stat").read_text().splitlines()[0].split()[1:])
    tick = os.sysconf("SC_CLK_TCK")
    return (user + nice + system) / tick, (idle + waiting) / tick


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--on", default="local")
    parser.add_argument("--rounds", type=int, default=20_000)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    keep_compiled_loops()
    measured("local", 1, study_of(options.rounds, 1))
    rows, curves = [], []
    for workers in (1, 2):
        row, results = measured(options.on, workers, study_of(options.rounds))
        rows.append(row)
        curves.append(results)
    same = all(np.array_equal(a.regret, b.regret) for a, b in zip(*curves, strict=True))
    table = table_of("A sweep", "workers", "pairs", "seconds", "times one worker", "of all cores")
    for row in rows:
        times = f"{rows[0]['seconds'] / row['seconds']:.2f}"
        table.add_row(str(row["workers"]), f"{row['pairs']:,}", f"{row['seconds']:.1f}", times, f"{row['busy']:.0%}")
    console = Console()
    console.print(table)
    console.print(f"on {options.on}; the results are {'the same, bit for bit' if same else 'NOT the same'}")
    if options.json:
        options.json.write_text(json.dumps({"rows": rows, "same": same}, indent=2) + "\n")


if __name__ == "__main__":
    main()
