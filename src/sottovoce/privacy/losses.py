"""The privacy loss of several pure reports together, as values and their probabilities.

*Proof.* A pure report is dominated by randomised response (Kairouz, Oh, Viswanath 2015): its loss is epsilon with
probability e^epsilon / (1 + e^epsilon), else -epsilon. Losses of independent draws add. When a sum would have too many
values, each is split between two neighbours on a grid of POINTS so that its probability is kept in both worlds; merging
the two again is post-processing, so the split only overstates the cost.
"""

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

POINTS = 1024
"""Values of a sum that are kept; with more, epsilon is overstated by less than 1e-3 of itself."""

MOST_ALIKE = 2**16
"""Reports of one epsilon whose loss, a binomial count, is computed in one piece."""

Losses = tuple[NDArray[np.float64], NDArray[np.float64]]
"""Values of the privacy loss, and their probabilities for the person who answered."""


@lru_cache(maxsize=256)
def total_loss(pure: tuple[tuple[float, int], ...]) -> Losses:
    """The loss of all these reports, given as (epsilon, how many) each.

    >>> losses, masses = total_loss(((1.0, 2),))
    >>> losses.tolist(), masses.round(4).tolist()
    ([-2.0, 0.0, 2.0], [0.0723, 0.3932, 0.5344])
    """
    if not pure:
        return np.zeros(1), np.ones(1)
    *others, (epsilon, count) = pure
    if others:
        return _sum(total_loss(tuple(others)), total_loss(((epsilon, count),)))
    if count > MOST_ALIKE:
        return _sum(total_loss(((epsilon, count // 2),)), total_loss(((epsilon, count - count // 2),)))
    truthful = np.arange(count + 1.0)
    choices = np.concatenate([[0.0], np.cumsum(np.log(truthful[:0:-1] / truthful[1:]))])
    log_mass = choices + (truthful - count) * epsilon - count * math.log1p(math.exp(-epsilon))
    return (2 * truthful - count) * epsilon, np.exp(log_mass)


def _sum(first: Losses, second: Losses) -> Losses:
    first, second = _thin(*first), _thin(*second)
    losses = np.add.outer(first[0], second[0]).ravel()
    masses = np.multiply.outer(first[1], second[1]).ravel()
    return _thin(losses, masses)


def _thin(losses: NDArray[np.float64], masses: NDArray[np.float64]) -> Losses:
    """At most POINTS values: each is split between its neighbours on a grid that is fine where the probability is."""
    if len(losses) <= POINTS:
        return losses, masses
    mean = float(masses @ losses)
    reach = 12 * math.sqrt(float(masses @ (losses - mean) ** 2))
    low, high = float(np.min(losses)), float(np.max(losses))
    middle = np.linspace(max(low, mean - reach), min(high, mean + reach), POINTS - 2)
    grid = np.unique(np.concatenate([[low], middle, [high]]))
    left = np.clip(np.searchsorted(grid, losses, "right") - 1, 0, len(grid) - 2)
    share = np.expm1(grid[left] - losses) / np.expm1(grid[left] - grid[left + 1])
    kept = np.zeros_like(grid)
    np.add.at(kept, left, masses * (1 - share))
    np.add.at(kept, left + 1, masses * share)
    return grid, kept
