"""The algorithms of the catalogue, one file of `presets` each, and which of them to use."""

from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

from sottovoce.protocol.errors import ConfigurationError, look_up


class Algorithm(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One file of `catalogue/presets`: what a learner is, and the numbers of its presets."""

    title: str
    setting: str
    paper: str
    algorithm: str
    bound: str
    user: str
    presets: dict[str, dict[str, Any]]
    actions: Literal["arms", "features", "points"] = "arms"
    """What is chosen: one of a few arms, an action described by a person's features, a point of a convex region."""
    world: str = ""
    """The simulated world it is first tried in; empty for the usual one of its kind of actions."""
    question: tuple[str, ...] = ()
    """Names of tuning that say what is looked for, not how: where presets are compared, all are asked the same."""
    weighs: bool = True
    """Can a noisier report count for less? Not where the state has whole numbers (phases), or estimates are cut."""
    trust: Literal["local", "central", "none"] = "local"
    """Who gets raw data: nobody (local), a curator who keeps it (central), the learner (none); simulation only."""
    departures: tuple[str, ...] = ()
    """Where the preset `paper` is not what the paper prints, and why."""
    laplace: str = ""
    """What Laplace noise can do for the messages of the paper, where there is more to say than that it is offered."""
    source: str = ""
    """For what the paper does not contain: the preset that is printed elsewhere, named after its authors."""

    @property
    def published(self) -> str:
        """The preset that is printed somewhere, constants included; empty where there is none."""
        return "paper" if "paper" in self.presets else self.source


@lru_cache(maxsize=1)
def algorithms() -> dict[str, Algorithm]:
    """Every algorithm of the catalogue, by name.

    >>> "linucb" in algorithms()
    True
    """
    files = (Path(__file__).parent / "presets").glob("*.toml")
    return {file.stem: msgspec.toml.decode(file.read_bytes(), type=Algorithm) for file in sorted(files)}


def algorithm_of(learner: str) -> Algorithm:
    """One algorithm of the catalogue.

    >>> algorithm_of("linucb").actions
    'features'
    """
    return look_up("learner", learner, algorithms())


def preset_of(learner: str, preset: str) -> dict[str, Any]:
    """The gate and the tuning of a preset.

    >>> preset_of("exp3", "paper")
    Traceback (most recent call last):
        ...
    sottovoce.protocol.errors.ConfigurationError: the paper does not contain exp3; its preset is bubeck-cesa-bianchi
    """
    algorithm = algorithm_of(learner)
    if preset == "paper" and algorithm.source:
        raise ConfigurationError(f"the paper does not contain {learner}; its preset is {algorithm.source}")
    return look_up(f"preset of {learner}", preset, algorithm.presets)


def learners_with(tuning: str) -> list[str]:
    """The learners that have tuning of this name, in every preset.

    >>> learners_with("drift")
    ['scale-free', 'thompson']
    """
    return [
        name
        for name, algorithm in algorithms().items()
        if all(tuning in preset.get("tuning", {}) for preset in algorithm.presets.values())
    ]


def needs_delta(learner: str, preset: str) -> bool:
    """Does the mechanism of this preset promise an (epsilon, delta), not epsilon alone?

    >>> needs_delta("linucb", "paper"), needs_delta("linucb", "practical")
    (True, False)
    """
    gate = preset_of(learner, preset)["gate"]
    return gate["mechanism"] == "gaussian" or gate.get("delta", False)


class Advice(NamedTuple):
    """A situation, and the learner we would take for it."""

    situation: str
    learner: str
    why: str


SAME = "the same, "
"""So begins a situation that adds something to the one before it."""

GUIDE = (
    Advice("a few actions, rewards that stay as they are", "kl-moss", "mostly the least regret; plans for the horizon"),
    Advice("a few actions, and which one is best changes with time", "thompson", 'with drift = "sudden" or "slow"'),
    Advice("a few actions, rewards that go up and down together", "tsallis-inf", "learns in both kinds of worlds"),
    Advice("a few actions, and only the best one is wanted", "top-two", "stops by itself; 95 % confidence is proved"),
    Advice("the same, with a fixed number of people", "sequential-halving", "makes the most of those who come"),
    Advice("the best few of several actions", "clucb", "stops by itself, with a confidence"),
    Advice("candidates described by features", "scale-free", "no scale has to be known; the features never leave"),
    Advice("the same, with features of very different sizes", "linucb", "if no row of features is longer than 1"),
    Advice("the same, and a few sets of candidates come again and again", "linucb", "tries what is uncertain"),
    Advice("the same few candidates for everybody", "kl-moss", "name them, and leave the features out"),
    Advice("a few named actions, people described by features", "scale-free", "no scale; tries every action"),
    Advice("the same, and the answer is yes or no, or a count", "glm", "logistic, probit and Poisson rewards"),
    Advice("a number or a point to tune, two tries a person", "two-point", "a slope says more than two values"),
    Advice("a number or a point to tune, one try a person", "newton", "asks one value only; needs many more people"),
)


def advice_of(learner: str) -> Advice | None:
    """The first situation for which the guide names this learner, in words that can stand alone.

    >>> advice_of("sequential-halving").situation
    'a few actions, and only the best one is wanted, with a fixed number of people'
    """
    whole = ""
    for advice in GUIDE:
        same = advice.situation.startswith(SAME)
        whole = whole if same else advice.situation
        if advice.learner == learner:
            return advice._replace(situation=f"{whole}, {advice.situation.removeprefix(SAME)}" if same else whole)
    return None


def advised(actions: str, *, answer: bool = False) -> str:
    """The learner that the guide names first for this kind of actions; `answer`: one that finds the best and stops.

    >>> advised("arms"), advised("arms", answer=True), advised("points")
    ('kl-moss', 'top-two', 'two-point')
    """
    named = [advice.learner for advice in GUIDE if algorithm_of(advice.learner).actions == actions]
    return next(learner for learner in named if not answer or "failure" in algorithm_of(learner).question)


def default_learner(actions: str, *, drift: str = "none", returning: bool = False) -> str:
    """The learner for what a task declares, where it names none; every choice is explained in docs/defaults.md.

    >>> default_learner("arms"), default_learner("arms", drift="slow")
    ('kl-moss', 'thompson')
    >>> default_learner("features"), default_learner("features", returning=True)
    ('scale-free', 'linucb')
    """
    if actions == "points":
        raise ConfigurationError("name the learner: two-point if everybody can try two points, newton if only one")
    if drift != "none":
        return next(name for name in learners_with("drift") if algorithm_of(name).actions == actions)
    return "linucb" if returning else advised(actions)
