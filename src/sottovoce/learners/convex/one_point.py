"""Gradient descent from one number a person: play a point beside the iterate, hear the loss, move.

Flaxman, Kalai and McMahan, "Online convex optimization in the bandit setting", SODA 2005 (convex losses), and Agarwal,
Dekel and Xiao, "Optimal algorithms for online convex optimization with multi-point bandit feedback", COLT 2010, section
on one point (strongly convex losses). Black boxes of the paper's Algorithm 1.

    x_t = y_t + rho u_t    g_t = (d/rho) Y_t u_t    y_{t+1} = projection of y_t - eta_t g_t on (1 - rho/r) X

    y_t -> state.iterate    u_t -> memo    rho -> explore    r, R -> region.inner, region.outer

Constants. C is what the observation is taken to be bounded by, B half the range of losses, G their steepness:
- rule "paper": C = B + the largest noise expected in the horizon, as in the proof of the paper's theorem; Flaxman et
  al. eta = rho R/(d C sqrt T), rho = T^(-1/4) sqrt(R d C r/(3(G r + C))); Agarwal et al. eta_t = 1/(mu t).
- rule "rms": both methods use the observation only through the mean and the second moment of g. So C is the root mean
  square of the observation, and only the bias terms know B and G, through b = 3 G + 2 B/r:
  rho = T^(-1/4) sqrt(R d C/b), which bounds the regret by 2 T^(3/4) sqrt(R d C b); for strongly convex losses
  rho = (d^2 C^2 (1 + ln T)/(mu T b))^(1/3) and eta_t = 1/(mu (t + t0)) with t0 = (d C/(rho mu R))^2, so that the first
  steps do not throw the iterate across the region.
- `reach` and `pace` multiply rho and eta.

Departures: the middle of the range is subtracted from every observation, which changes no mean of g.
"""

import math
from typing import Any, NamedTuple

import jax

from sottovoce.catalogue.task import Task
from sottovoce.learners.base import Key, Offer, configuration, largest_noise
from sottovoce.learners.convex.descent import State, descend, start, step_size
from sottovoce.learners.convex.regions import on_sphere, region_of
from sottovoce.learners.losses import loss_of
from sottovoce.privacy.noise import Noise
from sottovoce.protocol.errors import UnknownName


@configuration()
class SphereDescent:
    """See the module's first lines."""

    region: Any
    explore: float
    rate: float
    strength: float
    offset: float
    middle: float

    def init(self) -> State:
        return start(self.region.size)

    def ask(self, state: State, key: Key) -> Offer:
        direction = on_sphere(key, self.region.size)
        return Offer(self.region.place(state.iterate + self.explore * direction), direction)

    def tell(self, state: State, memo: jax.Array, estimate: jax.Array) -> State:
        gradient = self.region.size / self.explore * (loss_of(estimate, self.middle) - self.middle) * memo
        step = step_size(self.rate, self.strength, self.offset, state.round)
        return descend(state, gradient, self.region, 1 - self.explore / self.region.inner, step)


class Scales(NamedTuple):
    """The numbers that every one-point method is tuned with."""

    half: float
    """B: half the range of losses."""
    middle: float
    steepness: float
    """G"""
    strength: float
    """mu, or 0"""
    bound: float
    """C under the rule of the preset."""


def scales_of(task: Task, noise: Noise) -> Scales:
    """B, G, mu and C of this task: what is declared, and what the noise is known to be."""
    low, high = float(task.domain["low"]), float(task.domain["high"])
    half = (high - low) / 2
    rule = str(task.tuning["rule"])
    if rule == "paper":
        bound = noise.bound if math.isfinite(noise.bound) else half + largest_noise(noise, task.rounds)
    elif rule == "rms":
        bound = math.sqrt(min(noise.bound**2, half**2 + noise.variance))
    else:
        raise UnknownName(f"rule of {task.learner}", rule, ["paper", "rms"])
    steepness, strength = float(task.tuning["steepness"]), float(task.tuning.get("strength", 0.0))
    return Scales(half, (low + high) / 2, steepness, strength, bound)


def build(task: Task, noise: Noise) -> SphereDescent:
    """The learner for this task and this noise."""
    region, scales = region_of(task.region, task.dimension), scales_of(task, noise)
    explore = float(task.tuning["reach"]) * (_explore_strong if scales.strength else _explore)(task, region, scales)
    explore = min(explore, float(region.inner) / 2)
    size, outer = region.size, float(region.outer)
    swing = size * scales.bound / explore  # the root mean square of a gradient
    paper = task.tuning["rule"] == "paper"
    if scales.strength:
        rate, offset = 1.0, 0.0 if paper else (swing / (scales.strength * outer)) ** 2
    else:
        rate, offset = outer / (swing * math.sqrt(task.rounds)), 0.0
    return SphereDescent(
        region=region,
        explore=explore,
        rate=float(task.tuning["pace"]) * rate,
        strength=scales.strength,
        offset=offset,
        middle=scales.middle,
    )


def _explore(task: Task, region: Any, scales: Scales) -> float:
    """The exploration radius for convex losses."""
    size, inner, outer, bound = region.size, float(region.inner), float(region.outer), scales.bound
    if task.tuning["rule"] == "paper":
        square = outer * size * bound * inner / (3 * (scales.steepness * inner + bound))
    else:
        square = outer * size * bound / (3 * scales.steepness + 2 * scales.half / inner)
    return task.rounds**-0.25 * math.sqrt(square)


def _explore_strong(task: Task, region: Any, scales: Scales) -> float:
    """The exploration radius for strongly convex losses: where variance and bias of the bound are balanced."""
    half = scales.bound if task.tuning["rule"] == "paper" else scales.half
    variance = (region.size * scales.bound) ** 2 * (1 + math.log(task.rounds)) / scales.strength
    return (variance / (task.rounds * (3 * scales.steepness + 2 * half / float(region.inner)))) ** (1 / 3)
