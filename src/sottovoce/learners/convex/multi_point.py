"""Gradient descent from slopes: each person tries pairs of points and reports how steep it is between them.

Zheng et al. 2020, Algorithm 2; without privacy Agarwal, Dekel and Xiao, COLT 2010. Directions u_1..u_m, slopes
of the loss s_j = (f(y + rho u_j) - f(y - rho u_j))/(2 rho), clipped on the device to [-G, G] or the ball of radius G:

    g = (d/m) sum_j s_j u_j        y <- projection of y - eta_t g on (1 - rho/r) X

- "sphere": one uniformly random direction, two points: the paper's Algorithm 2.
- "orthonormal": m random orthonormal directions, 2 m points. Under local privacy more points do help: the noise in g
  falls with sqrt(m), where the paper expects little difference.
- "axes": the d coordinate directions from y itself, d + 1 points and no randomness.

Constants, with V the mean square of g, v the variance of a slope's noise: V = (d^2/m) (G^2/(d - 1) + v) for random
directions, because on the sphere a G-Lipschitz function varies little (Poincare); V = G^2 + d v for the axes.
- rule "rms": eta = R/sqrt(T V), regret at most R sqrt(T V) + lower terms; with strong convexity mu
  eta_t = 1/(mu (t + t0)), t0 = V/(mu R)^2.
- rule "paper": eta = 1/sqrt T, or 1/(mu t): without the noise, so it learns where there is little of it only.
rho = ln T/T by rule "paper" (T at least 2), ln(T + 1)/T by rule "rms". `pace` multiplies eta.

Departures: the slope is sent, not the difference, so nothing is lost to cancellation and its range does not depend on
rho; one number of noise, not d of them (the paper's n'u has the same law for Gaussian noise; for Laplace noise it has
not, and would cost up to sqrt d times epsilon).
"""

import math

import jax
import jax.numpy as jnp

from sottovoce.catalogue.task import Task
from sottovoce.learners.base import Key, Offer, configuration, loss_of
from sottovoce.learners.convex.descent import Descent, State
from sottovoce.learners.convex.regions import on_sphere, region_of
from sottovoce.privacy.noise import Noise
from sottovoce.protocol.errors import ConfigurationError, UnknownName


@configuration("directions", "design")
class SlopeDescent(Descent):
    """Descent on slopes between pairs of points around the iterate."""

    directions: int
    design: str

    def ask(self, state: State, key: Key) -> Offer:
        size = self.region.size
        if self.design == "axes":
            directions, behind = jnp.eye(size), jnp.zeros((size, size))
        else:
            directions = orthonormal(key, self.directions, size)
            behind = -directions
        around = state.iterate + self.explore * jnp.concatenate([directions, behind])
        return Offer(jax.vmap(self.region.place)(around), directions)

    def tell(self, state: State, memo: jax.Array, estimate: jax.Array) -> State:
        slopes = jnp.reshape(loss_of(estimate, 0.0), (self.directions,))
        return self._descended(state, self.region.size / self.directions * slopes @ memo)


def orthonormal(key: Key, count: int, size: int) -> jax.Array:
    """So many random orthonormal directions, one a row, by Gram and Schmidt."""
    rows: list[jax.Array] = []
    for part in jax.random.split(key, count):
        row = on_sphere(part, size)
        for _ in range(2 if rows else 0):  # twice is enough against rounding
            for other in rows:
                row = row - (row @ other) * other
            row = row / jnp.sqrt(row @ row)
        rows.append(row)
    return jnp.stack(rows)


def build(task: Task, noise: Noise) -> SlopeDescent:
    region, tuning = region_of(task.region, task.dimension), task.tuning
    size, design, rule = region.size, str(tuning["design"]), str(tuning["rule"])
    directions = {"sphere": 1, "orthonormal": int(tuning.get("directions", 1)), "axes": size}.get(design)
    if directions is None:
        raise UnknownName(f"design of {task.learner}", design, ["sphere", "orthonormal", "axes"])
    if not 1 <= directions <= size:
        raise ConfigurationError(f"{task.learner} needs 1 to {size} directions in this region, got {directions}")
    strength, outer = float(tuning["strength"]), float(region.outer)
    if rule == "rms":
        square = _mean_square(design, directions, size, task, noise)
        rate = 1.0 if strength else outer / math.sqrt(task.rounds * square)
        offset = square / (strength * outer) ** 2 if strength else 0.0
        explore = math.log(task.rounds + 1) / task.rounds
    elif rule == "paper":
        rate, offset = 1.0 if strength else 1 / math.sqrt(task.rounds), 0.0
        explore = math.log(max(task.rounds, 2)) / task.rounds
    else:
        raise UnknownName(f"rule of {task.learner}", rule, ["paper", "rms"])
    return SlopeDescent(
        region=region,
        directions=directions,
        design=design,
        explore=min(explore, float(region.inner) / 2),
        rate=float(tuning["pace"]) * rate,
        strength=strength,
        offset=offset,
    )


def _mean_square(design: str, directions: int, size: int, task: Task, noise: Noise) -> float:
    """V, the mean square of a gradient estimate; slopes are clipped to G, the steepness."""
    steepness = float(task.domain["high"] if task.domain["kind"] == "interval" else task.domain["bound"])
    if design == "axes":
        return steepness**2 + size * noise.variance
    slope = steepness**2 / max(size - 1, 1)
    return size**2 / directions * (slope + noise.variance)
