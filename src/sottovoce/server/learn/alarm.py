"""An alarm for reports that honest people cannot have sent together."""

import math

import numpy as np
from numpy.typing import NDArray

from sottovoce.privacy.mechanisms import Mechanism

BLOCK = 4096
"""Reports that are judged together."""
SURE = 5.0
"""Standard deviations; by the normal approximation an honest block raises the alarm once in a million times."""


class Alarm:
    """Is the mean of the newest reports longer than any mean of honest messages?

    An honest message is no longer than the radius, so neither is a mean of them. The noise in the mean of n estimates
    has a length of about s / sqrt n, give or take a share of 1 / sqrt d of it in d dimensions, where s is the length of
    the noise in one. The alarm says nothing about who, and it sees large shares of forgers only: docs/forgers.md.
    """

    def __init__(self, mechanism: Mechanism) -> None:
        self._radius, self._noise = mechanism.domain.radius, noise_length(mechanism)
        self._sum, self._count = np.zeros(()), 0
        self.raised = False
        """For the last whole block."""

    def see(self, estimates: NDArray[np.float64]) -> None:
        """More estimates of private messages, one a row."""
        self._sum, self._count = self._sum + estimates.sum(axis=0), self._count + len(estimates)
        if self._count >= BLOCK:
            dimension = np.size(self._sum)
            margin = self._noise / math.sqrt(self._count) * (1 + SURE / math.sqrt(dimension))
            self.raised = bool(np.linalg.norm(self._sum) / self._count > self._radius + margin)
            self._sum, self._count = np.zeros(()), 0


def noise_length(mechanism: Mechanism) -> float:
    """The length of one estimate, or of the noise in it, at most or in the mean."""
    scales = getattr(mechanism, "scale_of_each", None)
    return float(getattr(mechanism, "reach", 0.0)) if scales is None else math.sqrt(2) * float(np.linalg.norm(scales))
