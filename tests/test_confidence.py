"""Ranges of mean rewards that hold at all times at once."""

import math

import numpy as np
import pytest

from sottovoce import Budget, Interval, calibrate, noise_of
from sottovoce.engine.step import weight_of
from sottovoce.report.confidence import clopper_pearson, half_width


def test_a_range_holds_at_all_times_at_once_also_with_quieter_reports():
    """1,500 runs of 1,500 bits at epsilon 1, a third of them at 0.5; a range may fail once in twenty runs.

    False-alarm rate 1e-6. The usual interval of 95 %, looked at as often, is caught.
    """
    full, quiet = (noise_of(calibrate("levels", Interval(), Budget(epsilon))) for epsilon in (1.0, 0.5))
    draw, mean, shape = np.random.default_rng(0), 0.6, (1500, 1500)
    quieter = draw.random(shape) < 1 / 3
    weight, reach = np.where(quieter, weight_of(full, quiet), 1.0), np.where(quieter, quiet.bound, full.bound)
    said = 0.5 + reach * np.where(draw.random(shape) < 0.5 + (mean - 0.5) / (2 * reach), 1, -1)
    count = np.cumsum(weight, axis=1)
    far = np.abs(np.cumsum(weight * said, axis=1) / count - mean)
    grid = np.geomspace(0.1, 1500, 4000)  # the half width falls with the count: the next larger count is stricter
    table = np.array([half_width(n, full.proxy, 0.05, tightest=300) for n in grid])
    assert np.all(np.diff(table) < 0)
    failed = np.any(far > table[np.searchsorted(grid, count)], axis=1)
    usual = np.any(far[:, 30:] > 1.96 * np.sqrt(full.proxy / count[:, 30:]), axis=1)
    least = [clopper_pearson(int(found.sum()), 1500, 1e-6)[0] for found in (failed, usual)]
    assert least[0] <= 0.05 < least[1]
    assert failed.any()


@pytest.mark.parametrize("count", [10.0, 300.0, 20_000.0])
def test_the_range_solves_the_equation_of_its_martingale(count: float):
    """Where the mixture of exp(l S - l^2 V / 2) over a normal l, by numerical integration, is 1/error."""
    proxy, error, tightest = 1.2, 0.05, 300
    spread, far = count * proxy, half_width(count, proxy, error, tightest) * count
    depth = -2 * math.log(error)
    deviation = math.sqrt((depth + math.log(depth) + 1) / (tightest * proxy))
    bets, step = np.linspace(-9 * deviation, 9 * deviation, 200_001, retstep=True)
    density = np.exp(-((bets / deviation) ** 2) / 2) / (deviation * math.sqrt(2 * math.pi))
    mixture = np.sum(density * np.exp(bets * far - bets**2 * spread / 2)) * step
    assert mixture == pytest.approx(1 / error, rel=1e-6)
