"""The journal again: what it gives from the base or from a later snapshot on, without what was rolled back."""

import itertools
from typing import TYPE_CHECKING

from sottovoce.server.store.base import Publication, Snapshot, Store, TaskRow

if TYPE_CHECKING:
    from sottovoce.server.learn.folding import Fold

AT_ONCE = 4096
"""Entries that are read together."""


def fold_of(store: Store, task: TaskRow, snapshot: Snapshot | None) -> "Fold":
    """A task as it was kept in this snapshot; without one as it begins."""
    from sottovoce.server.learn.folding import Fold

    memos = {publication.version: publication.memo for publication in store.publications(task.number)}
    return Fold(task.contract, store.secret("publication"), snapshot, memos)


def replay(store: Store, task: TaskRow) -> str:
    """The hash of the state that the journal gives, from the first report kept on."""
    import jax

    with jax.enable_x64(True):
        return replayed(store, task).digest()


def replayed(store: Store, task: TaskRow, most: int | None = None) -> "Fold":
    """The learner after all of the journal, from the base on; or as soon as it has learned from so many reports.

    Then it starts from the newest snapshot that is not beyond them: what the base would give there is the same.
    """
    near = None if most is None else store.snapshot(task.number, most=most)
    fold = fold_of(store, task, near or store.snapshot(task.number, base=True))
    for gap in store.gaps(task.number):
        if gap.after >= fold.seq:
            _read(fold, store, task, gap.after, most)
            if fold.learned == most:
                return fold
            resume(fold, gap.until)
    _read(fold, store, task, store.last(task.number), most)
    return fold


def resume(fold: "Fold", until: int) -> Publication:
    """Go on after this place without what lies in between, and offer from the state as it is."""
    fold.seq = until
    return fold.publish()


def _read(fold: "Fold", store: Store, task: TaskRow, last: int, most: int | None) -> None:
    """Advance up to this place, or until so many reports are learned from."""
    entries = itertools.takewhile(lambda entry: entry.seq <= last, store.entries_of(task.number, fold.seq))
    while some := list(itertools.islice(entries, _next(fold, most))):
        for _ in fold.advance(some):
            pass


def _next(fold: "Fold", most: int | None) -> int:
    """How many entries to read: never more than may still be learned from."""
    return AT_ONCE if most is None else min(AT_ONCE, max(0, most - fold.learned))
