"""The default for a few actions, `kl-moss`, beside our other learners: eight instances, four budgets.

    python experiments/arms.py                100,000 people, 16 seeds; the tables of docs/defaults.md
    python experiments/arms.py --tuning       the instances in which it was chosen
    python experiments/arms.py --seeds 128    more seeds, where 16 leave a doubt
    python experiments/arms.py --quick        a short look, to see that it works

Mean regret ± its standard error, presets `practical`. `ratio` is the regret of the default in units of the better of
`thompson` and kl-ucb++ (`kl-ucb-plus-plus`). At the largest budget, the last column is the default without privacy.
No learner of ours eliminates arms while people are served: `dp-successive-elimination` needs a trusted curator, and
those that look for a best arm do not mind what it costs.
"""

import argparse

import numpy as np
from arms_worlds import WORLDS
from tuning.arms_worlds import WORLDS as TUNING

from sottovoce import halves, task
from sottovoce.sim.run import simulate
from sottovoce.sim.worlds import world_of

EPSILONS = (0.5, 1.0, 4.0, 10.0)
DEFAULT, BEFORE = "kl-moss", ("thompson", "kl-ucb-plus-plus")
LEARNERS = (DEFAULT, *BEFORE, "tsallis-inf", "ucb")
TUNING_SEED = 500
"""Other seeds than those of the figures."""


def regrets(learner: str, rewards: list[float], epsilon: float | None, **run: int) -> np.ndarray:
    """The regret of every seed; without privacy where there is no epsilon."""
    arms = len(rewards)
    asked = task(learner, arms=arms, rounds=run["rounds"], epsilon=epsilon or 1.0)
    half = halves(asked, private=epsilon is not None)
    world = world_of("arms", arms=arms, rewards=rewards)
    trace = simulate(half.learner, half.user, world, mechanism=half.mechanism, checkpoints=10, **run)
    return trace.regret[:, -1]


def said(found: np.ndarray) -> str:
    return f"{found.mean():,.0f}±{found.std(ddof=1) / np.sqrt(len(found)):,.0f}"


def table(worlds: dict[str, list[float]], epsilon: float, **run: int) -> None:
    """One row per instance, printed as it is known."""
    names = [name.replace("-plus-plus", "++") for name in LEARNERS]
    print(
        f"{f'epsilon {epsilon:g}':20}" + "".join(f"{name:>12}" for name in names) + "  ratio  not private", flush=True
    )
    for world, rewards in worlds.items():
        found = {learner: regrets(learner, rewards, epsilon, **run) for learner in LEARNERS}
        ratio = found[DEFAULT].mean() / min(found[learner].mean() for learner in BEFORE)
        limit = said(regrets(DEFAULT, rewards, None, **run)) if epsilon == EPSILONS[-1] else ""
        row = "".join(f"{said(one):>12}" for one in found.values())
        print(f"{world:20}{row}{ratio:7.2f}{limit:>13}".rstrip(), flush=True)


def main() -> None:
    """Print a table per budget."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tuning", action="store_true", help="the instances of the choice")
    parser.add_argument("--quick", action="store_true", help="500 rounds, 4 seeds")
    parser.add_argument("--seeds", type=int, default=16)
    parser.add_argument("--world", action="append", help="only these")
    parser.add_argument("--epsilon", type=float, action="append", help="only these")
    options = parser.parse_args()
    run = {"rounds": 500, "seeds": 4} if options.quick else {"rounds": 100_000, "seeds": options.seeds}
    worlds = TUNING if options.tuning else WORLDS
    for epsilon in options.epsilon or EPSILONS:
        chosen = {name: worlds[name] for name in options.world or worlds}
        table(chosen, epsilon, seed=TUNING_SEED if options.tuning else 0, **run)


if __name__ == "__main__":
    main()
