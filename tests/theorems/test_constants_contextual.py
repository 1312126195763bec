"""The constants of the paper's two contextual boxes, against numbers worked out by hand, as in `test_constants`.

    first:  d = 3, T = 400, alpha = 0.1          second: d = 5, T = 10,000, alpha = 0.05

with the budgets beside each. What is compared is what is drawn and what is published.
"""

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from test_constants import FIRST, SECOND, noise_added

from sottovoce import halves, task
from sottovoce.privacy.domains import MomentEstimate, RelabelledEstimate
from sottovoce.protocol.offers import GeneralizedModel

SMALL: dict[str, Any] = {"arms": 4, "dimension": 3, "rounds": 400, "alpha": 0.1}
LARGE: dict[str, Any] = {"arms": 4, "dimension": 5, "rounds": 10_000, "alpha": 0.05}


@pytest.fixture(autouse=True)
def in_doubles() -> Iterator[None]:
    with jax.enable_x64(True):
        yield


@pytest.mark.parametrize(("setting", "sigma"), [(FIRST, 29.914938846215204), (SECOND, 47.469203186135445)])
def test_the_linear_box_adds_its_sigma_to_every_entry(setting: dict, sigma: float):
    """Appendix D: sigma = 6 sqrt(2 ln(2.5/delta))/epsilon, on B_t(i, j) for i <= j, mirrored, and on xi_t."""
    gram, moment = noise_added("linucb", **setting, arms=4, dimension=3)
    np.testing.assert_allclose(gram, np.full((3, 3), sigma), rtol=1e-12)
    np.testing.assert_allclose(moment, np.full(3, sigma), rtol=1e-12)


@pytest.mark.parametrize(
    ("setting", "sigma", "gradient"),
    [
        ({**FIRST, "radius": 1.0}, 30.398964685603744, 22.223423914881188),
        ({**SECOND, "radius": 2.0}, 48.683664634677655, 42.880429555479246),
    ],
)
def test_the_generalised_linear_box_adds_its_sigma_to_three_messages(setting: dict, sigma: float, gradient: float):
    """Algorithm 3: sigma = 6 sqrt(2 ln(3.75/delta))/epsilon on B_t and xi_t, C sigma on r_t.

    C = 1/(1 + e^-1) = 0.731059 for the logistic link and |<x, theta>| <= 1, 1/(1 + e^-2) = 0.880797 for 2.
    """
    told = noise_added("glm", **setting, arms=4, dimension=3)
    np.testing.assert_allclose(told.gram, np.full((3, 3), sigma), rtol=1e-12)
    np.testing.assert_allclose(told.labelled, np.full(3, sigma), rtol=1e-12)
    np.testing.assert_allclose(told.gradient, np.full(3, gradient), rtol=1e-12)


def test_a_person_sends_the_three_messages_of_the_generalised_linear_box():
    """Algorithm 3: x x', z x with z = <x, theta^>, and (g(z) - y) x.

    Here x = (0.6, 0.8), theta^ = (0.5, 0) and y = 1: z = 0.3, g(0.3) = 0.574443, so that the residual is -0.425557.
    """
    user = halves(task("glm", "paper", arms=2, dimension=2, rounds=10, epsilon=1.0)).user
    model = GeneralizedModel(np.zeros(2), np.eye(2), 0.0, 0.0, np.array([0.5, 0.0]))
    told = user.domain.extract(user.message(model, np.array([[0.6, 0.8]]), 0, 1.0))
    np.testing.assert_allclose(told.gram, [[0.36, 0.48], [0.48, 0.64]], rtol=1e-12)
    np.testing.assert_allclose(told.labelled, [0.18, 0.24], rtol=1e-12)
    np.testing.assert_allclose(told.gradient, [-0.2553344899130047, -0.3404459865506729], rtol=1e-9)


def test_what_a_person_sends_is_cut_where_the_paper_bounds_it():
    """Proof of Theorem 7: ||x|| <= 1 and |y| <= 2. Theorem 9: |z| <= 1; |g(z) - y| <= 0.731059 for y in {0, 1}."""
    linear = halves(task("linucb", "paper", arms=2, dimension=2, rounds=10, epsilon=1.0)).user.domain
    told = linear.extract(linear.embed(np.array([3.0, 4.0]), -9.0))
    np.testing.assert_allclose(told.gram, [[0.36, 0.48], [0.48, 0.64]], rtol=1e-12)
    np.testing.assert_allclose(told.moment, [-1.2, -1.6], rtol=1e-12)
    glm = halves(task("glm", "paper", arms=2, dimension=2, rounds=10, epsilon=1.0)).user.domain
    told = glm.extract(glm.embed(np.array([3.0, 4.0]), -9.0, 9.0))
    np.testing.assert_allclose(told.labelled, [0.6, 0.8], rtol=1e-12)
    np.testing.assert_allclose(told.gradient, [-0.4386351472, -0.5848468629], rtol=1e-9)


