"""The journal again: what it gives from the base or from a later snapshot on, without what was rolled back."""

import itertools
from contextlib import suppress
from typing import TYPE_CHECKING

from sottovoce.protocol.errors import ConfigurationError
from sottovoce.server.store.base import OtherNumbers, Publication, Snapshot, Store, TaskRow

if TYPE_CHECKING:
    from sottovoce.server.learn.folding import Fold

AT_ONCE = 4096
"""Entries that are read together."""


def fold_of(store: Store, task: TaskRow) -> "Fold":
    """A task as it was kept last; where another version of the learner kept it, all of the journal again."""
    try:
        return _kept(store, task, store.snapshot(task.number))
    except OtherNumbers:
        return replayed(store, task)


def base_of(store: Store, task: TaskRow) -> "Fold":
    """A task as it was where replay starts."""
    base = store.snapshot(task.number, base=True)
    try:
        return _kept(store, task, base)
    except OtherNumbers:
        if base and base.seq:
            raise ConfigurationError(
                "another version of the learner learned from reports that are forgotten by now, and what it kept has "
                "other numbers: start that version"
            ) from None
        return _kept(store, task, None)


def _kept(store: Store, task: TaskRow, snapshot: Snapshot | None) -> "Fold":
    """As it was kept in this snapshot; without one as it begins."""
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
    fold = _before(store, task, most)
    for gap in store.gaps(task.number):
        if gap.after >= fold.seq:
            _read(fold, store, task, gap.after, most)
            if fold.learned == most:
                return fold
            resume(fold, gap.until)
    _read(fold, store, task, store.last(task.number), most)
    return fold


def _before(store: Store, task: TaskRow, most: int | None) -> "Fold":
    near = None if most is None else store.snapshot(task.number, most=most)
    if near:
        with suppress(OtherNumbers):
            return _kept(store, task, near)
    return base_of(store, task)


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
