"""Which snapshots of a task are kept: many new ones and few old ones, so that any earlier count has one near.

A rollback starts from the newest snapshot that is not beyond the count wanted, and folds the reports in between again.
"""

from collections.abc import Sequence

from sottovoce.server.store.base import Kept

MOST = 32
"""Snapshots of one task. A state has as many numbers as the learner needs: some dozens for arms, the square of the
dimension for features, half a megabyte in 256 dimensions."""


def superfluous(kept: Sequence[Kept], most: int = MOST) -> list[int]:
    """The places of snapshots that should go, so that so many stay. The first and the newest always stay.

    Each time that one goes whose absence is felt least: the gap that it leaves, as a share of how far back it begins.

    >>> superfluous([Kept(learned, learned, False, 0) for learned in (0, 100, 200, 300, 310, 320)], most=4)
    [100, 310]
    """
    left, gone = list(kept), []
    while len(left) > max(most, 2):
        index = min(range(1, len(left) - 1), key=lambda index: _felt(left, index))
        gone.append(left.pop(index).seq)
    return gone


def _felt(kept: Sequence[Kept], index: int) -> float:
    """Further back counts from a share of all: snapshots that are nearer to each other than that save no time."""
    before, after, newest = kept[index - 1].learned, kept[index + 1].learned, kept[-1].learned
    return (after - before) / (newest - before + newest / MOST + 1)
