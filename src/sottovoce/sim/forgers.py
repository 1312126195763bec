"""Forged reports: a share of all permits is in the hands of somebody who knows the world and wants the worst.

He is bound by the wire alone: his report must be one that a device could have sent. So he chooses a level, or one of
the candidates of a coin that he did not choose, or the largest noise that is taken.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

from sottovoce.learners.base import Key
from sottovoce.privacy.grid.delta import RESOLUTION
from sottovoce.privacy.mechanisms import Mechanism
from sottovoce.privacy.sphere.mechanism import Sphere
from sottovoce.sim.random import normals

FORGED = 3
"""Folded into the key of a report: with forgers and without, everybody else draws the same."""


@dataclass(frozen=True)
class Forgers:
    """Part of what is fixed while a loop runs."""

    share: float
    """Of all permits and tickets. He uses every one: those thrown away would count against him too."""
    mechanism: Mechanism
    aim: Callable[[Any, Any], Any]
    """Of the world and the offer: the message that he would like the server to read, of any length."""

    def instead_of(self, estimate: jax.Array, world: Any, offer: Any, key: Key) -> jax.Array:
        """What the server reads: this honest estimate, or a forged one."""
        chance, draw = jax.random.split(jax.random.fold_in(key, FORGED))
        forged = worst_report(self.mechanism, self.aim(world, offer), draw)
        return jnp.where(jax.random.uniform(chance) < self.share, forged, estimate)


def worst_report(mechanism: Any, aim: jax.Array, key: Key) -> jax.Array:
    """The possible report that is read nearest to the aim."""
    if not isinstance(mechanism, Sphere):
        step = getattr(mechanism, "scale_of_each", RESOLUTION) / RESOLUTION
        return jnp.sign(aim) * mechanism.reach * step
    vectors = normals(key, (mechanism.candidates // 2, mechanism.dimension))
    vectors = vectors / jnp.linalg.norm(vectors, axis=1, keepdims=True)
    along = vectors[:, :-1] @ aim
    best = jnp.argmax(jnp.abs(along))
    return jnp.sign(along[best]) * vectors[best, :-1] * mechanism.reach
