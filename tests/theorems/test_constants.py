"""The constants of every preset `paper` outside of contexts, against numbers worked out by hand from the paper.

The formula stands beside each number, with its place; the number was computed from it with a calculator. What is
compared is what a learner does (where it plays, how far it moves, when it stops), with the noise of two settings:

    first:  epsilon 1, delta 1e-5, the unit ball, r = R = 1, barrier nu = 1
    second: epsilon 0.5, delta 1e-3, the box |z_i| <= 2 in five dimensions, r = 2, R = 2 sqrt 5, barrier nu = 10
"""

import math
from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sottovoce import halves, task
from sottovoce.learners.tally import Tally
from sottovoce.sim.gates import JaxRandom
from sottovoce.sim.random import simulation_key

FIRST = {"epsilon": 1.0, "delta": 1e-5}
SECOND = {"epsilon": 0.5, "delta": 1e-3}
BALL = {**FIRST, "dimension": 2}
BOX = {**SECOND, "dimension": 5, "region": {"kind": "box", "radius": 2.0}}
KEY = simulation_key(0)


@pytest.fixture(autouse=True)
def in_doubles() -> Iterator[None]:
    with jax.enable_x64(True):
        yield


class Compiled:
    """A learner whose methods are compiled, which takes less time than one operation after the other."""

    def __init__(self, name: str, **numbers: Any) -> None:
        learner: Any = halves(task(name, "paper", **numbers)).learner
        self.init, self.tell = jax.jit(learner.init), jax.jit(learner.tell)
        self.ask = jax.jit(lambda state: learner.ask(state, KEY))


class OneDeviation(JaxRandom):
    """Noise of exactly one deviation."""

    def normals(self, shape: tuple[int, ...]) -> jax.Array:
        return jnp.ones(shape)


def noise_added(name: str, **numbers: Any) -> Any:
    """What one deviation of noise adds to the estimate that the server reads, in natural units."""
    mechanism = halves(task(name, "paper", rounds=100, **numbers)).mechanism
    silent = np.zeros(sum(mechanism.domain.blocks))
    heard = mechanism.law().draw(silent, OneDeviation(KEY))
    return jax.tree.map(np.subtract, mechanism.domain.extract(heard), mechanism.domain.extract(silent))


# --- sigma -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "shape"),
    [(name, {"arms": 3}) for name in ("tsallis-inf", "kl-ucb", "lil-ucb")]
    + [(name, {"dimension": 2}) for name in ("fkm", "saha-tewari", "agarwal-dekel-xiao", "hazan-levy", "pyramid")],
)
def test_algorithm_1_adds_its_sigma(name: str, shape: dict[str, int]):
    """Algorithm 1: sigma = 2B sqrt(2 ln(1.25/delta))/epsilon, for losses in [0, 1], B = 1/2 (Theorems 11 and 12)."""
    assert noise_added(name, **FIRST, **shape) == pytest.approx(4.844805262605389, rel=1e-12)
    assert noise_added(name, **SECOND, **shape) == pytest.approx(7.552959065318094, rel=1e-12)


@pytest.mark.parametrize("name", ["two-point", "two-point-strong"])
def test_algorithm_2_adds_its_sigma_to_the_slope(name: str):
    """Algorithm 2: n'(x_1 - x_2) = 2 rho n'u on the difference, so n'u on the slope, which has the deviation sigma.

    sigma = 2G sqrt(2 ln(1.25/delta))/epsilon; G = 1.
    """
    assert noise_added(name, **BALL) == pytest.approx(9.689610525210778, rel=1e-12)
    assert noise_added(name, **SECOND, dimension=2) == pytest.approx(15.105918130636187, rel=1e-12)


@pytest.mark.parametrize(("name", "low", "high"), [("fkm", 0.0, 1.0), ("two-point", -1.0, 1.0), ("kl-ucb", 0.0, 1.0)])
def test_losses_and_slopes_are_cut_to_the_range_that_sigma_is_for(name: str, low: float, high: float):
    """Appendix B: losses in [0, 1]. Section 3.2: slopes in [-G, G]; G = 1."""
    shape = {"arms": 3} if name == "kl-ucb" else {"dimension": 2}
    domain = halves(task(name, "paper", rounds=100, epsilon=1.0, **shape)).user.domain
    assert [float(domain.extract(domain.embed(value))) for value in (-9.0, 0.3, 9.0)] == pytest.approx([low, 0.3, high])


# --- convex: exploration and step ------------------------------------------------------------------------------------


