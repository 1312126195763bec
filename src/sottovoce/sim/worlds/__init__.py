"""Worlds to learn in, by name."""

import functools
import inspect
from collections.abc import Mapping
from typing import Any

from sottovoce.catalogue.algorithms import algorithm_of
from sottovoce.catalogue.task import Task
from sottovoce.learners.convex.regions import region_of
from sottovoce.protocol.errors import ConfigurationError, UnknownName
from sottovoce.sim.worlds.arms import Arms, ChangingArms, SwitchingArms, narrow_arms
from sottovoce.sim.worlds.base import Drawn, World
from sottovoce.sim.worlds.convex import Absolute, Cliff, Plane, Quadratic, Valley
from sottovoce.sim.worlds.digits import digits_of
from sottovoce.sim.worlds.linear import CONTEXTS, Binary, ChangingLinear, Linear, Poisson
from sottovoce.sim.worlds.movielens import movielens_of
from sottovoce.sim.worlds.table import table_of

WORLDS: dict[str, Any] = {
    "arms": Arms,
    "switching-arms": SwitchingArms,
    "narrow-arms": narrow_arms,
    "changing-arms": ChangingArms,
    "linear": Linear,
    "changing-linear": ChangingLinear,
    "logistic": functools.partial(Binary, link="logistic"),
    "probit": functools.partial(Binary, link="probit"),
    "poisson": Poisson,
    "quadratic": Quadratic,
    "absolute": Absolute,
    "valley": Valley,
    "cliff": Cliff,
    "ravine": functools.partial(Valley, flat=0.0),
    "noisy": functools.partial(Absolute, steepness=1 / 3, top=0.75, noise=0.1),
    "movielens": movielens_of,
    "digits": digits_of,
    "table": table_of,
    "plane": Plane,
}

CHOICES = {
    "contexts": CONTEXTS,
    "motion": ("fixed", "drifting", "switching", "alternating"),
    "scale": ("authors", "unit"),
}
"""Options that are one of a few names."""

USUAL_WORLD = {"arms": "arms", "features": "linear", "points": "absolute"}
"""The first world for each kind of actions."""

__all__ = ["CHOICES", "WORLDS", "World", "actions_of", "first_world", "options_of", "world_of", "world_of_task"]


def first_world(learner: str) -> str:
    """The name of the world an algorithm is first tried in.

    >>> first_world("linucb")
    'linear'
    """
    algorithm = algorithm_of(learner)
    return algorithm.world or USUAL_WORLD[algorithm.actions]


def actions_of(name: str) -> str:
    """What is chosen in this world: arms, features or points.

    >>> actions_of("linear")
    'features'
    """
    if name not in WORLDS:
        raise UnknownName("world", name, WORLDS)
    shape = inspect.signature(WORLDS[name]).parameters
    return "points" if "region" in shape else "features" if "dimension" in shape else "arms"


def options_of(name: str) -> set[str]:
    """What a study may set in this world.

    >>> sorted(options_of("switching-arms"))
    ['factor', 'gap']
    """
    fields = inspect.signature(WORLDS[name]).parameters.values()
    return {field.name for field in fields if field.annotation != Drawn} - {"arms", "dimension", "region"}


def world_of(
    name: str, *, arms: int = 0, dimension: int = 0, region: Mapping[str, Any] | None = None, **options: Any
) -> World:
    """The world of this name.

    >>> world_of("linear", arms=10, dimension=5, contexts="fixed").contexts
    'fixed'
    """
    actions = actions_of(name)
    known = options_of(name)
    for option, value in options.items():
        if option not in known:
            raise UnknownName(f"option of world {name}", option, known)
        if option in CHOICES and value not in CHOICES[option]:
            raise UnknownName(option, value, CHOICES[option])
        if option == "gap" and not 0 < value <= 1:
            raise ConfigurationError(f"gap must be above 0 and at most 1, got {value:g}")
    gap, reward = float(options.get("gap", 0.0)), float(options.get("reward", 0.5))
    gaps = 1 + float(options.get("stays", 0.0))
    if name in ("arms", "changing-arms") and gaps * gap > 1 - reward:
        times = f"{gaps:g} times " if gaps > 1 else ""
        raise ConfigurationError(
            f"{times}gap {gap:g} and reward {reward:g} make more than 1, the largest reward there is"
        )
    if (period := float(options.get("period", 1.0))) <= 0:
        raise ConfigurationError(f"period must be positive, got {period:g}")
    if actions != "arms" and dimension < 1:
        raise ConfigurationError(f"world {name} needs a dimension of at least 1, got {dimension}")
    if actions == "points":
        return WORLDS[name](region=region_of(region or {"kind": "ball"}, dimension), **options)
    shape = {"arms": arms, "dimension": dimension} if actions == "features" else {"arms": arms}
    return WORLDS[name](**shape, **options)


def world_of_task(task: Task, **options: Any) -> World:
    """The world a task's algorithm is first tried in."""
    return world_of(first_world(task.learner), arms=task.arms, dimension=task.dimension, region=task.region, **options)
