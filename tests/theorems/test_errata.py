"""Every entry of docs/errata.md, shown by numbers: what the paper says, and what is true.

Deterministic, or with fixed seeds and room of many standard deviations. Symbols are the paper's.
"""

import itertools
import math
import re
from collections.abc import Callable
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import optimize, stats

from sottovoce import Ball, Budget, Interval, Moments, calibrate, noise_of
from sottovoce.lab.audit.bounds import epsilon_of_distance
from sottovoce.learners.arms.tsallis_inf import tsallis_weights
from sottovoce.privacy.grid.calibrate import classical_gaussian, gaussian
from sottovoce.privacy.grid.delta import gaussian_delta, gaussian_scale
from sottovoce.privacy.mechanisms import verify
from sottovoce.protocol.errors import BrokenPromise
from sottovoce.protocol.offers import LinearModel
from sottovoce.users.by_model import LinearUser

ROOT = Path(__file__).resolve().parents[2]
DELTA = 1e-5
Array = NDArray[np.float64]


def directions(rng: np.random.Generator, count: int, dimension: int) -> Array:
    """Uniform unit vectors."""
    vectors = rng.normal(size=(count, dimension))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


# --- the page --------------------------------------------------------------------------------------------------------


def entries() -> dict[str, str]:
    """The numbered entries of the page: title and text."""
    _, *parts = re.split(r"^### ", (ROOT / "docs" / "errata.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {part.splitlines()[0]: part for part in parts}


def named_tests(text: str) -> list[tuple[str, str]]:
    return re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", text)


def test_every_erratum_names_a_test_and_every_test_named_exists():
    assert len(entries()) >= 20
    for title, text in entries().items():
        assert named_tests(text), title
        for file, name in named_tests(text):
            assert f"\ndef {name}(" in (ROOT / file).read_text(encoding="utf-8"), (title, name)


def test_every_test_of_this_file_is_named_by_an_erratum():
    here = set(re.findall(r"^def (test_\w+)\(", Path(__file__).read_text(encoding="utf-8"), re.MULTILINE))
    about_the_page = {name for name in here if name.startswith("test_every_")}
    named = {name for text in entries().values() for _, name in named_tests(text)}
    assert here - about_the_page <= named


def test_every_erratum_has_its_number_and_says_what_we_do():
    assert [title.split(".")[0] for title in entries()] == [str(n + 1) for n in range(len(entries()))]
    for title, text in entries().items():
        assert "**Paper.**" in text, title
        assert "**Here.**" in text, title


# --- the Gaussian mechanism ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("delta", "limit"), [(0.1, 5.72), (1e-3, 7.48), (1e-5, 8.40), (1e-6, 8.77), (1e-8, 9.38)])
def test_the_classical_gaussian_formula_fails_for_large_epsilon(delta: float, limit: float):
    def true_delta(epsilon: float) -> float:
        return gaussian_delta(epsilon, 1 / classical_gaussian(Budget(epsilon, delta)))

    first_failure = optimize.brentq(lambda epsilon: true_delta(epsilon) - delta, 3.0, 15.0)
    assert first_failure == pytest.approx(limit, abs=0.06)
    assert true_delta(0.9) < delta / 2  # where it is proved it wastes noise
    if delta == DELTA:
        assert true_delta(20.0) / delta == pytest.approx(153, rel=0.01)
        assert true_delta(100.0) == pytest.approx(1.0, abs=1e-6)
        with pytest.raises(BrokenPromise):
            verify(gaussian(Interval(), Budget(9.0, delta), "classical"))


@pytest.mark.parametrize(("epsilon", "excess"), [(0.1, 1.58), (0.5, 1.38), (1.0, 1.30), (2.0, 1.21)])
def test_the_classical_gaussian_formula_wastes_noise_for_small_epsilon(epsilon: float, excess: float):
    assert classical_gaussian(Budget(epsilon, DELTA)) / gaussian_scale(epsilon, DELTA) == pytest.approx(excess, 0.01)


@pytest.mark.parametrize(("epsilon", "times_levels", "times_laplace"), [(0.1, 23, 11), (0.5, 22, 11), (1.0, 20, 11)])
def test_gaussian_noise_on_one_number_is_larger_than_pure_noise(
    epsilon: float, times_levels: float, times_laplace: float
):
    domain = Interval(-1.0, 1.0)
    paper = noise_of(gaussian(domain, Budget(epsilon, DELTA), "classical")).variance
    assert paper / noise_of(calibrate("levels", domain, Budget(epsilon))).variance > times_levels
    assert paper / noise_of(calibrate("laplace", domain, Budget(epsilon))).variance > times_laplace


def test_double_precision_noise_betrays_the_datum():
    """Laplace noise by inversion of a 53-bit uniform number, added in double precision, for data 0 and 1."""

    def reachable(outputs: Array, datum: float) -> NDArray[np.bool_]:
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
        impossible = 1 - np.mean(reachable(outputs, 1.0 - datum))
        assert impossible > 0.2  # an honest epsilon allows none


# --- local implies streaming privacy ---------------------------------------------------------------------------------


def test_the_factors_of_the_streaming_proof_do_not_cancel_but_the_theorem_holds():
    """Two rounds. z_1 of three values; the action of round 2, and so z_2, depends on z_1."""
    first = {"h": np.array([0.50, 0.30, 0.20]), "h'": np.array([0.25, 0.50, 0.25])}
    second = np.array([0.8, 0.2, 0.5])  # P(z_2 = 1 | z_1), the same for both sequences
    later = {h: float(p[:2] @ second[:2] / p[:2].sum()) for h, p in first.items()}  # given z_1 in {0, 1}
    assert later["h"] == pytest.approx(0.575)
    assert later["h'"] == pytest.approx(0.4)  # the proof says: the same

    epsilon = float(np.max(np.abs(np.log(first["h"] / first["h'"]))))
    joint = {h: np.concatenate([p * second, p * (1 - second)]) for h, p in first.items()}
    for chosen in itertools.product([False, True], repeat=6):
        here, there = (float(joint[h][list(chosen)].sum()) for h in ("h", "h'"))
        assert here <= math.exp(epsilon) * there + 1e-12
        assert there <= math.exp(epsilon) * here + 1e-12


# --- contextual messages ---------------------------------------------------------------------------------------------


def farthest(message: Callable[[Array], Array], width: int, starts: int = 12, seed: int = 0) -> float:
    """The largest distance of two messages that a search finds; `width` numbers describe a person."""
    rng = np.random.default_rng(seed)

    def distance(z: Array) -> float:
        return float(np.linalg.norm(message(z[:width]) - message(z[width:])))

    found = [
        optimize.minimize(lambda z: -distance(z), rng.normal(size=2 * width), method="L-BFGS-B").fun
        for _ in range(starts)
    ]
    return -float(min(found))


def unit(z: Array) -> Array:
    """A point of the unit ball."""
    return z / max(1.0, float(np.linalg.norm(z)))


@pytest.mark.parametrize("dimension", [2, 3])
def test_the_matrix_message_has_sensitivity_root_two(dimension: int):
    upper = np.triu_indices(dimension)
    found = farthest(lambda z: np.outer(unit(z), unit(z))[upper], dimension)
    assert found == pytest.approx(math.sqrt(2), abs=1e-3)  # the paper pays for 2


def test_the_linear_algorithm_spends_half_of_its_budget():
    mechanism = gaussian(Moments(5, reward_bound=2.0), Budget(1.0, DELTA), "paper")
    distance = mechanism.domain.l2(mechanism.scales)
    assert epsilon_of_distance(distance, DELTA) == pytest.approx(0.47, abs=0.005)
    joint = gaussian(Moments(5, reward_bound=2.0), Budget(1.0, DELTA))
    theirs, ours = noise_of(mechanism).per_block, noise_of(joint).per_block
    assert theirs == pytest.approx((29.9, 29.9, 29.9), abs=0.1)
    assert ours == pytest.approx((7.91, 5.60, 15.8), rel=0.01)


@pytest.mark.parametrize("length", [0.3, 1.0])
def test_the_relabelled_message_is_redundant_and_its_sensitivity_is_the_length_of_theta(length: float):
    theta = length * directions(np.random.default_rng(1), 1, 3)[0]
    assert farthest(lambda z: (unit(z) @ theta) * unit(z), 3) == pytest.approx(length, abs=1e-3)  # the paper: 2
    x = unit(np.array([0.2, -0.7, 0.4]))
    np.testing.assert_allclose(np.outer(x, x) @ theta, (x @ theta) * x, atol=1e-15)  # the server could do it


LINKS: dict[str, tuple[Callable[[float], float], float]] = {
    "identity": (lambda a: a, 1.0),
    "half": (lambda a: 0.5 * a, 0.5),
    "tenth": (lambda a: 0.1 * a, 0.1),
    "tanh": (lambda a: 0.25 * math.tanh(3 * a), 0.25),
}


@pytest.mark.parametrize("link", LINKS)
def test_the_gradient_is_more_sensitive_than_the_paper_says(link: str):
    """One x, the reward's noise at its two ends: the gradients differ by 2, whatever the link; the paper has 2C."""
    g, bound = LINKS[link]
    x, estimate, truth = np.array([1.0, 0.0]), np.array([0.5, 0.0]), np.array([0.3, 0.0])
    gradients = [(g(float(x @ estimate)) - (g(float(x @ truth)) + eta)) * x for eta in (-1.0, 1.0)]
    assert np.linalg.norm(gradients[0] - gradients[1]) == pytest.approx(2.0)
    # Over all rewards that the assumptions allow, |y| <= C + 1, it is 2(C + 1) at least, above 2C for every C.
    ends = [(g(float(x @ estimate)) - y) * x for y in (-(bound + 1), bound + 1)]
    assert np.linalg.norm(ends[0] - ends[1]) == pytest.approx(2 * (bound + 1))
    largest = max(abs(g(z) - y) for z in np.linspace(-1, 1, 201) for y in (-(bound + 1), bound + 1))
    assert largest <= 2 * bound + 1 + 1e-12  # what the device clips at


@pytest.mark.parametrize(("bound", "truth"), [(0.25, 1.25), (0.1, 3.02), (0.01, 49.6)])
def test_the_generalised_linear_algorithm_is_not_private_for_small_rewards(bound: float, truth: float):
    """The whole message at nominal (1, 1e-5): x and z alike, rewards at their two ends, gradient noise C sigma."""
    sigma = 6 * math.sqrt(2 * math.log(3.75 / DELTA))
    assert epsilon_of_distance(2 * (bound + 1) / (bound * sigma), DELTA) == pytest.approx(truth, rel=0.01)
    assert truth > 1
    if bound < 0.2:  # the reward's noise alone is enough
        assert epsilon_of_distance(2 / (bound * sigma), DELTA) > 2.5


def test_laplace_noise_costs_a_contextual_learner_a_factor_of_the_dimension():
    def deviation(name: str, dimension: int) -> float:
        return noise_of(calibrate(name, Moments(dimension), Budget(1.0))).per_block[0]

    assert deviation("laplace", 40) / deviation("laplace", 5) > 4.5
    assert deviation("sphere", 40) / deviation("sphere", 5) < 1.05
    assert deviation("laplace", 20) / deviation("sphere", 20) > 8.5


# --- contextual confidence widths ------------------------------------------------------------------------------------


def paper_spectral(sigma: float, dimension: int, time: float, horizon: float, alpha: float) -> float:
    """Upsilon_t of both contextual algorithms."""
    return sigma * math.sqrt(time) * (4 * math.sqrt(dimension) + 2 * math.log(2 * horizon / alpha))


def paper_width(sigma: float, dimension: int, time: float, horizon: float, alpha: float = 0.1) -> float:
    """beta_t of the linear algorithm."""
    spectral = paper_spectral(sigma, dimension, time, horizon, alpha)
    bias = math.sqrt(3 * spectral) + sigma * math.sqrt(dimension * time / spectral)
    log = math.log(horizon)
    return 2 * sigma * math.sqrt(dimension * log) + bias * dimension * log


def derived_width(matrix: float, vector: float, dimension: int, time: float, horizon: float, alpha: float = 0.1):
    """The same confidence ellipsoid with every term derived: reward noise of proxy 1, joint Gaussian noise."""
    log = math.log(3 * horizon / alpha)
    spectral = matrix * math.sqrt(time) * (math.sqrt(2 * dimension) + math.sqrt(2 * math.log(10 * horizon / alpha)))
    reward = math.sqrt(2 * log + dimension * math.log(1 + time / (dimension * spectral)))
    noise = vector * math.sqrt(time) * (math.sqrt(dimension) + math.sqrt(2 * log)) / math.sqrt(spectral)
    return reward + noise + math.sqrt(3 * spectral)


def paper_sigma(epsilon: float) -> float:
    return 6 * math.sqrt(2 * math.log(2.5 / DELTA)) / epsilon


def test_the_first_model_of_the_contextual_algorithms_does_not_exist():
    """Round 1 asks for the inverse of V~_0 + c_0 I."""
    matrix = np.zeros((3, 3)) + 2 * paper_spectral(paper_sigma(1.0), 3, 0, 1000, 0.1) * np.eye(3)
    with pytest.raises(np.linalg.LinAlgError):
        np.linalg.inv(matrix)


def test_the_spectral_bound_is_three_times_too_large():
    rng = np.random.default_rng(0)
    noise = np.triu(rng.normal(size=(4000, 10, 10)))
    noise = noise + np.triu(noise, 1).transpose(0, 2, 1)
    quantile = np.quantile(np.abs(np.linalg.eigvalsh(noise)).max(axis=1), 0.999)
    paper = 4 * math.sqrt(10) + 2 * math.log(1000)
    derived = 2 * math.sqrt(10) + 2 * math.sqrt(math.log(2000))
    assert quantile == pytest.approx(8.1, abs=0.3)
    assert quantile < derived < paper
    assert paper / quantile > 3


@pytest.mark.parametrize(("dimension", "chance"), [(1, 0.32), (2, 0.37), (5, 0.42), (10, 0.44), (100, 0.48)])
def test_the_length_of_gaussian_noise_exceeds_its_high_probability_bound_half_of_the_time(
    dimension: int, chance: float
):
    """||h_t|| <= sigma sqrt(d t): chi-square, so at every t. And then for all of a thousand rounds at once."""
    exceeded = float(stats.chi2.sf(dimension, dimension))
    assert exceeded == pytest.approx(chance, abs=0.005)
    assert (1 - exceeded) ** 1000 < 1e-150  # the event on which two of the proofs condition
    enough = (math.sqrt(dimension) + math.sqrt(2 * math.log(1000))) ** 2
    assert stats.chi2.sf(enough, dimension) < 1e-3


def test_the_confidence_width_is_fifty_times_what_the_proof_needs():
    d, rounds = 3, 4000
    paper = paper_width(paper_sigma(1.0), d, rounds, rounds)
    matrix, _, vector = noise_of(gaussian(Moments(d, reward_bound=2.0), Budget(1.0, DELTA))).per_block
    ours = derived_width(matrix, vector, d, rounds, rounds)
    assert paper == pytest.approx(10_827, rel=1e-3)
    assert ours == pytest.approx(218, rel=5e-3)
    # x' theta lies in [-1, 1] and V~ is at most t + 3 Upsilon: the bonus of a unit vector alone is above the range.
    spectral = paper_spectral(paper_sigma(1.0), d, rounds, rounds, 0.1)
    assert paper / math.sqrt(rounds + 3 * spectral) > 2


def test_the_contextual_regret_grows_with_the_root_of_one_over_epsilon():
    """beta_T sqrt(T), with the paper's own beta: T^(3/4) and epsilon^(-1/2); the theorems say 1/epsilon."""

    def regret(epsilon: float, rounds: float) -> float:
        return paper_width(paper_sigma(epsilon), 5, rounds, rounds) * math.sqrt(rounds)

    in_epsilon = math.log(regret(0.01, 1e16) / regret(1.0, 1e16)) / math.log(100)
    assert in_epsilon == pytest.approx(0.5, abs=0.02)
    logs = math.log(1e17 / 0.1) ** 1.5 / math.log(1e16 / 0.1) ** 1.5  # ln T times the root of Upsilon's ln T
    in_time = math.log(regret(1.0, 1e17) / regret(1.0, 1e16) / logs) / math.log(10)
    assert in_time == pytest.approx(0.75, abs=0.01)


@pytest.mark.parametrize(("epsilon", "paper", "tuned"), [(1.0, 1.1, 1.05), (8.0, 0.95, 0.75)])
def test_the_step_of_the_private_gradient_descent_must_know_the_noise(epsilon: float, paper: float, tuned: float):
    """LDP-OGD of the generalised linear algorithm alone: logistic, d = 3; distance to theta*, which is 0.8 from 0."""
    rng = np.random.default_rng(0)
    d, rounds, runs = 3, 4000, 24
    sigma = 6 * math.sqrt(2 * math.log(3.75 / DELTA)) / epsilon
    steps = {"paper": 1 / math.sqrt(rounds), "tuned": 1 / math.sqrt(rounds * (1 + d * sigma**2))}
    truth = 0.8 * directions(rng, runs, d)
    estimates = {name: np.zeros((runs, d)) for name in steps}
    for _ in range(rounds):
        x, luck, noise = directions(rng, runs, d), rng.random(runs), sigma * rng.normal(size=(runs, d))
        y = luck < 1 / (1 + np.exp(-np.sum(x * truth, axis=1)))
        for name, step in steps.items():
            z = np.sum(x * estimates[name], axis=1)
            moved = estimates[name] - step * ((1 / (1 + np.exp(-z)) - y)[:, None] * x + noise)
            estimates[name] = moved / np.maximum(1.0, np.linalg.norm(moved, axis=1, keepdims=True))
    apart = {name: float(np.linalg.norm(found - truth, axis=1).mean()) for name, found in estimates.items()}
    assert apart["paper"] > paper  # farther than a learner that never moves
    assert apart["tuned"] < tuned


def test_a_protected_arm_is_no_secret_when_all_people_have_the_same_arms():
    """The lower-bound discussion: contexts are the unit vectors. Then the server can compute what the device plays."""
    rng = np.random.default_rng(3)
    user, arms = LinearUser(Moments(6)), np.eye(6)
    for _ in range(50):
        root = rng.normal(size=(6, 6))
        model = LinearModel(rng.normal(size=6), root @ root.T, rng.exponential(), 0.0)
        on_the_server = int(np.argmax(model.theta + model.width * np.sqrt(np.diag(model.precision))))
        assert {int(user.act(model, arms, luck)) for luck in (0.0, 0.3, 0.99)} == {on_the_server}


# --- context-free regret ---------------------------------------------------------------------------------------------


def test_the_stability_condition_of_tsallis_inf_fails_with_gaussian_noise():
    """Zimmert and Seldin need eta_t * estimate * sqrt(w) >= -1; with the paper's noise it fails in a third of rounds.

    Two arms, gap 0.2, after 10,000 rounds in which the estimates were right; the worse arm is played.
    """
    rounds, epsilon = 10_000, 1.0
    rate = 2 / math.sqrt(rounds)
    with jax.enable_x64(True):
        losses = jnp.array([0.5, 0.7]) * rounds
        weights, guess = tsallis_weights(losses, jnp.asarray(rate), jnp.asarray(0.5 * rounds - 2 / rate))
        weights, _ = tsallis_weights(losses, jnp.asarray(rate), guess)
    smallest = -math.sqrt(float(weights[1])) / rate  # the loss itself that violates the condition
    sigma = classical_gaussian(Budget(epsilon, DELTA))
    assert stats.norm.cdf(smallest, loc=0.7, scale=sigma) > 0.2
    # Levels mapped to [0, 1] are never negative: nothing to violate.
    bound = noise_of(calibrate("levels", Interval(), Budget(epsilon))).bound
    assert min((value - 0.5) / (2 * bound) + 0.5 for value in (0.5 - bound, 0.5 + bound)) == pytest.approx(0.0)


def test_losses_between_zero_and_one_are_not_bounded_by_one_half_but_their_range_is_right():
    assert max(abs(loss) for loss in (0.0, 1.0)) > 0.5
    domain = Interval(0.0, 1.0)
    assert domain.half == 0.5
    assert float((domain.embed(1.0) - domain.embed(0.0))[0]) * domain.half == 2 * 0.5


@pytest.mark.parametrize(
    ("fall", "rise", "exponent"),
    # Variance c^2 enters OGD as (c/rho)^fall, the bias of smoothing as rho^rise; the best rho gives c^exponent.
    [(1, 1, 1 / 2), (2, 1, 2 / 3), (1, 2, 2 / 3)],
    ids=["convex", "strongly convex", "smooth"],
)
def test_regret_grows_more_slowly_in_one_over_epsilon_than_the_reduction_says(fall: int, rise: int, exponent: float):
    def best_bound(epsilon: float) -> float:
        spread = math.sqrt(1 + noise_of(calibrate("laplace", Interval(-1, 1), Budget(epsilon))).variance)

        def bound(log_radius: float) -> float:
            radius = math.exp(log_radius)
            return (spread / radius) ** fall * 1e4 ** (1 - fall / 2) + radius**rise * 1e4

        return float(optimize.minimize_scalar(bound, bounds=(-20, 20), method="bounded").fun)

    slope = math.log(best_bound(1e-4) / best_bound(1e-2)) / math.log(100)
    assert slope == pytest.approx(exponent, abs=0.005)  # the paper: 1


def test_stochastic_convex_bandits_by_pyramids_never_get_to_compare():
    """Constants c1 >= 64, c2 <= 1/32 of the black box: its tests need gaps of 3.9e5 d^4 confidence widths."""
    c1, c2, d, deviation, rounds = 64, 1 / 32, 2, 1.0, 1e9
    margin = 6 * c1 * d**4 / c2**2 + 3
    widest = 2 / margin  # losses in [-1, 1] differ by 2 at most
    samples = 2 * deviation**2 / widest**2 * math.log(rounds)
    assert margin >= 3.9e5 * d**4
    assert samples > 1e14  # for each point of the first pyramid, before anything can be cut off


# --- two points ------------------------------------------------------------------------------------------------------


def test_independent_noise_on_two_points_needs_root_two_more():
    """The second design the paper rejects, and calls private: noise for one value on each of two values."""
    one, pair = 2.0, math.hypot(2.0, 2.0)  # values in [-1, 1]: two people differ in both
    sigma = one * gaussian_scale(1.0, DELTA)
    assert epsilon_of_distance(one / sigma, DELTA) == pytest.approx(1.0, rel=1e-3)
    assert epsilon_of_distance(pair / sigma, DELTA) > 1.4


def two_point_regret(step: float, noise: float, rounds: int, d: int, runs: int, seed: int) -> float:
    """Algorithm 2 on f(x) = ||x - x*|| in the unit ball, ||x*|| = 1/2; `noise` on the slope. Mean over runs."""
    rng = np.random.default_rng(seed)
    rho = math.log(rounds) / rounds
    target, y, total = 0.5 * directions(rng, runs, d), np.zeros((runs, d)), np.zeros(runs)

    def loss(x: Array) -> Array:
        return np.linalg.norm(x - target, axis=1)

    for _ in range(rounds):
        u = directions(rng, runs, d)
        first, second = loss(y + rho * u), loss(y - rho * u)
        total += (first + second) / 2
        slope = (first - second) / (2 * rho) + noise * rng.normal(size=runs)
        moved = y - step * d * slope[:, None] * u
        y = moved * np.minimum(1.0, (1 - rho) / np.maximum(np.linalg.norm(moved, axis=1, keepdims=True), 1e-12))
    return float(total.mean())


def test_the_two_point_algorithm_never_learns_with_the_step_of_the_paper():
    d, rounds, runs = 10, 16_000, 8
    classical, least = 2 * classical_gaussian(Budget(1.0, DELTA)), 2 * gaussian_scale(1.0, DELTA)
    stay = 0.5 * rounds
    assert two_point_regret(1 / math.sqrt(rounds), classical, rounds, d, runs, 0) > 2 * stay
    tuned = 1 / math.sqrt(rounds * d**2 * (1 / (d - 1) + least**2))
    assert two_point_regret(tuned, least, rounds, d, runs, 0) < 0.75 * stay
    # The simulation is right: without noise that step is fine.
    assert two_point_regret(1 / math.sqrt(2000), 0.0, 2000, d, runs, 0) < 0.3 * 1000


def test_the_two_point_gradient_is_smaller_than_a_lipschitz_constant_suggests():
    """E||g~||^2 is d^2 sigma^2; the paper's G + sigma sqrt(d) makes it d^3 sigma^2, hence its d^3 and epsilon^2."""
    rng, d = np.random.default_rng(0), 10
    u, n = directions(rng, 100_000, d), rng.normal(size=(100_000, d))
    second_moment = float(np.mean((d * np.sum(n * u, axis=1)) ** 2))
    assert second_moment == pytest.approx(d**2, rel=0.03)
    assert d**2 * (math.sqrt(d)) ** 2 / second_moment > 0.95 * d


def test_more_than_two_points_help_under_local_privacy():
    """K = 2m points, m orthogonal slopes clipped to a ball and made private together: the noise falls like 1/m."""
    rng, d, scale = np.random.default_rng(0), 10, 2 * gaussian_scale(1.0, DELTA)

    def noise_in_gradient(m: int) -> float:
        frames = np.linalg.qr(rng.normal(size=(4000, d, m)))[0]
        return float(np.mean(np.sum((d / m * frames @ (scale * rng.normal(size=(4000, m, 1)))) ** 2, axis=1)))

    one = noise_in_gradient(1)
    assert one == pytest.approx((d * scale) ** 2, rel=0.15)
    for m in (2, 5, 10):
        assert one / noise_in_gradient(m) == pytest.approx(m, rel=0.2)
        assert Ball(m).l2() == 2.0  # the sensitivity of the clipped slopes does not grow with m
