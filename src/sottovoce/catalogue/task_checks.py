"""What a task file must not say: each refusal names what was wanted and what came, in the words of the file."""

import re

from sottovoce.catalogue.algorithms import Algorithm, algorithm_of, learners_with, needs_delta
from sottovoce.catalogue.task import Shuffling
from sottovoce.catalogue.task_file import HoldoutShare, TaskFile
from sottovoce.protocol.contract import NAME
from sottovoce.protocol.errors import ConfigurationError, check_range
from sottovoce.protocol.fields import Category, width_of
from sottovoce.protocol.holdout import MOST

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
ORIGIN = re.compile(
    r"(?!http://.*:80$|https://.*:443$)https?://[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?(:[1-9][0-9]{0,4})?"
)
"""As a browser writes it: no path, no capital letters, and no port where it is the usual one."""
NOT_FOR_EYES = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
"""Line breaks, control characters, and what turns around the direction of the text that follows."""
RESERVED = {"learner", "preset", "arms", "dimension", "rounds", "epsilon", "delta", "region", "drift"}


def check_file(file: TaskFile) -> None:
    """Refuse what cannot work; the numbers of the learner are checked when the task is built."""
    if not NAME.fullmatch(file.id):
        raise ConfigurationError(f"id must be lower-case letters, digits and dashes, got {file.id!r}")
    algorithm = algorithm_of(file.learner)
    if algorithm.trust != "local":
        raise ConfigurationError(f"{file.learner} gets raw data; it exists in simulation only")
    _check_choices(file, algorithm)
    reward = file.reward
    check_range("the reward", reward.low, reward.high)
    if not reward.low <= reward.default <= reward.high:
        raise ConfigurationError(f"the default reward {reward.default:g} is outside {reward.low:g} to {reward.high:g}")
    if file.mode == "apprentice" and algorithm.actions != "features":
        raise ConfigurationError("an apprentice learns from what others choose: only tasks with features can do that")
    _check_sizes(file)
    _check_words(file)
    for origin in file.origins:
        if not ORIGIN.fullmatch(origin):
            raise ConfigurationError(
                "an origin is written like 'https://shop.example', as browsers send it: without a path, and without a "
                f"port that is 443 (http: 80); got {origin!r}"
            )
    _check_tuning(file)
    if file.publish_every < 0:
        raise ConfigurationError(f"publish_every must be at least 1, got {file.publish_every}")
    if file.holdout:
        _check_holdout(file, file.holdout)
    if file.shuffler:
        _check_shuffler(file, file.shuffler)


def _check_choices(file: TaskFile, algorithm: Algorithm) -> None:
    """Actions, candidates or points, as the learner takes them, and what is said of them."""
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


def _check_sizes(file: TaskFile) -> None:
    for name, most in LARGEST.items():
        value = getattr(file, name)
        if (count := value if isinstance(value, int) else len(value)) > most:
            shown = f"{count:,}" if count < 10**15 else "much more"
            raise ConfigurationError(f"{name}: at most {most:,}, got {shown}")
    width, actions = width_of(file.fields), max(len(file.actions), 1)
    if width * actions > LARGEST_FEATURES:
        widest = max(file.fields, key=lambda name: file.fields[name].width)
        raise ConfigurationError(
            f"the features have {width * actions:,} coordinates, {width} for each of {actions} actions, at most "
            f"{LARGEST_FEATURES:,}: use fewer fields, values of categories, or named actions; the field with most "
            f"is {widest!r}, {file.fields[widest].width}"
        )


def is_plain(word: str) -> bool:
    r"""May it be shown as it is?

    >>> is_plain("più caffè"), is_plain("two\nlines")
    (True, False)
    """
    return not NOT_FOR_EYES.search(word)


def _check_words(file: TaskFile) -> None:
    """What people read in a terminal, on the dashboard and in the statement is one line, and looks as what it is."""
    categories = {name: field for name, field in file.fields.items() if isinstance(field, Category)}
    read = {"the title": [file.title], "an action": file.actions, "the name of a field": file.fields}
    read |= {f"a value of the field {name!r}": field.values for name, field in categories.items()}
    for what, words in read.items():
        for word in words:
            if not is_plain(word):
                raise ConfigurationError(f"{what} must be one line without control characters, got {word!r}")


def _check_tuning(file: TaskFile) -> None:
    if reserved := RESERVED & file.tuning.keys():
        raise ConfigurationError(f"{min(reserved)} is not tuning; it has its own place in the file")
    for name, value in file.tuning.items():
        if isinstance(value, float) and not abs(value) <= LARGEST_TUNING:
            raise ConfigurationError(f"{name} must be a number up to {LARGEST_TUNING:g}, got {value:g}")


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
