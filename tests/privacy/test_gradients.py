"""The messages of a generalised linear user: how far apart two people can be, and which noise hides them."""

import numpy as np
import pytest
from scipy import optimize

from sottovoce import Budget, privatise, task
from sottovoce.catalogue.resolve import mechanism_of
from sottovoce.privacy.domains import domain_from
from sottovoce.privacy.mechanisms import noise_of, verify
from sottovoce.protocol.errors import BrokenPromise
from sottovoce.protocol.offers import GeneralizedModel
from sottovoce.sim.halves import user_of

DIMENSION = 3


def contract(preset: str, link: str, **numbers):
    shape = {"arms": 2, "dimension": DIMENSION, "rounds": 100, "epsilon": 1.0}
    return task("glm", preset, link=link, **shape, **numbers)


def farthest(contract, scales: np.ndarray, rewards: tuple[float, float], starts: int = 12) -> float:
    """The largest distance of two people's messages that a search over people and public anchors finds."""
    user, rng = user_of(contract), np.random.default_rng(5)
    radius = float(contract.tuning["radius"])

    def message(z: np.ndarray, anchor: np.ndarray) -> np.ndarray:
        model = GeneralizedModel(anchor, np.eye(DIMENSION), 0.0, 0.0, anchor)
        reward = rewards[0] + (rewards[1] - rewards[0]) * (1 + np.tanh(z[-1])) / 2
        return user.message(model, z[None, :-1], 0, reward)

    def apart(z: np.ndarray) -> float:
        first, second, free = np.split(z, [DIMENSION + 1, 2 * DIMENSION + 2])
        anchor = radius * free / max(1.0, np.linalg.norm(free))
        return float(np.linalg.norm((message(first, anchor) - message(second, anchor)) / scales))

    best = 0.0
    for _ in range(starts):
        start = rng.normal(size=3 * DIMENSION + 2) * 1.5
        climbed = optimize.minimize(lambda z: -apart(z), start, method="L-BFGS-B", options={"maxiter": 80})
        best = max(best, apart(start), -float(climbed.fun))
    return best


@pytest.mark.parametrize(
    ("link", "rewards", "mean", "found_at_least"),
    [("identity", (-1.0, 1.0), 1.0, 2.2), ("logistic", (0.0, 1.0), 0.731, 1.05), ("poisson", (0.0, 6.0), 2.72, 8.0)],
)
def test_two_gradients_stay_within_twice_the_clip_but_pass_the_distance_of_the_paper(
    link, rewards, mean, found_at_least
):
    """The paper takes 2 C for the gradient, which only rewards without noise would keep; logistic rewards do."""
    gradients = contract("practical", link)
    clip = domain_from(gradients.domain).l2((1.0,))
    found = farthest(gradients, np.ones(DIMENSION), rewards)
    assert found_at_least <= found <= clip * (1 + 1e-9)
    assert (found > 2 * mean) == (link != "logistic")


@pytest.mark.parametrize(("link", "rewards"), [("identity", (-1.0, 1.0)), ("logistic", (0.0, 1.0))])
@pytest.mark.parametrize("preset", ["paper", "explicit"])
def test_two_joint_reports_stay_within_the_distance_their_noise_is_for(preset: str, link: str, rewards: tuple):
    joint = contract(preset, link)
    mechanism = mechanism_of(joint)
    scales = np.repeat(mechanism.scales, mechanism.domain.blocks)
    promised = mechanism.domain.l2(mechanism.scales)
    assert 0.6 * promised <= farthest(joint, scales, rewards, starts=6) <= promised * (1 + 1e-9)


def test_the_noise_of_the_paper_is_refused_where_its_budget_is_not_kept():
    """C -> 0 takes the paper's noise on the gradient with it, while rewards still carry theirs."""
    kept, broken = mechanism_of(contract("paper", "logistic")), mechanism_of(contract("paper", "identity", radius=0.1))
    verify(kept)
    assert broken.true_delta > 1e-5
    with pytest.raises(BrokenPromise, match="formula 'paper-glm' promises delta 1e-05 at epsilon 1 but gives"):
        verify(broken)


def test_the_paper_has_its_noise_on_every_entry():
    """The paper's sigma = 6 sqrt(2 ln(3.75/delta))/epsilon on x x' and z x, C sigma on the gradient."""
    sigma = 6 * np.sqrt(2 * np.log(3.75e5))
    mechanism = mechanism_of(contract("paper", "poisson"))
    assert mechanism.budget == Budget(1.0, 1e-5)
    np.testing.assert_allclose(noise_of(mechanism).per_block, [sigma, sigma, sigma, np.e * sigma], rtol=1e-12)


@pytest.mark.parametrize("preset", ["paper", "explicit", "practical"])
def test_a_reward_beyond_its_range_is_clipped_and_reported(preset: str):
    declared = contract(preset, "poisson")
    model = GeneralizedModel(np.zeros(3), np.eye(3), 0.0, 0.0, np.ones(3) / 2)
    message = user_of(declared).message(model, np.array([[2.0, 0.0, 0.0]]), 0, 1e9)
    assert domain_from(declared.domain).contains(message)
    assert len(privatise(mechanism_of(declared), message)) > 0
