"""What a device tells its app and its owner."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Decision:
    """What to show, and under which id to tell how it went."""

    id: str
    action: Any
    """The number of an action, a point, the points to try, or the numbers of the recommended arms."""
    name: str
    reported: bool
    """True if exactly one report will be sent; False if nothing will be."""
    problem: str = ""
    """For developers: what was wrong with the input, or why there was no offer. Never sent."""


@dataclass(frozen=True)
class Waiting:
    """One report as it will leave, what it cost, and when it is due (seconds since 1970)."""

    report: dict[str, Any]
    epsilon: float
    delta: float
    due: float


@dataclass(frozen=True)
class Sent:
    """What became of the reports that were due."""

    acknowledged: int = 0
    refused: int = 0
    waiting: int = 0
    """All that is left in the outbox."""
