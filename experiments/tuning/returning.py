"""Which learner where a few sets of candidates come again and again: nine worlds, epsilon 1, 4 and 8.

    python experiments/tuning/returning.py            all worlds, 100,000 rounds, 8 seeds
    python experiments/tuning/returning.py --quick    a short look, to see that it works

A task file says so with `returning = true`, and `default_learner` chooses by it.
"""

import argparse

from contextual_worlds import RETURNING, SHAPES, Everyday
from scale_free import EPSILONS, Groups, regrets

COMPARED: Groups = [
    ("scale-free", {"scale-free": {"link": "identity"}}),
    ("linucb", {"linucb": {}}),
    ("gradient", {"gradient": {"link": "identity"}}),
]


def main() -> None:
    """Print a row per world as it is done: each learner at every budget."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="1,000 rounds, 2 seeds")
    rounds, seeds = (1_000, 2) if parser.parse_args().quick else (100_000, 8)
    print(f"regret after {rounds:,} rounds at epsilon 1 / 4 / 8, mean of {seeds} seeds")
    print(f"{'':20}" + "".join(f"{name:>26}" for _, choices in COMPARED for name in choices), flush=True)
    for name, (d, numbers) in RETURNING.items():
        found = regrets(Everyday(**SHAPES[d], **numbers), rounds, seeds, COMPARED)
        cells = [" / ".join(f"{found[place, one]:,.0f}" for place in range(len(EPSILONS))) for one in range(3)]
        print(f"{name:20}" + "".join(f"{cell:>26}" for cell in cells), flush=True)


if __name__ == "__main__":
    main()
