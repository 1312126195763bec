"""Counts in, a lower bound on epsilon out. Exact binomial bounds; no asymptotics in a verdict.

An attacker answers "it was P" after some transcripts. Of `of` transcripts of each person, `hits` of P's and `alarms` of
the other's got that answer.

*Pure epsilon.* P(answer | P) <= e^epsilon P(answer | other), so epsilon >= ln(hit rate / alarm rate). A one-sided
Clopper-Pearson bound on each rate, each wrong with probability (1 - confidence) / 2, makes that a bound on data.

*Gaussian.* Two Gaussians of unit noise, `distance` apart, have hit rate <= Phi(Phi^-1(alarm rate) + distance): the
trade-off of Gaussian differential privacy (Dong, Roth, Su 2022, "Gaussian differential privacy"). So the same two
bounds give a lower bound on the distance, and that gives the epsilon at the promised delta. This takes the noise for
Gaussian: a million reports could never show an event of probability 1e-5 directly.
"""

import math
from typing import NamedTuple

from sottovoce.privacy.grid.delta import gaussian_delta
from sottovoce.privacy.special import bisect, normal_quantile
from sottovoce.protocol.budget import Budget
from sottovoce.report.confidence import clopper_pearson

LARGEST_LOSS = 1000.0
"""Where the search for the epsilon of a Gaussian stops."""


class Counts(NamedTuple):
    """How often the event happened to each side, in `of` transcripts a side."""

    hits: int
    alarms: int
    of: int


def epsilon_bound(counts: Counts, promised: Budget, confidence: float) -> float:
    """What the true epsilon is at least, with this confidence; 0 when the counts show nothing.

    >>> round(epsilon_bound(Counts(hits=7311, alarms=2689, of=10000), Budget(1.0), 0.999), 3)
    0.926
    """
    error = (1 - confidence) / 2
    hit_rate, _ = clopper_pearson(counts.hits, counts.of, error)
    _, alarm_rate = clopper_pearson(counts.alarms, counts.of, error)
    if hit_rate <= alarm_rate:
        return 0.0
    if promised.pure:
        return math.log(hit_rate / alarm_rate)
    return epsilon_of_distance(normal_quantile(hit_rate) - normal_quantile(alarm_rate), promised.delta)


def epsilon_of_distance(distance: float, delta: float) -> float:
    """The epsilon at this delta of Gaussian noise, for two messages `distance` noise units apart.

    >>> round(epsilon_of_distance(1 / 3.7306, 1e-5), 3)
    1.0
    """
    if gaussian_delta(0.0, distance) <= delta:
        return 0.0
    return bisect(lambda epsilon: delta - gaussian_delta(epsilon, distance), 0.0, LARGEST_LOSS)
