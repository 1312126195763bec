"""`sottovoce plan` against longer simulations with other seeds: the table of docs/plan.md.

    python benchmarks/plan.py                 every task, 64 seeds
    python benchmarks/plan.py --seeds 16      a quicker look

Each task is planned twice, in fresh processes with a cache of their own: the first compiles, the second does not.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import msgspec

from sottovoce.lab.study.cells import cells_of, run_cells
from sottovoce.lab.study.file import Study

TASKS = [
    Study(learner="tsallis-inf", arms=10, epsilon=[1.0], rounds=20_000, options={"gap": 0.2}),
    Study(learner="tsallis-inf", arms=5, epsilon=[2.0], rounds=5_000, options={"gap": 0.3}),
    Study(learner="tsallis-inf", world=["switching-arms"], arms=5, epsilon=[2.0], rounds=20_000),
    Study(learner="kl-ucb", arms=10, epsilon=[1.0], rounds=20_000, options={"gap": 0.2}),
    Study(learner="kl-ucb-plus-plus", arms=5, epsilon=[2.0], rounds=20_000, options={"gap": 0.2}),
    Study(learner="ucb", arms=5, epsilon=[1.0], rounds=10_000, options={"gap": 0.25}),
    Study(learner="thompson", arms=10, epsilon=[1.0], rounds=20_000, options={"gap": 0.2}),
    Study(learner="exp3", arms=5, epsilon=[2.0], rounds=10_000, options={"gap": 0.3}),
    Study(learner="lil-ucb", arms=5, epsilon=[1.0], rounds=100_000, options={"rewards": [0.9, 0.6, 0.6, 0.5, 0.5]}),
    Study(learner="linucb", arms=10, dimension=5, epsilon=[4.0], rounds=20_000, options={"contexts": "isotropic"}),
    Study(learner="glm", arms=10, dimension=3, epsilon=[4.0], rounds=10_000),
    Study(learner="two-point", dimension=10, epsilon=[1.0], rounds=16_000, options={"steepness": 1.0}),
    Study(learner="fkm", dimension=2, epsilon=[2.0], rounds=20_000),
]
COLUMNS = "learner | world | arms | dimension | epsilon | rounds | planned | simulated | 95 % interval | off by"
OTHER_SEEDS = 1000
"""Where the seeds of the long simulation start: none of them is one of the plan's."""


def compare(tasks: list[Study], seeds: int) -> None:
    """One line a task: what was planned, what was simulated, how far apart, how long the plan took."""
    print(f"| {COLUMNS} | first plan | second |\n|{'---|' * 12}")
    for study in tasks:
        row, first, second = _planned(study)
        measured, low, high = _simulated(study, seeds)
        planned = row["predicted_samples"] if row["predicted_regret"] is None else row["predicted_regret"]
        setting = (
            f"{study.learner} | {row['world']} | {study.arms or ''} | {study.dimension or ''} | {row['epsilon']:g}"
        )
        numbers = f"{planned:,.0f} | {measured:,.0f} | {low:,.0f} to {high:,.0f} | {planned / measured - 1:+.0%}"
        print(f"| {setting} | {study.rounds:,} | {numbers} | {first:.1f} s | {second:.1f} s |", flush=True)


def _planned(study: Study) -> tuple[dict[str, Any], float, float]:
    """The row of the plan, and the processor seconds of the command, without and with what was compiled before."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "study.toml").write_text(_toml(study))
        seconds = [_plan_in_a_process(folder), _plan_in_a_process(folder)]
        (row,) = json.loads((folder / "plan.json").read_text())["rows"]
    return row, *seconds


def _toml(study: Study) -> str:
    fields = {name: value for name, value in msgspec.to_builtins(study).items() if value is not None}
    tables = {name: fields.pop(name) for name in ("region", "options", "tuning")}
    lines = [f"{name} = {json.dumps(value)}" for name, value in fields.items()]
    for name, table in tables.items():
        lines += [f"[{name}]", *(f"{key} = {json.dumps(value)}" for key, value in table.items())]
    return "\n".join(lines)


def _plan_in_a_process(folder: Path) -> float:
    command = [sys.executable, "-m", "sottovoce", "plan", "study.toml", "--json", "plan.json"]
    before = os.times()
    subprocess.run(command, cwd=folder, check=True, capture_output=True, env=os.environ | {"SOTTOVOCE_CACHE": "cache"})
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def _simulated(study: Study, seeds: int) -> tuple[float, float, float]:
    """Mean and interval of the regret, or of the samples of a learner that recommends."""
    study = msgspec.structs.replace(study, seeds=seeds, seed=OTHER_SEEDS)
    (result,) = run_cells(study, [cell for cell in cells_of(study) if cell.role == "chosen"])
    if result.correct is not None:
        result = result._replace(regret=result.samples[:, None])
    mean, low, high = (float(series[-1]) for series in result.interval())
    return mean, low, high


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=64)
    compare(TASKS, parser.parse_args().seeds)
