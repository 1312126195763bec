"""Sequential Halving: a fixed budget, the worse half of the arms is dropped after every phase.

Karnin, Koren and Somekh, "Almost optimal exploration in multi-armed bandits", ICML 2013. There are L = ceil(log2 K)
phases. A phase with S arms pulls each floor(T / (S L)) times and keeps the better half. The theorem compares arms by
the pulls of the phase alone (samples "fresh"); in practice old pulls count too ("all"). Wrong with probability at most
3 log2 K exp(-T / (8 H log2 K)) for rewards in [0, 1]. Symbols, noise and departures are those of `fixed_budget`.
"""

from sottovoce.catalogue.task import Task
from sottovoce.learners.pure_exploration.fixed_budget import FixedBudget, Phase
from sottovoce.privacy.noise import Noise
from sottovoce.protocol.errors import ConfigurationError, UnknownName


def build(task: Task, noise: Noise) -> FixedBudget:
    samples = str(task.tuning["samples"])
    if samples not in ("fresh", "all"):
        raise UnknownName("samples of sequential-halving", samples, ["fresh", "all"])
    schedule = halving(task.arms, task.rounds)
    return FixedBudget(arms=task.arms, budget=task.rounds, schedule=schedule, fresh=samples == "fresh")


def halving(arms: int, budget: int) -> tuple[Phase, ...]:
    """The phases of Sequential Halving.

    >>> halving(5, 150)
    (Phase(quota=10, survivors=3), Phase(quota=26, survivors=2), Phase(quota=51, survivors=1))
    """
    count = (arms - 1).bit_length()
    if budget < arms * count:
        raise ConfigurationError(f"sequential-halving of {arms} arms needs {arms * count} rounds, got {budget}")
    phases, quota, active = [], 0, arms
    for _ in range(count):
        quota += budget // (active * count)
        active = (active + 1) // 2
        phases.append(Phase(quota, active))
    return tuple(phases)
