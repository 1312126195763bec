"""Budget and domain in, mechanism out. The only place with such formulas; NumPy only."""

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from sottovoce.privacy.domains import Domain, Interval, size
from sottovoce.privacy.mechanisms import RESOLUTION, Gaussian, Laplace, Levels, Mechanism, Sphere
from sottovoce.privacy.special import beta_cdf, bisect, log_normal_cdf, normal_cdf
from sottovoce.protocol.budget import Budget
from sottovoce.protocol.errors import ConfigurationError, UnknownName

# --- by name ---------------------------------------------------------------------------------------------------------


def calibrate(name: str, domain: Domain, budget: Budget, formula: str = "analytic") -> Mechanism:
    """The mechanism of this name for this domain and budget.

    >>> calibrate("levels", Interval(0, 1), Budget(1.0)).keep > 2 * 2**20
    True
    """
    if not isinstance(budget, Budget):
        raise ConfigurationError(f"the budget must be a Budget, as in sottovoce.budget(1.0); got {budget!r}")
    builders: dict[str, Any] = {"levels": levels, "sphere": sphere, "laplace": laplace}
    if name == "gaussian":
        published = {"paper": paper_linucb_gaussian, "paper-glm": paper_glm_gaussian}
        return published[formula](domain, budget) if formula in published else gaussian(domain, budget, formula)
    if name not in builders:
        raise UnknownName("mechanism", name, [*builders, "gaussian"])
    return builders[name](domain, budget)


def _weights(epsilon: float) -> tuple[int, int]:
    """Integers with more/less just below e^epsilon. The 2^-50 is wider than the error of exp."""
    less = 2**20 if epsilon <= 8 else 2**10
    more = math.floor(less * math.exp(min(epsilon, 700.0)) * (1 - 2**-50))
    if more <= less:
        raise ConfigurationError(f"epsilon {epsilon:g} is too small to say anything; use at least 1e-5")
    return more, less


# --- k-level randomised response ------------------------------------------------------------------------------------


@lru_cache(maxsize=512)
def levels(domain: Interval, budget: Budget, count: int | None = None) -> Levels:
    """Randomised response on the number of levels with the smallest worst-case variance.

    >>> levels(Interval(0, 1), Budget(1.0)).levels
    2
    """
    if not isinstance(domain, Interval):
        raise ConfigurationError(f"levels answer for one number in an interval, got {domain}; use sphere for vectors")
    keep, flip = _weights(budget.epsilon)
    if count is None:
        options = range(2, 66)
        count = min(options, key=lambda k: levels_variance(k, keep / flip))
    if count < 2:
        raise ConfigurationError(f"randomised response needs at least 2 levels, got {count}")
    return Levels(domain, budget, count, keep, flip)


def levels_variance(count: int, ratio: float, points: int = 129) -> float:
    """The largest variance over the inputs in [-1, 1] of the unbiased estimate, for keep/flip = ratio."""
    grid = np.linspace(-1, 1, count)
    flip = 1 / (ratio + count - 1)
    gain = (ratio - 1) * flip
    below = np.linspace(0, 1, points)[:, None]  # position between two neighbouring levels
    start = np.arange(count - 1)
    mean = grid[start] + below * (2 / (count - 1))
    square = (1 - below) * grid[start] ** 2 + below * grid[start + 1] ** 2
    second = (gain * square + flip * np.sum(grid**2)) / gain**2
    return float(np.max(second - mean**2))


# --- sphere codebook -------------------------------------------------------------------------------------------------


@lru_cache(maxsize=512)
def sphere(domain: Domain, budget: Budget) -> Sphere:
    """The codebook whose cap is the best for this budget and dimension.

    >>> from sottovoce.privacy.domains import Ball
    >>> sphere(Ball(5), Budget(1.0)).candidates
    256
    """
    inside, outside = _weights(budget.epsilon)
    candidates = next((n for limit, n in ((4, 256), (8, 1024), (10, 4096)) if budget.epsilon <= limit), 16384)
    dimension = size(domain) + 1
    caps = sorted({max(1, round(candidates * share)) for share in np.geomspace(0.6 / candidates, 0.5, 60)})
    best = max(caps, key=lambda m: sphere_mean(dimension, candidates, m, inside / outside))
    mean = sphere_mean(dimension, candidates, best, inside / outside)
    return Sphere(domain, budget, candidates, best, inside, outside, mean)


@lru_cache(maxsize=4096)
def sphere_mean(dimension: int, candidates: int, cap: int, ratio: float) -> float:
    """E<candidate sent, message> for a codebook of uniform unit vectors in `dimension` coordinates."""
    inner, mass, in_cap = sphere_law(dimension, candidates, cap)
    top = float(np.sum(inner * mass * in_cap)) / float(np.sum(mass * in_cap))
    sent_inside = ratio * cap / (ratio * cap + candidates - cap)
    # All inner products together have mean zero, so those outside have mean -cap * top / (candidates - cap).
    return top * (sent_inside - (1 - sent_inside) * cap / (candidates - cap))


