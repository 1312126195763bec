"""How many people it takes to see what learning gains over a baseline, and how often its range is wrong.

    python experiments/holdout.py            the table of docs/holdout.md
    python experiments/holdout.py --quick    a short look, to see that it works

A known world: a reward of 1 comes with probability 0.5 for the baseline and 0.6 for the learned choice, else 0. Of the
people 0.1 get the baseline; with features as many again measure the choice, without all others do. Reports have the
law of the devices' reports, and the range is the server's. It is looked at whenever 1 % more people have come.
"""

import argparse

import numpy as np
from numpy.typing import NDArray

from sottovoce import Budget, Interval
from sottovoce.privacy.levels.mechanism import Levels, levels
from sottovoce.report.confidence import clopper_pearson, difference_half_width

EPSILONS = (1.0, 2.0, 4.0)
SHARE, BASELINE, CHOICE, ERROR = 0.1, 0.5, 0.6, 0.05
COLUMNS = ("task", "epsilon", "people until the gain is seen", "9 of 10 see it by", "ranges that ever missed it")


def main() -> None:
    """Print a row per kind of task and epsilon."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="20 streams of 20,000 people")
    streams, people = (20, 20_000) if parser.parse_args().quick else (1000, 100_000)
    print("| " + " | ".join(COLUMNS) + " |\n|" + " --- |" * len(COLUMNS), flush=True)
    for task, measuring in (("with features", SHARE), ("without", 1 - SHARE)):
        for epsilon in EPSILONS:
            found = [stream(levels(Interval(), Budget(epsilon)), measuring, people, seed) for seed in range(streams)]
            seen, missed = np.array([one[0] for one in found]), sum(one[1] for one in found)
            middle, most = (f"{number:,.0f}" for number in np.quantile(seen, [0.5, 0.9], method="higher"))
            wrong = f"{missed} of {streams} (at most {100 * clopper_pearson(missed, streams, 0.025)[1]:.1f} %)"
            print(f"| {task} | {epsilon:g} | {middle} | {most} | {wrong} |", flush=True)


def stream(mechanism: Levels, measuring: float, people: int, seed: int) -> tuple[float, bool]:
    """After how many people the range excludes 0 (infinity: never), and whether it ever excluded the truth."""
    draw = np.random.default_rng(seed)
    place = draw.random(people)
    baseline, choice = place < SHARE, (place >= SHARE) & (place < SHARE + measuring)
    said = reports(mechanism, draw.random(people) < np.where(baseline, BASELINE, CHOICE), draw)
    counts = [np.cumsum(group) for group in (baseline, choice)]
    sums = [np.cumsum(said * group) for group in (baseline, choice)]
    looks = np.unique(np.geomspace(100, people, int(np.log(people / 100) / 0.01)).astype(int)) - 1
    seen, missed, proxy = np.inf, False, mechanism.noise().proxy
    for at in looks:
        first, second = (float(count[at]) for count in counts)
        if first and second:
            gain = sums[1][at] / second - sums[0][at] / first
            half = difference_half_width(first, second, proxy, ERROR)
            seen = min(seen, at + 1) if gain > half else seen
            missed |= abs(gain - (CHOICE - BASELINE)) > half
    return seen, bool(missed)


def reports(mechanism: Levels, rewards: NDArray[np.bool_], draw: np.random.Generator) -> NDArray[np.float64]:
    """What the server reads of rewards of 0 or 1: the true level, or by chance any other."""
    last, people = mechanism.levels - 1, len(rewards)
    level, other = rewards * last, draw.integers(0, last, people)
    kept = draw.random(people) < mechanism.keep / mechanism.total
    sent = np.where(kept, level, other + (other >= level))
    return 0.5 + 0.5 * mechanism.reach * (2 * sent / last - 1)


if __name__ == "__main__":
    main()
