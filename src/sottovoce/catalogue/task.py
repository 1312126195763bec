"""One learning task as plain data: `task()` fills it from a preset, and `task_of` from the contract of a live task."""

from collections.abc import Mapping
from typing import Any

import msgspec

from sottovoce.catalogue.algorithms import Algorithm, algorithm_of, needs_delta, preset_of
from sottovoce.protocol.budget import Budget, budget
from sottovoce.protocol.codec import from_decimals
from sottovoce.protocol.contract import Contract
from sottovoce.protocol.errors import ConfigurationError, UnknownName
from sottovoce.protocol.links import link_of
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


class TicketHoldout(Strict, frozen=True, kw_only=True):
    """Tickets that play a baseline, and teach nothing: the server hands them out by chance."""

    share: str
    """A decimal number: of the tickets."""
    baseline: int
    """The number of the action."""


class Shuffling(Strict, frozen=True, kw_only=True):
    """`[shuffler]`: reports come from a shuffler alone, in batches (docs/shuffler.md)."""

    batch: int
    """The least number of reports in a batch. All of one answer the same model, through the same gate."""


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
    origins: tuple[str, ...] = ()
    """Web pages whose scripts may be devices."""
    holdout: TicketHoldout | None = None
    """For a task with tickets; with a model devices have to know it, and it is among the extensions."""
    shuffler: Shuffling | None = None
    """None where devices report to the server. A device does the same in both cases, so it need not know."""


def learning_of(contract: Contract) -> Learning:
    """What the server does with the reports."""
    return msgspec.json.decode(contract.learning, type=Learning)


def holds_out(contract: Contract) -> bool:
    """Does it declare a holdout, among its extensions or in the part for the server?"""
    return "holdout" in contract.extensions or learning_of(contract).holdout is not None


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
    chosen = preset_of(learner, preset)
    gate, tuning = chosen["gate"], dict(chosen.get("tuning", {}))
    domain = dict(gate["domain"])
    for name, value in numbers.items():
        if name not in tuning and (name not in domain or name == "kind"):
            raise UnknownName(f"tuning of {learner}", name, {*tuning, *domain} - {"kind"}, SHAPE)
        (tuning if name in tuning else domain)[name] = value
    _check(algorithm, learner, arms, dimension, rounds, region)
    pure = not needs_delta(learner, preset)
    if pure and delta:
        raise ConfigurationError(f"{learner} {preset} promises epsilon alone; leave delta out (got {delta:g})")
    spent = budget(epsilon, 0.0 if pure else DEFAULT_DELTA if delta is None else delta)
    points = dict(region or {"kind": "ball"}) if algorithm.actions == "points" else {}
    named = _named_numbers(tuning, dimension, points)
    return Task(
        learner=learner,
        preset=preset,
        arms=arms,
        dimension=dimension,
        rounds=rounds,
        epsilon=spent.epsilon,
        delta=spent.delta,
        user=algorithm.user,
        domain={key: value if key == "kind" else named.get(value, value) for key, value in domain.items()},
        mechanism=gate["mechanism"],
        formula=gate.get("formula", "analytic"),
        tuning=tuning,
        region=points,
    )


def _named_numbers(tuning: Mapping[str, Any], dimension: int, region: Mapping[str, Any]) -> dict[str, Any]:
    """What the domain of a preset may give by name instead of as a number."""
    named: dict[str, Any] = {
        "dimension": dimension,
        "free_coordinates": dimension - (region.get("kind") == "simplex"),
        "directions": int(tuning.get("directions", 0)),
    }
    if "link" in tuning:
        link = link_of(tuning)
        named["radius"] = link.radius
        named["residual"] = link.residual
        named["residual_over_mean"] = link.residual / link.largest_mean
        named["twice_largest_reward"] = 2 * max(abs(link.low), link.high)
    return named


def _check(
    algorithm: Algorithm, learner: str, arms: int, dimension: int, rounds: int, region: Mapping[str, Any] | None
) -> None:
    if algorithm.actions == "points":
        if arms:
            raise ConfigurationError(f"{learner} chooses points of a region; leave arms out (got {arms})")
    elif arms < 2:
        raise ConfigurationError(f"arms must be at least 2, got {arms}")
    elif region:
        raise ConfigurationError(f"{learner} does not choose points; leave region out (got {dict(region)})")
    if rounds < 1:
        raise ConfigurationError(f"rounds must be at least 1, got {rounds}")
    if algorithm.actions == "arms" and dimension:
        raise ConfigurationError(f"{learner} takes no features; leave dimension out (got {dimension})")
    if algorithm.actions != "arms" and dimension < 1:
        raise ConfigurationError(f"{learner} needs a dimension of at least 1, got {dimension}")