LINEAR = [
    ({**SMALL, **FIRST}, 4, 2979.838650103391, 1575.3242076619179, 1137.5088195592964),
    ({**LARGE, **SECOND}, 9, 9895.253006294346, 6618.597426010778, 4003.8791699514513),
    (
        {"arms": 4, "dimension": 20, "rounds": 10**6, "alpha": 0.1, "epsilon": 800_000.0, "delta": 0.1},
        4,
        0.003920925529358684,
        23.529734532878855,
        15.735491415755932,
    ),
]
"""The last is the published budget for MovieLens, where c_t is far below 1."""


@pytest.mark.parametrize(("setting", "time", "ridge", "width", "first"), LINEAR)
def test_the_linear_box_publishes_its_ridge_and_its_width(setting: dict, time: int, ridge, width, first):
    """Appendix D: Upsilon_t = sigma sqrt(t) (4 sqrt d + 2 ln(2T/alpha)), c_t = 2 Upsilon_t.

    beta_t = 2 sigma sqrt(d ln T) + (sqrt(3 Upsilon_t) + sigma sqrt(dt/Upsilon_t)) d ln T. Person t + 1 chooses by
    beta_(t+1) and V~_t + c_t I, and theta~_t = (V~_t + c_t I)^-1 u~_t.
    """
    learner, d = halves(task("linucb", "paper", **setting)).learner, setting["dimension"]
    state, moment = learner.init(), jnp.arange(1.0, d + 1)
    for _ in range(time):
        state = learner.tell(state, (), MomentEstimate(jnp.zeros((d, d)), moment))
    before, model = (learner.refresh(told).model for told in (learner.init(), state))
    np.testing.assert_allclose(model.precision, np.eye(d) / ridge, rtol=1e-9)
    np.testing.assert_allclose(model.theta, time * np.arange(1.0, d + 1) / ridge, rtol=1e-9)
    assert float(model.width) == pytest.approx(width, rel=1e-9)
    np.testing.assert_allclose(before.precision, np.eye(d))  # c_0 = 0 has no inverse
    assert float(before.width) == pytest.approx(first, rel=1e-9)


GENERALISED = [
    (
        {**SMALL, "epsilon": 1000.0, "delta": 1e-5, "radius": 1.0},
        400,
        0.1,
        -0.005,
        30.28052651518313,
        22.48007842880925,
    ),
    (
        {**LARGE, "epsilon": 4000.0, "delta": 1e-3, "radius": 2.0},
        900,
        0.3,
        -0.003,
        12.685518886443594,
        64.80519185574738,
    ),
]
"""Budgets so large that the width is not the one of sum D^2 <= 4 S^2 t."""


@pytest.mark.parametrize(("setting", "time", "slope", "anchor", "ridge", "width"), GENERALISED)
def test_the_generalised_linear_box_publishes_its_step_its_ridge_and_its_width(
    setting: dict, time: int, slope: float, anchor: float, ridge: float, width: float
):
    """Algorithm 3: theta^ <- projection of theta^ - zeta gradient on W, zeta = 1/sqrt T; theta~_t = V~_t^-1 u~_t.

    c_t = 2 Upsilon_t, Upsilon_t as in the linear box with the sigma of this one.

    The width is the proof of Lemma 2 with every term written out, sigma = 0.0303990 and 0.00608546, S = radius,
    mu = g'(S) = 0.196612 and 0.104994, R = 1/2: B = S^2/(2 zeta) + zeta/2 |gradients|^2 + 2 S C sigma sqrt(2t ln(5T/
    alpha)), l = ln(5 sqrt(1 + 4 S^2 t)/alpha), Q = ((R sqrt(2l) + sqrt(2 R^2 l + 4 mu (B + mu)))/(2 mu))^2 - 1,
    beta = sqrt Q + sigma sqrt t (sqrt d + sqrt(2 ln(10T/alpha)))/sqrt(c_t - Upsilon_t) + S sqrt(c_t + Upsilon_t).
    """
    learner, d = halves(task("glm", "paper", **setting)).learner, setting["dimension"]
    gram, label, axis = jnp.zeros((d, d)), jnp.arange(1.0, d + 1), jnp.eye(d)[0]
    state = learner.tell(learner.init(), jnp.zeros(d), RelabelledEstimate(gram, label, slope * axis))
    model = learner.refresh(state._replace(reports=jnp.asarray(float(time)))).model
    np.testing.assert_allclose(state.anchor, anchor * np.eye(d)[0], rtol=1e-9)
    np.testing.assert_allclose(model.precision, np.eye(d) / ridge, rtol=1e-9)
    np.testing.assert_allclose(model.theta, np.arange(1.0, d + 1) / ridge, rtol=1e-9)
    assert float(model.width) == pytest.approx(width, rel=1e-9)
    far = learner.tell(learner.init(), jnp.zeros(d), RelabelledEstimate(gram, label, -1e9 * axis)).anchor
    assert float(far[0]) == pytest.approx(setting["radius"])
