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

from sottovoce.catalogue.task import Task
from sottovoce.learners.base import Key, Offer, configuration
from sottovoce.learners.tally import Averaging, Tally, largest
from sottovoce.privacy.noise import Noise

STEPS = 4
"""Of Newton's method: what is left is below 1e-10 (tested)."""


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
        """The q above p with d(p, q) = level, by Newton's method from above.

        In q the divergence is convex, so each step ends above the solution or on it. The first q is the smallest of
        three that are above: d(p, q) is at least (q - p)^2 / (2 v), where v is the largest x (1 - x) between p and q,
        which is at most q, and at most 1/4, or p (1 - p) for p above 1/2; and at least -h(p) - (1 - p) ln(1 - q).
        """
        p = jnp.clip(mean, 1e-12, 1 - 1e-12)
        own = p * jnp.log(p) + (1 - p) * jnp.log1p(-p)
        spread = jnp.where(p > 0.5, p * (1 - p), 0.25)
        q = jnp.minimum(p + jnp.sqrt(2 * spread * level), -jnp.expm1((own - level) / (1 - p)))
        q = jnp.minimum(q, p + level + jnp.sqrt(level * (level + 2 * p)))
        for _ in range(STEPS):
            q = jnp.clip(q, p + 1e-12, 1 - 1e-12)
            beyond = own - p * jnp.log(q) - (1 - p) * jnp.log1p(-q) - level
            q = q - beyond * q * (1 - q) / (q - p)
        return jnp.clip(q, p, 1 - 1e-12)


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
