"""A plan: what a task will cost and give, before anyone deploys it. Needs NumPy only and takes a second or two.

Noise, error and bytes are closed forms of the mechanism. The regret is computed: a few dozen paths of the learner's
own equations on a coarse grid of times, with seeded noise, no fitted constant and no compiled loop. `docs/plan.md`
compares it with simulations.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from sottovoce.catalogue.resolve import mechanism_of
from sottovoce.catalogue.task import Task, algorithm_of, needs_delta, task
from sottovoce.lab.plan import indices, linear, slopes, thompson, weights
from sottovoce.lab.plan.paths import Array, Paths
from sottovoce.lab.study.file import Study
from sottovoce.privacy.reading import noise_of, report_size
from sottovoce.privacy.special import normal_quantile
from sottovoce.protocol.errors import ConfigurationError, UnknownName

ARMS: dict[str, Callable[[Task, Array], Paths]] = {
    "ucb": lambda task, losses: indices.predict_indices(task, losses, indices.ucb),
    "kl-ucb": lambda task, losses: indices.predict_indices(task, losses, indices.kl_ucb),
    "kl-ucb-plus-plus": lambda task, losses: indices.predict_indices(task, losses, indices.kl_ucb_plus_plus),
    "lil-ucb": lambda task, losses: indices.predict_indices(task, losses, indices.lil_ucb),
    "thompson": thompson.predict_thompson,
    "tsallis-inf": weights.predict_tsallis,
    "exp3": weights.predict_exp3,
}
"""Who can be foreseen in the world of arms."""

OPTIONS = {
    "arms": {"gap", "reward", "alpha", "rewards"},
    "switching-arms": {"gap", "factor"},
    "linear": {"contexts"},
    "absolute": {"motion", "depth", "noise", "period", "steepness"},
    "quadratic": {"motion", "depth", "noise", "period", "kink"},
}
"""What a study may set, world by world."""

CERTAINTY = 0.95
"""Of telling two arms apart."""


class Plan(NamedTuple):
    """One row: a task, what a report says, and what to expect. None where there is no honest number."""

    learner: str
    preset: str
    world: str
    options: dict[str, Any]
    arms: int
    dimension: int
    epsilon: float
    delta: float
    rounds: int
    mechanism: str
    bytes: int
    """Of one report."""
    noise: float
    """Standard deviation of one number in one report, in its natural units: the largest block's."""
    error: float
    """Standard deviation of a mean after all reports, spread evenly over the arms where there are arms."""
    people_to_compare: int | None
    """Who must answer, spread evenly, until the best arm looks better than a given other one with 95 % certainty."""
    uniform_regret: float | None
    predicted_regret: float | None
    regret_low: float | None
    """One run in twenty costs less."""
    regret_high: float | None
    """One run in twenty costs more."""
    people_needed: int | None
    """Who must answer until the learner has cost half as much as uniform play; None if more than there are rounds."""
    predicted_samples: float | None
    """Who answers until a learner that stops has stopped."""
    note: str
    """Why there is no prediction."""


def plans_of(study: Study) -> list[Plan]:
    """A plan for every world and budget of a study.

    >>> (row,) = plans_of(Study(learner="ucb", arms=3, epsilon=[2.0], rounds=1000, options={"gap": 0.4}))
    >>> row.bytes, row.predicted_regret < row.uniform_regret
    (1, True)
    """
    if not study.epsilon:
        raise ConfigurationError("give at least one epsilon")
    for world in study.worlds:
        for option in study.options:
            if option not in OPTIONS.get(world, {option}):
                raise UnknownName(f"option of world {world}", option, OPTIONS[world])
    return [_plan(study, _task(study, epsilon), world) for world in study.worlds for epsilon in study.epsilon]


def _plan(study: Study, contract: Task, world: str) -> Plan:
    mechanism = mechanism_of(contract)
    noise = noise_of(mechanism)
    deviation = max(noise.per_block)
    outlook = _outlook(contract, world, study.options, study)
    losses = _losses(contract, study.options) if world in ("arms", "switching-arms") else None
    return Plan(
        learner=contract.learner,
        preset=contract.preset,
        world=world,
        options=dict(study.options),
        arms=contract.arms,
        dimension=contract.dimension,
        epsilon=contract.epsilon,
        delta=contract.delta,
        rounds=contract.rounds,
        mechanism=contract.mechanism,
        bytes=report_size(mechanism),
        noise=deviation,
        error=deviation * math.sqrt((contract.arms if losses is not None else 1) / contract.rounds),
        people_to_compare=None if losses is None else _people_to_compare(losses, math.sqrt(0.25 + noise.variance)),
        **outlook,
    )


