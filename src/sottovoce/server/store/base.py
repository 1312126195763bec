"""What the server keeps: the tasks, the journal of reports, and what was learned from it.

There are two halves with one writer each. The web process writes tasks and reports; the learner writes publications and
snapshots. Each reads the other's. `Store` is all that the server knows of a database.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple, Protocol

import msgspec

from sottovoce.protocol.contract import DAY, ByModel, Contract, contract_from

Mode = Literal["live", "apprentice"]
WARM = -1
"""The gate of consented data in the clear."""
MEASURES = {b"the baseline": 0, b"the choice": 1}
"""The contexts of reports that measure in a holdout, and the places of their sums. All other contexts, versions and
memos of offers, are a multiple of eight bytes long."""
GRACE = 3600
"""Seconds beyond the latest honest moment in which a report is still taken."""


HOUR, DAY_HOURS = 3600, 24


class StoreFault(Exception):
    """The disk or the database cannot do it now (full, failing, busy). Nothing was kept; the same may work later."""


class Deposed(Exception):
    """Another learner was elected: what this one wanted to write was not written, and it learns no more."""


class TaskRow(NamedTuple):
    number: int
    body: bytes
    """The contract as it is served; these bytes are never encoded again."""
    mode: Mode
    paused: bool
    prediction: bytes = b""
    """What was expected of it before its first report, in JSON; empty where nobody has said."""

    @property
    def contract(self) -> Contract:
        return contract_from(self.body)


class Standing(NamedTuple):
    """What changes about a task, whichever process changes it."""

    number: int
    mode: Mode
    paused: bool
    reports: int
    """Private ones; forgotten ones too."""
    warm: int
    """Rows of consented data."""


class Journalled(NamedTuple):
    """One report as it is journalled. There is nothing of a person in it but the payload, and that is private."""

    task: int
    id: bytes
    day: int
    """Days since 1970: all that is kept of the time, for retention."""
    gate: int
    """Which of the contract's gates it came through; WARM for consented data in the clear."""
    context: bytes
    """What the learner needs to understand it: the offer's memo, or the version of the model."""
    payload: bytes


class Entry(NamedTuple):
    """A report and its place in the journal."""

    seq: int
    report: Journalled


class Tally(NamedTuple):
    """How many reports to a task had one verdict within an hour; or within a day, where that is some days ago."""

    task: int
    hour: int
    """Since 1970; for a day its first one."""
    verdict: str
    reports: int


class Action(NamedTuple):
    """One thing that somebody did, or wanted to do, with an admin token."""

    time: int
    """Seconds since 1970."""
    token: str
    """The name of the token, never the token; empty where it was none of ours."""
    role: str
    action: str
    task: str
    """Its id; empty where it was about none."""
    detail: bytes
    """JSON."""
    status: int
    """Of the answer; 0 before there is one."""
    address: str
    """The group of addresses that it came from."""
    number: int = 0
    """Its place in the log, which the store gives."""


class PooledOffer(msgspec.Struct, frozen=True, array_like=True):
    """An offer drawn in advance: any ticket may carry it."""

    action: Any
    memo: bytes


class UnitEstimate(msgspec.Struct, frozen=True, kw_only=True):
    """What private reports say of one arm, on the scale of messages."""

    reports: float
    mean: float | None
    error: float | None


class Published(msgspec.Struct, frozen=True, kw_only=True):
    """What is published: all that offers, models and summaries are made from."""

    model: bytes = b""
    """As it is served; empty for a task with tickets."""
    offers: list[PooledOffer] = []
    done: bool = False
    recommendation: Any = None
    estimates: list[UnitEstimate] = []
    changes: int = 0
    """How often the learner found that the world has changed."""
    measured: list[UnitEstimate] = []
    """Of a holdout: the mean reward of the baseline, and of the learned choice."""
    aside: int = 0
    """Reports that measured and taught nothing."""
    contexts: list[bytes] = []
    """For each arm the context of a report that answers no offer; empty where the learner cannot use such reports."""


class Publication(NamedTuple):
    """What offers are made from: a model, or a pool of offers."""

    learned: int
    """After how many reports it was published."""
    version: str
    body: bytes
    """`Published` in MessagePack; empty once there is a newer one."""
    memo: bytes
    """What a report by this version means to the learner."""
    superseded: int
    """When the next one came (seconds since 1970); 0 for the newest."""


class Snapshot(NamedTuple):
    """The learner's state after some reports."""

    learned: int
    seq: int
    published: int
    state: bytes
    base: bool = False
    """Does replay start here? What came before it may be forgotten."""
    day: int = 0
    """On which it was saved, in days since 1970: a finer time would be one of the newest report. 0: nobody knows."""


class OtherNumbers(ValueError):
    """These bytes are not as many as the numbers that they should be: another version of a learner kept them."""


class Kept(NamedTuple):
    """A snapshot without its state."""

    learned: int
    seq: int
    base: bool
    day: int


class Gap(NamedTuple):
    """Entries of a task's journal that were rolled back: they are learned from no more."""

    after: int
    """The last place before it."""
    until: int
    """The last place of it."""
    reports: int
    """How many reports and rows had been learned from and are so no more; those of gaps that lie in it too."""


class Unread(NamedTuple):
    """An entry of the journal that the learner could not read and left out."""

    seq: int
    error: str
    """The kind of error."""


class Walked(NamedTuple):
    """Some reports of one task that were looked at, in their order."""

    last: int
    """The place of the last of them."""
    old: int
    """How many were older than is kept."""


