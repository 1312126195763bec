"""`sottovoce plan` against `sottovoce simulate` on the ten tasks of docs/plan.md.

    python benchmarks/plan.py                 all ten, 32 seeds
    python benchmarks/plan.py --seeds 8       a quicker look

The plan has no constant that was fitted. Its step sizes were chosen on other tasks: `experiments/tuning/plan.py`.
"""

import argparse
import time
from collections.abc import Iterable

from sottovoce.lab.plan import plans_of
from sottovoce.lab.study.cells import cells_of, run_cells
from sottovoce.lab.study.file import Study

TASKS = [
    Study(learner="tsallis-inf", arms=10, epsilon=[1.0], rounds=20_000, options={"gap": 0.2}),
    Study(learner="tsallis-inf", arms=5, epsilon=[2.0], rounds=5_000, options={"gap": 0.3}),
    Study(learner="kl-ucb", arms=10, epsilon=[1.0], rounds=20_000, options={"gap": 0.2}),
    Study(learner="kl-ucb-plus-plus", arms=5, epsilon=[2.0], rounds=20_000, options={"gap": 0.2}),
    Study(learner="ucb", arms=5, epsilon=[1.0], rounds=10_000, options={"gap": 0.25}),
    Study(learner="thompson", arms=10, epsilon=[1.0], rounds=20_000, options={"gap": 0.2}),
    Study(learner="exp3", arms=5, epsilon=[2.0], rounds=10_000, options={"gap": 0.3}),
    Study(learner="lil-ucb", arms=5, epsilon=[1.0], rounds=100_000, options={"rewards": [0.9, 0.6, 0.6, 0.5, 0.5]}),
    Study(learner="linucb", arms=10, dimension=5, epsilon=[4.0], rounds=20_000, options={"contexts": "isotropic"}),
    Study(learner="two-point", dimension=10, epsilon=[1.0], rounds=16_000, options={"steepness": 1.0}),
]


def compare(tasks: Iterable[Study], seeds: int) -> None:
    """One line a task: what was foreseen, what was simulated, how far apart."""
    columns = "learner | arms | dimension | epsilon | rounds | options"
    print(f"| {columns} | foreseen | simulated | 95 % interval | off by | seconds |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for study in tasks:
        began = time.process_time()
        (plan,) = plans_of(study)
        seconds = time.process_time() - began
        measured, low, high = _simulated(study, seeds)
        foreseen = plan.predicted_samples if plan.predicted_regret is None else plan.predicted_regret
        assert foreseen is not None, plan.note
        setting = f"{plan.learner} | {plan.arms or ''} | {plan.dimension or ''} | {plan.epsilon:g} | {plan.rounds:,}"
        options = ", ".join(f"{name} {value}" for name, value in plan.options.items())
        numbers = f"{foreseen:,.0f} | {measured:,.0f} | {low:,.0f} to {high:,.0f} | {foreseen / measured - 1:+.0%}"
        print(f"| {setting} | {options} | {numbers} | {seconds:.2f} |", flush=True)


def _simulated(study: Study, seeds: int) -> tuple[float, float, float]:
    """Mean and interval of the regret, or of the samples of a learner that stops."""
    import msgspec

    study = msgspec.structs.replace(study, seeds=seeds)
    (curve,) = run_cells(study, [cell for cell in cells_of(study) if cell.role == "chosen"])
    if curve.correct is not None:
        curve = curve._replace(regret=curve.samples[:, None])
    mean, low, high = (float(series[-1]) for series in curve.interval())
    return mean, low, high


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=32)
    compare(TASKS, parser.parse_args().seeds)
