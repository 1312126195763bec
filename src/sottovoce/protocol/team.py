"""What the tools of the team and the server say to each other, as strict data; what devices say is in `wire`."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from sottovoce.protocol.strict import Strict
from sottovoce.protocol.wire import LARGEST_BATCH, TaskStatus


class WarmRow(Strict, frozen=True, kw_only=True):
    """One row of consented or public data: the arm (None with a model) and the message, in the clear."""

    message: list[float]
    action: int | None = None


class WarmRows(Strict, frozen=True, kw_only=True):
    rows: Annotated[list[WarmRow], Meta(min_length=1, max_length=LARGEST_BATCH)]


class ListedTask(Strict, frozen=True, kw_only=True):
    """One task in the list for administrators."""

    status: TaskStatus
    contract: msgspec.Raw


class TaskList(Strict, frozen=True, kw_only=True):
    tasks: list[ListedTask]


class AdmissionKey(Strict, frozen=True, kw_only=True):
    """What the app's own server signs admission tokens with: base64url of 32 bytes, secret."""

    key: str


class Prediction(Strict, frozen=True, kw_only=True):
    """What simulated runs of a task said before its first report. It is not part of the contract.

    None where there is no number: a learner that recommends an action has samples, the others have regret.
    """

    runs: int
    """How many runs."""
    followed: int
    """How many people came in each."""
    people_needed: int | None = None
    """Reports until the learner had cost half as much as uniform play; None if it took more than were followed."""
    predicted_regret: float | None = None
    """After all who were followed, in units of the reward's range; larger is worse."""
    uniform_regret: float | None = None
    """Of uniform play."""
    predicted_samples: float | None = None
    """Reports until the learner had its answer."""
    predicted_right: float | None = None
    """The share of runs in which that was right."""
    note: str = ""
    """In which world, and what limits it."""


class Rollback(Strict, frozen=True, kw_only=True):
    """Back to the state after so many reports and rows; what came later is learned from no more."""

    learned: Annotated[int, Meta(ge=0)]


class KeptSnapshot(Strict, frozen=True, kw_only=True):
    """A state that was kept."""

    learned: int
    """After so many reports and rows."""
    day: str
    """On which it was kept, as 2026-01-31; empty where nobody knows."""


class SnapshotList(Strict, frozen=True, kw_only=True):
    """What a task can be rolled back to: any count from first to last, and without reading reports again these."""

    first: int
    last: int
    snapshots: list[KeptSnapshot]


class WantedActions(Strict, frozen=True, kw_only=True):
    """Which actions: of one task, if it is named; before this number, if it is not 0; and how many."""

    task: str = ""
    before: Annotated[int, Meta(ge=0, le=2**53)] = 0
    most: Annotated[int, Meta(ge=1, le=1000)] = 100


class Action(Strict, frozen=True, kw_only=True):
    """One thing that somebody did, or wanted to do, with an admin token."""

    number: int
    time: int
    """Seconds since 1970."""
    token: str
    """The name of the token; empty where it was none of this server."""
    role: str
    action: str
    task: str
    """Its id; empty where it was about none."""
    detail: dict[str, Any]
    status: int
    """Of the answer; 0 where its end was not written down."""
    address: str
    """The group of addresses that it came from."""
    sentence: str
    """The same in words."""


class Actions(Strict, frozen=True, kw_only=True):
    """The newest first."""

    actions: list[Action]


class Kept(Strict, frozen=True, kw_only=True):
    """How many rows of consented data were kept."""

    rows: int


class ArmEstimate(Strict, frozen=True, kw_only=True):
    """What private reports say of one arm."""

    action: str
    share: float
    """Of the offers made now."""
    reports: float
    """Reports about it, those through quieter gates counted in part."""
    reward: float | None
    """The mean reward, in the units of the task; larger is better."""
    error: float | None
    """Its standard error."""


class Gain(Strict, frozen=True, kw_only=True):
    """What the learned choice is worth beside the baseline, in the units of the task: averages since the first report.

    None where there are no reports yet. The range is that of the difference, at every time at once.
    """

    baseline: float | None
    """The mean reward of people who got the baseline."""
    choice: float | None
    """The mean reward of people who got what was learned by then."""
    difference: float | None
    """The choice less the baseline."""
    low: float | None
    high: float | None
    """Where the difference lies; None for Laplace noise too, which is not sub-Gaussian."""
    baseline_reports: float
    """Those through quieter gates counted in part."""
    choice_reports: float
    confidence: float
    aside: int
    """Reports that measured and taught nothing: they are among those that the task calls learned."""


class Summary(Strict, frozen=True, kw_only=True):
    """What the server has learned."""

    id: str
    reports: int
    """Private reports in the journal."""
    warm: int
    """Rows of public or consented data that it started from: not private, and not in `reports` or `estimates`."""
    learned: int
    """Reports and rows folded into the state."""
    published: int
    """Those folded when the newest offer was published."""
    refused: dict[str, int]
    """Since the server started, by verdict."""
    done: bool
    recommendation: Any
    version: str
    epsilon: float
    bytes_per_report: int
    estimates: list[ArmEstimate]
    """One for each arm, from private reports alone; none where a model says it."""
    state: str
    """A hash of the state after `learned` reports: replay gives the same."""
    gain: Gain | None = None
    """Over the baseline, where the task declares a holdout."""
    changes: int = 0
    """How often the learner found that the world has changed, where `drift` is declared sudden."""
    unread: int = 0
    """Entries of the journal that the learner could not read; it goes on without them."""
    left_out: int = 0
    """Reports and rows that were rolled back: they are in the journal and are learned from no more."""
    suspicious: bool = False
    """Can the newest reports not come from honest people alone? Their mean is longer than any mean of messages."""
    discarding: int = 0
    """Clients that were given far more tickets or permits than they used, as whoever forges reports does."""
    set_aside: bool = False
    """Did the task's learner fail? Reports are kept, and nothing is learned from them until the server starts again."""
