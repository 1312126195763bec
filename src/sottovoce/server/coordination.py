"""How the web process and the learner's process find each other: pipes today, a database later.

The web process wakes the learner with an empty line whenever the journal has grown, or asks with the number of a task
for a snapshot from which replay may start. The learner answers with its news, a line of JSON for each task.
"""

import os
import select
import sys
from collections.abc import Sequence

import msgspec


class News(msgspec.Struct, frozen=True, kw_only=True):
    """What the web process is told: how far one task is."""

    task: int
    learned: int = 0
    published: int = 0
    state: str = ""
    seq: int = 0
    done: bool = False
    fresh: bool = False
    """Is there a new publication?"""
    base: bool = False
    """Was the snapshot saved that replay may start from?"""
    broken: bool = False
    """Did its learner fail? Then it learns nothing more until the server starts again."""


# --- in the web process ----------------------------------------------------------------------------------------------


def wake() -> bytes:
    """There is something new in the journal."""
    return b"\n"


def ask_for_base(task: int) -> bytes:
    """Keep a snapshot of this task from which replay may start."""
    return f"{task}\n".encode()


def read_news(line: bytes) -> News:
    """One line that the learner wrote.

    >>> read_news(b'{"task": 1, "learned": 20}').learned
    20
    """
    return msgspec.json.decode(line, type=News)


# --- in the learner's process ----------------------------------------------------------------------------------------


def listen(wait: float) -> list[int] | None:
    """Tasks to keep a base of, by number; none when woken or after waiting; None when the web process is gone."""
    if not select.select([sys.stdin], [], [], wait)[0]:
        return []
    said = os.read(sys.stdin.fileno(), 65536)
    return [int(line) for line in said.split(b"\n") if line] if said else None


def tell(news: Sequence[News]) -> bool:
    """Whether somebody listens: the web process is gone if not."""
    try:
        os.write(sys.stdout.fileno(), b"".join(msgspec.json.encode(one) + b"\n" for one in news))
    except BrokenPipeError:
        return False
    return True
