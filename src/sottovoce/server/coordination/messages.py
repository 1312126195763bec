"""What web processes and the learner say to each other."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import msgspec


class News(msgspec.Struct, frozen=True, kw_only=True):
    """What the web process is told: how far one task is."""

    task: int
    """0: none, this is about the learner's process."""
    learned: int = 0
    published: int = 0
    state: str = ""
    seq: int = 0
    unread: int = 0
    """Entries of the journal that could not be read and were left out."""
    suspicious: bool = False
    """Can the newest reports not come from honest people alone?"""
    left_out: int = 0
    """Reports and rows that were rolled back."""
    answers: bool = False
    """Does this answer a wish to roll back?"""
    base: bool = False
    """Was the snapshot saved that replay may start from?"""
    broken: bool = False
    """Did its learner fail? Then it learns nothing more until the server starts again."""
    faulty: bool = False
    """Does the learner's process wait for a fault of the store to be over?"""
    epoch: int = 0
    """The election that the learner's process has won; 0 where it waits to be elected, or where nobody else learns."""


class Wish(NamedTuple):
    """What the web process asks for: a snapshot of a task that replay may start from, or to roll the task back."""

    task: int
    learned: int | None = None
    """Roll back to the state after so many reports."""


class WebSide(Protocol):
    """Web processes as a learner sees them."""

    # Wait until it is this learner's turn, and meanwhile do this again and again; None when it never will be.
    def stand_by(self, meanwhile: Callable[[], None]) -> list[Wish] | None: ...
    def listen(self, wait: float) -> list[Wish] | None: ...  # what is asked for; None when its turn is over
    def tell(self, news: Sequence[News]) -> bool: ...  # is anybody there who reads it?
    def retire(self) -> None: ...  # let another learner have its turn
