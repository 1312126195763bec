"""Contextual worlds: the mean reward is <x, theta*> itself, or a curve of it (generalised linear)."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, cast

import jax
import jax.numpy as jnp

from sottovoce.learners.base import Key, configuration
from sottovoce.protocol.links import Link
from sottovoce.sim.random import normals
from sottovoce.sim.worlds.base import Drawn
from sottovoce.sim.worlds.motion import moved

CONTEXTS = ("isotropic", "ill-conditioned", "fixed", "adversarial")
"""How the features of the actions come about; see `Features`."""

PHASE = 1.6
"""Each phase of adversarial contexts is so many times as long as the one before."""


@dataclass(frozen=True, kw_only=True)
class Features:
    """What all contextual worlds share. `contexts` says how the features of the actions come about.

    - "isotropic": unit vectors uniform on the sphere, fresh for every person.
    - "ill-conditioned": Gaussian with deviations falling geometrically from 1 to 0.01, cut to the unit ball.
    - "fixed": the same unit vectors for everybody, drawn once per seed. A greedy learner may never try the others.
    - "adversarial": two sets of unit vectors, drawn once per seed, which take turns in growing phases; one lies in the
      even coordinates, the other in the odd ones. What was averaged in one phase says nothing about the next.

    theta* is a unit vector drawn for every seed.
    """

    dimension: int
    arms: int
    contexts: str = "isotropic"
    theta: Drawn = None
    actions: Drawn = None

    def sample(self, key: Key) -> Any:
        theta_key, actions_key = jax.random.split(key)
        theta = _on_sphere(jax.random.normal(theta_key, (self.dimension,)))
        return replace(self, theta=theta, actions=self._actions(actions_key))

    def _actions(self, key: Key) -> jax.Array | None:
        drawn = jax.random.normal(key, (self.arms, self.dimension))
        if self.contexts == "fixed":
            return _on_sphere(drawn)
        if self.contexts == "adversarial":
            even = jnp.arange(self.dimension) % 2 == 0
            return jnp.stack([_on_sphere(drawn * even), _on_sphere(drawn * ~even)])
        return None

    def visit(self, round: jax.Array, key: Key) -> jax.Array:
        if self.contexts == "fixed":
            return self.actions
        if self.contexts == "adversarial":
            phase = jnp.floor(jnp.log1p((PHASE - 1) * round) / jnp.log(PHASE))
            return jnp.where(phase % 2 == 0, self.actions[0], self.actions[1])
        features = normals(key, (self.arms, self.dimension))
        if self.contexts == "ill-conditioned":
            features = features * jnp.geomspace(1.0, 0.01, self.dimension)
            return features / jnp.maximum(1.0, _norm(features))
        return _on_sphere(features)

    def _mean(self, z: jax.Array) -> jax.Array:
        """The expected reward where <x, theta*> is z."""
        return z

    def regret(self, context: jax.Array, action: jax.Array) -> jax.Array:
        rewards = self._mean(context @ self.theta)
        return jnp.max(rewards) - rewards[action]


@configuration("dimension", "arms", "contexts")
class Linear(Features):
    """Rewards are +1 or -1 with mean <x, theta*>."""

    def outcome(self, context: jax.Array, action: jax.Array, key: Key) -> jax.Array:
        return _sign(context[action] @ self.theta, key)


class Visitor(NamedTuple):
    features: jax.Array
    theta: jax.Array


@configuration("dimension", "arms", "contexts", "motion")
class ChangingLinear:
    """The world `linear`, whose theta* goes to another unit vector and back once in `period` rounds (`motion.py`)."""

    dimension: int
    arms: int
    contexts: str = "isotropic"
    motion: str = "switching"
    period: float = 2000.0
    start: Drawn = None
    """The world as it is in the beginning."""
    end: Drawn = None

    def sample(self, key: Key) -> Any:
        start = Linear(dimension=self.dimension, arms=self.arms, contexts=self.contexts).sample(key)
        end = _on_sphere(jax.random.normal(jax.random.fold_in(key, 1), (self.dimension,)))
        return replace(cast(Any, self), start=start, end=end)

    def visit(self, round: jax.Array, key: Key) -> Visitor:
        theta = self.start.theta + moved(self.motion, round, self.period) * (self.end - self.start.theta)
        return Visitor(self.start.visit(round, key), _on_sphere(theta))

    def shown(self, context: Visitor) -> jax.Array:
        return context.features

    def outcome(self, context: Visitor, action: jax.Array, key: Key) -> jax.Array:
        return _sign(context.features[action] @ context.theta, key)

    def regret(self, context: Visitor, action: jax.Array) -> jax.Array:
        """Against the best action for the theta* of the round."""
        rewards = context.features @ context.theta
        return jnp.max(rewards) - rewards[action]


@configuration("dimension", "arms", "contexts", "link")
class Binary(Features):
    """Rewards 0 or 1; the chance of a 1 is the mean of the link ("logistic" or "probit") at <x, theta*>."""

    link: Drawn

    def _mean(self, z: jax.Array) -> jax.Array:
        return Link(self.link).mean(jnp, z)

    def outcome(self, context: jax.Array, action: jax.Array, key: Key) -> jax.Array:
        chance = self._mean(context[action] @ self.theta)
        return (jax.random.uniform(key, dtype=chance.dtype) < chance).astype(chance.dtype)


@configuration("dimension", "arms", "contexts", "maximum")
class Poisson(Features):
    """Counts whose logarithmic mean is <x, theta*>; more than `maximum` counts as `maximum`, in the regret too."""

    maximum: float = 6.0

    def _chances(self, z: jax.Array) -> jax.Array:
        """P(count <= k) for k = 0, ..., maximum - 1, along a new last axis."""
        counts = jnp.arange(int(self.maximum))
        log_factorial = jax.scipy.special.gammaln(counts + 1.0)
        return jnp.cumsum(jnp.exp(counts * z[..., None] - jnp.exp(z[..., None]) - log_factorial), axis=-1)

    def _mean(self, z: jax.Array) -> jax.Array:
        """E min(N, maximum) is the sum of the chances that N exceeds 0, 1, ..., maximum - 1."""
        return jnp.sum(1 - self._chances(z), axis=-1)

    def outcome(self, context: jax.Array, action: jax.Array, key: Key) -> jax.Array:
        share = jax.random.uniform(key, dtype=context.dtype)
        return jnp.sum(self._chances(context[action] @ self.theta) <= share).astype(context.dtype)


def _sign(mean: jax.Array, key: Key) -> jax.Array:
    """1 or -1 with this mean."""
    return jnp.where(jax.random.uniform(key, dtype=mean.dtype) < (1 + mean) / 2, 1.0, -1.0)


def _norm(vectors: jax.Array) -> jax.Array:
    return jnp.sqrt(jnp.sum(vectors * vectors, axis=-1, keepdims=True))


def _on_sphere(vectors: jax.Array) -> jax.Array:
    """Unit vectors; zero stays zero (the odd coordinates of one dimension)."""
    return vectors / jnp.maximum(_norm(vectors), 1e-300)
