"""The file that a team writes and reviews: one task in TOML, decoded strictly, with errors that name the file."""

import datetime
from pathlib import Path
from typing import Any, Literal

import msgspec

from sottovoce.catalogue.algorithms import default_learner
from sottovoce.catalogue.task import Shuffling
from sottovoce.catalogue.toml_file import load
from sottovoce.protocol.budget import budget
from sottovoce.protocol.contract import DAY, Limit
from sottovoce.protocol.errors import ConfigurationError
from sottovoce.protocol.fields import Field
from sottovoce.protocol.strict import Strict

UNITS = {"s": 1, "m": 60, "h": 3600, "d": DAY}
LONGEST = 36_500 * DAY


class Privacy(Strict, frozen=True, kw_only=True):
    """`[privacy]`: what one report costs, and what all of them may cost together."""

    epsilon: float
    delta: float | None = None
    quieter: tuple[float, ...] | None = None
    """Smaller budgets that a device may choose instead; a half and a quarter when left out."""
    lifetime: float | None = None
    """All reports of one device to this task together; ten reports when left out."""
    lifetime_delta: float = 0.0
    window: float | None = None
    """All reports of one device within `window_days`; the lifetime budget when left out."""
    window_days: int = 7


class Reward(Strict, frozen=True, kw_only=True):
    """`[reward]`: its range (declared once, clipped on the device) and what counts when none comes in time."""

    low: float = 0.0
    high: float = 1.0
    default: float = 0.0
    wait: str = "1h"


class HoldoutShare(Strict, frozen=True, kw_only=True):
    """`[holdout]`: how many decisions get the baseline, to measure what learning gains over it."""

    share: float
    """Of the decisions. With features as many again are measured with the learned choice, and teach nothing."""
    baseline: str = ""
    """The name of an action; with features the app says it: `Device.choose(..., baseline=)`."""


class TaskFile(Strict, frozen=True, kw_only=True):
    """One task as a team writes and reviews it."""

    id: str
    horizon: int
    """About how many reports are expected: learners plan for it."""
    privacy: Privacy
    expires: datetime.date
    title: str = ""
    learner: str = ""
    """When left out, it follows from the rest of the file (`default_learner`)."""
    preset: str = "practical"
    actions: tuple[str, ...] = ()
    """The names of the actions; with fields, the fields describe the person."""
    one_right: bool = False
    """Is one action right for a person, and are all others worth the lowest reward? Then not all have to be tried."""
    drift: Literal["none", "slow", "sudden"] = "none"
    """Does what is best change while the task is open? Little by little, or at once, or not at all."""
    candidates: int = 0
    """Instead of named actions: how many an app may show at once, each described by the fields."""
    returning: bool = False
    """Do the same few sets of candidates come again and again? Then people's variety does not try things by itself."""
    fields: dict[str, Field] = msgspec.field(default_factory=dict)
    region: dict[str, Any] = msgspec.field(default_factory=dict)
    """For learners of points: the convex set they are in."""
    dimension: int = 0
    """For learners of points: how many coordinates."""
    reward: Reward = Reward()
    publish_every: int = 0
    """Reports between two models; a thousandth of the horizon when left out."""
    delay: str = "10m"
    """A device waits at random up to so long before it sends."""
    retention: str = "90d"
    """How long single reports are kept; what was learned from them stays."""
    mode: Literal["live", "apprentice"] = "live"
    """An apprentice only learns: devices show what the app would have shown anyway."""
    admission: Literal["open", "signed"] = "open"
    """Signed: whoever asks for tickets or permits shows a token of the app's own server (`sottovoce.admission`)."""
    origins: tuple[str, ...] = ()
    """Web pages whose scripts may be devices, as in "https://shop.example"; none when left out."""
    holdout: HoldoutShare | None = None
    """None: everybody gets what was learned, and nothing is compared."""
    shuffler: Shuffling | None = None
    """None: devices report to the server. Else a process that somebody else runs mixes the reports first."""
    tuning: dict[str, float | str] = msgspec.field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.learner:
            actions = "points" if self.region or self.dimension else "features" if self.fields else "arms"
            learner = default_learner(actions, drift=self.drift, returning=self.returning)
            msgspec.structs.force_setattr(self, "learner", learner)


def load_task_file(path: Path) -> TaskFile:
    """A task from its TOML file."""
    return load(path, TaskFile, "a task")


def seconds(text: str, what: str = "a duration") -> int:
    """A duration; `what` is said of one that cannot be read.

    >>> seconds("90s"), seconds("24h"), seconds("30d")
    (90, 86400, 2592000)
    """
    number, unit = text[:-1], text[-1:]
    if not (number.isascii() and number.isdigit() and unit in UNITS):
        raise ConfigurationError(f"{what} is a whole number and one of s, m, h, d, as in '24h'; got {text!r}")
    if len(number) > 9 or int(number) * UNITS[unit] > LONGEST:
        raise ConfigurationError(f"{what} is at most {LONGEST // DAY}d, got {text!r}")
    return int(number) * UNITS[unit]


def limit_of(privacy: Privacy) -> Limit:
    """What all reports of one device may cost; ten reports where the file does not say."""
    lifetime = 10 * privacy.epsilon if privacy.lifetime is None else privacy.lifetime
    window = lifetime if privacy.window is None else privacy.window
    budget(lifetime, privacy.lifetime_delta)
    if not privacy.epsilon <= window <= lifetime:
        raise ConfigurationError(
            f"budgets must grow from one report to a window to a lifetime, got {privacy.epsilon:g}, {window:g}, "
            f"{lifetime:g}"
        )
    if privacy.window_days < 1:
        raise ConfigurationError(f"window_days must be at least 1, got {privacy.window_days}")
    delta, days = privacy.lifetime_delta, privacy.window_days
    return Limit(lifetime=lifetime, lifetime_delta=delta, window=window, window_days=days)
