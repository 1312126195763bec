"""An app's reward in its own units, as the outcome that a user of the paper speaks of.

Context-free learners hear a loss, contextual ones a reward, each in the range of their setting. The map is linear, and
the reward is clipped to its declared range first.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sottovoce.catalogue.task import Task, algorithm_of
from sottovoce.protocol.contract import Contract, RewardTerms
from sottovoce.protocol.links import link_of


@dataclass(frozen=True)
class Outcomes:
    """The outcome of the lowest and of the highest reward.

    >>> stars = Outcomes(RewardTerms(low=1.0, high=5.0, default=1.0, wait=60), worst=1.0, best=0.0)   # a loss
    >>> float(stars.outcome(4.0)), float(stars.reward(0.25))
    (0.25, 4.0)
    """

    terms: RewardTerms
    worst: float
    best: float

    def outcome(self, reward: Any) -> Any:
        share = (np.clip(reward, self.terms.low, self.terms.high) - self.terms.low) / (self.terms.high - self.terms.low)
        return self.worst + share * (self.best - self.worst)

    def reward(self, outcome: Any) -> Any:
        """The inverse, for simulated people."""
        share = (outcome - self.worst) / (self.best - self.worst)
        return self.terms.low + share * (self.terms.high - self.terms.low)


def outcomes_of(contract: Contract) -> Outcomes:
    """How this task's rewards become outcomes."""
    return Outcomes(contract.reward, *_range(contract.task))


def _range(task: Task) -> tuple[float, float]:
    if algorithm_of(task.learner).actions != "features":
        low = float(task.domain["low"]) if task.user == "scalar" else 0.0
        high = float(task.domain["high"]) if task.user == "scalar" else 1.0
        return high, low
    if "link" in task.tuning:
        link = link_of(task.tuning)
        return link.low, link.high
    return -1.0, 1.0
