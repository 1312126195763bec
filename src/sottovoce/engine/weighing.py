"""A report through a quieter gate is noisier, so it counts for less: for `weight` of a report, between 0 and 1.

The state moves `weight` of the way that `tell` would move it. Where a state is a sum over reports (arms, moments,
counts) that is exactly the weighted sum; where it descends, a shorter step; and a set of admissible states that is
convex (a ball, the probabilities) is never left. A learner whose state has whole numbers (phases, say) cannot do that,
and its algorithm says `weighs = false`.
"""

from typing import Any

import jax
import jax.numpy as jnp

from sottovoce.learners.base import Learner
from sottovoce.privacy.noise import Noise


def weight_of(full: Noise, quieter: Noise) -> float:
    """Inverse variance: `proxy` bounds the variance of an estimate, the person's own included.

    >>> from sottovoce import Budget, Interval, calibrate, noise_of
    >>> full, half = (noise_of(calibrate("levels", Interval(), Budget(epsilon))) for epsilon in (1.0, 0.5))
    >>> round(weight_of(full, half), 2)
    0.28
    """
    return full.proxy / quieter.proxy


def told(learner: Learner, state: Any, memo: Any, estimate: Any, weight: Any = None) -> Any:
    """`tell`, for a part of a report; for all of it where there is no weight."""
    after = learner.tell(state, memo, estimate)
    if weight is None:
        return after

    def part(old: jax.Array, new: jax.Array) -> jax.Array:
        if not jnp.issubdtype(new.dtype, jnp.inexact):
            return new
        return jnp.where(weight == 1.0, new, old + weight * (new - old))

    return jax.tree.map(part, state, after)


def can_weigh(learner: Learner) -> bool:
    """Has the state no whole numbers?

    >>> from sottovoce.learners.uniform import UniformArms
    >>> can_weigh(UniformArms(arms=3))
    True
    """
    leaves = jax.tree.leaves(jax.eval_shape(learner.init))
    return all(jnp.issubdtype(leaf.dtype, jnp.inexact) for leaf in leaves)
