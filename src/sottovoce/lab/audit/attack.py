"""The attacker's choice: the clue, the direction and the threshold that promise the best bound on training reports.

The choice sees training reports only, so the counts on fresh reports need no correction for the many events tried.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sottovoce.lab.audit.bounds import Counts
from sottovoce.lab.audit.clues import Clues
from sottovoce.privacy.special import normal_quantile
from sottovoce.protocol.budget import Budget

THRESHOLDS = 200
"""How many thresholds are tried per clue: its quantiles over the training reports."""

FEW = 256
"""A clue with at most so many values is read by a learned table, value by value; others by size."""

ADVANTAGE = 0.05
"""By what share a clue must beat those before it; chance alone gives a useless choice a few percent."""

Values = NDArray[np.float64]


class Table(NamedTuple):
    """How much more often than person 1 person 0 sent each value in training: a learned log likelihood ratio."""

    values: Values
    weights: Values

    def __call__(self, clue: Values) -> Values:
        """The weight of each value; 0 for a value that training did not see."""
        place = np.minimum(np.searchsorted(self.values, clue), len(self.values) - 1)
        return np.where(self.values[place] == clue, self.weights[place], 0.0)


class Event(NamedTuple):
    """A rule by which the attacker answers "it was this person"."""

    clue: str
    table: Table | None
    threshold: float
    way: str
    """Whom the answer names: "first", "second", or "both": each rule for one and its mirror image for the other."""


def choose(first: Clues, second: Clues, promised: Budget, caution: float) -> Event:
    """The event with the best bound on these training reports of the two people; `caution` is in standard deviations.

    >>> first, second = {"coin": np.repeat([1.0, 0.0], [900, 100])}, {"coin": np.repeat([1.0, 0.0], [100, 900])}
    >>> choose(first, second, Budget(1.0), 3.0)[::3]
    ('coin', 'both')
    """
    chosen, best = Event("nothing", None, np.inf, "first"), -np.inf
    for clue in first:
        event, bound = _best_of_clue(clue, first, second, promised, caution)
        if bound > best + ADVANTAGE * max(best, 0.0):
            chosen, best = event, bound
    return chosen


def count(event: Event, first: Clues, second: Clues) -> Counts:
    """How often the event names the right person, and the wrong one.

    >>> event = Event("coin", None, 0.5, "first")
    >>> count(event, {"coin": np.array([1.0, 1.0, 0.0])}, {"coin": np.array([0.0, 0.0, 1.0])})
    Counts(hits=2, alarms=1, of=3)
    """
    scores = _read(first, event.clue, event.table), _read(second, event.clue, event.table)
    hits, alarms, of = _count(*scores, np.array([event.threshold]), event.way)
    return Counts(int(hits[0]), int(alarms[0]), of)


def _best_of_clue(clue: str, first: Clues, second: Clues, promised: Budget, caution: float) -> tuple[Event, float]:
    table = _learned(first[clue], second[clue])
    scores = _read(first, clue, table), _read(second, clue, table)
    tried = []
    for way in ("first", "second", "both"):
        thresholds = _thresholds(*scores, way)
        hits, alarms, of = _count(*scores, thresholds, way)
        bounds = _rough_bounds(hits / of, alarms / of, of, promised, caution)
        place = int(np.argmax(bounds))
        tried.append((Event(clue, table, float(thresholds[place]), way), float(bounds[place])))
    return max(tried, key=lambda pair: pair[1])


def _learned(first: Values, second: Values) -> Table | None:
    values, place = np.unique(np.concatenate([first, second]), return_inverse=True)
    if len(values) > FEW:
        return None
    seen = [np.bincount(part, minlength=len(values)) + 0.5 for part in (place[: len(first)], place[len(first) :])]
    return Table(values, np.log(seen[0] / seen[1]))


def _read(clues: Clues, clue: str, table: Table | None) -> Values:
    return table(clues[clue]) if table else clues[clue]


def _thresholds(first: Values, second: Values, way: str) -> Values:
    pooled = {"first": [first, second], "second": [-first, -second], "both": [first, -second]}[way]
    return np.unique(np.quantile(np.concatenate(pooled), np.linspace(0, 1, THRESHOLDS), method="lower"))


def _count(first: Values, second: Values, thresholds: Values, way: str) -> tuple[Values, Values, int]:
    """Hits, alarms, and of how many transcripts each.

    Both ways, every transcript counts once as the suspect's own and once as the other's. The two rates are then
    averages over two events for which e^epsilon bounds the ratio, so it bounds the ratio of the averages (and the
    trade-off of Gaussians is convex). A sum of two different binomials has lighter tails than one binomial of the same
    mean (Hoeffding 1956), so the Clopper-Pearson bounds stay right; they need not be independent of each other.
    """
    if way == "first":
        return _above(first, thresholds), _above(second, thresholds), len(first)
    if way == "second":
        return _above(-second, thresholds), _above(-first, thresholds), len(first)
    hits = _above(first, thresholds) + _above(-second, thresholds)
    return hits, _above(second, thresholds) + _above(-first, thresholds), 2 * len(first)


def _above(scores: Values, thresholds: Values) -> Values:
    return (len(scores) - np.searchsorted(np.sort(scores), thresholds)).astype(float)


def _rough_bounds(hit: Values, alarm: Values, of: int, promised: Budget, caution: float) -> Values:
    """The bound each event would get, by Wilson's score intervals: good enough to rank events, and fast."""
    low, high = _wilson(hit, of, -caution), _wilson(alarm, of, caution)
    if promised.pure:
        return np.log(np.maximum(low, 1e-300)) - np.log(high)
    return np.array([normal_quantile(x) - normal_quantile(y) for x, y in zip(low, high, strict=True)])


def _wilson(rate: Values, of: int, deviations: float) -> Values:
    z = deviations**2 / of
    return (rate + z / 2 + np.sign(deviations) * np.sqrt(z * rate * (1 - rate) + z**2 / 4)) / (1 + z)
