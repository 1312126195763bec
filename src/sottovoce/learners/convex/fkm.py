"""FKM: gradient descent without a gradient, from one number a person; convex losses.

Flaxman, Kalai and McMahan, "Online convex optimization in the bandit setting", SODA 2005; a black box of the paper's
Algorithm 1. The descent, C, B, G and b are those of `one_point`.

- rule "paper": eta = rho R/(d C sqrt T), rho = T^(-1/4) sqrt(R d C r/(3(G r + C))).
- rule "rms": the same eta, rho = T^(-1/4) sqrt(R d C/b), which bounds the regret by 2 T^(3/4) sqrt(R d C b).
"""

import math

from sottovoce.catalogue.task import Task
from sottovoce.learners.convex.one_point import Scales, SphereDescent, explored, scales_of
from sottovoce.learners.convex.regions import Region, region_of
from sottovoce.privacy.noise import Noise


def build(task: Task, noise: Noise) -> SphereDescent:
    region, scales = region_of(task.region, task.dimension), scales_of(task, noise)
    explore = explored(task, region, _rho(task, region, scales))
    swing = region.size * scales.bound / explore  # the root mean square of a gradient
    rate = float(region.outer) / (swing * math.sqrt(task.rounds))
    return SphereDescent(
        region=region,
        explore=explore,
        rate=float(task.tuning["pace"]) * rate,
        strength=0.0,
        offset=0.0,
        middle=scales.middle,
    )


def _rho(task: Task, region: Region, scales: Scales) -> float:
    inner, product = float(region.inner), float(region.outer) * region.size * scales.bound
    if task.tuning["rule"] == "paper":
        square = product * inner / (3 * (scales.steepness * inner + scales.bound))
    else:
        square = product / scales.bias(region)
    return task.rounds**-0.25 * math.sqrt(square)