def moved(learner: Any, state: Any, estimate: float) -> tuple[Any, np.ndarray]:
    """The state after this estimate, and how far the iterate moved along the direction that was tried."""
    offer = learner.ask(state)
    after = learner.tell(state, offer.memo, jnp.asarray(estimate))
    return after, float((after.iterate - state.iterate) @ jnp.reshape(offer.memo, (-1,)))


def tried(learner: Any, state: Any) -> float:
    """How far from the iterate the first point is."""
    return float(np.linalg.norm(np.atleast_2d(learner.ask(state).public)[0] - state.iterate))


@pytest.mark.parametrize(
    ("setting", "rho", "nu"),
    [
        ({**BALL, "rounds": 10_000, "steepness": 0.5}, 0.08098754516155182, 0.0003283564054136667),
        ({**BOX, "rounds": 2000, "steepness": 1.5}, 0.5582423612487404, 0.002320966504121404),
    ],
)
def test_fkm_explores_and_steps_as_its_theorem_says(setting: dict, rho: float, nu: float):
    """Flaxman et al. 2005, Theorem 2: rho = T^(-1/4) sqrt(R d C r/(3 (G r + C))), a step of R/(C sqrt T) f_t(x_t) u_t.

    C is the range of the noisy losses, B + sigma sqrt(2 ln(2 T^2)) (proof of Theorem 3): 30.4547 and 43.0855.
    """
    learner = Compiled("fkm", **setting)
    state = learner.init()
    assert tried(learner, state) == pytest.approx(rho, rel=1e-9)
    assert moved(learner, state, 0.75)[1] == pytest.approx(0.25 * nu, rel=1e-9)  # a loss of 1/4 below the middle


@pytest.mark.parametrize(
    ("setting", "mu", "rho"),
    [
        ({**BALL, "rounds": 10**6, "steepness": 1.0, "strength": 0.5}, 0.5, 0.12816278700258577),
        ({**BOX, "rounds": 10**7, "steepness": 1.5, "strength": 0.25}, 0.25, 0.21443381975982448),
    ],
)
def test_one_point_strongly_convex_explores_and_steps_by_the_balance_of_its_terms(setting: dict, mu: float, rho: float):
    """Agarwal et al. 2010: eta_t = 1/(mu t), rho of order (ln T/T)^(1/3).

    Variance and bias balance at rho = (d^2 C^2 (1 + ln T)/(mu T (3G + 2C/r)))^(1/3). C is that of Theorem 3: 36.9645
    and 61.7948. The gradient is d/rho times the loss.
    """
    learner, d = Compiled("agarwal-dekel-xiao", **setting), setting["dimension"]
    state = learner.init()
    assert tried(learner, state) == pytest.approx(rho, rel=1e-9)
    for t in (1, 2, 3):
        state, step = moved(learner, state, 0.501)
        assert step == pytest.approx(0.001 * d / rho / (mu * t), rel=1e-9)


@pytest.mark.parametrize(
    ("name", "setting", "rho", "steps"),
    [
        ("two-point", {**BALL, "rounds": 400}, 0.014978661367769954, [1 / 20, 1 / 20]),
        ("two-point", {**BOX, "rounds": 10_000}, 0.0009210340371976184, [1 / 100, 1 / 100]),
        ("two-point-strong", {**BALL, "rounds": 400, "strength": 0.5}, 0.014978661367769954, [2.0, 1.0]),
        ("two-point-strong", {**BOX, "rounds": 10_000, "strength": 0.25}, 0.0009210340371976184, [4.0, 2.0]),
    ],
)
def test_two_points_explore_step_and_shrink_as_algorithm_2_says(name: str, setting: dict, rho: float, steps: list):
    """Algorithm 2: rho = log T/T, xi = rho/r, eta = 1/sqrt T; Theorem 6: eta = 1/(mu t). The gradient is d s u."""
    learner, d = Compiled(name, **setting), setting["dimension"]
    state, r = learner.init(), 2.0 if "region" in setting else 1.0
    pair = np.asarray(learner.ask(state).public)
    assert np.linalg.norm(pair[0] - pair[1]) == pytest.approx(2 * rho, rel=1e-9)
    far = learner.tell(state, jnp.eye(d)[:1], jnp.asarray(1e9)).iterate
    assert float(far[0]) == pytest.approx((1 - rho / r) * r, rel=1e-9)
    for eta in steps:
        state, step = moved(learner, state, 0.001)
        assert step == pytest.approx(eta * d * 0.001, rel=1e-9)


