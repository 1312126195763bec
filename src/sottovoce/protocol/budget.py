"""What one report may cost the person who sends it."""

from typing import NamedTuple

from sottovoce.protocol.errors import ConfigurationError, check_positive


class Budget(NamedTuple):
    """An (epsilon, delta) promise for one report. Build it with `budget`, which checks the numbers."""

    epsilon: float
    delta: float = 0.0

    @property
    def pure(self) -> bool:
        """True when nothing is left to chance: delta is zero."""
        return self.delta == 0.0

    def __str__(self) -> str:
        return f"epsilon {self.epsilon:g}" + ("" if self.pure else f", delta {self.delta:g}")


def budget(epsilon: float, delta: float = 0.0) -> Budget:
    """A checked budget.

    >>> budget(1.0)
    Budget(epsilon=1.0, delta=0.0)
    >>> budget(-1.0)
    Traceback (most recent call last):
        ...
    sottovoce.protocol.errors.ConfigurationError: epsilon must be a positive finite number, got -1.0
    """
    check_positive("epsilon", epsilon)
    if not 0 <= delta < 1:
        raise ConfigurationError(f"delta must be at least 0 and below 1, got {delta!r}")
    return Budget(float(epsilon), float(delta))
