"""A live task as a study: the file that `sottovoce task create` takes, in the world its simulated people live in."""

import tomllib
from pathlib import Path

from sottovoce.catalogue.resolve import contract_of
from sottovoce.catalogue.task import learning_of, task_of
from sottovoce.catalogue.task_file import TaskFile, load_task_file
from sottovoce.lab.study.file import Study, StudyInWorlds
from sottovoce.protocol.contract import ByModel, contract_from
from sottovoce.sim.worlds import first_world, world_of_task
from sottovoce.sim.worlds.people import people_of

ONLY_IN_TASKS = {"id", "horizon", "privacy", "expires"}
"""Every task file has these names, no study has any of them."""


def is_task_file(path: Path) -> bool:
    """Is this a task rather than a study? What cannot be read is left to the reader of studies, who says why."""
    try:
        return bool(ONLY_IN_TASKS & tomllib.loads(path.read_text("utf-8")).keys())
    except (OSError, ValueError):
        return False


def load_task_study(path: Path) -> StudyInWorlds:
    """The study of a task file."""
    return study_of_task(load_task_file(path))


def study_of_task(file: TaskFile) -> StudyInWorlds:
    """The study that says how the learner of a task would do; reports that come late are not part of it."""
    contract = contract_from(contract_of(file))
    task, every = task_of(contract), learning_of(contract).publish_every
    if isinstance(contract.offers, ByModel):
        name, world = "people", people_of(contract.offers)
        about = "people whose fields are uniform in their declared ranges, with a preference drawn for each run"
    else:
        name, world = first_world(task.learner), world_of_task(task)
        about = f"the world {name!r} with its usual numbers"
    study = Study(
        title=file.title,
        learner=task.learner,
        preset=task.preset,
        world=[name],
        arms=task.arms,
        dimension=task.dimension,
        region=task.region,
        epsilon=[task.epsilon],
        delta=file.privacy.delta,
        rounds=task.rounds,
        publish_every=every,
        tuning=file.tuning,
    )
    said = f"Task {file.id}: {about}; a model every {every:,} reports, every report in time."
    return StudyInWorlds(study, {name: world}, said)
