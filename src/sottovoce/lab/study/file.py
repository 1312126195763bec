"""A study as plain data: one learner in some worlds at some budgets. What is planned and what is simulated."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from sottovoce.catalogue.algorithms import algorithm_of, needs_delta
from sottovoce.catalogue.resolve import contract_of, tuning_of
from sottovoce.catalogue.task import Task, learning_of, task
from sottovoce.catalogue.task import task_of as task_of_contract
from sottovoce.catalogue.task_file import TaskFile, load_task_file
from sottovoce.catalogue.toml_file import load
from sottovoce.protocol.contract import ByModel, Contract, contract_from
from sottovoce.protocol.errors import ConfigurationError
from sottovoce.sim.worlds import World, actions_of, first_world, world_of, world_of_task
from sottovoce.sim.worlds.people import people_of

ONLY_IN_TASKS = {"id", "horizon", "privacy", "expires"}
"""Every task file has these names, no study has any of them."""


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
    note: str = ""
    file: TaskFile | None = None
    """Of the live task that it is about."""


def load_study(path: Path) -> Study:
    """A study from a TOML file."""
    return load(path, Study, "a study")


def is_task_file(path: Path) -> bool:
    """Is this a task rather than a study? What cannot be read is left to the reader of studies, who says why."""
    try:
        return bool(ONLY_IN_TASKS & tomllib.loads(path.read_text("utf-8")).keys())
    except (OSError, ValueError):
        return False


def load_task_study(path: Path) -> StudyInWorlds:
    """The study that says how the learner of a live task would do; reports that come late are not part of it."""
    file = load_task_file(path)
    contract = contract_from(contract_of(file))
    if isinstance(contract.offers, ByModel):
        name, world = "people", people_of(contract.offers)
        about = "people whose fields are uniform in their declared ranges, with a preference drawn for each run"
    else:
        task = task_of_contract(contract)
        name, world = first_world(task.learner), world_of_task(task)
        about = f"the world {name!r} with its usual numbers"
    study, every = study_of(file, contract, name), learning_of(contract).publish_every
    after = f"every {every:,} reports" if every > 1 else "after every report"
    note = f"Task {file.id}: {about}; a model {after}, every report in time."
    return StudyInWorlds(study, {name: world}, note, file)


def study_of(file: TaskFile, contract: Contract, world: str) -> Study:
    """The learner of a live task, in the world of this name."""
    task = task_of_contract(contract)
    return Study(
        title=file.title,
        learner=task.learner,
        preset=task.preset,
        world=[world],
        arms=task.arms,
        dimension=task.dimension,
        region=task.region,
        epsilon=[task.epsilon],
        delta=file.privacy.delta,
        rounds=task.rounds,
        publish_every=learning_of(contract).publish_every,
        tuning=tuning_of(file),
    )


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
