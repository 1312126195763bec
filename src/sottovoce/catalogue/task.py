"""One learning task as plain data: `task()` fills it from a preset, and `task_of` from the contract of a live task."""

import tomllib
from collections.abc import Mapping
from functools import lru_cache
from importlib import resources
from typing import Any, Literal

import msgspec

from sottovoce.protocol.budget import Budget, budget
from sottovoce.protocol.contract import Contract
from sottovoce.protocol.errors import ConfigurationError, UnknownName
from sottovoce.protocol.links import link_of
from sottovoce.protocol.numbers import from_decimals
from sottovoce.protocol.strict import Strict

DEFAULT_DELTA = 1e-5
"""For presets whose mechanism needs a delta, when nobody chose one."""

SHAPE = ("arms", "delta", "dimension", "epsilon", "region", "rounds")
"""The keywords of `task` that are not numbers of a preset."""


class Task(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All that both halves of a simulation need; names are looked up by each half."""

    learner: str
    preset: str
    arms: int
    """How many actions there are; 0 where the actions are the points of a region."""
    dimension: int
    """Length of a feature vector or of a point; 0 for a few arms."""
    rounds: int
    epsilon: float
    delta: float
    user: str
    domain: dict[str, int | float | str]
    mechanism: str
    formula: str
    tuning: dict[str, int | float | str]
    region: dict[str, Any] = {}
    """The convex set whose points are the actions; empty where there are arms."""

    @property
    def budget(self) -> Budget:
        return Budget(self.epsilon, self.delta)


class Learning(Strict, frozen=True, kw_only=True):
    """The part of a contract that only the server reads."""

    learner: str
    preset: str
    formula: str
    tuning: dict[str, int | str]
    region: dict[str, Any]
    horizon: int
    """About how many reports are expected."""
    publish_every: int
    """Reports between two models."""


def learning_of(contract: Contract) -> Learning:
    """What the server does with the reports."""
    return msgspec.json.decode(contract.learning, type=Learning)


def task_of(contract: Contract) -> Task:
    """The task that a contract is about."""
    offers, learning, gate = contract.offers, learning_of(contract), contract.gates[0]
    return Task(
        learner=learning.learner,
        preset=learning.preset,
        arms=offers.arms,
        dimension=offers.dimension,
        rounds=learning.horizon,
        epsilon=gate.epsilon,
        delta=gate.delta,
        user=algorithm_of(learning.learner).user,
        domain=from_decimals(contract.domain),
        mechanism=contract.mechanism,
        formula=learning.formula,
        tuning=from_decimals(learning.tuning),
        region=from_decimals(learning.region),
    )


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
    """Who hears raw data: nobody (local), a curator who keeps it (central), the learner (none); simulation only."""


@lru_cache(maxsize=1)
def algorithms() -> dict[str, Algorithm]:
    """Every algorithm of the catalogue, by name.

    >>> "linucb" in algorithms()
    True
    """
    folder = resources.files("sottovoce.catalogue.presets")
    files = sorted((f for f in folder.iterdir() if f.name.endswith(".toml")), key=lambda f: f.name)
    return {
        file.name.removesuffix(".toml"): msgspec.convert(tomllib.loads(file.read_text("utf-8")), Algorithm)
        for file in files
    }


def algorithm_of(learner: str) -> Algorithm:
    """One algorithm of the catalogue.

    >>> algorithm_of("linucb").actions
    'features'
    """
    if learner not in algorithms():
        raise UnknownName("learner", learner, algorithms())
    return algorithms()[learner]


def needs_delta(learner: str, preset: str) -> bool:
    """Does the mechanism of this preset promise an (epsilon, delta), not epsilon alone?

    >>> needs_delta("linucb", "paper"), needs_delta("linucb", "practical")
    (True, False)
    """
    gate = algorithm_of(learner).presets[preset]["gate"]
    return gate["mechanism"] == "gaussian" or gate.get("delta", False)


def task(
    learner: str,
    preset: str = "practical",
    *,
    rounds: int,
    epsilon: float,
    arms: int = 0,
    delta: float | None = None,
    dimension: int = 0,
    region: Mapping[str, Any] | None = None,
    **numbers: float | str,
) -> Task:
    """A task from a preset; `numbers` override those of the preset's tuning and domain by name.

    >>> task("linucb", arms=10, dimension=5, rounds=1000, epsilon=1.0).mechanism
    'sphere'
    """
    algorithm = algorithm_of(learner)
    if preset not in algorithm.presets:
        raise UnknownName(f"preset of {learner}", preset, algorithm.presets)
    chosen = algorithm.presets[preset]
    gate, tuning = chosen["gate"], dict(chosen.get("tuning", {}))
    domain = dict(gate["domain"])
    for name, value in numbers.items():
        if name not in tuning and (name not in domain or name == "kind"):
            raise UnknownName(f"tuning of {learner}", name, {*tuning, *domain} - {"kind"}, SHAPE)
        (tuning if name in tuning else domain)[name] = value
    _check(algorithm, learner, arms, dimension, rounds)
    pure = not needs_delta(learner, preset)
    if pure and delta:
        raise ConfigurationError(f"{learner} {preset} promises epsilon alone; leave delta out (got {delta:g})")
    spent = budget(epsilon, 0.0 if pure else DEFAULT_DELTA if delta is None else delta)
    shape = _region(algorithm, learner, region, dimension)
    whole = {"dimension": dimension, "size": free_coordinates(shape, dimension)}
    return Task(
        learner=learner,
        preset=preset,
        arms=arms,
        dimension=dimension,
        rounds=rounds,
        epsilon=spent.epsilon,
        delta=spent.delta,
        user=algorithm.user,
        domain=_resolved(domain, whole | tuning, _bounds_of(tuning)),
        mechanism=gate["mechanism"],
        formula=gate.get("formula", "analytic"),
        tuning=tuning,
        region=shape,
    )


def free_coordinates(region: Mapping[str, Any], dimension: int) -> int:
    """How many coordinates of a point are free: one less than there are in a simplex."""
    return dimension - (region.get("kind") == "simplex")


def _resolved(domain: dict[str, Any], whole: dict[str, Any], bounds: dict[str, float]) -> dict[str, Any]:
    """A number that the preset gives by name is looked up: a whole one (the dimension, say) or a bound of the link."""
    names = {value: int(whole[value]) for value in domain.values() if value in whole} | bounds
    return {key: names.get(value, value) if key != "kind" else value for key, value in domain.items()}


def _bounds_of(tuning: dict[str, Any]) -> dict[str, float]:
    """What a domain may take from the link, by name."""
    if "link" not in tuning:
        return {}
    link = link_of(tuning)
    return {
        "residual": link.residual,
        "residual/mean": link.residual / link.largest_mean,
        "twice the reward": 2 * max(abs(link.low), link.high),
    }


def _region(algorithm: Algorithm, learner: str, region: Mapping[str, Any] | None, dimension: int) -> dict[str, Any]:
    if algorithm.actions != "points":
        if region:
            raise ConfigurationError(f"{learner} does not choose points; leave region out (got {dict(region)})")
        return {}
    return dict(region or {"kind": "ball"})


def _check(algorithm: Algorithm, learner: str, arms: int, dimension: int, rounds: int) -> None:
    if algorithm.actions == "points":
        if arms:
            raise ConfigurationError(f"{learner} chooses points of a region; leave arms out (got {arms})")
    elif arms < 2:
        raise ConfigurationError(f"arms must be at least 2, got {arms}")
    if rounds < 1:
        raise ConfigurationError(f"rounds must be at least 1, got {rounds}")
    if algorithm.actions == "arms" and dimension:
        raise ConfigurationError(f"{learner} takes no features; leave dimension out (got {dimension})")
    if algorithm.actions != "arms" and dimension < 1:
        raise ConfigurationError(f"{learner} needs a dimension of at least 1, got {dimension}")
