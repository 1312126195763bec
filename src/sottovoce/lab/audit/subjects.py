"""Who is audited: a device with a promise, and two people whose data differ as much as the domain allows."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.lab.audit.program import Program, Raw
from sottovoce.privacy.domains import Ball, Direction, Domain, Gradient, Interval, Moments, Relabelled
from sottovoce.privacy.drawing import SYSTEM, privatise
from sottovoce.privacy.mechanisms import MECHANISMS, Mechanism, calibrate
from sottovoce.protocol.budget import Budget
from sottovoce.protocol.errors import ConfigurationError
from sottovoce.protocol.holdout import MOST, purpose_of

Sender = Callable[[Any, Raw], bytes]
"""Everything a device sends about one datum, given what it claims to do."""


def embed(mechanism: Mechanism, raw: Raw) -> NDArray[np.float64]:
    """The message that this person's device forms.

    >>> embed(calibrate("levels", Interval(0.0, 10.0), Budget(1.0)), (5.0,))
    array([0.])
    """
    domain: Any = mechanism.domain
    return domain.embed(*raw)


def honest(mechanism: Mechanism, raw: Raw) -> bytes:
    """What a device of ours sends: one report, through the gate.

    >>> len(honest(calibrate("sphere", Ball(2), Budget(1.0)), ((1.0, 0.0),)))  # twelve bytes of coin, one of its own
    13
    """
    return privatise(mechanism, embed(mechanism, raw))


def measured(mechanism: Mechanism, raw: Raw) -> bytes:
    """What a device of ours sends in a holdout: what its coin says the report is for, and the reward through the gate.

    >>> len(measured(calibrate("levels", Interval(), Budget(1.0)), (1.0,)))
    2
    """
    while (purpose := purpose_of(SYSTEM.octets(32), MOST)) == "learning":
        pass
    return bytes([purpose == "choice"]) + honest(mechanism, raw)


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A device under audit. Its `sender` runs in fresh processes, so it must be a function that can be imported."""

    mechanism: Mechanism
    """What the device claims to do; its budget is the promise."""
    people: tuple[Raw, Raw]
    sender: Sender = honest
    program: Program | None = None
    """Another device than ours, in any language; it then sends, and not `sender`."""
    planted: str | None = None
    """The name of the bug, for a device that is broken on purpose."""
    effort: float = 1.0
    """The share of an audit's trials that is enough to judge this one."""

    def __post_init__(self) -> None:
        if self.sender.__module__ == "__main__" or "<" in self.sender.__qualname__:
            raise ConfigurationError(
                f"a sender must be a function at the top of an importable module, "
                f"got {self.sender.__module__}.{self.sender.__qualname__}"
            )

    @property
    def promised(self) -> Budget:
        return self.mechanism.budget

    @property
    def scene(self) -> str:
        """Over which domain it is audited, and whether the report is one of a holdout."""
        return type(self.mechanism.domain).__name__.lower() + (", measured" if self.sender is measured else "")

    def transcripts(self, person: int, count: int) -> list[bytes]:
        """So many transcripts of person 0 or 1.

        >>> [len(transcript) for transcript in honest_subjects()[0].transcripts(1, 3)]
        [1, 1, 1]
        """
        raw = self.people[person]
        if self.program is not None:
            return self.program.transcripts(raw, count)
        return [self.sender(self.mechanism, raw) for _ in range(count)]


PURE = (0.5, 1.0, 2.0, 4.0)
"""The promises, all with delta 0, at which every pure mechanism is audited."""

_SCENES: dict[str, list[tuple[Domain, list[Budget]]]] = {
    "levels": [(Interval(), [Budget(e) for e in PURE])],
    "sphere": [
        (Ball(2), [Budget(e) for e in (*PURE, 8.0)]),
        # A large weight makes the two messages nearly opposite: their caps hardly meet and the bound is sharp.
        (Moments(2, weight=4.0), [Budget(1.0), Budget(4.0)]),
        (Gradient(2), [Budget(1.0), Budget(4.0)]),
        (Direction(2), [Budget(1.0), Budget(4.0)]),
    ],
    "gaussian": [(Interval(), [Budget(1.0, 1e-5), Budget(4.0, 1e-5)]), (Moments(2), [Budget(1.0, 1e-5)])],
    "laplace": [(Interval(), [Budget(e) for e in PURE]), (Ball(2), [Budget(1.0)])],
}
"""Over which domains and at which promises each mechanism is audited."""


def most_different(domain: Domain) -> tuple[Raw, Raw]:
    """Two people whose messages are as far apart as the domain allows.

    >>> most_different(Interval(1.0, 5.0))
    ((1.0,), (5.0,))
    """
    match domain:
        case Interval(low=low, high=high):
            return (low,), (high,)
        case Ball(dimension=d, bound=bound):  # opposite corners: far apart in L1 too
            corner = np.full(d, bound / math.sqrt(d))
            return (tuple(corner),), (tuple(-corner),)
        case Gradient(dimension=d, bound=bound):
            corner = tuple(np.full(d, 1 / math.sqrt(d)))
            return (corner, bound), (corner, -bound)
        case Direction(dimension=d):
            corner = tuple(np.full(d, 1 / math.sqrt(d)))
            return (corner, 1.0, 1.0), (corner, -2.0, 1.0)
        case Moments(dimension=d, reward_bound=bound, weight=weight):
            first, second = _at_the_angle_of(d, weight)
            return (first, bound), (second, -bound)
        case Relabelled(dimension=d, label_bound=label, residual_bound=bound, weight=weight):
            first, second = _at_the_angle_of(d, math.hypot(label, weight))
            return (first, bound, label), (second, -bound, -label)
        case _:
            raise ConfigurationError(f"no two people are known for {domain}")


def _at_the_angle_of(dimension: int, weight: float) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Two people's features at the angle at which `Moments.l2` is largest."""
    cosine = min(weight**2 / 2, 1.0) if dimension > 1 else 1.0
    first, second = np.zeros(dimension), np.zeros(dimension)
    first[0], second[: min(dimension, 2)] = 1.0, (cosine, math.sqrt(1 - cosine**2))[: min(dimension, 2)]
    return tuple(first), tuple(second)


def honest_subjects() -> list[Subject]:
    """Every mechanism of the registry, as a device uses it. A new mechanism needs a scene here.

    >>> {type(subject.mechanism) for subject in honest_subjects()} == {kind.numbers for kind in MECHANISMS.values()}
    True
    """
    reports = [
        Subject(mechanism=calibrate(name, domain, budget), people=most_different(domain), effort=_effort(name, budget))
        for name in MECHANISMS
        for domain, budgets in _SCENES[name]
        for budget in budgets
    ]
    holdouts = [calibrate("levels", Interval(), Budget(epsilon)) for epsilon in (1.0, 4.0)]
    return reports + [Subject(mechanism=one, people=((0.0,), (1.0,)), sender=measured, effort=0.6) for one in holdouts]


def _effort(name: str, budget: Budget) -> float:
    """Small epsilons are hard to measure; reports of the sphere and of the Gaussian cost most.

    With `run.TRIALS` trials the expected bound of the tight pure mechanisms (levels, sphere, Laplace on a line) is two
    standard deviations or more above 0.9 epsilon, for epsilon up to 4.
    """
    if budget.epsilon < 1:
        return 0.8 if name == "sphere" else 1.0
    return 0.3 if name in ("sphere", "gaussian") else 0.6
