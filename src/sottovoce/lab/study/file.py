"""A study as plain data: one learner in some worlds at some budgets. What is planned and what is simulated."""

from pathlib import Path
from typing import Any

import msgspec

from sottovoce.catalogue.files import load
from sottovoce.catalogue.task import algorithm_of

USUAL_WORLD = {"arms": "arms", "features": "linear", "points": "absolute"}
"""The first world for each kind of actions."""


def first_world(learner: str) -> str:
    """The name of the world an algorithm is first tried in.

    >>> first_world("linucb")
    'linear'
    """
    algorithm = algorithm_of(learner)
    return algorithm.world or USUAL_WORLD[algorithm.actions]


class Study(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What `sottovoce simulate` runs and `sottovoce plan` foresees; the same fields in a TOML file."""

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

    @property
    def worlds(self) -> list[str]:
        return self.world or [first_world(self.learner)]


def load_study(path: Path) -> Study:
    """A study from a TOML file."""
    return load(path, Study, "a study")
