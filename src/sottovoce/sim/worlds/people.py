"""People as an app meets them: raw fields in their declared ranges, encoded as on a device; for live contextual tasks.

Numbers are uniform in their range, flags are fair, categories uniform. Where the actions have names the fields describe
the person; else each of the candidates has its own. `users.fields` is the same encoding, one person at a time and
with every check; the tests hold the two together. Rewards are those of another contextual world, whose theta is drawn
with the declared radius as its length.

This world is made from a contract and has no name in the registry: a study has no place for fields.
"""

import dataclasses
import math
from typing import Any

import jax
import jax.numpy as jnp

from sottovoce.learners.base import Key, configuration
from sottovoce.protocol.contract import Contract
from sottovoce.protocol.fields import Category, Field, Flag, Number
from sottovoce.protocol.links import link_of
from sottovoce.sim.worlds import world_of
from sottovoce.sim.worlds.base import World

Values = dict[str, jax.Array]
"""One value per field: a number, true or false, or the place of a word in its category."""


@configuration("fields", "named")
class People:
    """Contexts from fields (`named`: of the person; else of each candidate), rewards as in the world `rewards`."""

    fields: tuple[tuple[str, Field], ...]
    """In the order of their names."""
    named: bool
    rewards: Any
    radius: float = 1.0

    @property
    def arms(self) -> int:
        return self.rewards.arms

    @property
    def dimension(self) -> int:
        return self.rewards.dimension

    def sample(self, key: Key) -> "People":
        drawn = self.rewards.sample(key)
        return dataclasses.replace(self, rewards=dataclasses.replace(drawn, theta=self.radius * drawn.theta))

    def values(self, key: Key) -> Values:
        """What one visitor's fields say: single values of a person, or one for each candidate."""
        shape = () if self.named else (self.arms,)
        keys = jax.random.split(key, len(self.fields))
        return {name: _drawn(field, one, shape) for (name, field), one in zip(self.fields, keys, strict=True)}

    def encoded(self, values: Values) -> jax.Array:
        """One row of features per action."""
        parts = [_encoded(field, values[name]) for name, field in self.fields]
        vectors = jnp.concatenate([jnp.ones_like(parts[0][..., :1]), *parts], axis=-1) / math.sqrt(1 + len(parts))
        return jnp.kron(jnp.eye(self.arms), vectors) if self.named else vectors

    def visit(self, round: jax.Array, key: Key) -> jax.Array:
        return self.encoded(self.values(key))

    def outcome(self, context: jax.Array, action: jax.Array, key: Key) -> jax.Array:
        return self.rewards.outcome(context, action, key)

    def regret(self, context: jax.Array, action: jax.Array) -> jax.Array:
        return self.rewards.regret(context, action)


def people_of(contract: Contract) -> World:
    """The people of a contextual task; `sample` draws what they like.

    A linear mean reward must stay within [-1, 1], so there theta is no longer than 1 whatever radius is declared.
    """
    task = contract.task
    link = link_of(task.tuning) if "link" in task.tuning else None
    name = link.name if link and link.name != "identity" else "linear"
    options: dict[str, Any] = {"maximum": link.maximum} if link and name == "poisson" else {}
    rewards = world_of(name, arms=task.arms, dimension=task.dimension, **options)
    radius = min(link.radius if link else 1.0, 1.0 if name == "linear" else math.inf)
    return People(
        fields=tuple(sorted(contract.fields.items())), named=bool(contract.actions), rewards=rewards, radius=radius
    )


def _drawn(field: Field, key: Key, shape: tuple[int, ...]) -> jax.Array:
    match field:
        case Number(low=low, high=high):
            return low + (high - low) * jax.random.uniform(key, shape)
        case Category(values=words):
            return jax.random.randint(key, shape, 0, len(words))
        case Flag():
            return jax.random.bernoulli(key, shape=shape)


def _encoded(field: Field, value: jax.Array) -> jax.Array:
    """The field's coordinates along a new last axis."""
    match field:
        case Number(low=low, high=high):
            return (2 * (value - low) / (high - low) - 1)[..., None]
        case Category(values=words):
            return (value[..., None] == jnp.arange(len(words))).astype(float)
        case Flag():
            return jnp.where(value, 1.0, -1.0)[..., None]
