"""Which scales: the least noise, and the formulas of the paper."""

import math
from collections.abc import Callable
from functools import lru_cache

from sottovoce.privacy.domains import Domain, Moments, Relabelled, size
from sottovoce.privacy.grid.delta import RESOLUTION, gaussian_scale, rounding_l2
from sottovoce.privacy.grid.mechanism import Gaussian, Laplace
from sottovoce.protocol.budget import Budget
from sottovoce.protocol.errors import ConfigurationError, look_up

Scales = tuple[float, ...]


@lru_cache(maxsize=512)
def gaussian(domain: Domain, budget: Budget, formula: str = "analytic") -> Gaussian:
    """Gaussian noise calibrated jointly for the whole message.

    >>> [round(s, 2) for s in gaussian(Moments(5), Budget(1.0, 1e-5)).scales]
    [7.91, 7.91, 7.91]
    """
    scales_by = look_up("formula", formula, FORMULAS)
    if budget.pure:
        raise ConfigurationError("Gaussian noise needs a delta above 0; for delta = 0 use sphere, levels or laplace")
    return Gaussian(domain, budget, scales_by(domain, budget), formula)


def _analytic(domain: Domain, budget: Budget) -> Scales:
    distance = 1 / gaussian_scale(budget.epsilon, budget.delta, size(domain)) - rounding_l2(domain)
    if distance <= 0:
        raise ConfigurationError(f"{budget} is finer than the grid of the noise; give more of either")
    return (domain.l2() / distance,) * len(domain.blocks)


def _classical(domain: Domain, budget: Budget) -> Scales:
    return (classical_gaussian(budget) * domain.l2(),) * len(domain.blocks)


def classical_gaussian(budget: Budget) -> float:
    """Noise per unit of sensitivity by sqrt(2 ln(1.25/delta))/epsilon, proved only for epsilon below 1."""
    return math.sqrt(2 * math.log(1.25 / budget.delta)) / budget.epsilon


def _paper_linucb(domain: Domain, budget: Budget) -> Scales:
    """The paper's appendix algorithm: sigma = 6 sqrt(2 ln(2.5/delta))/epsilon on every entry of x x' and y x.

    The entries above the diagonal travel with a factor sqrt 2, and y x with weight/reward_bound, and so does the noise.
    """
    if not isinstance(domain, Moments):
        raise ConfigurationError(f"formula paper is for the two messages of the appendix algorithm, got {domain}")
    sigma = 6 * math.sqrt(2 * math.log(2.5 / budget.delta)) / budget.epsilon
    return (sigma, math.sqrt(2) * sigma, sigma * (domain.weight / domain.reward_bound))


def _paper_glm(domain: Domain, budget: Budget) -> Scales:
    """The paper's Algorithm 3: sigma = 6 sqrt(2 ln(3.75/delta))/epsilon on x x' and z x, and C sigma on the gradient.

    Each of the three is promised a third of epsilon and of delta. The entries above the diagonal travel with a factor
    sqrt 2, and so does their noise. The domain's weight is residual_bound/C, so the gradient travels divided by C, and
    its noise too. Where C is small the whole does not keep the budget: a device refuses it then.
    """
    if not isinstance(domain, Relabelled):
        raise ConfigurationError(f"formula paper-glm is for the three messages of Algorithm 3, got {domain}")
    sigma = 6 * math.sqrt(2 * math.log(3.75 / budget.delta)) / budget.epsilon
    return (sigma, math.sqrt(2) * sigma, sigma, sigma)


FORMULAS: dict[str, Callable[[Domain, Budget], Scales]] = {
    "analytic": _analytic,
    "classical": _classical,
    "paper": _paper_linucb,
    "paper-glm": _paper_glm,
}


@lru_cache(maxsize=512)
def laplace(domain: Domain, budget: Budget) -> Laplace:
    """Laplace noise calibrated for the L1 distance of whole messages.

    >>> from sottovoce.privacy.domains import Interval
    >>> laplace(Interval(-1, 1), Budget(1.0)).scales[0] >= 2.0
    True
    """
    unit = {1: (1.0,), 2: (1.0, 1.0), 3: (1.0, math.sqrt(2), 1.0), 4: (1.0, math.sqrt(2), 1.0, 1.0)}[len(domain.blocks)]
    left = budget.epsilon - 2 * size(domain) / RESOLUTION
    if left <= 0:
        raise ConfigurationError(f"{budget} is finer than the grid of the noise; give more epsilon")
    scale = domain.l1(unit) / left
    return Laplace(domain, budget, tuple(scale * u for u in unit))
