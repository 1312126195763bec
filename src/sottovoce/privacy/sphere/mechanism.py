"""The sphere codebook: what it promises, with which integers, and how the server reads a candidate."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.privacy.base import Random, verify_weights, verify_whole, weights
from sottovoce.privacy.domains import Domain, size
from sottovoce.privacy.noise import Noise, unbounded_noise
from sottovoce.privacy.special import beta_cdf
from sottovoce.privacy.spent import Spent
from sottovoce.privacy.sphere import codebook
from sottovoce.protocol.budget import Budget
from sottovoce.protocol.errors import BrokenPromise, WireError

LARGEST_CODEBOOK = 2**24
"""candidates * coordinates: what a contract may ask a device to compute."""

MOST_BITS = 14
"""Of a candidate's index, however large epsilon."""

TABLE = 4096
"""Steps of the quantile table of the simulator."""


@dataclass(frozen=True)
class Sphere:
    """The sphere codebook, for a message of bounded norm. Pure epsilon, one byte whatever the dimension.

    A public coin defines `candidates` unit vectors in opposite pairs; the `cap` nearest to the message (lifted to the
    sphere by one slack coordinate) are the cap. Index i is sent with weight `inside` in the cap and `outside`
    elsewhere, integers.

    *Proof.* Fix the coin: it is tossed before the message is looked at. Every message has exactly `cap` candidates of
    weight `inside` and candidates - cap of weight `outside`, so the normaliser is the same for all messages and two
    probabilities of one (coin, i) differ by at most inside/outside <= e^epsilon. QED. This holds for every coin, also
    for one that a hostile server chose. No floating-point number and no symmetry of the codebook is needed: a wrong
    ranking costs accuracy, never privacy.

    Whoever forges a report chooses among the candidates of a coin that he did not choose. So there are few of them: one
    pair up to epsilon 1, then a bit for each unit of epsilon and one more. That costs at most a sixth more variance
    than a large codebook (`docs/forgers.md`).

    Kin: PrivUnit (Bhowmick et al. 2018, arXiv 1812.00984); k-closest encoding (Isik et al. 2023, arXiv 2306.04924).
    """

    domain: Domain
    budget: Budget
    candidates: int
    cap: int
    inside: int
    outside: int
    mean: float
    """E<candidate sent, message>: the server divides by it."""

    @property
    def dimension(self) -> int:
        """Coordinates of a candidate: those of the message and the slack."""
        return size(self.domain) + 1

    @property
    def total(self) -> int:
        """The sum of all weights."""
        return self.cap * self.inside + (self.candidates - self.cap) * self.outside

    def verify(self) -> None:
        verify_whole(self.candidates, self.cap, self.inside, self.outside)
        verify_weights(self.inside, self.outside, self.budget.epsilon, self.total)
        if not 0 < self.domain.radius < math.inf:
            raise BrokenPromise(f"messages are divided by their largest length, got {self.domain.radius}")
        too_large = self.candidates * self.dimension > LARGEST_CODEBOOK
        if not 1 <= self.cap <= self.candidates // 2 <= 2**15 or self.candidates % 2 or too_large:
            raise BrokenPromise(
                f"a codebook of {self.candidates} candidates with a cap of {self.cap} is not one we compute"
            )

    def cost(self) -> Spent:
        return Spent(pure=((self.budget.epsilon, 1),))

    coin_size = codebook.COIN_BYTES

    @property
    def report_size(self) -> int:
        return 1 if self.candidates <= 256 else 2

    @property
    def reach(self) -> float:
        """No estimate is longer than this, whatever the coin and the index."""
        return self.domain.radius / self.mean

    def check(self, report: bytes) -> None:
        """Refuse a candidate that there is not; no candidate says more than `reach`."""
        if (index := int.from_bytes(report[codebook.COIN_BYTES :], "big")) >= self.candidates:
            raise WireError(f"this task's codebook has {self.candidates} candidates, got index {index}")

    def decode(self, reports: Sequence[bytes]) -> NDArray[np.float64]:
        coins = b"".join(report[: codebook.COIN_BYTES] for report in reports)
        indices = np.array([int.from_bytes(report[codebook.COIN_BYTES :], "big") for report in reports])
        vectors = codebook.candidates(coins, indices, self.dimension).astype(float)
        lengths = np.sqrt(np.sum(vectors * vectors, axis=1, keepdims=True))
        return vectors[:, :-1] * (self.reach / lengths)

    def noise(self) -> Noise:
        """The larger of a coordinate's deviation along the message and across it."""
        inner, mass = self._inner_product()
        second = float(np.sum(inner**2 * mass) / np.sum(mass))
        variance = max(second - self.mean**2, (1 - second) / (self.dimension - 1))
        deviation = math.sqrt(variance) * self.domain.radius / self.mean
        return unbounded_noise(self.domain, (deviation,) * len(self.domain.blocks))

    def law(self) -> "SphereLaw":
        quantiles = quantile_table(self._inner_product()[1], self.mean)
        return SphereLaw(quantiles=quantiles, mean=self.mean, radius=self.domain.radius)

    def _inner_product(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Inner products of the message with the candidate sent, and how likely each is, up to a factor."""
        inner, mass, in_cap = inner_products(self.dimension, self.candidates, self.cap)
        return inner, mass * (in_cap * self.inside + (1 - in_cap) * self.outside)


@lru_cache(maxsize=512)
def sphere(domain: Domain, budget: Budget) -> Sphere:
    """The codebook for this budget, with the cap that is the best for it in this dimension.

    >>> from sottovoce.privacy.domains import Ball
    >>> [sphere(Ball(5), Budget(epsilon)).candidates for epsilon in (0.5, 1.0, 4.0, 8.0)]
    [2, 2, 32, 512]
    """
    inside, outside = weights(budget.epsilon)
    bits = math.ceil(budget.epsilon) + 1 if budget.epsilon > 1 else 1
    candidates = 2 ** min(bits, MOST_BITS)
    dimension = size(domain) + 1
    caps = sorted({max(1, round(candidates * share)) for share in np.geomspace(0.6 / candidates, 0.5, 60)})
    best = max(caps, key=lambda m: sphere_mean(dimension, candidates, m, inside / outside))
    mean = sphere_mean(dimension, candidates, best, inside / outside)
    return Sphere(domain, budget, candidates, best, inside, outside, mean)


@lru_cache(maxsize=4096)
def sphere_mean(dimension: int, candidates: int, cap: int, ratio: float) -> float:
    """E<candidate sent, message> for a codebook of uniform unit vectors in `dimension` coordinates."""
    inner, mass, in_cap = inner_products(dimension, candidates, cap)
    top = float(np.sum(inner * mass * in_cap)) / float(np.sum(mass * in_cap))
    sent_inside = ratio * cap / (ratio * cap + candidates - cap)
    # All inner products together have mean zero, so those outside have mean -cap * top / (candidates - cap).
    return top * (sent_inside - (1 - sent_inside) * cap / (candidates - cap))


@lru_cache(maxsize=128)
def inner_products(dimension: int, candidates: int, cap: int) -> tuple[np.ndarray, ...]:
    """Inner products t on a fine grid, their probability, and P(a candidate at t is in the cap).

    t = cos(angle) with density ~ sin(angle)^(dimension - 2). Of a pair the one with t > 0 can be in the cap, which has
    at most one of each pair. It is when fewer than `cap` of the other pairs have a nearer one: a binomial tail,
    I_F(t)(pairs - cap, cap) with F(t) the probability that another pair has none nearer than t.
    """
    angle = (np.arange(4000) + 0.5) * (math.pi / 4000)
    log_density = (dimension - 2) * np.log(np.sin(angle))
    mass = np.exp(log_density - np.max(log_density))
    mass /= np.sum(mass)
    farther = 1 - 2 * (np.cumsum(mass) - mass / 2)  # P(both of another pair are farther than this angle)
    others = candidates // 2 - cap
    in_cap = beta_cdf(others, cap, np.clip(farther, 0.0, 1.0)) if others else np.ones_like(mass)
    return np.cos(angle), mass, np.where(farther > 0, in_cap, 0.0)


@dataclass(frozen=True, kw_only=True)
class SphereLaw:
    """The inner product from its quantile table, the rest uniform on the orthogonal sphere."""

    quantiles: Any
    mean: float
    radius: float

    def draw(self, message: Any, random: Random) -> Any:
        xp = message.__array_namespace__()
        first, second = random.split()
        unit = message / self.radius
        slack = xp.sqrt(xp.maximum(0.0, 1 - unit @ unit))
        lifted = xp.concat([unit, xp.reshape(slack, (1,))])
        place = first.uniforms(()) * TABLE
        low = xp.minimum(place.astype(int), TABLE - 1)
        along = self.quantiles[low] + (place - low) * (self.quantiles[low + 1] - self.quantiles[low])
        across = second.normals(lifted.shape)
        across = across - (across @ lifted) * lifted
        across = across * (xp.sqrt(1 - along**2) / xp.sqrt(across @ across))
        return (along * lifted + across)[:-1] * (self.radius / self.mean)


def quantile_table(mass: NDArray[np.float64], mean: float) -> NDArray[np.float64]:
    """Quantiles of the inner product, shifted a little so that their mean is the one the server divides by.

    `mass` is the probability of each inner product of `inner_products`, up to a factor.
    """
    below = np.cumsum(mass[::-1])  # from the farthest candidate to the nearest
    edges = np.cos(np.linspace(math.pi, 0, len(mass) + 1))
    quantiles = np.interp(np.linspace(0, 1, TABLE + 1), np.append(0, below / below[-1]), edges)
    table_mean = (np.sum(quantiles) - (quantiles[0] + quantiles[-1]) / 2) / TABLE
    return np.clip(quantiles + (mean - table_mean), -1, 1)
