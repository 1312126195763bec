"""Curators: the tree, the noise they were promised to add, and what a perturbed function does not hide."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from catalogue import ready
from sottovoce.learners.linalg import cholesky
from sottovoce.privacy.domains import Moments
from sottovoce.privacy.grid.delta import gaussian_delta
from sottovoce.sim.comparators.linear_perturbation import Memo as Perturbed
from sottovoce.sim.comparators.raw import RawAnswer, RawUser
from sottovoce.sim.comparators.tree import add, levels_for, open_nodes, radial, released, sprout
from sottovoce.sim.random import normals, sealed, simulation_key
from sottovoce.sim.run import simulate


@pytest.fixture(autouse=True)
def _in_double_precision():
    with jax.enable_x64(True):
        yield


# --- the tree --------------------------------------------------------------------------------------------------------


def grown(values: np.ndarray, noises: np.ndarray, levels: int):
    """The releases and the numbers of open nodes after each value."""

    def step(tree, pair):
        tree = add(tree, *pair)
        return tree, (released(tree), open_nodes(tree))

    return jax.lax.scan(step, sprout(levels, values.shape[1]), (values, noises))[1]


def test_without_noise_the_tree_adds_up_exactly():
    values = np.random.default_rng(0).integers(-9, 9, (100, 3)).astype(float)
    sums, _ = grown(values, np.zeros((100, 3)), levels_for(100))
    np.testing.assert_array_equal(sums, np.cumsum(values, axis=0))


def test_every_release_is_made_of_closed_nodes_and_no_value_is_in_more_nodes_than_levels():
    """The node that closes at t gets the noise 2^t, so a release spells out the nodes it is made of."""
    rounds = 45
    noises = 2.0 ** np.arange(1, rounds + 1)[:, None]
    sums, carried = grown(np.zeros((rounds, 1)), noises, levels_for(rounds))
    used = set()
    for t in range(1, rounds + 1):
        nodes = [s for s in range(1, rounds + 1) if int(sums[t - 1, 0]) >> s & 1]
        covered = [value for s in nodes for value in range(s - (s & -s) + 1, s + 1)]
        assert sorted(covered) == list(range(1, t + 1))
        assert len(nodes) == int(carried[t - 1]) == t.bit_count()
        used.update(nodes)
    for value in range(1, rounds + 1):
        assert sum(s - (s & -s) < value <= s for s in used) <= levels_for(rounds)


def test_the_released_sum_has_the_variance_of_its_open_nodes():
    """4,000 trees. A variance estimate has a relative deviation of sqrt(2/4000); 5 of them, false-alarm rate 3e-6."""
    keys = jax.random.split(simulation_key(0), 4000)
    sums, _ = jax.vmap(lambda key: grown(np.zeros((23, 2)), 3.0 * normals(key, (23, 2)), 5))(keys)
    for t in (1, 7, 16, 23):
        variance = np.var(np.asarray(sums)[:, t - 1, 0])
        assert variance == pytest.approx(9.0 * t.bit_count(), rel=5 * math.sqrt(2 / 4000))


def test_a_full_tree_adds_nothing_more():
    sums, _ = grown(np.ones((9, 1)), np.ones((9, 1)), 2)
    assert np.all(np.asarray(sums)[3:] == sums[2])


def test_radial_noise_has_the_length_of_a_gamma_law():
    """Mean n and variance n of the length over 20,000 draws, 5 deviations; directions balance out."""
    draws = np.asarray(jax.vmap(lambda key: radial(key, 3))(jax.random.split(simulation_key(1), 20_000)))
    lengths = np.linalg.norm(draws, axis=1)
    assert lengths.mean() == pytest.approx(3.0, abs=5 * math.sqrt(3 / 20_000))
    assert np.abs(draws.mean(axis=0)).max() < 5 * math.sqrt(4 / 20_000)


# --- sensitivity and noise -------------------------------------------------------------------------------------------


def test_joint_dp_noise_keeps_the_promise_for_the_worst_two_people():
    """The worst pair is searched among 20,000; all nodes it may be in together cost no more than delta."""
    each = ready("joint-dp-linucb", epsilon=1.0, rounds=1000)
    domain, rng = Moments(3, 1.0, math.sqrt(2)), np.random.default_rng(0)
    people = [(x / np.linalg.norm(x), y) for x, y in zip(rng.normal(size=(400, 3)), [1, -1] * 200, strict=True)]
    messages = np.array([domain.embed(*person) for person in people])
    farthest = max(np.linalg.norm(messages - one, axis=1).max() for one in messages[:50])
    assert farthest <= domain.l2() + 1e-9
    assert farthest > 0.95 * domain.l2()
    learner = each.learner
    distance = math.sqrt(levels_for(1000)) * domain.l2() / learner.scale
    assert gaussian_delta(1.0, distance) == pytest.approx(1e-5, rel=1e-6)


def test_the_curator_adds_exactly_the_noise_it_was_calibrated_for():
    """First release of 3,000 curators: exact in the mean, with the calibrated deviation; 5 deviations."""
    learner = ready("joint-dp-linucb", epsilon=1.0).learner
    raw = RawAnswer(jnp.array([0.6, 0.8, 0.0]), jnp.asarray(1.0))
    seals = jax.vmap(sealed)(jax.random.split(simulation_key(2), 3000))
    told = jax.jit(jax.vmap(lambda seal: released(learner.tell(learner.init(), seal, raw).tree)))(seals)
    expected = Moments(3, 1.0, math.sqrt(2)).embed(np.array([0.6, 0.8, 0.0]), 1.0)
    apart = (np.asarray(told) - expected) / learner.scale
    assert np.abs(apart.mean(axis=0)).max() < 5 / math.sqrt(3000)
    assert apart.std() == pytest.approx(1.0, rel=5 / math.sqrt(2 * apart.size))


def test_published_joint_dp_noise_is_far_larger():
    ours, theirs = (ready("joint-dp-linucb", p, epsilon=1.0, rounds=2**14).learner for p in ("practical", "published"))
    assert theirs.scale / ours.scale == pytest.approx(565.6 / 40.9, rel=0.02)


def test_one_gradient_moves_a_node_by_no_more_than_its_sensitivity():
    for preset, expected in (("pure", 9 / 4.0), ("practical", None)):
        learner = ready("tree-bco", preset).learner
        ask, tell = jax.jit(learner.ask), jax.jit(learner.tell)
        offer = ask(learner.init(), simulation_key(3))
        totals = [tell(learner.init(), offer.memo, jnp.asarray(reward)).total for reward in (0.0, 1.0)]
        moved = float(jnp.linalg.norm(totals[0] - totals[1]))
        assert moved == pytest.approx(2 / learner.rho)
        if expected:
            assert learner.scale == pytest.approx(expected * moved)
        else:
            distance = math.sqrt(9) * moved / learner.scale
            assert gaussian_delta(4.0, distance) == pytest.approx(1e-5, rel=1e-6)


@pytest.mark.parametrize("preset", ["published", "practical"])
def test_elimination_publishes_each_reward_once_with_laplace_noise(preset: str):
    """Over a whole run of constant rewards: what was published is the exact sum plus one noise per epoch and arm."""
    each = ready("dp-successive-elimination", preset, rounds=3000)
    trace = simulate(each.learner, each.user, each.world, rounds=3000, mechanism=None, seeds=4)
    state = trace.state
    if preset == "practical":
        assert np.all(state.epoch > 3)
        assert np.all(state.pulls.sum(axis=1) + state.noisy_pulls.sum(axis=1) == 3000)
    else:
        assert np.all(state.epoch == 1)  # its first epoch takes longer than this run
        assert np.all(state.noisy_sums == 0)
    assert np.all(np.asarray(state.active).sum(axis=1) >= 1)


def test_elimination_never_drops_the_best_of_two_arms_without_reason():
    """Equal arms stay: over 32 seeds and 3,000 rounds a false drop has probability 32/3000 at most; seeds are fixed."""
    each = ready("dp-successive-elimination", arms=2, rounds=3000)
    world = type(each.world)(arms=2, gap=0.0)
    trace = simulate(each.learner, each.user, world, rounds=3000, mechanism=None, seeds=32)
    assert np.all(trace.state.active)


def test_private_exp3_at_a_huge_budget_hears_the_rewards():
    learner = ready("tossou-dimitrakakis", epsilon=12.0).learner
    offer = learner.ask(learner.init(), simulation_key(4))
    told = learner.tell(learner.init(), offer.memo, jnp.asarray(0.0))
    assert float(told.losses[offer.memo.arm]) == pytest.approx(4.0, abs=4 * 20 / 12)


# --- the price of a perturbed function -------------------------------------------------------------------------------


def test_linear_perturbation_leaks_at_the_origin_whatever_is_not_linear():
    """Zheng et al., section 3.1: at x = 0 there is no noise, so people whose rewards differ there are told apart."""
    learner = ready("linear-perturbation", epsilon=0.1).learner
    tell = jax.jit(learner.tell)
    for seed in range(5):

        def state_after(reward: float, point: jax.Array, seed: int):
            memo = Perturbed(point, jnp.array([1.0, 0.0]), sealed(simulation_key(seed)))
            return np.asarray(tell(learner.init(), memo, jnp.asarray(reward)).gradients)

        origin, edge = jnp.zeros(2), jnp.array([1.0, 0.0])
        np.testing.assert_array_equal(state_after(-0.3, origin, seed), [0.6, 0.0])
        np.testing.assert_array_equal(state_after(0.0, origin, seed), [0.0, 0.0])  # what every linear reward gives
        assert abs(state_after(-0.3, edge, seed)[0] - 0.6) > 1e-3


@pytest.mark.parametrize(("preset", "variance"), [("practical", 3 * 2.0**2), ("published", 2 * 2.0**2 * 2)])
def test_a_perturbed_function_has_the_noise_of_its_sensitivity(preset: str, variance: float):
    """At the point (0.6, 0.8) of the unit disc, epsilon 1: 20,000 draws, 5 deviations (kurtosis below 6)."""
    learner = ready("linear-perturbation", preset, epsilon=1.0).learner
    keys = jax.random.split(simulation_key(6), 20_000)
    draws = np.asarray(jax.vmap(lambda key: learner.noise_at(jnp.array([0.6, 0.8]), key))(keys))
    assert np.var(draws) == pytest.approx(variance, rel=5 * math.sqrt(5 / 20_000))


def test_the_gradient_estimate_of_linear_perturbation_is_unbiased():
    """20,000 offers at one centre; 5 deviations of the mean."""
    learner = ready("linear-perturbation", epsilon=12.0).learner
    state = learner.init()._replace(centre=jnp.array([0.5, -0.3]))
    loss = jnp.array([0.3, 0.4])

    def estimate(key):
        offer = learner.ask(state, key)
        return learner.tell(state, offer.memo, -offer.public @ loss).gradients

    found = np.asarray(jax.jit(jax.vmap(estimate))(jax.random.split(simulation_key(5), 20_000)))
    error = found.std(axis=0) / math.sqrt(20_000)
    np.testing.assert_array_less(np.abs(found.mean(axis=0) - loss), 5 * error)


def test_points_of_linear_perturbation_stay_inside():
    """Values far beyond any noise, from a centre near the edge: Newton's steps are damped and the centre stays."""
    learner = ready("linear-perturbation", region={"kind": "box"}).learner
    state = learner.init()._replace(centre=jnp.array([0.999, -0.99]))
    for seed, value in ((0, 1e3), (1, -1e3)):
        offer = learner.ask(state, simulation_key(seed))
        assert float(learner.region.gauge(offer.public)) <= 1
        assert float(learner.region.gauge(learner.tell(state, offer.memo, jnp.asarray(value)).centre)) < 1


def test_cholesky_is_the_library_s():
    square = np.random.default_rng(0).normal(size=(5, 5))
    matrix = square @ square.T + np.eye(5)
    np.testing.assert_allclose(cholesky(jnp.asarray(matrix)), np.linalg.cholesky(matrix), atol=1e-12)


def test_a_raw_user_acts_like_a_private_one():
    each, local = ready("joint-dp-linucb"), ready("linucb")
    model = each.learner.init().model
    context = each.world.sample(simulation_key(0)).visit(jnp.asarray(0), simulation_key(1))
    for entropy in (0.1, 0.9):
        assert RawUser(1.0).act(model, context, entropy) == local.user.act(model, context, entropy)
