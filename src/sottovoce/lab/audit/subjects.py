"""Who is audited: a device with a promise, and two people whose data differ as much as the domain allows."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.privacy.domains import Ball, Domain, Gradient, Interval, Moments
from sottovoce.privacy.drawing import privatise
from sottovoce.privacy.mechanisms import MECHANISMS, Mechanism, calibrate
from sottovoce.protocol.budget import Budget
from sottovoce.protocol.errors import ConfigurationError

Raw = tuple[Any, ...]
"""One person's data, in the pieces that the domain's `embed` takes."""

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

    >>> len(honest(calibrate("sphere", Ball(2), Budget(1.0)), ((1.0, 0.0),)))
    14
    """
    return privatise(mechanism, embed(mechanism, raw))


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A device under audit. Its `sender` runs in fresh processes, so it must be a function that can be imported."""

    mechanism: Mechanism
    """What the device claims to do; its budget is the promise."""
    people: tuple[Raw, Raw]
    sender: Sender = honest
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

    def send(self, person: int) -> bytes:
        """One transcript of person 0 or 1.

        >>> len(honest_subjects()[0].send(1))
        1
        """
        return self.sender(self.mechanism, self.people[person])


PURE = (0.5, 1.0, 2.0, 4.0)
"""The promises, all with delta 0, at which every pure mechanism is audited."""

# The ends of a range; opposite vectors; the corners of a square, where L1 distance is largest.
_RANGE: tuple[Raw, Raw] = ((0.0,), (1.0,))
_OPPOSITE: tuple[Raw, Raw] = (((1.0, 0.0),), ((-1.0, 0.0),))
_CORNERS: tuple[Raw, Raw] = (((0.5**0.5, 0.5**0.5),), ((-(0.5**0.5), -(0.5**0.5)),))
_REWARDS: tuple[Raw, Raw] = (((1.0, 0.0), 1.0), ((1.0, 0.0), -1.0))
# Where two messages of Moments are farthest apart: features at 60 degrees, rewards opposite (see its docstring).
_SLANTED: tuple[Raw, Raw] = (((1.0, 0.0), 1.0), ((0.5, 0.75**0.5), -1.0))

# A large weight makes the two messages nearly opposite, so that their caps hardly meet and the bound is sharp.
_SHARP_MOMENTS = Moments(2, weight=4.0)

_SCENES: dict[str, list[tuple[Domain, tuple[Raw, Raw], list[Budget]]]] = {
    "levels": [(Interval(), _RANGE, [Budget(e) for e in PURE])],
    "sphere": [
        (Ball(2), _OPPOSITE, [Budget(e) for e in (*PURE, 8.0)]),
        (_SHARP_MOMENTS, _REWARDS, [Budget(1.0), Budget(4.0)]),
        (Gradient(2), _REWARDS, [Budget(1.0), Budget(4.0)]),
    ],
    "gaussian": [
        (Interval(), _RANGE, [Budget(1.0, 1e-5), Budget(4.0, 1e-5)]),
        (Moments(2), _SLANTED, [Budget(1.0, 1e-5)]),
    ],
    "laplace": [
        (Interval(), _RANGE, [Budget(e) for e in PURE]),
        (Ball(2), _CORNERS, [Budget(1.0)]),
    ],
}


def honest_subjects() -> list[Subject]:
    """Every mechanism of the registry, as a device uses it. A new mechanism needs a scene here.

    >>> {type(subject.mechanism) for subject in honest_subjects()} == {kind.numbers for kind in MECHANISMS.values()}
    True
    """
    return [
        Subject(mechanism=calibrate(name, domain, budget), people=people, effort=_effort(name, budget))
        for name in MECHANISMS
        for domain, people, budgets in _SCENES[name]
        for budget in budgets
    ]


def _effort(name: str, budget: Budget) -> float:
    """Small epsilons are hard to measure; reports of the sphere and of the Gaussian cost most.

    With `run.TRIALS` trials the expected bound of the tight pure mechanisms (levels, sphere, Laplace on a line) is two
    standard deviations or more above 0.9 epsilon, for epsilon up to 4.
    """
    if budget.epsilon < 1:
        return 0.8 if name == "sphere" else 1.0
    return 0.3 if name in ("sphere", "gaussian") else 0.6
