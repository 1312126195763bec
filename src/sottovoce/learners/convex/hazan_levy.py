"""A barrier and one number a person; strongly convex and smooth losses.

Hazan and Levy, "Bandit convex optimization: towards tight bounds", NeurIPS 2014; a black box of the paper's Algorithm
1. The method is that of `barrier`, C that of `one_point`, beta the smoothness and nu the barrier's parameter:

    delta = 1    eta = sqrt((nu + 2 beta/mu) ln T/(2 d^2 C^2 T))
"""

import math

from sottovoce.catalogue.task import Task
from sottovoce.learners.convex.barrier import BarrierDescent
from sottovoce.learners.convex.one_point import scales_of
from sottovoce.learners.convex.regions import region_of
from sottovoce.privacy.noise import Noise


def build(task: Task, noise: Noise) -> BarrierDescent:
    region, scales = region_of(task.region, task.dimension), scales_of(task, noise)
    condition = region.nu + 2 * float(task.tuning["smoothness"]) / scales.strength
    spread = math.sqrt(condition * math.log(max(task.rounds, 2)) / (2 * task.rounds))
    rate = float(task.tuning["pace"]) * spread / (region.size * scales.bound)
    return BarrierDescent(region=region, explore=1.0, rate=rate, strength=scales.strength, middle=scales.middle)
