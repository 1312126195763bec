"""What a shuffler adds: many private reports, mixed before anybody reads them, give away less than each alone.

Feldman, McMillan and Talwar, "Hiding among the clones: a simple and nearly optimal analysis of privacy amplification by
shuffling", FOCS 2021 (arXiv 2012.12803). n -> people, epsilon_0 -> epsilon, p = e^epsilon_0.

*Proof of `shuffled_delta`.* Fix one person's two possible answers, with laws R0 and R1 of the report. There are laws Q0
and Q1 with R0 = (p Q0 + Q1)/(p + 1) and R1 = (Q0 + p Q1)/(p + 1) (Kairouz, Oh, Viswanath 2015). Anybody else's report
has law R >= e^-epsilon_0 (R0 + R1)/2 = e^-epsilon_0 (Q0 + Q1)/2: with chance q = e^-epsilon_0 it is a clone, from Q0
or Q1 with a coin flip. So what is read is computed from how many reports came from Q0 and how many from Q1, which is

    (A + D, C - A + 1 - D),  C ~ Bin(n - 1, q),  A ~ Bin(C, 1/2),  D ~ Bernoulli(p/(p + 1)), or 1/(p + 1) for the other

and the hockey-stick divergence of the two is the cost. One bit by randomised response has more clones: Q0 and Q1 are
its two values, each of which everybody sends with chance at least 1/(p + 1), so q = 2/(p + 1); a loss between 0 and 1
is rounded at random to one of them, and costs are convex.

What it promises, and what it does not:
- The shuffler is trusted: it forgets who sent what and in which order. To whoever sees a report before it is mixed, the
  promise is the local one, epsilon.
- Everybody counted by `people` sends one report of the same pure epsilon. Gaussian reports are not covered.
- The theorem covers learners that adapt: the offer may depend on earlier reports, as in our loop, if the order in which
  people come is uniformly random and unknown to the reader. Who knows when somebody came (by network address or clock)
  can tell their report; then only a batch that is collected under one published model, mixed, and read at once
  counts, with `people` the size of that batch.
"""

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from sottovoce.lab.binomial import half_tail, log_binomial
from sottovoce.privacy.special import bisect
from sottovoce.protocol.budget import Budget
from sottovoce.protocol.errors import ConfigurationError

Array = NDArray[np.float64]

DELTA = 1e-6
"""Of the promise for all reports together, where nobody chose one."""

BLOCKS = 512
"""Numbers of clones that are told apart; within a block the smallest counts, so that the cost is overstated."""

STEPS = 44
"""Halvings of the search for an epsilon: what is left of it, 1e-13 of the local epsilon, is on the safe side."""

ROUNDING = 1e-9
"""Relative error granted to floating point, several thousand times what is observed."""


def shuffled_epsilon(epsilon: float, people: int, delta: float, *, bits: bool = False) -> float:
    """The epsilon of everybody's reports together at this delta: the least of all that is known, never above `epsilon`.

    `bits` is for reports of one bit by randomised response, as the practical presets for arms send.

    >>> round(shuffled_epsilon(4.0, 100_000, 1e-6), 3), round(shuffled_epsilon(4.0, 100_000, 1e-6, bits=True), 3)
    (0.17, 0.118)
    """
    _check(epsilon, people, delta)
    exact = bisect(lambda lower: delta - shuffled_delta(epsilon, people, lower, bits=bits), 0.0, epsilon, STEPS)
    return min(epsilon, exact, closed_form(epsilon, people, delta))


def shuffled_delta(epsilon: float, people: int, lower: float, *, bits: bool = False) -> float:
    """The delta for which everybody's reports together are (lower, delta)-private: an upper bound, tight for the pair.

    >>> shuffled_delta(1.0, 1, 1.0), round(shuffled_delta(1.0, 20, 0.5), 3)
    (0.0, 0.015)
    """
    _check(epsilon, people, 0.5)
    if lower >= epsilon:
        return 0.0
    chance = 2 / (math.exp(epsilon) + 1) if bits else math.exp(-epsilon)
    clones, masses, unseen = _clones(people - 1, chance)
    return min(1.0, float(masses @ _divergence(clones, epsilon, max(lower, 0.0))) * (1 + ROUNDING) + unseen)


