"""PrivUnit as one would write it by hand, in plain NumPy: a private direction on the unit sphere.

Bhowmick, Duchi, Freudiger, Kapoor, Rogers, "Protection against reconstruction and its applications in private
federated learning", 2018, with the split of the budget that Asi, Feldman and Talwar, "Optimal algorithms for mean
estimation under local differential privacy", ICML 2022, show to be best.

With probability p the report is a uniform direction of the cap {v: <v, u> >= gamma}, else one outside. With q the share
of the sphere outside the cap, the densities differ by p q / ((1 - p)(1 - q)), which is e^epsilon. Divided by `scale`,
the report is right on average. It is drawn with floating point from an ordinary generator: a benchmark, not a device.
"""

import math
from typing import NamedTuple

import numpy as np

GRID = 20_001


class PrivUnit(NamedTuple):
    """For one dimension and epsilon: heights, how much of the sphere is below each, p, and the scale."""

    heights: np.ndarray
    below: np.ndarray
    outside: float
    inside_chance: float
    scale: float

    @property
    def squared_error(self) -> float:
        """Mean of |report - u|^2: the reports lie on a sphere of radius 1/scale."""
        return 1 / self.scale**2 - 1


def privunit(dimension: int, epsilon: float) -> PrivUnit:
    """The cap that leaves the least noise.

    >>> round(privunit(10, 4.0).squared_error, 1)
    3.7
    """
    heights = np.linspace(-1.0, 1.0, GRID)
    density = np.clip(1 - heights**2, 0.0, None) ** ((dimension - 3) / 2)
    below = np.concatenate([[0.0], np.cumsum((density[1:] + density[:-1]) / 2)])
    below /= below[-1]
    moment = np.concatenate([[0.0], np.cumsum((density * heights)[1:] + (density * heights)[:-1])])
    moment /= 2 * np.sum((density[1:] + density[:-1]) / 2)
    inner = np.flatnonzero((below > 1e-9) & (below < 1 - 1e-9))
    q, moment = below[inner], moment[[*inner, -1]]
    chance = math.exp(epsilon) * (1 - q) / (q + math.exp(epsilon) * (1 - q))  # p, from the ratio of the densities
    inside, outside = (moment[-1] - moment[:-1]) / (1 - q), moment[:-1] / q
    scale = chance * inside + (1 - chance) * outside
    best = int(np.argmax(scale))
    return PrivUnit(heights, below, float(q[best]), float(chance[best]), float(scale[best]))


def report(numbers: PrivUnit, direction: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """One report: right on average.

    >>> rng, numbers, u = np.random.default_rng(0), privunit(10, 4.0), np.eye(10)[0]
    >>> mean = np.mean([report(numbers, u, rng) for _ in range(4000)], axis=0)
    >>> bool(np.abs(mean - u).max() < 0.15)
    True
    """
    if rng.random() < numbers.inside_chance:
        share = numbers.outside + (1 - numbers.outside) * rng.random()
    else:
        share = numbers.outside * rng.random()
    height = float(np.interp(share, numbers.below, numbers.heights))
    across = rng.standard_normal(len(direction))
    across -= (across @ direction) * direction
    across *= math.sqrt(1 - height * height) / np.linalg.norm(across)
    return (height * direction + across) / numbers.scale
