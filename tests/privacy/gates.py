"""Every mechanism with every domain that it takes, a datum for each, and randomness that a test can repeat."""

import random
from typing import Any, NamedTuple

import numpy as np

from sottovoce import Ball, Budget, Direction, Gradient, Interval, Moments, calibrate
from sottovoce.privacy.mechanisms import MECHANISMS, Mechanism

ALARM = 1e-6
"""False-alarm rate of every statistical test of the gate."""


class SeededEntropy:
    """Randomness that a test can repeat. A device uses the operating system's."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def below(self, bound: int) -> int:
        return self._random.randrange(bound)

    def octets(self, count: int) -> bytes:
        return self._random.randbytes(count)


class Gate(NamedTuple):
    """A domain, one raw datum for it, and the name of a mechanism that takes it."""

    name: str
    domain: Any
    datum: tuple[Any, ...]

    def calibrated(self, epsilon: float) -> Mechanism:
        return calibrate(self.name, self.domain, Budget(epsilon, 1e-5 if self.name == "gaussian" else 0.0))

    def message(self, scale: float = 1.0) -> np.ndarray:
        return self.domain.embed(*(scale * np.asarray(part) for part in self.datum))

    def __str__(self) -> str:
        return f"{self.name}-{type(self.domain).__name__.lower()}"


DATA = [
    (Interval(1.0, 5.0), (4.5,)),
    (Ball(3, 2.0), (np.array([0.0, 2.0, 0.0]),)),
    (Moments(2, 2.0, 1.2), (np.array([0.9, -0.3]), 1.8)),
    (Gradient(2, 0.5), (np.array([-0.8, 0.6]), 0.5)),
    (Direction(2), (np.array([-0.08, 0.06]), 0.5, 0.4)),
]
GATES = [
    Gate(name, domain, datum)
    for name in MECHANISMS
    for domain, datum in DATA
    if name != "levels" or isinstance(domain, Interval)
]
