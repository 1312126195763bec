"""KL-UCB, kl-UCB++ and kl-MOSS: optimism by Kullback-Leibler confidence bounds, for stochastic arms.

Garivier and Cappe, "The KL-UCB algorithm for bounded stochastic bandits and beyond", COLT 2011; named by the paper as a
black box for Algorithm 1. The arm with the largest

    max { q : N_a d(mean_a, q) <= ln t + c ln ln t }        c -> exploration (3 in theory, 0 in practice)

kl-UCB++ (Menard and Garivier, "A minimax and asymptotically optimal algorithm for stochastic bandits", ALT 2017) knows
the horizon T and is minimax optimal too. Its level depends on the arm: with y = T / (K N_a),

    N_a d(mean_a, q) <= ln+( y (1 + s ln+(y)^2) )           T -> horizon (0 for KL-UCB)    s -> surplus (1)

`kl-moss` leaves the surplus out (s = 0). That is the level of MOSS (Audibert and Bubeck, "Minimax policies for
adversarial and stochastic bandits", COLT 2009) with the divergence in place of the square. The proof for kl-UCB++ needs
the surplus; with 100,000 people it only costs.

- Bounded estimates (randomised response): mapped to [0, 1], d is the Bernoulli divergence. Arms keep their order, so
  this is KL-UCB on the privatised bits, asymptotically optimal among learners that see those.
- Unbounded ones: the Bernoulli divergence would be wrong. d(p, q) = (p - q)^2 / (2 proxy), and Laplace noise, which is
  not sub-Gaussian, adds Bernstein's linear term.
"""

import math

import jax
import jax.numpy as jnp
from jax import lax

from sottovoce.catalogue.task import Task
from sottovoce.learners.base import Key, Offer, configuration
from sottovoce.learners.tally import Averaging, Tally, largest
from sottovoce.privacy.noise import Noise


@configuration("arms", "bounded")
class KlUcb(Averaging):
    """Plays the arm with the largest Kullback-Leibler upper bound."""

    bounded: bool
    exploration: float
    horizon: float
    surplus: float
    reach: float
    proxy: float
    tail: float

    def ask(self, state: Tally, key: Key) -> Offer:
        pulls = jnp.maximum(state.pulls, 1.0)
        level = jnp.where(self.horizon > 0, self._known_horizon(pulls), self._anytime(pulls)) / pulls
        if self.bounded:
            return largest(state, self._bernoulli(state.means, level))
        return largest(state, state.means + jnp.sqrt(2 * self.proxy * level) + self.tail * level)

    def tell(self, state: Tally, memo: jax.Array, estimate: jax.Array) -> Tally:
        """Bounded estimates are mapped from their range to [0, 1]."""
        reward = 0.5 + (estimate - 0.5) / (2 * self.reach) if self.bounded else estimate
        return super().tell(state, memo, reward)

    def _anytime(self, pulls: jax.Array) -> jax.Array:
        time = jnp.sum(pulls)
        return jnp.log(time) + self.exploration * jnp.log(jnp.maximum(jnp.log(time), 1.0))

    def _known_horizon(self, pulls: jax.Array) -> jax.Array:
        share = jnp.maximum(self.horizon / (self.arms * pulls), 1.0)  # below one the logarithm counts as zero
        return jnp.log(share * (1 + self.surplus * jnp.log(share) ** 2))

    def _bernoulli(self, mean: jax.Array, level: jax.Array) -> jax.Array:
        p = jnp.clip(mean, 1e-12, 1 - 1e-12)

        def halve(_: int, ends: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
            low, high = ends
            q = (low + high) / 2
            divergence = p * jnp.log(p / q) + (1 - p) * jnp.log((1 - p) / (1 - q))
            inside = divergence <= level
            return jnp.where(inside, q, low), jnp.where(inside, high, q)

        return lax.fori_loop(0, 24, halve, (p, jnp.full_like(p, 1 - 1e-12)))[0]


def build(task: Task, noise: Noise) -> KlUcb:
    bounded = math.isfinite(noise.bound)
    return KlUcb(
        arms=task.arms,
        bounded=bounded,
        exploration=float(task.tuning.get("exploration", 0.0)),
        horizon=0.0 if task.learner == "kl-ucb" else float(task.rounds),
        surplus=1.0 if task.learner == "kl-ucb-plus-plus" else 0.0,
        reach=noise.bound if bounded else 1.0,
        proxy=noise.proxy,
        tail=noise.tail,
    )
