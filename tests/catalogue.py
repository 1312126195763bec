"""Every learner of the registry in every preset, ready to run."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from sottovoce.catalogue.algorithms import algorithms
from sottovoce.catalogue.task import Task, task
from sottovoce.learners.base import Learner
from sottovoce.privacy.mechanisms import Mechanism
from sottovoce.sim.halves import halves
from sottovoce.sim.worlds import world_of_task
from sottovoce.sim.worlds.base import World
from sottovoce.users import LocalUser

SHAPES = {"arms": {"arms": 4}, "features": {"arms": 4, "dimension": 3}, "points": {"dimension": 2}}
"""A small shape for each kind of actions."""


def shape_of(learner: str) -> dict[str, int]:
    """A small shape that this learner takes."""
    return {"dimension": 1} if learner == "interval-search" else SHAPES[algorithms()[learner].actions]


class Ready(NamedTuple):
    task: Task
    learner: Learner
    user: LocalUser
    world: World
    mechanism: Mechanism | None


def ready(learner: str, preset: str = "practical", *, private: bool = True, epsilon: float = 4.0, **numbers) -> Ready:
    """A learner with its user in a world of its kind."""
    shape = shape_of(learner)
    contract = task(learner, preset, epsilon=epsilon, **({"rounds": 400} | shape | numbers))
    world = world_of_task(contract)
    learner_half, user, mechanism = halves(contract, private=private)
    return Ready(contract, learner_half, user, world, mechanism)


def made_up_ratings(file: Path, *, persons: int = 30, movies: int = 30, each: int = 25) -> Path:
    """A file in the format of MovieLens 100K with invented numbers: `each` ratings of every person, in no order."""
    draw = np.random.default_rng(7)
    rows = [
        (person, movie, draw.integers(1, 6), 881250949)
        for person in range(1, persons + 1)
        for movie in draw.choice(movies, each, replace=False) + 1
    ]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join("\t".join(map(str, rows[place])) + "\n" for place in draw.permutation(len(rows))))
    return file


PRESETS = [(name, preset) for name, algorithm in algorithms().items() for preset in algorithm.presets]
