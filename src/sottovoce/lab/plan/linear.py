"""LinUCB on private moments (practical rule, isotropic features): sums of what a sample of people adds, and noise."""

import math
from typing import NamedTuple

import numpy as np

from sottovoce.catalogue.resolve import mechanism_of
from sottovoce.catalogue.task import Task
from sottovoce.lab.plan.paths import Array, Paths, Recorder
from sottovoce.privacy.reading import noise_of

PATHS = 96

PEOPLE = 24
"""Stand for all people of a stretch."""

STRETCH = 0.05
"""Rounds between two models, as a share of the rounds so far; the learner itself waits for one percent."""


class _Choice(NamedTuple):
    """Per path and person: features and mean reward of the action taken, and what it cost."""

    features: Array
    reward: Array
    regret: Array


class _Crowd:
    """The people of the linear world with isotropic contexts, in NumPy."""

    def __init__(self, task: Task, generator: np.random.Generator) -> None:
        self.generator, self.shape = generator, (task.arms, task.dimension)
        self.theta = _unit(generator.standard_normal((PATHS, task.dimension)))

    def visit(self) -> Array:
        """Features with axes path, person, action, coordinate; all paths meet the same people."""
        return np.broadcast_to(
            _unit(self.generator.standard_normal((PEOPLE, *self.shape))), (PATHS, PEOPLE, *self.shape)
        )

    def choose(self, features: Array, scores: Array) -> _Choice:
        rewards = np.einsum("pmkd,pd->pmk", features, self.theta)
        taken = scores.argmax(2)[:, :, None]
        reward = np.take_along_axis(rewards, taken, 2)[:, :, 0]
        chosen = np.take_along_axis(features, taken[..., None], 2)[:, :, 0]
        return _Choice(chosen, reward, rewards.max(2) - reward)


def predict_linucb(task: Task) -> Paths:
    generator = np.random.default_rng(0)
    crowd = _Crowd(task, generator)
    d, tuning = task.dimension, {name: float(task.tuning[name]) for name in ("ridge", "bonus", "warm")}
    deviations = noise_of(mechanism_of(task)).per_block
    gram, moment, regret = np.zeros((PATHS, d, d)), np.zeros((PATHS, d)), np.zeros(PATHS)
    recorder, time = Recorder(PATHS), 0.0
    while time < task.rounds:
        warm = tuning["warm"] * d
        if time < warm:
            stretch, model = min(math.ceil(warm), task.rounds), None
        else:
            stretch = max(1, min(int(STRETCH * time), int(task.rounds - time)))
            model = _model(gram, moment, time, deviations[0], tuning)
        features = crowd.visit()
        choice = crowd.choose(features, _scores(features, model, generator))
        regret = regret + stretch * choice.regret.mean(1)
        noisy_gram, noisy_moment = _noise(deviations, stretch, d, generator)
        outer = np.einsum("pmi,pmj->pij", choice.features, choice.features) / choice.features.shape[1]
        gram = gram + stretch * outer + noisy_gram
        own = np.sqrt(stretch / d) * generator.standard_normal((PATHS, d))
        moment = moment + stretch * np.mean(choice.reward[:, :, None] * choice.features, axis=1) + own + noisy_moment
        time += stretch
        recorder.note(time, regret)
    return recorder.paths()


def uniform_linear(task: Task) -> float:
    """What a round of uniform play costs."""
    generator = np.random.default_rng(1)
    crowd = _Crowd(task, generator)
    rounds = [crowd.visit() for _ in range(20)]
    return float(np.mean([crowd.choose(f, _scores(f, None, generator)).regret.mean() for f in rounds]))


class _Model(NamedTuple):
    theta: Array
    precision: Array
    width: float


def _model(gram: Array, moment: Array, time: float, deviation: float, tuning: dict[str, float]) -> _Model:
    d = gram.shape[1]
    ridge = 1 + tuning["ridge"] * deviation * math.sqrt(2 * d * time)
    values, vectors = np.linalg.eigh(gram)
    precision = (vectors / (np.maximum(values, 0.0) + ridge)[:, None, :]) @ vectors.transpose(0, 2, 1)
    width = tuning["bonus"] * (math.sqrt(ridge) + math.sqrt(d * math.log1p(time / d)))
    return _Model(np.einsum("pij,pj->pi", precision, moment), precision, width)


def _scores(features: Array, model: _Model | None, generator: np.random.Generator) -> Array:
    """Optimistic scores of every action; without a model any action is as good."""
    if model is None:
        return generator.random(features.shape[:3])
    flat = features.reshape(PATHS, -1, features.shape[3])
    means = flat @ model.theta[:, :, None]
    unknown = np.maximum(np.sum((flat @ model.precision) * flat, axis=2), 0.0)
    return (means[:, :, 0] + model.width * np.sqrt(unknown)).reshape(features.shape[:3])


def _noise(deviations: tuple[float, ...], rounds: int, d: int, generator: np.random.Generator) -> tuple[Array, Array]:
    diagonal, upper, vector = (deviation * math.sqrt(rounds) for deviation in deviations)
    above = np.triu(generator.standard_normal((PATHS, d, d)), 1) * upper
    matrix = above + above.transpose(0, 2, 1) + diagonal * generator.standard_normal((PATHS, 1, d)) * np.eye(d)
    return matrix, vector * generator.standard_normal((PATHS, d))


def _unit(vectors: Array) -> Array:
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
