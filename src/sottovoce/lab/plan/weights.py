"""Learners that draw an arm by weights: Tsallis-INF and EXP3.

The weights are held for a stretch of rounds so short that they would hardly have changed; plays and reports of the
stretch are drawn together.
"""

import math

import numpy as np

from sottovoce.catalogue.task import Task
from sottovoce.lab.plan.paths import Array, Paths, Recorder, Signal, paths_for

PATHS = 256

CHANGE = 0.25
"""How much the logarithm of a weight may move in a stretch."""

MOST_STEPS = 3000


def predict_tsallis(task: Task, losses: Array) -> Paths:
    signal, generator = Signal(task, losses), np.random.default_rng(0)
    reach = signal.reach if math.isfinite(signal.reach) else 0.5 + _largest(signal, task.rounds)
    second = min(signal.noise.bound**2, 0.25 + signal.noise.variance)
    reduced = task.tuning["estimator"] == "rv"
    gaps, arms = losses - losses.min(), len(losses)
    paths = paths_for(arms, PATHS)
    estimates, regret = np.zeros((paths, arms)), np.zeros(paths)
    recorder, time = Recorder(paths), 1.0
    while time <= task.rounds:
        rate = 2 / math.sqrt(second * time) if reduced else 1 / (reach * math.sqrt(time))
        weights = _tsallis_weights(estimates, rate)
        rival = float(np.quantile(np.sort(weights, axis=1)[:, -2], 0.9))
        stretch = _stretch(CHANGE / (rate * reach * math.sqrt(rival)), time, task.rounds)
        baseline = 0.5 - reach + (reach if reduced else 0.0) * (weights >= (2 * reach * rate) ** 2)
        plays = generator.multinomial(stretch, weights)
        heard = signal.sums(plays, generator) - plays * baseline
        estimates += heard / weights + stretch * baseline
        regret += plays @ gaps
        time += stretch
        recorder.note(time - 1, regret)
    return recorder.paths()


def predict_exp3(task: Task, losses: Array) -> Paths:
    signal, generator = Signal(task, losses), np.random.default_rng(0)
    reach = signal.reach if math.isfinite(signal.reach) else 0.5 + _largest(signal, task.rounds)
    gaps, arms = losses - losses.min(), len(losses)
    paths = paths_for(arms, PATHS)
    estimates, regret = np.zeros((paths, arms)), np.zeros(paths)
    recorder, time = Recorder(paths), 1.0
    change = max(CHANGE, 2 * math.sqrt(task.rounds * math.log(arms) / arms) / MOST_STEPS)
    while time <= task.rounds:
        rate = math.sqrt(math.log(arms) / (arms * time))
        weights = np.exp(-rate * (estimates - estimates.min(1, keepdims=True)))
        weights /= weights.sum(1, keepdims=True)
        stretch = _stretch(change / rate, time, task.rounds)
        plays = generator.multinomial(stretch, weights)
        heard = (signal.sums(plays, generator) - 0.5 * plays) / (2 * reach) + 0.5 * plays
        estimates += heard / np.maximum(weights, 1e-300)
        regret += plays @ gaps
        time += stretch
        recorder.note(time - 1, regret)
    return recorder.paths()


def _stretch(rounds: float, time: float, horizon: int) -> int:
    return int(max(1, min(rounds, 0.05 * time, horizon + 1 - time)))


def _tsallis_weights(losses: Array, rate: float) -> Array:
    """W = 4/(rate (L - x))^2, by Newton's method from the right of the root; it converges from there."""
    right = losses.min(1, keepdims=True) - 2 / rate
    x = right
    for _ in range(12):
        nearness = 1 / (losses - x)
        squares, cubes = np.sum(nearness**2, 1, keepdims=True), np.sum(nearness**3, 1, keepdims=True)
        step = squares / cubes * (1 - 2 / rate * np.sqrt(squares))
        x = np.minimum(x + step, right)
        if np.max(np.abs(step)) < 1e-9 / rate:
            break
    weights = (losses - x) ** -2
    return weights / weights.sum(1, keepdims=True)


def _largest(signal: Signal, rounds: int) -> float:
    """What no noise of the horizon exceeds, as the learners reckon."""
    if signal.noise.tail:
        return signal.noise.tail * math.log(rounds**2)
    return math.sqrt(signal.noise.variance * 2 * math.log(2 * rounds**2))
