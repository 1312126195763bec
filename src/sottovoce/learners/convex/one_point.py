"""Gradient descent from one number a person, for `fkm` and `agarwal_dekel_xiao`: play a point beside the iterate, move.

    x_t = y_t + rho u_t    g_t = (d/rho) Y_t u_t    y_{t+1} = projection of y_t - eta_t g_t on (1 - rho/r) X

    y_t -> state.iterate    u_t -> memo    rho -> explore    r, R -> region.inner, region.outer

Constants. C is what the observation is taken to be bounded by, B half the range of rewards, G their steepness:
- rule "paper": C = B + the largest noise expected in the horizon, as in the proof of the paper's theorem.
- rule "rms": the methods use the observation only through the mean and the second moment of g. So C is the root mean
  square of the observation, and only the bias terms know B and G, through b = 3 G + 2 B/r.
- `reach` and `pace` multiply rho and eta.

Departures: the middle of the range is subtracted from every observation, which changes no mean of g.
"""

import math
from typing import NamedTuple

import jax

from sottovoce.catalogue.task import Task
from sottovoce.learners.base import Key, Offer, configuration, loss_of, reach_of
from sottovoce.learners.convex.descent import Descent, State
from sottovoce.learners.convex.regions import Region, on_sphere
from sottovoce.privacy.noise import Noise
from sottovoce.protocol.errors import ConfigurationError, UnknownName


@configuration()
class SphereDescent(Descent):
    """Descent on gradients that are estimated from one point of the sphere around the iterate."""

    middle: float

    def ask(self, state: State, key: Key) -> Offer:
        direction = on_sphere(key, self.region.size)
        return Offer(self.region.place(state.iterate + self.explore * direction), direction)

    def tell(self, state: State, memo: jax.Array, estimate: jax.Array) -> State:
        loss = loss_of(estimate, self.middle)
        gradient = self.region.size / self.explore * (loss - self.middle) * memo
        return self._descended(state, gradient)


class Scales(NamedTuple):
    """The numbers that every one-point method is tuned with."""

    half: float
    """B: half the range of rewards."""
    middle: float
    steepness: float
    """G"""
    strength: float
    """mu, or 0"""
    bound: float
    """C under the rule of the preset."""

    def bias(self, region: Region) -> float:
        """B"""
        return 3 * self.steepness + 2 * self.half / float(region.inner)


def scales_of(task: Task, noise: Noise) -> Scales:
    """B, G, mu and C of this task: what is declared, and what the noise is known to be."""
    low, high = float(task.domain["low"]), float(task.domain["high"])
    half = (high - low) / 2
    rule = str(task.tuning["rule"])
    if rule == "paper":
        bound = reach_of(noise, task.rounds, half)
    elif rule == "rms":
        bound = math.sqrt(min(noise.bound**2, half**2 + noise.variance))
    else:
        raise UnknownName(f"rule of {task.learner}", rule, ["paper", "rms"])
    steepness, strength = float(task.tuning["steepness"]), float(task.tuning.get("strength", 0.0))
    if "strength" in task.tuning and strength <= 0:
        raise ConfigurationError(f"{task.learner} needs strongly convex losses: strength above 0, got {strength}")
    return Scales(half, (low + high) / 2, steepness, strength, bound)


def explored(task: Task, region: Region, rho: float) -> float:
    """The exploration radius of this task: `reach` times the formula's, and at most half of the inner radius."""
    return min(float(task.tuning["reach"]) * rho, float(region.inner) / 2)