@lru_cache(maxsize=128)
def sphere_law(dimension: int, candidates: int, cap: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
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


# --- Gaussian --------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=512)
def gaussian(domain: Domain, budget: Budget, formula: str = "analytic") -> Gaussian:
    """Gaussian noise calibrated jointly for the whole message.

    >>> from sottovoce.privacy.domains import Moments
    >>> [round(s, 2) for s in gaussian(Moments(5), Budget(1.0, 1e-5)).scales]
    [7.91, 7.91, 7.91]
    """
    _need_delta(budget)
    blocks = len(domain.blocks)
    if formula == "classical":
        scale = classical_gaussian(budget) * domain.l2((1.0,) * blocks)
        return Gaussian(domain, budget, (scale,) * blocks, formula)
    if formula != "analytic":
        raise UnknownName("formula", formula, ["analytic", "classical"])
    distance = 1 / gaussian_scale(budget.epsilon, budget.delta, size(domain)) - rounding_l2(domain)
    if distance <= 0:
        raise ConfigurationError(f"{budget} is finer than the grid of the noise; give more of either")
    scale = domain.l2((1.0,) * blocks) / distance
    return Gaussian(domain, budget, (scale,) * blocks)


def paper_linucb_gaussian(domain: Domain, budget: Budget) -> Gaussian:
    """The paper's appendix algorithm: sigma = 6 sqrt(2 ln(2.5/delta))/epsilon on every entry of x x' and y x.

    The entries above the diagonal travel with a factor sqrt 2, and y x with weight/reward_bound, and so does the noise.
    """
    _need_delta(budget)
    sigma = 6 * math.sqrt(2 * math.log(2.5 / budget.delta)) / budget.epsilon
    unit = getattr(domain, "weight", 1.0) / getattr(domain, "reward_bound", 1.0)
    return Gaussian(domain, budget, (sigma, math.sqrt(2) * sigma, sigma * unit), "paper")


def paper_glm_gaussian(domain: Domain, budget: Budget) -> Gaussian:
    """The paper's Algorithm 3: sigma = 6 sqrt(2 ln(3.75/delta))/epsilon on x x', and C sigma on the gradient.

    The entries above the diagonal travel with a factor sqrt 2, and so does their noise. The domain's weight is
    reward_bound/C, so the gradient travels divided by C, and its noise too. A third of the budget is for the message
    z x, which is not sent. Where C is small the whole does not keep the budget: a device refuses it then.
    """
    _need_delta(budget)
    sigma = 6 * math.sqrt(2 * math.log(3.75 / budget.delta)) / budget.epsilon
    return Gaussian(domain, budget, (sigma, math.sqrt(2) * sigma, sigma), "paper-glm")


def classical_gaussian(budget: Budget) -> float:
    """Noise per unit of sensitivity by sqrt(2 ln(1.25/delta))/epsilon, proved only for epsilon below 1."""
    return math.sqrt(2 * math.log(1.25 / budget.delta)) / budget.epsilon


@lru_cache(maxsize=4096)
def gaussian_scale(epsilon: float, delta: float, coordinates: int = 0) -> float:
    """The least noise per unit of sensitivity (Balle and Wang 2018, Theorem 8); discrete in that many coordinates.

    >>> round(gaussian_scale(1.0, 1e-5), 4)
    3.7306
    """

    def missing(log_scale: float) -> float:
        distance = math.exp(-log_scale)
        return delta - discrete_delta(lambda eps: gaussian_delta(eps, distance), epsilon, coordinates)

    return math.exp(bisect(missing, -20.0, 30.0))


def gaussian_delta(epsilon: float, distance: float) -> float:
    """The delta of the Gaussian mechanism for two messages `distance` noise units apart; any real epsilon.

    >>> round(gaussian_delta(1.0, 1 / 3.7306), 8)
    1e-05
    """
    if distance == 0:
        return max(0.0, 1 - math.exp(epsilon))
    first = normal_cdf(distance / 2 - epsilon / distance)
    second = math.exp(min(epsilon + log_normal_cdf(-distance / 2 - epsilon / distance), 0.0))
    return max(0.0, first - second)


def discrete_delta(ideal: Callable[[float], float], epsilon: float, coordinates: int) -> float:
    """The delta with discrete noise in so many coordinates, from `ideal`, the delta with continuous noise.

    The smaller of two bounds, both proved at `mechanisms.Gaussian`: one by total variation, one by the ratio.
    """
    if not coordinates:
        return min(1.0, ideal(epsilon))
    noised = coordinates * RESOLUTION**-2
    by_variation = ideal(epsilon) + (1 + math.exp(min(epsilon, 700.0))) * noised / 12
    by_ratio = math.exp(200 * noised) * ideal(epsilon - 400 * noised)
    return min(1.0, by_variation, by_ratio)


def _need_delta(budget: Budget) -> None:
    if budget.pure:
        raise ConfigurationError("Gaussian noise needs a delta above 0; for delta = 0 use sphere, levels or laplace")


def gaussian_distance(mechanism: Gaussian) -> float:
    """How far apart two messages can be, in units of the noise, rounding included."""
    return mechanism.domain.l2(mechanism.scales) + rounding_l2(mechanism.domain)


def rounding_l2(domain: Domain) -> float:
    """What rounding to the grid may add to the distance of two messages, in units of the noise."""
    return 2 * math.sqrt(size(domain)) / RESOLUTION


# --- Laplace ---------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=512)
def laplace(domain: Domain, budget: Budget) -> Laplace:
    """Laplace noise calibrated for the L1 distance of whole messages.

    >>> laplace(Interval(-1, 1), Budget(1.0)).scales[0] >= 2.0
    True
    """
    unit = {1: (1.0,), 3: (1.0, math.sqrt(2), 1.0)}[len(domain.blocks)]
    left = budget.epsilon - 2 * size(domain) / RESOLUTION
    if left <= 0:
        raise ConfigurationError(f"{budget} is finer than the grid of the noise; give more epsilon")
    scale = domain.l1(unit) / left
    return Laplace(domain, budget, tuple(scale * u for u in unit))
