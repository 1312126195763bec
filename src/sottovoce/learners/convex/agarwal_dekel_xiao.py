"""Gradient descent from one number a person, with falling steps; strongly convex losses.

Agarwal, Dekel and Xiao, "Optimal algorithms for online convex optimization with multi-point bandit feedback", COLT
2010, section on one point; a black box of the paper's Algorithm 1. The descent, C, B, G and b are those of `one_point`.

    rho = (d^2 C^2 (1 + ln T)/(mu T b))^(1/3), which balances variance and bias    eta_t = 1/(mu (t + t0))

- rule "paper": C in place of B in b, and t0 = 0.
- rule "rms": t0 = (d C/(rho mu R))^2, so that the first steps do not carry the iterate across the region.
"""

import math

from sottovoce.catalogue.task import Task
from sottovoce.learners.convex.one_point import SphereDescent, explored, scales_of
from sottovoce.learners.convex.regions import region_of
from sottovoce.privacy.noise import Noise


def build(task: Task, noise: Noise) -> SphereDescent:
    region, scales = region_of(task.region, task.dimension), scales_of(task, noise)
    paper = task.tuning["rule"] == "paper"
    if paper:
        scales = scales._replace(half=scales.bound)
    variance = (region.size * scales.bound) ** 2 * (1 + math.log(task.rounds)) / scales.strength
    explore = explored(task, region, (variance / (task.rounds * scales.bias(region))) ** (1 / 3))
    swing = region.size * scales.bound / explore  # the root mean square of a gradient
    return SphereDescent(
        region=region,
        explore=explore,
        rate=float(task.tuning["pace"]),
        strength=scales.strength,
        offset=0.0 if paper else (swing / (scales.strength * float(region.outer))) ** 2,
        middle=scales.middle,
    )