def _outlook(contract: Task, world: str, options: dict[str, Any], study: Study) -> dict[str, Any]:
    nothing = dict.fromkeys(
        ("uniform_regret", "predicted_regret", "regret_low", "regret_high", "people_needed", "predicted_samples")
    )
    foreseen = _foresee(contract, world, options)
    if study.publish_every != 1 or study.delay:
        foreseen = "delays and rare publications are not foreseen; run simulate"
    if isinstance(foreseen, str):
        return nothing | {"note": foreseen}
    paths, uniform = foreseen
    end = paths.at(contract.rounds)
    if contract.learner == "lil-ucb":
        return nothing | {"predicted_samples": float(paths.answered.mean()), "note": ""}
    return {
        "uniform_regret": uniform * contract.rounds,
        "predicted_regret": float(end.mean()),
        "regret_low": float(np.quantile(end, 0.05)),
        "regret_high": float(np.quantile(end, 0.95)),
        "people_needed": _people_needed(paths, uniform, contract.rounds),
        "predicted_samples": None,
        "note": "",
    }


def _foresee(contract: Task, world: str, options: dict[str, Any]) -> tuple[Paths, float] | str:
    """Paths and what a round of uniform play costs, or why there are none."""
    learner = contract.learner
    if world == "arms" and learner in ARMS:
        if learner == "lil-ucb" and contract.tuning["rule"] != "heuristic":
            return "only the heuristic rule of lil-ucb is foreseen; run simulate"
        losses = _losses(contract, options)
        return ARMS[learner](contract, losses), float(np.mean(losses - losses.min()))
    isotropic = options.get("contexts", "isotropic") == "isotropic"
    if world == "linear" and learner == "linucb" and contract.tuning["rule"] == "practical" and isotropic:
        return linear.predict_linucb(contract), linear.uniform_linear(contract)
    plain = options.get("motion", "fixed") == "fixed" and not options.get("kink")
    if learner == "two-point" and contract.region.get("kind") == "ball" and plain:
        return slopes.predict_two_points(contract, options, world), slopes.uniform_points(contract, options, world)
    return f"nobody has foreseen {learner} ({contract.preset}) in world {world}; run simulate"


def _losses(contract: Task, options: dict[str, Any]) -> Array:
    """Mean losses of the arms, the defaults being those of the worlds."""
    if "rewards" in options:
        rewards = np.asarray(options["rewards"], dtype=float)
        if len(rewards) != contract.arms:
            raise ConfigurationError(f"rewards must have one number per arm: {contract.arms}, got {len(rewards)}")
        return 1 - rewards
    behind = np.linspace(0.0, 1.0, contract.arms) ** float(options.get("alpha", 0.0))
    behind[0] = 0.0
    return 1 - float(options.get("reward", 0.5)) - float(options.get("gap", 0.2)) * (1 - behind)


def _people_to_compare(losses: Array, deviation: float) -> int | None:
    gaps = losses - losses.min()
    if not np.any(gaps > 0):
        return None
    quantile = normal_quantile(CERTAINTY)
    return math.ceil(2 * len(losses) * (quantile * deviation / gaps[gaps > 0].min()) ** 2)


def _people_needed(paths: Paths, uniform: float, rounds: int) -> int | None:
    """When the mean regret so far falls below half of uniform play's, for good."""
    grid = np.unique(np.geomspace(1, rounds, 400).astype(int))
    dear = np.flatnonzero(paths.at(grid).mean(0) > 0.5 * uniform * grid)
    last = dear[-1] + 1 if len(dear) else 0
    return int(grid[last]) if last < len(grid) else None


def _task(study: Study, epsilon: float) -> Task:
    if algorithm_of(study.learner).trust != "local":
        raise ConfigurationError(f"{study.learner} hears raw data; plan is for learners that do not")
    known = study.preset in algorithm_of(study.learner).presets and needs_delta(study.learner, study.preset)
    return task(
        study.learner,
        study.preset,
        arms=study.arms,
        rounds=study.rounds,
        epsilon=epsilon,
        delta=study.delta if known else None,
        dimension=study.dimension,
        region=study.region,
        **study.tuning,
    )
