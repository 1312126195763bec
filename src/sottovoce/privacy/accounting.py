"""What one person who answers several times has spent. Describing is apart from costing.

`Spent` only counts reports by kind; `delta_of` and `epsilon_of` say what they cost together; `Ledger` holds the limit.

*Proof.* Gaussian reports with distances mu_i are one report with distance mu = sqrt(sum mu_i^2). With the loss L of all
pure reports (see `total_loss`) they cost delta(epsilon) = E gaussian_delta(epsilon - L, mu), exactly. Discrete noise
adds to that what `grid.mechanism.Gaussian` proves.
"""

import math
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from sottovoce.privacy.grid.delta import discrete_delta, gaussian_delta
from sottovoce.privacy.mechanisms import Mechanism, verify
from sottovoce.privacy.special import bisect
from sottovoce.privacy.spent import Spent
from sottovoce.protocol.budget import Budget
from sottovoce.protocol.errors import BudgetExhausted

POINTS = 1024
"""Values of a sum that are kept; with more, epsilon is overstated by less than 1e-3 of itself."""

MOST_ALIKE = 2**16
"""Reports of one epsilon whose loss, a binomial count, is computed in one piece."""

Losses = tuple[NDArray[np.float64], NDArray[np.float64]]
"""Values of the privacy loss, and their probabilities for the person who answered."""


def cost_of(mechanism: Mechanism) -> Spent:
    """What one report of this mechanism spends: its promise if pure, its true distance if Gaussian; it must be kept.

    >>> from sottovoce import Budget, Interval, calibrate
    >>> cost_of(calibrate("levels", Interval(0, 1), Budget(1.0)))
    Spent(pure=((1.0, 1),), squared=0.0, coordinates=0)
    """
    verify(mechanism)
    return mechanism.cost()


def delta_of(spent: Spent, epsilon: float) -> float:
    """The delta for which all that was spent is (epsilon, delta)-private.

    >>> round(delta_of(Spent(pure=((1.0, 2),)), 1.0), 4)
    0.3378
    """
    return discrete_delta(lambda epsilon: _ideal_delta(spent, epsilon), epsilon, spent.coordinates)


def epsilon_of(spent: Spent, delta: float) -> float:
    """The epsilon for which all that was spent is (epsilon, delta)-private.

    >>> round(epsilon_of(Spent(pure=((0.1, 100),)), 1e-6), 3)       # the sum is 10
    4.775
    """
    if delta <= 0:
        return spent.total
    if delta_of(spent, 0.0) <= delta:
        return 0.0
    pure = math.fsum(epsilon * count for epsilon, count in spent.pure)
    most = pure + spent.squared / 2 + 40 * math.sqrt(spent.squared)
    return bisect(lambda epsilon: delta - delta_of(spent, epsilon), 0.0, most)


def _ideal_delta(spent: Spent, epsilon: float) -> float:
    """As if Gaussian noise were continuous."""
    losses, masses = total_loss(spent.pure)
    if spent.squared == 0:
        return float(masses @ -np.expm1(np.minimum(epsilon - losses, 0.0)))
    distance = math.sqrt(spent.squared)
    heavy = masses > 1e-30
    deltas = [gaussian_delta(float(epsilon - loss), distance) for loss in losses[heavy]]
    return float(masses[heavy] @ np.array(deltas) + np.sum(masses[~heavy]))


@lru_cache(maxsize=256)
def total_loss(pure: tuple[tuple[float, int], ...]) -> Losses:
    """The privacy loss of several pure reports together, given as (epsilon, how many) each.

    *Proof.* A pure report is dominated by randomised response (Kairouz, Oh, Viswanath 2015): its loss is epsilon with
    probability e^epsilon / (1 + e^epsilon), else -epsilon. Losses of independent draws add. When a sum would have too
    many values, each is split between two neighbours on a grid of POINTS so that its probability is kept in both
    worlds; merging the two again is post-processing, so the split only overstates the cost.

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
    return _thin(np.add.outer(first[0], second[0]).ravel(), np.multiply.outer(first[1], second[1]).ravel())


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


@dataclass
class Ledger:
    """A person's lifetime account: the owner's limit and what was spent, plain data for the caller to keep.

    The exact cost holds when budgets are fixed before the answers. A server that offers other budgets depending on
    earlier answers could beat it, so `adaptive` is the default: the limit then holds whatever was offered when, and
    pure reports cost about a quarter more. With delta 0 there is no difference: epsilons add up.

    >>> from sottovoce import Budget, Interval, calibrate
    >>> mechanism = calibrate("levels", Interval(0, 1), Budget(1.0))
    >>> ledger = Ledger(Budget(2.5))
    >>> ledger.spend(mechanism)
    >>> ledger.remaining(mechanism), ledger.spent_epsilon()
    (1, 1.0)
    """

    limit: Budget
    spent: Spent = field(default_factory=Spent)
    adaptive: bool = True

    def spend(self, mechanism: Mechanism) -> None:
        """Debit one report, before it is drawn; refuse what would pass the limit or breaks its promise."""
        after = self.spent + cost_of(mechanism)
        if not self._fits(after):
            raise BudgetExhausted(
                f"spent so far: epsilon {self.spent_epsilon():g}; one more report would make it epsilon "
                f"{replace(self, spent=after).spent_epsilon():g}; the limit is {self.limit}"
            )
        self.spent = after

    def remaining(self, mechanism: Mechanism) -> int:
        """How many more such reports fit."""
        one = cost_of(mechanism)
        fit, too_many = 0, 1
        while self._fits(self.spent + one * too_many):
            fit, too_many = too_many, 2 * too_many
        while too_many - fit > 1:
            middle = (fit + too_many) // 2
            fit, too_many = (middle, too_many) if self._fits(self.spent + one * middle) else (fit, middle)
        return fit

    def spent_epsilon(self) -> float:
        """What was spent, at the limit's delta."""
        return min(self.spent.total, epsilon_of(self._priced(self.spent), self.limit.delta))

    def _fits(self, spent: Spent) -> bool:
        """Room for the rounding of sums only: 1e-12 of epsilon, and 1e-9 of delta as in `Gaussian.verify`."""
        if spent.total <= self.limit.epsilon * (1 + 1e-12):
            return True
        priced = self._priced(spent)
        return not self.limit.pure and delta_of(priced, self.limit.epsilon) <= self.limit.delta * (1 + 1e-9)

    def _priced(self, spent: Spent) -> Spent:
        return spent.as_gaussian if self.adaptive else spent
