"""Designs that do not protect: those the paper rejects, those it recommends by mistake, and how each is attacked.

Self-contained: a few lines simulate each design. What we use instead is checked beside it.
"""

import math

import numpy as np
import pytest

from sottovoce import Budget, Interval, calibrate, privatise
from sottovoce.lab.audit.bounds import Counts, epsilon_bound, epsilon_of_distance
from sottovoce.privacy.grid.calibrate import gaussian
from sottovoce.privacy.grid.delta import RESOLUTION, gaussian_scale
from sottovoce.protocol.errors import BadInput

DELTA = 1e-5
TRIALS = 4000


def steep(x: np.ndarray) -> float:
    return float(np.sum(x))


def flat(x: np.ndarray) -> float:
    return 0.0


# --- two points (Algorithm 2) ----------------------------------------------------------------------------------------


def test_the_same_noise_on_two_points_reveals_their_difference():
    """An attacker who subtracts the two reports names the person every time, however large the noise."""
    rng, sigma = np.random.default_rng(0), 1e3
    first, second = np.array([0.3, 0.1]), np.array([0.1, 0.0])
    for loss in (steep, flat):
        noise = sigma * rng.normal(size=TRIALS)
        revealed = (loss(first) + noise) - (loss(second) + noise)
        guess = np.where(revealed > (steep(first) - steep(second)) / 2, "steep", "flat")
        assert np.all(guess == loss.__name__)
    counts = Counts(hits=TRIALS, alarms=0, of=TRIALS)
    assert epsilon_bound(counts, Budget(1.0), 1 - 1e-6) > 5


def test_one_noise_on_the_slope_reveals_no_more_than_promised():
    """What Algorithm 2 does, on the slope: sensitivity 2G whatever the distance of the points."""
    lipschitz, budget = 1.0, Budget(1.0, DELTA)
    mechanism = gaussian(Interval(-lipschitz, lipschitz), budget)
    ends = [mechanism.domain.embed(slope) for slope in (-lipschitz, lipschitz)]
    distance = float(np.abs(ends[0] - ends[1])[0]) / mechanism.scales[0]
    assert epsilon_of_distance(distance, DELTA) == pytest.approx(1.0, rel=1e-3)
    with pytest.raises(BadInput):
        privatise(mechanism, [1.2])  # a loss that is steeper than it may be is clipped, or refused


@pytest.mark.parametrize("rounds", [100, 10_000])
def test_independent_noise_on_two_points_drowns_the_slope(rounds: int):
    """Noise for values in [-1, 1] on each point, over their distance 2 rho: T / log T times the noise of a slope."""
    rho, scale = math.log(rounds) / rounds, 2 * gaussian_scale(1.0, DELTA)
    rng = np.random.default_rng(1)
    by_values = (scale * rng.normal(size=TRIALS) - scale * rng.normal(size=TRIALS)) / (2 * rho)
    by_slope = scale * rng.normal(size=TRIALS)
    assert by_values.std() / by_slope.std() == pytest.approx(1 / (math.sqrt(2) * rho), rel=0.1)


def test_independent_noise_on_two_points_needs_root_two_more():
    """Arithmetic. Two people may differ in both values, so noise that protects one value does not protect the pair."""
    one, pair = 2.0, math.hypot(2.0, 2.0)  # values in [-1, 1]
    sigma = one * gaussian_scale(1.0, DELTA)
    assert epsilon_of_distance(one / sigma, DELTA) == pytest.approx(1.0, rel=1e-3)
    assert epsilon_of_distance(pair / sigma, DELTA) > 1.4


# --- Laplace noise "in parallel" -------------------------------------------------------------------------------------


def tail(direction: np.ndarray, scale: float, beyond: float) -> float:
    """P(n'u > beyond) for iid Laplace n: partial fractions of its characteristic function; entries of u differ."""
    squares = direction**2
    others = [np.prod([a / (a - b) for b in np.delete(squares, i)]) for i, a in enumerate(squares)]
    return float(sum(w / 2 * math.exp(-beyond / (scale * u)) for w, u in zip(others, np.abs(direction), strict=True)))


@pytest.mark.parametrize("dimension", [2, 5, 10])
def test_laplace_noise_in_parallel_breaks_the_promise_of_two_points(dimension: int):
    """The paper: all results extend with Laplace noise. Algorithm 2 adds n'u to a slope, |u| = 1, sensitivity 2G.

    With n_i of scale 2G/epsilon, n'u has log-density slope 1/(scale max|u_i|): up to sqrt(d) epsilon, not epsilon.
    """
    epsilon, lipschitz = 1.0, 1.0
    scale = 2 * lipschitz / epsilon
    u = np.linspace(1.0, 1.2, dimension)
    u /= np.linalg.norm(u)
    truth = epsilon / np.max(u)
    beyond = 60 * scale
    ratio = math.log(tail(u, scale, beyond) / tail(u, scale, beyond + 2 * lipschitz))
    assert ratio == pytest.approx(truth, rel=0.02)
    assert ratio > 0.8 * math.sqrt(dimension) * epsilon > epsilon
    # One scalar Laplace number on the slope keeps it.
    ours = calibrate("laplace", Interval(-lipschitz, lipschitz), Budget(epsilon))
    assert ours.domain.l1(ours.scales) <= epsilon


