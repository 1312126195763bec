"""A study as plain data: one learner in some worlds at some budgets. What is planned and what is simulated."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from sottovoce.catalogue.algorithms import algorithm_of, needs_delta
from sottovoce.catalogue.task import Task, task
from sottovoce.catalogue.task_file import load
from sottovoce.protocol.errors import ConfigurationError
from sottovoce.sim.worlds import World, actions_of, first_world, world_of


class Study(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What `sottovoce simulate` runs and `sottovoce plan` plans; the same fields in a TOML file."""

    learner: str
    epsilon: list[float]
    rounds: int
    title: str = ""
    preset: str = "practical"
    world: list[str] = []
    arms: int = 0
    dimension: int = 0
    region: dict[str, Any] = {}
    """The convex set whose points are the actions, for learners of points."""
    delta: float | None = None
    seeds: int = 8
    seed: int = 0
    publish_every: int = 1
    delay: int = 0
    options: dict[str, float | str | list[float]] = {}
    """Options of the world."""
    tuning: dict[str, float | str] = {}
    """Overrides of the preset's numbers."""

    def __post_init__(self) -> None:
        if not self.epsilon:
            raise ConfigurationError("give at least one epsilon")

    @property
    def worlds(self) -> list[str]:
        return self.world or [first_world(self.learner)]


class StudyInWorlds(NamedTuple):
    """A study, worlds of its own where it is not run in those of the registry, and what to say of them."""

    study: Study
    worlds: Mapping[str, World] | None = None
    said: str = ""


def load_study(path: Path) -> Study:
    """A study from a TOML file."""
    return load(path, Study, "a study")


def worlds_of(study: Study) -> dict[str, World]:
    """The worlds of a study, built once; refuses one whose actions are not the learner's.

    >>> worlds_of(Study(learner="ucb", arms=3, epsilon=[1.0], rounds=10))["arms"].arms
    3
    """
    wanted = algorithm_of(study.learner).actions
    shape: dict[str, Any] = {"arms": study.arms, "dimension": study.dimension, "region": study.region}
    for name in study.worlds:
        if wanted != (found := actions_of(name)):
            raise ConfigurationError(f"{study.learner} chooses among {wanted}; world {name!r} offers {found}")
    if misplaced := shape.keys() & study.options.keys():
        raise ConfigurationError(f"{min(misplaced)} is no option of a world; it has its own place in a study")
    numbers: dict[str, Any] = {**shape, **study.options}
    return {name: world_of(name, **numbers) for name in study.worlds}


def task_of(study: Study, preset: str, epsilon: float) -> Task:
    """The task of one curve. Another preset than the study's is asked the same question with its own numbers."""
    algorithm = algorithm_of(study.learner)
    tuning = {
        name: value for name, value in study.tuning.items() if preset == study.preset or name in algorithm.question
    }
    used = preset in algorithm.presets and needs_delta(study.learner, preset)
    return task(
        study.learner,
        preset,
        arms=study.arms,
        rounds=study.rounds,
        epsilon=epsilon,
        delta=study.delta if used else None,
        dimension=study.dimension,
        region=study.region,
        **tuning,
    )
