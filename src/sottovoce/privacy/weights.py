"""The two integer weights of randomised response: `more` for a true answer, `less` for another."""

import math
from fractions import Fraction

from sottovoce.protocol.errors import BrokenPromise, ConfigurationError


def weights(epsilon: float) -> tuple[int, int]:
    """Integers with more/less just below e^epsilon. The 2^-50 is wider than the error of exp.

    >>> weights(1.0)
    (2850325, 1048576)
    """
    less = 2**20 if epsilon <= 8 else 2**10
    more = math.floor(less * math.exp(min(epsilon, 700.0)) * (1 - 2**-50))
    if more <= less:
        raise ConfigurationError(f"epsilon {epsilon:g} is too small to say anything; use at least 1e-5")
    return more, less


def verify_weights(more: int, less: int, epsilon: float) -> None:
    """Refuse weights whose ratio is above e^epsilon."""
    if not 1 <= less <= more or Fraction(more, less) > Fraction(math.exp(epsilon)) * (1 - Fraction(1, 2**51)):
        raise BrokenPromise(f"weights {more}:{less} do not keep epsilon {epsilon:g}")


def verify_whole(*numbers: int) -> None:
    """Refuse whatever is not an integer."""
    if not all(type(number) is int for number in numbers):
        raise BrokenPromise(f"levels, candidates and weights must be whole numbers, got {numbers}")
