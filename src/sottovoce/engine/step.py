"""What happens to a learner's state: it starts, and one report after the other is told until the learner is done.

The compiled loop, the loop in plain Python, the live server and a loop of one's own all come here. Publishing is
`learner.refresh(state)` at the times of `schedule`.

A report through a quieter gate is noisier, so it counts for less: for `weight` of a report, between 0 and 1. The state
moves `weight` of the way that `tell` would move it. Where a state is a sum over reports (arms, moments, counts) that is
exactly the weighted sum; where it descends, a shorter step; and a set of admissible states that is convex (a ball, the
probabilities) is never left. A learner whose state has whole numbers (phases, say) cannot do that, and its algorithm
says `weighs = false`.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from sottovoce.engine.complete import Complete
from sottovoce.learners.base import Learner, choose
from sottovoce.privacy.noise import Noise


class Answer(NamedTuple):
    """One report as a learner is told it."""

    memo: Any
    """What its offer told the server to remember."""
    estimate: Any
    weight: Any = None
    """Between 0 and 1; None for a report that counts in full."""


def start(learner: Complete) -> Any:
    """The state before the first report. It is what the first offers are made from.

    A learner with `growth` above 1 publishes rarely and says in `init` what is offered first; the others solve for
    their first model as for every later one. Its numbers have the types that they keep: one that came from a Python
    number would have another after the first report, and what was compiled would be compiled again.
    """
    state = learner.init()
    state = learner.refresh(state) if learner.growth <= 1 else state
    return jax.tree.map(lambda leaf: jnp.asarray(leaf, jnp.result_type(leaf)), state)


def learn(learner: Complete, state: Any, answer: Answer, arrived: Any = True) -> tuple[Any, Any]:
    """The state after this answer, and whether it was told: only if it has arrived and the learner is not done.

    >>> from sottovoce.engine.complete import complete
    >>> from sottovoce.learners.uniform import UniformArms
    >>> learner = complete(UniformArms(arms=3))
    >>> state, told = learn(learner, start(learner), Answer((), 0.5))
    >>> float(state.reports), told
    (1.0, True)
    """
    after = learner.tell(state, answer.memo, answer.estimate)
    if answer.weight is not None:
        after = jax.tree.map(lambda old, new: _part_way(old, new, answer.weight), state, after)
    if learner.stops:
        arrived = arrived & ~learner.done(state)
    if arrived is True:
        return after, True
    return choose(arrived, after, state), arrived


def _part_way(old: jax.Array, new: jax.Array, weight: Any) -> jax.Array:
    if not jnp.issubdtype(new.dtype, jnp.inexact):
        return new
    return jnp.where(weight == 1.0, new, old + weight * (new - old))


def weight_of(full: Noise, quieter: Noise) -> float:
    """Inverse variance: `proxy` bounds the variance of an estimate, the person's own included.

    >>> from sottovoce import Budget, Interval, calibrate, noise_of
    >>> full, half = (noise_of(calibrate("levels", Interval(), Budget(epsilon))) for epsilon in (1.0, 0.5))
    >>> round(weight_of(full, half), 2)
    0.28
    """
    return full.proxy / quieter.proxy


def can_weigh(learner: Learner) -> bool:
    """Has the state no whole numbers?

    >>> from sottovoce.learners.uniform import UniformArms
    >>> can_weigh(UniformArms(arms=3))
    True
    """
    leaves = jax.tree.leaves(jax.eval_shape(learner.init))
    return all(jnp.issubdtype(leaf.dtype, jnp.inexact) for leaf in leaves)
