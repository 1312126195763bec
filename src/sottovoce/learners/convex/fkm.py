"""FKM: gradient descent without a gradient, from one number a person; convex losses.

Flaxman, Kalai and McMahan, "Online convex optimization in the bandit setting", SODA 2005; a black box of the paper's
Algorithm 1. The descent, C, B, G and b are those of `one_point`.

- rule "paper": eta = rho R/(d C sqrt T), rho = T^(-1/4) sqrt(R d C r/(3(G r + C))).
- rule "rms": the same eta, rho = T^(-1/4) sqrt(R d C/b), which bounds the regret by 2 T^(3/4) sqrt(R d C b).
"""

import math

from sottovoce.catalogue.task import Task
from sottovoce.learners.convex.one_point import SphereDescent, explored, scales_of
from sottovoce.learners.convex.regions import region_of
from sottovoce.privacy.noise import Noise


def build(task: Task, noise: Noise) -> SphereDescent:
    region, scales = region_of(task.region, task.dimension), scales_of(task, noise)
    inner, outer, size = float(region.inner), float(region.outer), region.size
    if task.tuning["rule"] == "paper":
        square = outer * size * scales.bound * inner / (3 * (scales.steepness * inner + scales.bound))
    else:
        square = outer * size * scales.bound / scales.bias(region)
    explore = explored(task, region, task.rounds**-0.25 * math.sqrt(square))
    swing = size * scales.bound / explore  # the root mean square of a gradient
    rate = float(task.tuning["pace"]) * (outer / (swing * math.sqrt(task.rounds)))
    return SphereDescent(region=region, explore=explore, rate=rate, strength=0.0, offset=0.0, middle=scales.middle)