def test_the_tail_of_parallel_laplace_noise_is_the_one_that_is_drawn():
    rng, u = np.random.default_rng(2), np.array([0.5, 0.3, 0.812])
    drawn = rng.laplace(size=(200_000, 3)) @ u
    for beyond in (0.5, 2.0):
        expected = tail(u, 1.0, beyond)
        assert np.mean(drawn > beyond) == pytest.approx(expected, abs=5 * math.sqrt(expected / 200_000))


# --- noise without a bound -------------------------------------------------------------------------------------------


def advantage(distance: float) -> float:
    """How much better than a coin the best guess is, between two Gaussians so many deviations apart."""
    return math.erf(distance / (2 * math.sqrt(2)))


@pytest.mark.parametrize("extreme", [3.0, 30.0])
def test_unbounded_data_leak_unless_they_are_clipped(extreme: float):
    """Losses f + q with sub-Gaussian q, as in the paper's footnotes, noise for [-B, B]: no bound on q, no privacy."""
    domain, budget = Interval(-1.0, 1.0), Budget(1.0, DELTA)
    mechanism = gaussian(domain, budget)
    raw = (extreme, -extreme)
    unclipped = abs(raw[0] - raw[1]) / domain.half / mechanism.scales[0]
    assert epsilon_of_distance(unclipped, DELTA) > 2 * budget.epsilon
    for value in raw:
        with pytest.raises(BadInput):
            privatise(mechanism, [value])
    messages = [float(domain.embed(value)[0]) for value in raw]
    clipped = abs(messages[0] - messages[1]) / mechanism.scales[0]
    assert epsilon_of_distance(clipped, DELTA) <= budget.epsilon
    e = math.exp(budget.epsilon)
    assert advantage(clipped) <= (e - 1 + 2 * DELTA) / (e + 1)
    if extreme > 10:
        assert advantage(unclipped) > 0.99


@pytest.mark.parametrize("deviation", [0.1, 1.0])
def test_clipping_where_noise_rarely_reaches_costs_little_accuracy(deviation: float):
    """B' = B + s sqrt(2 ln T): the bias for f = B is below s/T."""
    rounds, bound = 10_000, 1.0
    edge = bound + deviation * math.sqrt(2 * math.log(rounds))
    above = (edge - bound) / deviation
    density = math.exp(-(above**2) / 2) / math.sqrt(2 * math.pi)
    bias = deviation * (density - above * math.erfc(above / math.sqrt(2)) / 2)  # E(q - (B' - B))_+
    assert 0 < bias < deviation / rounds


# --- noise that depends on the action --------------------------------------------------------------------------------


def test_linear_perturbation_leaks_what_nonlinear_losses_are_at_the_origin():
    """Agarwal and Singh add <n, x>: at x = 0 no noise at all. The paper says so; here is the attack."""
    rng, budget = np.random.default_rng(0), Budget(1.0, DELTA)
    sigma = 2 * gaussian_scale(*budget)

    def report(value: float, x: np.ndarray) -> float:
        return value + float(sigma * rng.normal(size=2) @ x)

    origin = np.zeros(2)
    assert {report(value, origin) for value in (0.0, 1.0) for _ in range(50)} == {0.0, 1.0}
    for length in (1e-3, 1e-1):
        assert epsilon_of_distance(min(2 / (sigma * length), 40.0), DELTA) > 5
    # Linear losses of bounded gradient: the signal shrinks with the noise, and at the origin there is nothing to hide.
    for length in (1e-3, 1e-1, 1.0):
        assert epsilon_of_distance(2 * length / (sigma * length), DELTA) == pytest.approx(1.0, rel=1e-3)


# --- noise in floating point -----------------------------------------------------------------------------------------


def test_double_precision_noise_betrays_the_datum_and_noise_on_a_grid_does_not():
    """Laplace noise by inversion of a 53-bit uniform number, added in double precision, for data 0 and 1."""

    def reachable(outputs: np.ndarray, datum: float) -> np.ndarray:
        noise = outputs - datum
        nearest = np.rint(np.exp(-np.abs(noise)) * 2.0**53)
        candidates = np.clip(nearest[:, None] + np.arange(-32, 33), 1, 2.0**53)
        again = datum - np.sign(noise)[:, None] * np.log(candidates / 2.0**53)
        return np.any(again == outputs[:, None], axis=1)

    rng = np.random.default_rng(0)
    uniform, sign = rng.integers(1, 2**53, 20_000) / 2.0**53, rng.choice([-1.0, 1.0], 20_000)
    for datum in (0.0, 1.0):
        outputs = datum - sign * np.log(uniform)
        assert np.all(reachable(outputs, datum))
        assert 1 - np.mean(reachable(outputs, 1.0 - datum)) > 0.2  # an honest epsilon allows none
    # A device draws whole numbers: both data have the same outputs, steps of one grid.
    mechanism = calibrate("laplace", Interval(), Budget(1.0))
    for datum in (0.0, 1.0):
        reports = [privatise(mechanism, mechanism.domain.embed(datum)) for _ in range(100)]
        steps = mechanism.decode(reports)[:, 0] / mechanism.scales[0] * RESOLUTION
        np.testing.assert_allclose(steps, np.rint(steps), rtol=0, atol=1e-4)
