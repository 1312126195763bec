"""Learners that pull the arm with the largest index: UCB, KL-UCB, kl-UCB++ and lil'UCB.

In a short stretch of rounds the pulls go where they make the largest indices equal, as water fills a vessel; then the
reports of the stretch move the means. An arm grows by at most a few percent of its pulls in one stretch, so its mean
has the time to answer. The index is the mean plus what a price x = (level of confidence)/pulls allows, so every rule is
two functions: the price of an index above a mean, and the pulls at which an arm's price is x.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sottovoce.catalogue.task import Task
from sottovoce.lab.plan.paths import Array, Counts, Paths, Recorder, Signal, paths_for

STRETCH = 0.05
"""A stretch, as a share of the rounds so far, and of an arm's pulls."""

PATHS = 128


class Rule(NamedTuple):
    """One index policy. Means are of rewards, in units where a loss of one is a reward of zero (see `scale`)."""

    price: Callable[[Array, Array], Array]
    """Of an index above a mean."""
    pulls: Callable[[Array, Array], Array]
    """At which the price is this much, after so many rounds."""
    scale: float = 1.0
    """Estimates are divided by this, around one half."""
    stops: Callable[[Array, Counts], NDArray[np.bool_]] | None = None
    """Given means and pulls: does a path stop?"""


def predict_indices(task: Task, losses: Array, rule: Callable[[Task, Signal], Rule]) -> Paths:
    """The paths of an index policy."""
    signal = Signal(task, losses)
    policy = rule(task, signal)
    generator = np.random.default_rng(0)
    gaps = losses - losses.min()
    paths = paths_for(len(losses), PATHS)
    ones = np.ones((paths, len(losses)), dtype=np.int64)
    pulls: Counts = ones
    totals = signal.sums(ones, generator)
    recorder = Recorder(paths)
    recorder.note(pulls.sum(1), pulls @ gaps)
    running, excess = np.ones(paths, dtype=bool), np.ones((paths, 1))
    while True:
        means = 0.5 - (totals / pulls - 0.5) / policy.scale
        if policy.stops is not None:
            running = running & ~policy.stops(means, pulls)
        time = pulls.sum(1, keepdims=True).astype(float)
        wanted = np.clip(STRETCH * time, 1.0, np.maximum(task.rounds - time, 0.0)) * running[:, None]
        if not np.any(wanted > 0):
            return recorder.paths()
        shares, excess = _filled(policy, means, pulls, time, wanted, excess)
        new = np.floor(shares + generator.random(pulls.shape)).astype(np.int64)
        pulls, totals = pulls + new, totals + signal.sums(new, generator)
        recorder.note(pulls.sum(1), pulls @ gaps)


def _filled(rule: Rule, means: Array, pulls: Counts, time: Array, wanted: Array, excess: Array) -> tuple[Array, Array]:
    """How many pulls each arm gets so that their sum is `wanted` and the largest indices are equal.

    `excess` is how far that index was above the largest mean in the last stretch, where the search begins.
    """
    best = means.max(1, keepdims=True)
    needed = np.where(wanted > 0, wanted, np.inf)  # a path that has ended never looks further

    def poured(above: Array) -> Array:
        distance = np.maximum(best + above - means, 1e-9)
        missing = rule.pulls(rule.price(means, means + distance), time) - pulls
        return np.where(distance > 1e-9, np.clip(missing, 0.0, wanted), wanted)

    low, high = np.zeros_like(excess), 1.5 * excess + 1e-3
    for _ in range(8):
        enough = poured(high).sum(1, keepdims=True) >= needed
        if not enough.any():
            break
        low, high = np.where(enough, high, low), np.where(enough, 3 * high, high)
    for _ in range(10):
        middle = (low + high) / 2
        enough = poured(middle).sum(1, keepdims=True) >= needed
        low, high = np.where(enough, middle, low), np.where(enough, high, middle)
    filled = poured(low)
    filled = filled * np.minimum(1.0, wanted / np.maximum(filled.sum(1, keepdims=True), 1e-12))
    return np.minimum(filled, STRETCH * pulls + 1), high


# --- the rules -------------------------------------------------------------------------------------------------------


def ucb(task: Task, signal: Signal) -> Rule:
    exploration = float(task.tuning["exploration"])
    return Rule(_subgaussian(signal), lambda price, time: exploration * np.log(time) / price)


def kl_ucb(task: Task, signal: Signal) -> Rule:
    exploration = float(task.tuning["exploration"])

    def pulls(price: Array, time: Array) -> Array:
        level = np.log(time)
        return (level + exploration * np.log(np.maximum(level, 1.0))) / price

    return Rule(_divergence(signal), pulls, _scale(signal))


def kl_ucb_plus_plus(task: Task, signal: Signal) -> Rule:
    def level(pulls: Array) -> Array:
        share = np.maximum(task.rounds / (task.arms * pulls), 1.0)
        return np.log(share * (1 + np.log(share) ** 2))

    return Rule(_divergence(signal), _inverse(level, 1.001 * task.rounds), _scale(signal))


def lil_ucb(task: Task, signal: Signal) -> Rule:
    """The heuristic constants of the practical preset."""
    failure, arms, proxy = float(task.tuning["failure"]), task.arms, signal.noise.proxy

    def doubly(delta: float) -> Callable[[Any], Array]:
        return lambda pulls: np.log(np.log(pulls + 2) / delta)

    def stops(means: Array, pulls: Counts) -> NDArray[np.bool_]:
        most = pulls.max(1)
        dominates = most >= 1 + (1 + 10 / arms) * (pulls.sum(1) - most)
        radius = np.sqrt(2 * proxy * doubly(failure / arms)(pulls) / pulls)
        leads = np.arange(arms) == means.argmax(1)[:, None]
        lower = np.max(np.where(leads, means - radius, -np.inf), axis=1)
        return dominates | (lower >= np.max(np.where(leads, -np.inf, means + radius), axis=1))

    boosted = 1.5 * math.sqrt(2 * proxy)
    return Rule(lambda mean, index: ((index - mean) / boosted) ** 2, _inverse(doubly(failure / 5), 1e12), stops=stops)


def _inverse(level: Callable[[Array], Array], most: float) -> Callable[[Array, Array], Array]:
    """The pulls N at which level(N)/N is a price, from a table."""
    table = np.geomspace(0.01, most, 4000)
    prices = np.log(np.maximum(level(table), 1e-300) / table)
    return lambda price, time: np.exp(np.interp(-np.log(np.maximum(price, 1e-300)), -prices, np.log(table)))


def _subgaussian(signal: Signal) -> Callable[[Array, Array], Array]:
    """Index = mean + sqrt(2 proxy x) + tail x, solved for x."""
    slope, tail = math.sqrt(2 * signal.noise.proxy), signal.noise.tail

    def price(mean: Array, index: Array) -> Array:
        above = index - mean
        return (2 * above / (slope + np.sqrt(slope**2 + 4 * tail * above))) ** 2

    return price


def _divergence(signal: Signal) -> Callable[[Array, Array], Array]:
    if not math.isfinite(signal.reach):
        return _subgaussian(signal)

    def price(mean: Array, index: Array) -> Array:
        p, q = np.clip(mean, 1e-12, 1 - 1e-12), np.clip(index, 1e-12, 1 - 1e-12)
        return np.maximum(p * np.log(p / q) + (1 - p) * np.log((1 - p) / (1 - q)), 1e-300)

    return price


def _scale(signal: Signal) -> float:
    return 2 * signal.reach if math.isfinite(signal.reach) else 1.0
