"""What k-level randomised response promises, and with which integers."""

from dataclasses import dataclass

from sottovoce.privacy.domains import Interval
from sottovoce.protocol.budget import Budget


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

    @property
    def width(self) -> int:
        """Bytes of one level on the wire."""
        return 1 if self.levels <= 256 else 2
