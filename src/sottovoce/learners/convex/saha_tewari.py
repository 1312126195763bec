"""A barrier and one number a person; convex and smooth losses.

Saha and Tewari, "Improved regret guarantees for online smooth convex optimization with bandit feedback", AISTATS 2011;
a black box of the paper's Algorithm 1. The method is that of `barrier` with mu = 0, C that of `one_point`, beta the
smoothness, nu the barrier's parameter and D the diameter:

    a = 2 d C sqrt(2 nu T ln T)    b = T beta D^2/4
    delta = min(1, (a/2b)^(1/3))    eta = delta sqrt(nu ln T/(2 T))/(d C)

The regret is at most 3/2^(2/3) a^(2/3) b^(1/3) + 2 B.
"""

import math

from sottovoce.catalogue.task import Task
from sottovoce.learners.convex.barrier import BarrierDescent
from sottovoce.learners.convex.one_point import scales_of
from sottovoce.learners.convex.regions import region_of
from sottovoce.privacy.noise import Noise


def build(task: Task, noise: Noise) -> BarrierDescent:
    region, scales, tuning = region_of(task.region, task.dimension), scales_of(task, noise), task.tuning
    size, rounds, logarithm = region.size, task.rounds, math.log(max(task.rounds, 2))
    variance = 2 * size * scales.bound * math.sqrt(2 * region.nu * rounds * logarithm)
    bias = rounds * float(tuning["smoothness"]) * float(region.outer) ** 2
    explore = min(1.0, float(tuning["reach"]) * (variance / (2 * bias)) ** (1 / 3))
    rate = explore * math.sqrt(region.nu * logarithm / (2 * rounds)) / (size * scales.bound)
    pace, middle = float(tuning["pace"]), scales.middle
    return BarrierDescent(region=region, explore=explore, rate=pace * rate, strength=0.0, middle=middle)
