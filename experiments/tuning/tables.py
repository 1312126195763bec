"""Which learner `sottovoce try` takes for a table: made-up tables, narrow and wide. No real data is among them.

In the tables `answers` each row belongs to one of the actions: its fields are the centre of that action plus normal
noise, and the reward is 1 for the right action, else 0. In the tables `row` these centres lie in a row, so that no
linear function of the fields is highest in the middle. In the tables `chances` every action gives 1 or 0, with a
chance between 0.5 and 0.9 that is linear in the fields: rewards are mostly good, so greedy play is tempted to stay.

Prints for each shape and learner the share of the way from uniform play to the best action of each row, in the last
tenth of 100,000 people, at epsilon 1, 4, 8 and without privacy.

    python experiments/tuning/tables.py            all of it
    python experiments/tuning/tables.py row        only these tables
    python experiments/tuning/tables.py --quick    1,000 people, one shape: a short look, to see that it works
"""

import argparse
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from sottovoce import task
from sottovoce.learners.base import Key, configuration
from sottovoce.sim.halves import halves
from sottovoce.sim.run import Case, simulate_grid
from sottovoce.users.fields import in_blocks

SHAPES = ((2, 4), (3, 4), (5, 4), (3, 12), (2, 30))
"""Actions and number fields; features have actions * (1 + fields) coordinates."""
KINDS = ("answers", "chances", "row")
LEARNERS = ("linucb", "scale-free", "gradient")
EPSILONS = (1.0, 4.0, 8.0)
SEEDS, ROWS = 2, 2000


@configuration("arms", "dimension")
class MadeUp:
    """Rows of encoded fields, and the mean reward (0 to 1) of every action in each."""

    arms: int
    dimension: int
    people: Any
    means: Any

    def visit(self, round: jax.Array, key: Key) -> jax.Array:
        return jax.random.randint(key, (), 0, len(self.people))

    def shown(self, context: jax.Array) -> jax.Array:
        return in_blocks(jnp, self.arms, jnp.asarray(self.people)[context])

    def outcome(self, context: jax.Array, action: jax.Array, key: Key) -> jax.Array:
        return jnp.where(jax.random.uniform(key) < jnp.asarray(self.means)[context, action], 1.0, -1.0)

    def regret(self, context: jax.Array, action: jax.Array) -> jax.Array:
        means = jnp.asarray(self.means)[context]
        return jnp.max(means) - means[action]


def made_up(kind: str, actions: int, fields: int) -> MadeUp:
    draw = np.random.default_rng([actions, fields, KINDS.index(kind)])
    answers = draw.integers(0, actions, ROWS)
    centres = {
        "answers": lambda: draw.normal(size=(actions, fields)),
        "row": lambda: 3 * np.arange(actions)[:, None] * draw.normal(size=fields) / np.sqrt(fields),
        "chances": lambda: np.zeros((actions, fields)),
    }[kind]()
    raw = centres[answers] + draw.normal(size=(ROWS, fields))
    low, high = raw.min(axis=0), raw.max(axis=0)
    people = np.column_stack([np.ones(ROWS), 2 * (raw - low) / (high - low) - 1]) / np.sqrt(1 + fields)
    if kind != "chances":
        means = np.eye(actions)[answers]
    else:
        scores = people[:, 1:] @ draw.normal(size=(fields, actions))
        means = 0.5 + 0.4 * (scores - scores.min()) / (scores.max() - scores.min())
    return MadeUp(arms=actions, dimension=actions * (1 + fields), people=people, means=means)


def learned(world: MadeUp, learner: str, one_right: bool, people: int) -> list[float]:
    """What was learned at every budget, and without privacy; the learner is told what a task file would tell it."""
    shape = {"arms": world.arms, "dimension": world.dimension, "rounds": people}
    options = {"gradient": {"link": "identity"}, "scale-free": {"named": float(not one_right), "contrast": 0.0}}.get(
        learner, {}
    )
    every = [halves(task(learner, **shape, epsilon=epsilon, **options)) for epsilon in EPSILONS]
    plain = halves(task(learner, **shape, epsilon=1.0, **options), private=False)
    run = {"rounds": people, "seeds": SEEDS, "publish_every": people // 200}
    traces = simulate_grid([Case(half.learner, half.mechanism) for half in every], every[0].user, world, **run)
    traces += simulate_grid([Case(plain.learner, None)], plain.user, world, **run)
    lost = [float(np.mean(trace.regret[:, -1] - trace.regret[:, 89])) / (people / 10) for trace in traces]
    uniform = float(np.mean(world.means.max(axis=1) - world.means.mean(axis=1)))
    return [1 - one / uniform for one in lost]


def main() -> None:
    """Print a line for each table and learner."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", choices=[*KINDS, []], help="only these tables")
    parser.add_argument("--quick", action="store_true", help="1,000 people, one shape")
    options = parser.parse_args()
    people, shapes = (1_000, SHAPES[:1]) if options.quick else (100_000, SHAPES)
    for kind in options.kinds or KINDS:
        for actions, fields in shapes:
            world = made_up(kind, actions, fields)
            told = [(learner, kind != "chances", learner) for learner in LEARNERS]
            told += [("scale-free", True, "not told")] if kind == "chances" else []
            for learner, one_right, name in told:
                shares = [f"{share:7.1%}" for share in learned(world, learner, one_right, people)]
                print(f"{kind} {actions} x {fields:<2} d={world.dimension} {name:<10}", *shares, flush=True)


if __name__ == "__main__":
    main()
