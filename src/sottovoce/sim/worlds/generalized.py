"""Generalised linear worlds: the mean reward is a curve of <x, theta*>. Contexts are those of the linear world."""

import jax
import jax.numpy as jnp

from sottovoce.learners.base import Key, configuration
from sottovoce.protocol.links import Link
from sottovoce.sim.worlds.base import Drawn
from sottovoce.sim.worlds.linear import Features


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
