"""People as an app meets them: raw fields in their declared ranges, encoded as on a device; for live contextual tasks.

Numbers are uniform in their range, or on each side of their middle, flags are fair, categories uniform. Where the
actions have names the fields describe the person; else each of the candidates has its own. Rewards are those of another
contextual world, whose theta is drawn with the declared radius as its length.

This world is made from a contract and has no name in the registry: a study has no place for fields.
"""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp

from sottovoce.learners.base import Key, configuration
from sottovoce.protocol.contract import ByModel
from sottovoce.protocol.fields import Category, Field, Flag, Number
from sottovoce.protocol.links import Link
from sottovoce.sim.worlds import world_of
from sottovoce.sim.worlds.base import World
from sottovoce.users.fields import in_blocks, vector

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
        vectors = vector(jnp, dict(self.fields), values)
        return in_blocks(jnp, self.arms, vectors) if self.named else vectors

    def visit(self, round: jax.Array, key: Key) -> jax.Array:
        return self.encoded(self.values(key))

    def outcome(self, context: jax.Array, action: jax.Array, key: Key) -> jax.Array:
        return self.rewards.outcome(context, action, key)

    def regret(self, context: jax.Array, action: jax.Array) -> jax.Array:
        return self.rewards.regret(context, action)


def people_of(offers: ByModel) -> World:
    """The people of a task with a model; `sample` draws what they like.

    A linear mean reward must stay within [-1, 1], so there theta is no longer than 1 whatever radius is declared.
    """
    link = offers.link or Link("identity")
    name = "linear" if link.name == "identity" else link.name
    options: dict[str, Any] = {"maximum": link.maximum} if name == "poisson" else {}
    rewards = world_of(name, arms=offers.arms, dimension=offers.dimension, **options)
    radius = min(link.radius, 1.0) if name == "linear" else link.radius
    return People(
        fields=tuple(sorted(offers.fields.items())), named=bool(offers.actions), rewards=rewards, radius=radius
    )


def _drawn(field: Field, key: Key, shape: tuple[int, ...]) -> jax.Array:
    match field:
        case Number(low=low, high=high, middle=middle):
            share = jax.random.uniform(key, shape)
            if middle is None:
                return low + (high - low) * share
            return middle + (2 * share - 1) * jnp.where(share < 0.5, middle - low, high - middle)
        case Category(values=words):
            return jax.random.randint(key, shape, 0, len(words))
        case Flag():
            return jax.random.bernoulli(key, shape=shape)
