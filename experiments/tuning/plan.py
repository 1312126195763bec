"""How the step sizes of `sottovoce plan` were chosen: on tasks that are none of the ten of docs/plan.md.

    python experiments/tuning/plan.py               foreseen with the chosen steps and with steps half as long
    python experiments/tuning/plan.py --simulate    and simulated, 32 seeds

A step is short enough when halving it changes little against the spread of the runs. Nothing else is chosen here: the
plan solves the learners' own equations and has no constant to fit.
"""

import argparse
import time

import msgspec
import numpy as np

from sottovoce.lab.plan import indices, linear, plans_of, slopes, thompson, weights
from sottovoce.lab.study.file import Study

SETTINGS = [(8, 0.15, 1.5, 30_000), (4, 0.1, 3.0, 20_000), (20, 0.3, 0.7, 40_000), (3, 0.4, 2.5, 3_000)]
"""Arms, gap, epsilon, rounds."""

LEARNERS = ["ucb", "kl-ucb", "kl-ucb-plus-plus", "thompson", "tsallis-inf", "exp3", "lil-ucb"]

TASKS = [
    Study(learner=learner, arms=arms, epsilon=[epsilon], options={"gap": gap},
          rounds=300_000 if learner == "lil-ucb" else rounds)
    for learner in LEARNERS
    for arms, gap, epsilon, rounds in SETTINGS
] + [
    Study(learner="linucb", arms=5, dimension=3, epsilon=[2.0], rounds=20_000, options={"contexts": "isotropic"}),
    Study(learner="linucb", arms=6, dimension=8, epsilon=[6.0], rounds=20_000, options={"contexts": "isotropic"}),
    Study(learner="two-point", dimension=4, epsilon=[2.0], rounds=5_000, options={"steepness": 1.0}),
    Study(learner="two-point", dimension=8, epsilon=[3.0], rounds=20_000, options={"depth": 0.7}),
    Study(learner="two-point", dimension=20, epsilon=[1.5], rounds=20_000, options={"steepness": 0.8, "depth": 0.3}),
]  # fmt: skip

STEPS = [(indices, "STRETCH"), (thompson, "STRETCH"), (linear, "STRETCH"), (weights, "CHANGE"), (slopes, "STRETCH")]


def foreseen(study: Study) -> float:
    """The regret, or the samples of a learner that stops."""
    (plan,) = plans_of(study)
    answer = plan.predicted_samples if plan.predicted_regret is None else plan.predicted_regret
    assert answer is not None, plan.note
    return answer


def scale_steps(factor: float) -> None:
    for module, name in STEPS:
        setattr(module, name, factor * getattr(module, name))


def simulated(study: Study, seeds: int = 32) -> tuple[float, float]:
    """The mean and its standard error."""
    from sottovoce.lab.study.cells import cells_of, run_cells

    study = msgspec.structs.replace(study, seeds=seeds)
    (curve,) = run_cells(study, [cell for cell in cells_of(study) if cell.role == "chosen"])
    values = curve.regret[:, -1] if curve.correct is None else curve.samples
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(seeds))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simulate", action="store_true")
    wanted = parser.parse_args()
    for study in TASKS:
        began = time.process_time()
        chosen = foreseen(study)
        seconds = time.process_time() - began
        scale_steps(0.5)
        finer = foreseen(study)
        scale_steps(2.0)
        setting = f"{study.learner} {study.arms} {study.dimension} {study.epsilon[0]:g} {study.rounds} {study.options}"
        line = f"{setting:75s} {chosen:9.1f} ({seconds:.2f} s), half steps {finer / chosen - 1:+.0%}"
        if wanted.simulate:
            mean, error = simulated(study)
            line += f", simulated {mean:.1f} +- {error:.1f}: off by {chosen / mean - 1:+.0%}"
        print(line, flush=True)


if __name__ == "__main__":
    main()
