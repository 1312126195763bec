"""How many candidates, how large a cap, and with which weights."""

import math
from functools import lru_cache

import numpy as np

from sottovoce.privacy.domains import Domain, size
from sottovoce.privacy.special import beta_cdf
from sottovoce.privacy.sphere.mechanism import Sphere
from sottovoce.privacy.weights import verify_weights, verify_whole, weights
from sottovoce.protocol.budget import Budget
from sottovoce.protocol.errors import BrokenPromise

LARGEST_CODEBOOK = 2**24
"""candidates * coordinates: what a contract may ask a device to compute."""


@lru_cache(maxsize=512)
def sphere(domain: Domain, budget: Budget) -> Sphere:
    """The codebook whose cap is the best for this budget and dimension.

    >>> from sottovoce.privacy.domains import Ball
    >>> sphere(Ball(5), Budget(1.0)).candidates
    256
    """
    inside, outside = weights(budget.epsilon)
    candidates = next((n for limit, n in ((4, 256), (8, 1024), (10, 4096)) if budget.epsilon <= limit), 16384)
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
def inner_products(dimension: int, candidates: int, cap: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Inner products t on a fine grid, their probability, and P(a candidate at t is in the cap).

    t = cos(angle) with density ~ sin(angle)^(dimension - 2). A candidate at t is in the cap when fewer than `cap` of
    the candidates - 1 others are nearer: a binomial tail, I_F(t)(candidates - cap, cap).
    """
    angle = (np.arange(4000) + 0.5) * (math.pi / 4000)
    log_density = (dimension - 2) * np.log(np.sin(angle))
    mass = np.exp(log_density - np.max(log_density))
    mass /= np.sum(mass)
    farther = 1 - (np.cumsum(mass) - mass / 2)  # P(another candidate is farther than this angle)
    return np.cos(angle), mass, beta_cdf(candidates - cap, cap, np.clip(farther, 0.0, 1.0))


def verify(mechanism: Sphere) -> None:
    """Refuse integers that do not keep the budget, or that ask a device for too much work."""
    count, cap = mechanism.candidates, mechanism.cap
    verify_whole(count, cap, mechanism.inside, mechanism.outside)
    verify_weights(mechanism.inside, mechanism.outside, mechanism.budget.epsilon)
    if not 1 <= cap < count <= 2**16 or count * mechanism.dimension > LARGEST_CODEBOOK:
        raise BrokenPromise(f"a codebook of {count} candidates with a cap of {cap} is not one we compute")
