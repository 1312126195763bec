"""Descent along random slopes (two points) in a ball: steps of a stretch together, with the noise they carry.

A step moves by -eta g with g = d s u, where s is the slope in a random direction u, made private: the mean of g is the
gradient and its mean square d E[s^2] in every direction.
"""

import math
from typing import Any

import numpy as np

from sottovoce.catalogue.resolve import mechanism_of
from sottovoce.catalogue.task import Task
from sottovoce.lab.plan.paths import Array, Paths, Recorder, second_moment
from sottovoce.privacy.reading import noise_of

PATHS = 96

MOST_STEPS = 4000

STRETCH = 0.05
"""Steps taken together, as a share of those in which noise alone would wander as far as the descent."""


def predict_two_points(task: Task, options: dict[str, Any], world: str) -> Paths:
    generator, mechanism, d = np.random.default_rng(0), mechanism_of(task), task.dimension
    noise = noise_of(mechanism)
    steepest, radius = float(task.domain["high"]), float(task.region.get("radius", 1.0))
    slope = steepest**2 / max(d - 1, 1)
    second = second_moment(mechanism, noise, _usual_slope(world, options, radius, d) / steepest) * steepest**2
    square, strength = d**2 * (slope + noise.variance), float(task.tuning["strength"])
    pace = float(task.tuning["pace"])
    target = float(options.get("depth", 0.5)) * radius * _unit(generator.standard_normal((PATHS, d)))
    iterate, regret = np.zeros((PATHS, d)), np.zeros(PATHS)
    recorder, time = Recorder(PATHS), 0
    while time < task.rounds:
        rate = _rate(task, square, strength, radius, time + 1) * pace
        stretch = min(max(1, int(STRETCH * d**2 * second), task.rounds // MOST_STEPS), task.rounds - time)
        loss, gradient = _loss(world, options, radius, iterate - target)
        regret = regret + stretch * loss
        wobble = np.sqrt(stretch * d * second) * generator.standard_normal((PATHS, d))
        moved = iterate - rate * (stretch * gradient + wobble)
        iterate = moved * np.minimum(1.0, radius / np.maximum(np.linalg.norm(moved, axis=1, keepdims=True), 1e-300))
        time += stretch
        recorder.note(time, regret)
    return recorder.paths()


def uniform_points(task: Task, options: dict[str, Any], world: str) -> float:
    """What a round at a uniformly random point of the ball costs."""
    generator, d = np.random.default_rng(1), task.dimension
    radius = float(task.region.get("radius", 1.0))
    points = radius * generator.random((20_000, 1)) ** (1 / d) * _unit(generator.standard_normal((20_000, d)))
    target = np.zeros(d)
    target[0] = float(options.get("depth", 0.5)) * radius
    return float(_loss(world, options, radius, points - target)[0].mean())


def _usual_slope(world: str, options: dict[str, Any], radius: float, d: int) -> float:
    """The root mean square of the slope in a random direction, at a usual distance from the target."""
    away = np.zeros((1, d))
    away[0, 0] = 0.5 * float(options.get("depth", 0.5)) * radius
    return float(np.linalg.norm(_loss(world, options, radius, away)[1])) / math.sqrt(d)


def _rate(task: Task, square: float, strength: float, radius: float, time: int) -> float:
    if task.tuning["rule"] == "paper":
        return 1 / (strength * time) if strength else 1 / math.sqrt(task.rounds)
    if strength:
        return 1 / (strength * (time + square / (strength * radius) ** 2))
    return radius / math.sqrt(task.rounds * square)


def _loss(world: str, options: dict[str, Any], radius: float, apart: Array) -> tuple[Array, Array]:
    """The loss above the least one, and its gradient."""
    distance = np.linalg.norm(apart, axis=1)
    if world == "quadratic":
        return distance**2 / (2 * radius) ** 2, 2 * apart / (2 * radius) ** 2
    steepness = float(options.get("steepness", 0.0)) or 1 / (2 * radius)
    return steepness * distance, steepness * apart / np.maximum(distance, 1e-12)[:, None]


def _unit(vectors: Array) -> Array:
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