BARRIERS = [
    ({**BALL, "rounds": 10**6, "smoothness": 0.5}, 0.9194207783017347, 3.2686491450668726e-05, 1.0),
    ({**BOX, "rounds": 10**7, "smoothness": 0.8}, 0.47862047284048537, 4.3975542225986365e-06, 4.0),
]
"""Rounds are so many that delta is below 1. At the middle of radius q the barrier's Hessian is 2/q^2."""


@pytest.mark.parametrize(("setting", "delta", "eta", "square"), BARRIERS)
def test_saha_and_tewari_explore_and_step_by_the_balance_of_their_terms(setting, delta, eta, square):
    """With a = 2 d C sqrt(2 nu T ln T), b = T beta D^2/4: delta = (a/2b)^(1/3), eta = delta sqrt(nu ln T/(2T))/(d C).

    C is that of Theorem 3: 36.9645 and 61.7948. Losses are cut at delta/(2 eta d).
    """
    learner, d = Compiled("saha-tewari", **setting), setting["dimension"]
    state, hessian = learner.init(), 2 / square
    offer = learner.ask(state)
    direction = offer.memo.lever / np.linalg.norm(offer.memo.lever)
    assert tried(learner, state) == pytest.approx(delta / math.sqrt(hessian), rel=1e-6)
    # The least point of eta <g, x> + R(x) near the middle is -eta g/(2/q^2); g = d Y sqrt(2/q^2)/delta along u.
    after = learner.tell(state, offer.memo, jnp.asarray(0.5 + 1e-3)).iterate
    assert float(after @ direction) == pytest.approx(1e-3 * eta * d / (delta * math.sqrt(hessian)), rel=1e-6)
    edge = delta / (2 * eta * d)
    nearly, cut, beyond = (
        learner.tell(state, offer.memo, jnp.asarray(0.5 + edge * k)).iterate for k in (0.999, 1.001, 9)
    )
    np.testing.assert_array_equal(cut, beyond)
    assert not np.allclose(nearly, cut, rtol=1e-4, atol=0)


@pytest.mark.parametrize(
    ("setting", "eta", "mu", "square"),
    [
        ({**BALL, "rounds": 10_000, "smoothness": 0.5, "strength": 0.5}, 0.0006102376045665155, 0.5, 1.0),
        ({**BOX, "rounds": 2000, "smoothness": 0.8, "strength": 0.25}, 0.0008194517301770436, 0.25, 4.0),
    ],
)
def test_hazan_and_levy_step_as_their_theorem_says(setting, eta, mu, square):
    """Hazan and Levy 2014, Algorithm 1: eta = sqrt((nu + 2 beta/mu) ln T/(2 d^2 L^2 T)), B_t^-2 = Hess R + eta mu t I.

    L is the C of Theorem 3: 30.4547 and 43.0855.
    """
    learner, d = Compiled("hazan-levy", **setting), setting["dimension"]
    state, curvature = learner.init(), 2 / square + eta * mu
    offer = learner.ask(state)
    direction = offer.memo.lever / np.linalg.norm(offer.memo.lever)
    assert tried(learner, state) == pytest.approx(1 / math.sqrt(curvature), rel=1e-9)
    after = learner.tell(state, offer.memo, jnp.asarray(0.5 + 1e-3)).iterate
    assert float(after @ direction) == pytest.approx(1e-3 * eta * d / math.sqrt(curvature), rel=1e-6)


@pytest.mark.parametrize(
    ("setting", "answers", "radius", "margin"),
    [
        ({**BALL, "rounds": 20_000}, 7517.82, 1 / 128, 6291456 + 3),
        ({**SECOND, "dimension": 3, "rounds": 2000}, 13936.33, 1 / 192, 31850496 + 3),
    ],
)
def test_pyramids_sample_the_published_simplex_with_the_published_margin(setting, answers, radius, margin):
    """Agarwal et al. 2011: r = R/(c1 d), c1 = 64; Delta = (6 c1 d^4/c2^2 + 3) gamma, c2 = 1/32; n = 8 s^2 ln T/gamma^2.

    s^2 = 1/4 + sigma^2 (proof of Theorem 12) and gamma = 1/2: of 8 s^2 ln T/(1/4) answers the last counts.
    """
    learner, d = Compiled("pyramid", **setting), setting["dimension"]
    state = learner.init()
    offer = learner.ask(state)
    assert np.linalg.norm(offer.public) == pytest.approx(radius, rel=1e-9)
    for heard, climbs in ((math.floor(answers), False), (math.ceil(answers), True)):
        full = jnp.full(d + 2, float(heard)).at[offer.memo.place].add(-1.0)
        assert bool(learner.tell(state._replace(counts=full), offer.memo, jnp.asarray(0.5)).climbing) == climbs
    # A pyramid whose apex is above one corner by the margin and both half widths is cut; a little less is not enough.
    pyramid = state._replace(climbing=jnp.asarray(True), counts=jnp.full(d + 2, 1e12))
    for share, cuts in ((1 - 1e-9, 0), (1 + 1e-9, 1)):
        sums = jnp.zeros(d + 2).at[0].set(share * (margin + 1) * 0.5 * 1e12)
        assert float(learner.tell(pyramid._replace(sums=sums), offer.memo, jnp.asarray(1.0)).cuts) == cuts


