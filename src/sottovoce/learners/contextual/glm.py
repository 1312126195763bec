"""Generalised linear bandits: rewards follow a known curve of <x, theta*>, and neither x nor the reward is seen.

Zheng et al. 2020, Algorithm 3, "Generalized Linear Bandits with LDP": the GLOC framework of Jun, Bhargava, Nowak,
Willett, NeurIPS 2017, with noisy gradient descent inside. Gradient descent gives a rough theta^; the pairs (x, <x,
theta^>) are regressed to a refined theta~, around which there is a confidence ellipsoid. Symbols:

    V-bar_t -> state.gram    u~_t -> state.moment    theta^_t -> state.anchor    theta~_t -> state.model.theta
    sigma -> label_noise    C sigma -> gradient_noise    zeta -> step    Upsilon_t -> spectral    c_t -> ridge
    mu -> slope    beta_t -> width    alpha -> alpha

Preset `paper` is the algorithm box: its three messages with their noise, its step and Upsilon. Departures, and why:
- zeta = Theta(1/sqrt T) and beta_t^2 = O~(...) hide constants in the paper: that of zeta is 1, and beta_t is the
  explicit width below.
- c_t is 1 where it would be 0, for the first person, because V~_0 = 0 has no inverse; where noise leaves the matrix
  indefinite the last model stays.

Preset `explicit` repairs the rest. z_t x_t is x_t x_t' theta^_t and theta^_t is public, so that message is not sent:
the server multiplies the noisy x_t x_t' by theta^_t. One joint report of the other two is calibrated for what the
device really clips to (the paper's sensitivity of the gradient is too small for every link whose rewards carry noise).
The step S / sqrt(T (L^2 + d s^2)) knows its noise s, and Upsilon is that of this noise,
s_M sqrt(t) (sqrt(2 d) + sqrt(2 ln(10 T / alpha))); c_t is at least 1.

The width, with probability 1 - alpha at every round (Q is the sum of <x_s, theta^_s - theta*>^2):
- regret of gradient descent: B = S^2/(2 zeta) + zeta/2 * sum |gradient|^2 + 2 S s sqrt(2 t ln(5 T/alpha));
- mu Q - R sqrt(2 (1 + Q) l) <= B with l = ln(5 sqrt(1 + 4 S^2 t)/alpha) (self-normalised bound of Abbasi-Yadkori, Pal,
  Szepesvari 2012, Corollary 8), a quadratic in sqrt(1 + Q), bounds Q;
- beta = sqrt Q + s_u sqrt(t) (sqrt d + sqrt(2 ln(10 T/alpha)))/sqrt(c - Upsilon) + S sqrt(c + Upsilon): regression on
  the pairs, the noise of u~, and the ridge with its noise. s_u is sigma in `paper`; in `explicit` it is s_M S, as the
  noise is that of the matrix times theta^_s.
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
from sottovoce.learners.linalg import inverse, one_if_zero
from sottovoce.privacy.domains import MomentEstimate, RelabelledEstimate, shorten
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
    label_noise: float
    """Deviation of the noise that a report adds to a coordinate of u~, s_u."""
    gradient_noise: float
    step: float
    spread: float
    """The spectral norm of the summed matrix noise, Upsilon_t, in units of sqrt(t)."""
    least_ridge: float
    beta_scale: float

    def init(self) -> State:
        d = self.dimension
        model = Model(jnp.zeros(d), jnp.eye(d), jnp.ones(()))
        return State(jnp.zeros((d, d)), jnp.zeros(d), jnp.zeros(d), jnp.zeros(()), jnp.zeros(()), model)

    def ask(self, state: State, key: Key) -> Offer:
        return Offer(GeneralizedModel(*state.model, jnp.zeros(()), state.anchor), memo=state.anchor)

    def tell(self, state: State, memo: jax.Array, estimate: RelabelledEstimate | MomentEstimate) -> State:
        if isinstance(estimate, MomentEstimate):
            estimate = RelabelledEstimate(estimate.gram, estimate.gram @ memo, estimate.moment)
        gram, labelled, gradient = estimate
        return state._replace(
            gram=state.gram + gram,
            moment=state.moment + labelled,
            anchor=shorten(jnp, state.anchor - self.step * gradient, self.radius),
            squares=state.squares + gradient @ gradient,
            reports=state.reports + 1,
        )

    def refresh(self, state: State) -> State:
        spectral = self.spread * jnp.sqrt(state.reports)
        ridge = one_if_zero(jnp.maximum(2 * spectral, self.least_ridge))
        precision, definite = inverse(state.gram + ridge * jnp.eye(self.dimension))
        width = self.beta_scale * self.width(state, ridge, spectral)
        return state._replace(model=choose(definite, Model(precision @ state.moment, precision, width), state.model))

    def width(self, state: State, ridge: jax.Array, spectral: jax.Array) -> jax.Array:
        """The radius beta_t of the confidence ellipsoid around theta~_t."""
        time, confident = state.reports, jnp.log(10 * self.rounds / self.alpha)
        labels = self.label_noise * jnp.sqrt(time) * (math.sqrt(self.dimension) + jnp.sqrt(2 * confident))
        regressed = jnp.sqrt(self._squared_errors(state)) + labels / jnp.sqrt(ridge - spectral)
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
    matrix, vector = noise.per_block[0], noise.per_block[-1]
    if paper := rule == "paper":
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
        label_noise=noise.per_block[2] if paper else link.radius * matrix,
        gradient_noise=vector,
        step=step,
        spread=spread,
        least_ridge=0.0 if paper else 1.0,
        beta_scale=float(task.tuning["beta_scale"]),
    )