class Store(Protocol):
    """What the server needs of a database. Its methods wait for the disk: `StoreThread` calls them beside serving.

    Each of them raises `StoreFault` where the fault is not in what it was asked.
    """

    shared: bool
    """Do other processes write to it too?"""

    def clone(self) -> "Store": ...  # the same data through a connection of its own, for another thread
    def close(self) -> None: ...

    # The web process writes.
    def secret(self, name: str) -> bytes: ...  # random bytes that stay the same as long as the data
    # The task with this id; if another process was faster, the one that it has made.
    def create(self, id: str, body: bytes, mode: Mode) -> TaskRow: ...
    def change(self, number: int, mode: Mode, paused: bool) -> None: ...
    # Atomic and durable; False for what was there already. The reports of one call are kept in the order of their
    # random ids, so that nothing is kept of the order in which they came.
    # Those that are new and private are counted in the history, within the same transaction, as accepted in this hour.
    def append(self, reports: Sequence[Journalled], hour: int = 0) -> list[bool]: ...
    def predict(self, number: int, prediction: bytes) -> None: ...
    def tally(self, tallies: Sequence[Tally]) -> None: ...  # add these to the history
    # Before the hour `hourly`, which begins a day, keep days instead of hours; before the hour `first` keep nothing, no
    # action either.
    def thin(self, hourly: int, first: int) -> None: ...
    # Of the next reports after this place, up to seq, delete those before this day; None if there is no next one. Where
    # it is quick, more than `most`. Their ids stay, so that none of them comes twice.
    def forget(self, task: int, day: int, after: int, seq: int, most: int) -> Walked | None: ...
    # Of the next ids after this one, delete those before this day; the last one looked at, None if there is none.
    def forget_ids(self, task: int, day: int, after: bytes, most: int) -> bytes | None: ...
    def record(self, action: Action) -> int: ...  # durable; its number, larger than all before
    def amend(self, number: int, status: int, detail: bytes) -> None: ...  # what became of an action; durable
    # Was this token of a task not used before? From now on it is, also after a restart. It is known by its id and its
    # last second together, until that is over: some that expired before `now` are deleted on the way.
    def admit(self, task: int, id: bytes, expires: int, now: int) -> bool: ...
    def tidy(self) -> None: ...  # what must be done now and then, without holding up those who write
    def probe(self) -> None: ...  # write something that changes nothing: a fault if that is not possible

    # The learner writes; a store of many processes raises `Deposed` where another learner was elected.
    def order(self, most: int) -> int: ...  # give places to so many reports that have none yet; how many there were
    # What was published before is superseded by a publication, and forgotten if it was superseded before `closed` and
    # has no memo.
    def publish(self, task: int, publication: Publication, now: int, closed: int) -> None: ...
    # A snapshot in the same place is replaced. Those in the places `gone` go, but for the base; before a base all go.
    def save(self, task: int, snapshot: Snapshot, gone: Sequence[int] = ()) -> None: ...
    # All at once: a gap, which takes the place of those that begin in it, and what is served and resumed from now on.
    # Snapshots after the place at which the gap begins go.
    def roll_back(
        self, task: int, gap: Gap, snapshot: Snapshot, publication: Publication, now: int, closed: int
    ) -> None: ...
    def leave_out(self, task: int, entries: Sequence[Unread]) -> None: ...  # count what could not be read, each once

    # Both read.
    def tasks(self, after: int = 0) -> list[TaskRow]: ...  # those with a higher number
    def standings(self) -> list[Standing]: ...  # of all tasks, in order
    def count(self, task: int) -> tuple[int, int]: ...  # private reports, rows of consented data; forgotten ones too
    def history(self, task: int) -> list[Tally]: ...  # in order
    # The newest first; of one task, unless its id is empty; before this number, unless it is 0.
    def actions(self, task: str, before: int, most: int) -> list[Action]: ...
    # The next reports after this place, and how many of them are before this day; None if there is no next one. They
    # need not lie in the order of their days: the clock of a server may have been wrong.
    def walk(self, task: int, day: int, after: int, most: int) -> Walked | None: ...
    def entries(
        self, after: int, most: int, task: int | None = None
    ) -> list[Entry]: ...  # in order; of all tasks or one
    def entries_of(self, task: int, after: int) -> Iterator[Entry]: ...  # all of one task, read piece by piece
    def last(self, task: int | None = None) -> int: ...  # the newest place in the journal, or of this task; 0 if none
    def gaps(self, task: int) -> list[Gap]: ...  # in order; they do not overlap
    def unread(self, task: int) -> int: ...  # how many entries were left out
    def publications(
        self, task: int, after: int = -1
    ) -> list[Publication]: ...  # made after so many reports; the newest is the last, and has its body
    # The newest; or where replay starts; or the newest after at most so many reports.
    def snapshot(self, task: int, base: bool = False, most: int | None = None) -> Snapshot | None: ...
    def snapshots(self, task: int) -> list[Kept]: ...  # in order: neither places nor counts become smaller


AHEAD = 7 * DAY
"""How long before its use a permit may be fetched; not longer than reports are kept, so that none comes twice."""


def permit_seconds(contract: Contract) -> int:
    """How long a permit is valid; a ticket names an action and is used at once."""
    return open_seconds(contract) + (min(AHEAD, contract.retention) if isinstance(contract.offers, ByModel) else 0)


def open_seconds(contract: Contract) -> int:
    """How long after its offer an honest report may arrive: the reward's wait, the random delay, and some grace."""
    return contract.reward.wait + contract.delay + GRACE


def hour_of(now: float) -> int:
    """Hours since 1970."""
    return int(now) // HOUR
