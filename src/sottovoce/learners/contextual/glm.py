"""Generalised linear bandits: rewards follow a known curve of <x, theta*>, and neither x nor the reward is seen.

Zheng et al. 2020, Algorithm 3, "Generalized Linear Bandits with LDP": the GLOC framework of Jun, Bhargava, Nowak,
Willett, NeurIPS 2017, with noisy gradient descent inside. Gradient descent gives a rough theta^; the pairs (x, <x,
theta^>) are regressed to a refined theta~, around which there is a confidence ellipsoid. Symbols:

    V-bar_t -> state.gram    u~_t -> state.moment    theta^_t -> state.anchor    theta~_t -> state.model.theta
    sigma -> matrix_noise    C sigma -> gradient_noise    zeta -> step    Upsilon_t -> spectral    c_t -> ridge
    mu -> slope    beta_t -> width    alpha -> alpha

Preset `paper` is the algorithm box with its noise, step and Upsilon. Departures, and why:
- z_t x_t is x_t x_t' theta^_t and theta^_t is public, so that message is not sent: the server multiplies the noisy
  x_t x_t' by theta^_t. The noise of the two messages that remain is that of the paper's three.
- beta_t hides its constant in the paper; ours is the explicit one below.
- c_t is at least 1, because V~_0 = 0 has no inverse; where noise leaves the matrix indefinite the last model stays.

Preset `explicit` repairs the rest: one joint report calibrated for what the device really clips to (the paper's
sensitivity of the gradient is too small for every link whose rewards carry noise), the step S / sqrt(T (L^2 + d s^2))
that knows its noise s, and the Upsilon of that noise, s_M sqrt(t) (sqrt(2 d) + sqrt(2 ln(10 T / alpha))).

The width, with probability 1 - alpha at every round (Q is the sum of <x_s, theta^_s - theta*>^2):
- regret of gradient descent: B = S^2/(2 zeta) + zeta/2 * sum |gradient|^2 + 2 S s sqrt(2 t ln(5 T/alpha));
- mu Q - R sqrt(2 (1 + Q) l) <= B with l = ln(5 sqrt(1 + 4 S^2 t)/alpha) (self-normalised bound of Abbasi-Yadkori, Pal,
  Szepesvari 2012, Corollary 8), a quadratic in sqrt(1 + Q), bounds Q;
- beta = sqrt Q + s_M S sqrt(t) (sqrt d + sqrt(2 ln(10 T/alpha)))/sqrt(c - Upsilon) + S sqrt(c + Upsilon): regression on
  the pairs, the noise of the matrix times theta^_s, and the ridge with its noise.
`beta_scale` multiplies it: 1 is the theorem.

Preset `practical` is the learner `gradient`: theta^ alone, well tuned. After the 20,000 rounds of
experiments/logistic.toml it has a third of the regret of `explicit`.
"""

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp

from sottovoce.catalogue.task import Task
from sottovoce.learners.base import Key, Offer, choose, configuration
from sottovoce.learners.contextual import gradient
from sottovoce.learners.linalg import inverse
from sottovoce.privacy.domains import MomentEstimate, shorten
from sottovoce.privacy.noise import Noise
from sottovoce.protocol.links import link_of
from sottovoce.protocol.offers import GeneralizedModel


class Model(NamedTuple):
    """What was regressed, as published last."""

    theta: jax.Array
    precision: jax.Array
    width: jax.Array


class State(NamedTuple):
    gram: jax.Array
    moment: jax.Array
    anchor: jax.Array
    squares: jax.Array
    """The sum of the squared lengths of the noisy gradients."""
    reports: jax.Array
    model: Model


