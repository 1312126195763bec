"""Which learners and presets of the catalogue answer the question that a study asks, in its world."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from sottovoce.catalogue.algorithms import algorithm_of, algorithms, needs_delta
from sottovoce.catalogue.resolve import tuning_of
from sottovoce.catalogue.task import Task
from sottovoce.engine.complete import complete
from sottovoce.lab.study.file import Study, StudyInWorlds, task_of, worlds_of
from sottovoce.protocol.errors import ConfigurationError
from sottovoce.protocol.links import CURVES
from sottovoce.sim.halves import halves
from sottovoce.sim.worlds import World


class Comparison(NamedTuple):
    """Those who are compared: the same study with another learner or preset each, in one world."""

    candidates: list[Study]
    """The learner that was asked for comes first."""
    worlds: dict[str, World]
    answers: bool
    """Do they look for the best arm and stop? Else they are judged by their regret."""
    left_out: list[str]
    """Who cannot be run here, and why."""


def comparison_of(asked: StudyInWorlds, learners: Sequence[str] = (), *, same_tries: bool = True) -> Comparison:
    """Every learner and preset that answers the question of this study; of these learners only, where some are named.

    The same kind of actions, no raw data, and the same thing wanted: little regret, or an answer. A preset that needs a
    delta takes part where the study has one. `same_tries`: as many values asked of each person.

    >>> asked = StudyInWorlds(Study(learner="thompson", arms=3, epsilon=[1.0], rounds=10))
    >>> [(one.learner, one.preset) for one in comparison_of(asked, ["ucb", "exp3"]).candidates]
    [('ucb', 'practical'), ('ucb', 'laplace'), ('exp3', 'practical'), ('exp3', 'laplace')]
    """
    worlds = dict(asked.worlds or worlds_of(asked.study))
    if len(worlds) != 1:
        raise ConfigurationError(f"learners are compared in one world, got {', '.join(worlds)}; name one")
    for name in learners:
        _check(name, asked.study)
    own = _task(asked, asked.study.learner, asked.study.preset)
    answers, left_out, candidates = _stops(own), [], []
    for learner, preset in _pairs(asked.study, learners):
        try:
            task = _task(asked, learner, preset)
            fits = (not same_tries or _tries(task) == _tries(own)) and _stops(task) == answers
        except ConfigurationError as error:
            left_out.append(f"{learner} {preset} cannot be run here: {error}.")
            continue
        if fits and (not answers or _asked_the_same(asked.study, learner)):
            candidates.append(_study(asked, learner, preset))
    if not candidates:
        wanted = "an answer" if answers else "little regret"
        raise ConfigurationError(
            " ".join(
                [f"none of them looks for {wanted} as {asked.study.learner} does; name other learners.", *left_out]
            )
        )
    candidates.sort(key=lambda one: (one.learner, one.preset) != (asked.study.learner, asked.study.preset))
    return Comparison(candidates, worlds, answers, left_out)


def _check(name: str, study: Study) -> None:
    """A learner that a person names must be one that can be chosen."""
    algorithm, wanted = algorithm_of(name), algorithm_of(study.learner).actions
    if algorithm.trust != "local":
        raise ConfigurationError(f"{name} sees raw data; only learners that do not are compared")
    if algorithm.actions != wanted:
        raise ConfigurationError(f"{name} chooses among {algorithm.actions}; here the actions are {wanted}")


def _pairs(study: Study, learners: Sequence[str]) -> list[tuple[str, str]]:
    """Learners and presets with this kind of actions and a promise of the kind that is wanted."""
    actions = algorithm_of(study.learner).actions
    local = [name for name, one in algorithms().items() if one.trust == "local" and one.actions == actions]
    pairs = [(name, preset) for name in learners or local for preset in algorithm_of(name).presets]
    return [pair for pair in pairs if study.delta is not None or not needs_delta(*pair)]


def _study(asked: StudyInWorlds, learner: str, preset: str) -> Study:
    study = asked.study
    tuning = _tuning(asked, learner, preset)
    return msgspec.structs.replace(study, learner=learner, preset=preset, tuning=tuning, world=study.worlds)


def _tuning(asked: StudyInWorlds, learner: str, preset: str) -> dict[str, Any]:
    """What everybody is told of the question; the study's other numbers are for its own learner and preset."""
    study, question = asked.study, algorithm_of(learner).question
    own = (learner, preset) == (study.learner, study.preset)
    told = {name: value for name, value in _facts(study).items() if name in question}
    told |= {name: value for name, value in study.tuning.items() if own or name in question}
    if asked.file is None:
        return told
    return tuning_of(msgspec.structs.replace(asked.file, learner=learner, preset=preset, tuning=told))


def _facts(study: Study) -> dict[str, Any]:
    """How rewards follow from features: as the world says, or for a live task as its own learner is told."""
    (world,) = study.worlds
    if world == "people":
        numbers = task_of(study, study.preset, study.epsilon[0]).tuning
        return {"link": "identity"} | {name: numbers[name] for name in ("link", "radius", "maximum") if name in numbers}
    known = {name: value for name, value in study.options.items() if name == "maximum"}
    return {"link": world if world in CURVES else "identity"} | known


def _task(asked: StudyInWorlds, learner: str, preset: str) -> Task:
    study = _study(asked, learner, preset)
    return task_of(study, preset, study.epsilon[0])


def _stops(task: Task) -> bool:
    return complete(halves(task).learner).stops


def _tries(task: Task) -> int:
    """How many pairs of points a person is asked about; 0 where it is one point or one action."""
    return int(task.domain.get("dimension", 1)) if task.user == "slope" else 0


def _asked_the_same(study: Study, learner: str) -> bool:
    """Does this learner know every number by which the study says what it looks for?"""
    said = study.tuning.keys() & set(algorithm_of(study.learner).question)
    return said <= set(algorithm_of(learner).question)
