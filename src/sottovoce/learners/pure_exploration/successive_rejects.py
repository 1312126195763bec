"""Successive Rejects: a fixed budget, one arm is dropped after every phase.

Audibert, Bubeck and Munos, "Best arm identification in multi-armed bandits", COLT 2010. There are K - 1 phases. After
phase k every active arm has n_k = ceil((T - K) / (lg (K + 1 - k))) pulls with lg = 1/2 + sum_{i=2..K} 1/i, and the
worst is dropped. Wrong with probability at most K(K - 1)/2 exp(-(T - K) / (lg H)). Symbols, noise and departures are
those of `fixed_budget`.
"""

import itertools
import math

from sottovoce.catalogue.task import Task
from sottovoce.learners.pure_exploration.fixed_budget import FixedBudget, Phase
from sottovoce.privacy.noise import Noise
from sottovoce.protocol.errors import ConfigurationError


def build(task: Task, noise: Noise) -> FixedBudget:
    schedule = rejects(task.arms, task.rounds)
    return FixedBudget(arms=task.arms, budget=task.rounds, schedule=schedule, fresh=False)


def rejects(arms: int, budget: int) -> tuple[Phase, ...]:
    """The phases of Successive Rejects; those that add no pulls are one with the phase before.

    >>> rejects(4, 100)
    (Phase(quota=16, survivors=3), Phase(quota=21, survivors=2), Phase(quota=31, survivors=1))
    """
    if budget <= arms:
        raise ConfigurationError(f"successive-rejects of {arms} arms needs {arms + 1} rounds, got {budget}")
    logarithm = 0.5 + sum(1 / i for i in range(2, arms + 1))
    phases = [Phase(math.ceil((budget - arms) / (logarithm * active)), active - 1) for active in range(arms, 1, -1)]
    together = itertools.groupby(phases, key=lambda phase: phase.quota)
    return tuple(list(group)[-1] for _, group in together)