@configuration("dimension")
class ConfidentGlm:
    """Algorithm 3: regression on the predictions of noisy gradient descent, with its confidence ellipsoid."""

    dimension: int
    rounds: float
    alpha: float
    radius: float
    slope: float
    """The least slope of the link, mu."""
    deviation: float
    """Rewards are sub-Gaussian with it, R."""
    matrix_noise: float
    gradient_noise: float
    step: float
    spread: float
    """The spectral norm of the summed matrix noise, Upsilon_t, in units of sqrt(t)."""
    beta_scale: float

    def init(self) -> State:
        d = self.dimension
        model = Model(jnp.zeros(d), jnp.eye(d), jnp.ones(()))
        return State(jnp.zeros((d, d)), jnp.zeros(d), jnp.zeros(d), jnp.zeros(()), jnp.zeros(()), model)

    def ask(self, state: State, key: Key) -> Offer:
        return Offer(GeneralizedModel(*state.model, jnp.zeros(()), state.anchor), memo=state.anchor)

    def tell(self, state: State, memo: jax.Array, estimate: MomentEstimate) -> State:
        descended = state.anchor - self.step * estimate.moment
        return state._replace(
            gram=state.gram + estimate.gram,
            moment=state.moment + estimate.gram @ memo,
            anchor=shorten(jnp, descended, self.radius),
            squares=state.squares + estimate.moment @ estimate.moment,
            reports=state.reports + 1,
        )

    def refresh(self, state: State) -> State:
        spectral = self.spread * jnp.sqrt(state.reports)
        ridge = jnp.maximum(2 * spectral, 1.0)
        precision, definite = inverse(state.gram + ridge * jnp.eye(self.dimension))
        width = self.beta_scale * self.width(state, ridge, spectral)
        return state._replace(model=choose(definite, Model(precision @ state.moment, precision, width), state.model))

    def width(self, state: State, ridge: jax.Array, spectral: jax.Array) -> jax.Array:
        """The radius beta_t of the confidence ellipsoid around theta~_t."""
        time, confident = state.reports, jnp.log(10 * self.rounds / self.alpha)
        multiplied = self.matrix_noise * jnp.sqrt(time) * (math.sqrt(self.dimension) + jnp.sqrt(2 * confident))
        regressed = jnp.sqrt(self._squared_errors(state)) + self.radius * multiplied / jnp.sqrt(ridge - spectral)
        return regressed + self.radius * jnp.sqrt(ridge + spectral)

    def _squared_errors(self, state: State) -> jax.Array:
        """A bound on the sum of <x_s, theta^_s - theta*>^2, from what is seen."""
        time, mu = state.reports, self.slope
        luck = 2 * self.radius * self.gradient_noise * jnp.sqrt(2 * time * jnp.log(5 * self.rounds / self.alpha))
        descent = self.radius**2 / (2 * self.step) + self.step / 2 * state.squares + luck
        level = jnp.log(5 * jnp.sqrt(1 + 4 * self.radius**2 * time) / self.alpha)
        linear = self.deviation * jnp.sqrt(2 * level)
        root = (linear + jnp.sqrt(linear**2 + 4 * mu * (descent + mu))) / (2 * mu)
        return jnp.minimum(root**2 - 1, 4 * self.radius**2 * time)


def build(task: Task, noise: Noise) -> ConfidentGlm | gradient.PrivateGradient:
    rule = task.tuning["rule"]
    if rule == "gradient":
        return gradient.build(task, noise)
    link, d, alpha = link_of(task.tuning), task.dimension, float(task.tuning["alpha"])
    matrix, _, vector = noise.per_block
    if rule == "paper":
        step = 1 / math.sqrt(task.rounds)
        spread = matrix * (4 * math.sqrt(d) + 2 * math.log(2 * task.rounds / alpha))
    else:
        step = link.radius / math.sqrt(task.rounds * (link.residual**2 + d * vector**2))
        spread = matrix * (math.sqrt(2 * d) + math.sqrt(2 * math.log(10 * task.rounds / alpha)))
    return ConfidentGlm(
        dimension=d,
        rounds=float(task.rounds),
        alpha=alpha,
        radius=link.radius,
        slope=link.least_slope,
        deviation=link.deviation,
        matrix_noise=matrix,
        gradient_noise=vector,
        step=step,
        spread=spread,
        beta_scale=float(task.tuning["beta_scale"]),
    )
