"""What k-level randomised response promises, with which integers, and how the server reads a level."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sottovoce.privacy.domains import Interval
from sottovoce.privacy.levels.law import LevelsLaw, levels_variance
from sottovoce.privacy.noise import Noise
from sottovoce.privacy.spent import Spent, one_pure_report
from sottovoce.privacy.weights import verify_weights, verify_whole
from sottovoce.protocol.budget import Budget
from sottovoce.protocol.errors import BrokenPromise, WireError


@dataclass(frozen=True)
class Levels:
    """k-level randomised response, for one number in a declared range. Pure epsilon.

    The number is rounded at random to one of k equally spaced levels so that its mean is kept; then the true level is
    sent with weight `keep` and each other level with weight `flip`, integers.

    *Proof.* Whatever the rounding did, every output has probability keep/W or flip/W with W = keep + (k-1) flip, the
    same for all inputs. Two probabilities of one output differ by at most keep/flip <= e^epsilon. QED.
    """

    domain: Interval
    budget: Budget
    levels: int
    keep: int
    flip: int

    @property
    def total(self) -> int:
        """The sum of all weights, W."""
        return self.keep + (self.levels - 1) * self.flip

    def verify(self) -> None:
        if not isinstance(self.domain, Interval):
            raise BrokenPromise(f"levels answer for one number in an interval, got {self.domain}")
        verify_whole(self.levels, self.keep, self.flip)
        verify_weights(self.keep, self.flip, self.budget.epsilon)
        if not 2 <= self.levels <= 2**16:
            raise BrokenPromise(f"levels must be between 2 and 65536, got {self.levels}")

    def cost(self) -> Spent:
        return one_pure_report(self.budget)

    @property
    def report_size(self) -> int:
        return 1 if self.levels <= 256 else 2

    @property
    def reach(self) -> float:
        """The estimate sent for the highest level, with the message in [-1, 1]: 1 / (P(keep) - P(flip))."""
        return self.total / (self.keep - self.flip)

    def check(self, report: bytes) -> None:
        """Refuse a level that there is not, so that no report says more than `reach`."""
        if (level := int.from_bytes(report, "big")) >= self.levels:
            raise WireError(f"this task has {self.levels} levels, got level {level}")

    def decode(self, reports: Sequence[bytes]) -> NDArray[np.float64]:
        levels = np.array([int.from_bytes(report, "big") for report in reports], dtype=float)[:, None]
        return self.reach * (2 * levels / (self.levels - 1) - 1)

    def noise(self) -> Noise:
        spread = math.sqrt(levels_variance(self.levels, self.keep / self.flip)) * self.domain.half
        bound = self.reach * self.domain.half
        return Noise(spread**2, bound, (spread,), proxy=bound**2, levels=self.levels)

    def law(self) -> LevelsLaw:
        return LevelsLaw(levels=float(self.levels), keep=self.keep / self.total, reach=self.reach)
