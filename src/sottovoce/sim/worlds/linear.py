"""Linear contextual worlds: rewards are +1 or -1 with mean <x, theta*>."""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from sottovoce.learners.base import Key, configuration
from sottovoce.sim.random import normals


@configuration("dimension", "arms", "contexts")
class Linear:
    """`contexts` says how the features of the actions come about.

    - "isotropic": unit vectors uniform on the sphere, fresh for every person.
    - "ill-conditioned": Gaussian with deviations falling geometrically from 1 to 0.01, cut to the unit ball.
    - "fixed": the same unit vectors for everybody, drawn once per seed. No diversity: a greedy learner may stay blind.

    theta* is a unit vector drawn for every seed.
    """

    dimension: int
    arms: int
    contexts: str = "isotropic"
    theta: Any = None
    actions: Any = None

    drawn: ClassVar = {"theta", "actions"}

    def sample(self, key: Key) -> "Linear":
        theta_key, actions_key = jax.random.split(key)
        theta = _on_sphere(jax.random.normal(theta_key, (self.dimension,)))
        actions = _on_sphere(jax.random.normal(actions_key, (self.arms, self.dimension)))
        fixed = actions if self.contexts == "fixed" else None
        return Linear(dimension=self.dimension, arms=self.arms, contexts=self.contexts, theta=theta, actions=fixed)

    def visit(self, round: jax.Array, key: Key) -> jax.Array:
        if self.contexts == "fixed":
            return self.actions
        features = normals(key, (self.arms, self.dimension))
        if self.contexts == "ill-conditioned":
            features = features * jnp.geomspace(1.0, 0.01, self.dimension)
            return features / jnp.maximum(1.0, _norm(features))
        return _on_sphere(features)

    def outcome(self, context: jax.Array, action: jax.Array, key: Key) -> jax.Array:
        likely = (1 + context[action] @ self.theta) / 2
        return jnp.where(jax.random.uniform(key, dtype=context.dtype) < likely, 1.0, -1.0)

    def regret(self, context: jax.Array, action: jax.Array) -> jax.Array:
        rewards = context @ self.theta
        return jnp.max(rewards) - rewards[action]


def _norm(vectors: jax.Array) -> jax.Array:
    return jnp.sqrt(jnp.sum(vectors * vectors, axis=-1, keepdims=True))


def _on_sphere(vectors: jax.Array) -> jax.Array:
    return vectors / _norm(vectors)
