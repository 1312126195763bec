"""The file that a team writes and reviews: one task in TOML, decoded strictly, with errors that name the file."""

import datetime
import re
from pathlib import Path
from typing import Any, Literal

import msgspec

from sottovoce.catalogue.algorithms import algorithm_of, default_learner, learners_with, needs_delta
from sottovoce.catalogue.task import Shuffling
from sottovoce.catalogue.toml_file import load
from sottovoce.protocol.budget import budget
from sottovoce.protocol.contract import DAY, NAME, Limit
from sottovoce.protocol.errors import ConfigurationError, check_range
from sottovoce.protocol.fields import Field, width_of
from sottovoce.protocol.holdout import MOST
from sottovoce.protocol.strict import Strict

UNITS = {"s": 1, "m": 60, "h": 3600, "d": DAY}
LONGEST = 36_500 * DAY
LARGEST = {
    "title": 1000,
    "horizon": 10**12,
    "publish_every": 10**9,
    "actions": 1000,
    "candidates": 1000,
    "fields": 500,
    "origins": 100,
}
"""What one server can carry for one task, with room to spare."""
LARGEST_FEATURES = 2000
LEAST_HOLDOUT = 0.001
LEAST_BATCH = 2
LARGEST_TUNING = 1e9
ORIGIN = re.compile(r"https?://[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?(:[1-9][0-9]{0,4})?")
"""As a browser writes it: no path, no capital letters."""
RESERVED = {"learner", "preset", "arms", "dimension", "rounds", "epsilon", "delta", "region", "drift"}


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


def check_file(file: TaskFile) -> None:
    """Refuse what cannot work; the numbers of the learner are checked when the task is built."""
    if not NAME.fullmatch(file.id):
        raise ConfigurationError(f"id must be lower-case letters, digits and dashes, got {file.id!r}")
    algorithm = algorithm_of(file.learner)
    if algorithm.trust != "local":
        raise ConfigurationError(f"{file.learner} gets raw data; it exists in simulation only")
    if algorithm.actions == "features":
        if not file.fields:
            raise ConfigurationError(f"{file.learner} learns from features: declare at least one in [fields.NAME]")
        if bool(file.actions) == (file.candidates > 0):
            raise ConfigurationError("name the actions, or say how many candidates there are at most; not both")
    elif file.fields or file.candidates:
        raise ConfigurationError(f"{file.learner} takes no features; leave fields and candidates out")
    if algorithm.actions != "points" and (choices := file.candidates or len(file.actions)) < 2:
        raise ConfigurationError(f"there must be at least two actions or candidates to choose from, got {choices}")
    if file.one_right and not file.actions:
        raise ConfigurationError("one_right is said of named actions; name them in actions, or leave it out")
    if file.returning and not file.candidates:
        raise ConfigurationError("returning is said of candidates; say how many there are, or leave it out")
    if file.drift != "none" and file.learner not in (able := learners_with("drift")):
        raise ConfigurationError(f"{file.learner} has no version for drift; {' and '.join(able)} have")
    if algorithm.actions == "points" and file.actions:
        raise ConfigurationError(f"{file.learner} chooses points of a region; leave actions out")
    if len(set(file.actions)) < len(file.actions):
        raise ConfigurationError(f"actions must have different names, got {list(file.actions)}")
    reward = file.reward
    check_range("the reward", reward.low, reward.high)
    if not reward.low <= reward.default <= reward.high:
        raise ConfigurationError(f"the default reward {reward.default:g} is outside {reward.low:g} to {reward.high:g}")
    if file.mode == "apprentice" and algorithm.actions != "features":
        raise ConfigurationError("an apprentice learns from what others choose: only tasks with features can do that")
    for name, most in LARGEST.items():
        value = getattr(file, name)
        if (count := value if isinstance(value, int) else len(value)) > most:
            shown = f"{count:,}" if count < 10**15 else "much more"
            raise ConfigurationError(f"{name}: at most {most:,}, got {shown}")
    if (features := width_of(file.fields) * max(len(file.actions), 1)) > LARGEST_FEATURES:
        raise ConfigurationError(
            f"the features have {features:,} coordinates, at most {LARGEST_FEATURES:,}: use fewer fields, values of "
            f"categories, or named actions"
        )
    for origin in file.origins:
        if not ORIGIN.fullmatch(origin):
            raise ConfigurationError(f"an origin is written like 'https://shop.example', got {origin!r}")
    if reserved := RESERVED & file.tuning.keys():
        raise ConfigurationError(f"{min(reserved)} is not tuning; it has its own place in the file")
    for name, value in file.tuning.items():
        if isinstance(value, float) and not abs(value) <= LARGEST_TUNING:
            raise ConfigurationError(f"{name} must be a number up to {LARGEST_TUNING:g}, got {value:g}")
    if file.publish_every < 0:
        raise ConfigurationError(f"publish_every must be at least 1, got {file.publish_every}")
    if file.holdout:
        _check_holdout(file, file.holdout)
    if file.shuffler:
        _check_shuffler(file, file.shuffler)


def _check_holdout(file: TaskFile, holdout: HoldoutShare) -> None:
    algorithm = algorithm_of(file.learner)
    if algorithm.actions == "points":
        raise ConfigurationError(f"{file.learner} chooses points; a holdout compares actions: leave it out")
    if algorithm.setting.startswith("best"):
        raise ConfigurationError(f"{file.learner} searches and then stops; what it offers meanwhile is no choice")
    if not LEAST_HOLDOUT <= holdout.share <= MOST:
        raise ConfigurationError(f"the share of a holdout is {LEAST_HOLDOUT:g} to {MOST:g}, got {holdout.share:g}")
    if algorithm.actions == "features":
        if holdout.baseline:
            raise ConfigurationError("with features the app says what its baseline is; leave holdout.baseline out")
        if needs_delta(file.learner, file.preset):
            raise ConfigurationError("a holdout measures without delta; choose a preset without one, or leave it out")
    elif holdout.baseline not in file.actions:
        known = ", ".join(file.actions)
        raise ConfigurationError(f"the baseline of a holdout is one of: {known}; got {holdout.baseline!r}")


def _check_shuffler(file: TaskFile, shuffler: Shuffling) -> None:
    """A shuffler hides whose a report is; refuse it where something else would tell."""
    if algorithm_of(file.learner).actions != "features":
        raise ConfigurationError(
            f"{file.learner} works with tickets: each report brings back what the server itself gave out, and a "
            "shuffler would hide nothing; leave [shuffler] out"
        )
    if file.holdout:
        raise ConfigurationError("a shuffler does not sort reports by what they measure; leave holdout or shuffler out")
    if file.admission != "open":
        raise ConfigurationError("a shuffler cannot check admission tokens; leave admission or shuffler out")
    if shuffler.batch < LEAST_BATCH:
        raise ConfigurationError(f"a shuffler mixes at least {LEAST_BATCH} reports, got batch = {shuffler.batch}")


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