def repeated(one: Budget, reports: int, limit: Budget) -> Budget:
    """What so many reports of one person promise, each mixed with others; at most `limit`, which holds unmixed.

    *Proof.* Change the data behind them one report at a time. Every step is (epsilon, delta)-close, wherever the
    others are, and closeness chains: (a, b) and then (epsilon, delta) give (a + epsilon, b + e^a delta).

    >>> print(repeated(Budget(0.1, 1e-6), 2, Budget(8.0)), repeated(Budget(3.9, 1e-6), 10, Budget(20.0)), sep="; ")
    epsilon 0.2, delta 2.10517e-06; epsilon 20
    """
    epsilon = reports * one.epsilon
    if epsilon >= limit.epsilon:
        return limit
    return Budget(epsilon, min(1.0, one.delta * sum(math.exp(step * one.epsilon) for step in range(reports))))


def closed_form(epsilon: float, people: int, delta: float) -> float:
    """Theorem III.1 of the paper; `epsilon` itself where there are too few people for it to say anything.

    >>> round(closed_form(4.0, 100_000, 1e-6), 3), closed_form(4.0, 100, 1e-6)
    (0.535, 4.0)
    """
    _check(epsilon, people, delta)
    if epsilon > math.log(people / (16 * math.log(2 / delta))):
        return epsilon
    p = math.exp(epsilon)
    spread = 8 * math.sqrt(p * math.log(4 / delta) / people) + 8 * p / people
    return min(epsilon, math.log1p((p - 1) / (p + 1) * spread))


def _divergence(clones: Array, epsilon: float, lower: float) -> Array:
    """The hockey-stick divergence of the pair, given how many clones there are.

    Of m = clones + 1 reports k came from Q0: the likelihood ratio (p k + m - k)/(k + p (m - k)) passes e^lower from a
    least k on. Summed from there, the binomials leave one term and one tail.
    """
    p, ratio = math.exp(epsilon), math.exp(lower)
    share = (ratio * p - 1) / ((p - 1) * (1 + ratio))
    least = np.minimum(np.floor(share * (clones + 1)) + 1, clones + 1)
    first = np.exp(log_binomial(clones, least - 1, 0.5))
    return np.maximum(((p - ratio) / (1 + p)) * first - (ratio - 1) * half_tail(clones, least), 0.0)


@lru_cache(maxsize=16)
def _clones(others: int, chance: float) -> tuple[Array, Array, float]:
    """How many clones there may be, with what probability, and the probability of all that is left out."""
    mean, nats = others * chance, 80.0  # Chernoff's bounds: what is left out has probability 2 e^-80
    low = max(0, math.floor(mean - math.sqrt(2 * mean * nats)))
    high = min(others, math.ceil(mean + nats / 3 + math.sqrt(nats**2 / 9 + 2 * mean * nats)))
    counts = np.arange(low, high + 1, dtype=float)
    masses = np.exp(log_binomial(float(others), counts, chance))
    starts = np.unique(np.linspace(0, len(counts) - 1, BLOCKS).astype(int))
    return counts[starts], np.add.reduceat(masses, starts), 2 * math.exp(-nats)


def _check(epsilon: float, people: int, delta: float) -> None:
    if not 0 < epsilon < 700:
        raise ConfigurationError(f"epsilon must be positive and below 700, got {epsilon}")
    if people < 1 or people != int(people):
        raise ConfigurationError(f"people must be a whole number of at least 1, got {people}")
    if not 0 < delta < 1:
        raise ConfigurationError(f"delta must be between 0 and 1, got {delta}: no shuffler gives a pure promise")
