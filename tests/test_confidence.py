"""Ranges of mean rewards that hold at all times at once."""

import math

import numpy as np
import pytest

from sottovoce import Budget, Interval, calibrate, noise_of
from sottovoce.engine.step import weight_of
from sottovoce.report.confidence import clopper_pearson, difference_half_width, half_width


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


def test_the_range_of_a_difference_holds_at_all_times_at_once():
    """400 streams of 5,000 people at epsilon 1, a tenth of them with the baseline; it may fail once in twenty.

    False-alarm rate 1e-6. The usual interval of 95 %, looked at as often, is caught.
    """
    noise, shape, means = noise_of(calibrate("levels", Interval(), Budget(1.0))), (400, 5000), (0.5, 0.6)
    draw = np.random.default_rng(1)
    baseline = draw.random(shape) < 0.1
    mean = np.where(baseline, *means)
    said = 0.5 + noise.bound * np.where(draw.random(shape) < 0.5 + (mean - 0.5) / (2 * noise.bound), 1, -1)
    looks = np.unique(np.geomspace(50, 5000, 120).astype(int)) - 1
    counts = [np.cumsum(group, axis=1)[:, looks] for group in (baseline, ~baseline)]
    totals = [np.cumsum(said * group, axis=1)[:, looks] for group in (baseline, ~baseline)]
    counts = [np.maximum(count, 1) for count in counts]
    far = np.abs(totals[1] / counts[1] - totals[0] / counts[0] - (means[1] - means[0]))
    half = np.vectorize(lambda first, second: difference_half_width(first, second, noise.proxy, 0.05))(*counts)
    usual = 1.96 * np.sqrt(noise.proxy * (1 / counts[0] + 1 / counts[1]))
    failed = [np.any(far > one, axis=1) for one in (half, usual)]
    least = [clopper_pearson(int(found.sum()), 400, 1e-6)[0] for found in failed]
    assert least[0] <= 0.05 < least[1]


def test_the_range_of_a_difference_touches_the_ellipse_of_its_martingale():
    """No pair of deviations for which the two bets together have not won 1/error is farther apart; one is as far."""
    counts, proxy, error, tightest = np.array([300.0, 2700.0]), 1.2, 0.05, 500
    depth = -2 * math.log(error)
    r = tightest * proxy / (depth + math.log(depth) + 1)
    spread = counts * proxy
    angle = np.linspace(0, 2 * np.pi, 100_001)
    radius = np.sqrt(depth + np.log1p(spread / r).sum())
    deviations = radius * np.sqrt(spread + r)[:, None] * np.stack([np.cos(angle), np.sin(angle)])
    won = 0.5 * np.sum(deviations**2 / (spread + r)[:, None], axis=0) - 0.5 * np.log1p(spread / r).sum()
    assert won == pytest.approx(math.log(1 / error))
    farthest = np.max(deviations[1] / counts[1] - deviations[0] / counts[0])
    assert difference_half_width(*counts, proxy, error, tightest) == pytest.approx(farthest, rel=1e-6)