# --- arms: range, index, stop ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("setting", "reward", "played", "cut"),
    [
        ({**FIRST, "arms": 2, "rounds": 10_000}, -20.0, 0.1899946770591338, 0.1593749806833934),
        ({**SECOND, "arms": 4, "rounds": 2000}, 3.0, 0.10026083866222002, 0.047200248786887944),
    ],
)
def test_tsallis_inf_scales_losses_by_the_range_of_the_proof(setting: dict, reward: float, played: float, cut: float):
    """Proof of Theorem 3: the range is M = B + sigma sqrt(2 ln(2 T^2)) around 1/2: 30.4547 and 43.0855. On
    q = (loss - 1/2 + M)/(2M) in [0, 1] Zimmert and Seldin: w_i = 4/(eta_t (L_i - x))^2, eta_t = 2/sqrt t, L += q/w.

    After one loss, at t = 2: the weight of the arm that was played, by bisection.
    """
    learner = Compiled("tsallis-inf", **setting)
    state = learner.init()
    offer = learner.ask(state)
    for told, weight in ((reward, played), (-1e9, cut)):
        after = learner.tell(state, offer.memo, jnp.asarray(told))
        assert float(after.weights[offer.memo.arm]) == pytest.approx(weight, rel=1e-6)


@pytest.mark.parametrize(
    ("name", "setting", "pulls", "apart"),
    [
        # Garivier and Cappe 2011 with d(p, q) = (p - q)^2/(2 s^2): index mean + sqrt(2 s^2 (ln t + 3 ln ln t)/N).
        ("kl-ucb", FIRST, (10.0, 40.0), 3.081204525647281),
        ("kl-ucb", SECOND, (7.0, 200.0), 10.58374432169038),
        # Jamieson et al. 2014: mean + (1 + beta)(1 + sqrt e) sqrt(2 s^2 (1 + e) ln(ln((1 + e) N)/delta)/N), e = 0.01,
        # beta = 1, delta = (sqrt(1 + nu) - 1)^2/(4 c_e), c_e = (2 + e)/e (1/ln(1 + e))^(1 + e) = 21153.399.
        ("lil-ucb", {**FIRST, "failure": 0.05}, (10.0, 40.0), 10.529709080405759),
        ("lil-ucb", {**SECOND, "failure": 0.1}, (1.0, 200.0), 77.29089971814965),
    ],
)
def test_the_index_of_an_arm_is_that_of_its_source(name: str, setting: dict, pulls: tuple, apart: float):
    """By how much must the second mean be larger to be played? s^2 = 1/4 + sigma^2 (Theorem 12): 23.7221, 57.2972."""
    learner = Compiled(name, **setting, arms=2, rounds=1000)
    for mean, played in ((apart - 1e-6, 0), (apart + 1e-6, 1)):
        assert int(learner.ask(Tally(jnp.asarray(pulls), jnp.asarray([0.0, mean * pulls[1]]))).memo) == played


@pytest.mark.parametrize(
    ("setting", "arms", "last"),
    [({**FIRST, "failure": 0.05}, 5, 42736), ({**SECOND, "failure": 0.1}, 20, 202968)],
)
def test_lil_ucb_stops_at_the_lambda_of_its_theorem_and_nowhere_else(setting: dict, arms: int, last: int):
    """Theorem 2 there: stop at N >= 1 + lambda (all others), lambda = 9 (1 + ln(2 ln(9 K/delta))/ln(K/delta)).

    lambda = 10.683984 and 10.682491; the others have 1000 pulls each. Means far apart do not stop it.
    """
    learner = halves(task("lil-ucb", "paper", **setting, arms=arms, rounds=1000)).learner
    for pulls, done in ((last, False), (last + 1, True)):
        tally = Tally(jnp.full(arms, 1000.0).at[2].set(pulls), jnp.zeros(arms).at[2].set(1e9))
        assert bool(learner.done(tally)) == done
