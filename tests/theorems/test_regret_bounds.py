"""Regret bounds that hold for one run, not only on average: the 95 % quantile of the regret stays below the theorem's.

The paper (footnote of its Theorem 3): with a high-probability black box the reduction has a high-probability bound.
Here the explicit bounds of our black boxes on privatised losses, 100 seeds each, in worlds where uniform play breaks
the bound: a test that a learner can fail.
"""

import math

import numpy as np
import pytest

from sottovoce.catalogue.task import Task, task
from sottovoce.learners import UniformArms
from sottovoce.privacy.mechanisms import noise_of
from sottovoce.sim.halves import halves
from sottovoce.sim.run import simulate
from sottovoce.sim.worlds import world_of
from sottovoce.sim.worlds.base import World
from sottovoce.users import ScalarUser

SEEDS = 100
ARMS = 4


def quantile(contract: Task, world: World) -> float:
    """The 95 % quantile of the final regret over the seeds."""
    learner, user, mechanism = halves(contract)
    trace = simulate(
        learner, user, world, rounds=contract.rounds, mechanism=mechanism, seeds=SEEDS, seed=5, checkpoints=1
    )
    return float(np.quantile(trace.regret[:, -1], 0.95))


def uniform_quantile(world: World, rounds: int) -> float:
    trace = simulate(
        UniformArms(arms=ARMS), ScalarUser(), world, rounds=rounds, mechanism=None, seeds=SEEDS, seed=5, checkpoints=1
    )
    return float(np.quantile(trace.regret[:, -1], 0.95))


def reach(contract: Task) -> float:
    """By how much the levels stretch the range of losses in [0, 1]: the paper's B-tilde, without a logarithm."""
    mechanism = halves(contract).mechanism
    assert mechanism
    return 2 * noise_of(mechanism).bound


@pytest.mark.parametrize("world", ["arms", "switching-arms"])
def test_tsallis_inf_stays_below_its_adversarial_bound(world: str):
    """Zimmert and Seldin, importance weighting: 4 sqrt(K T) + 1, times the reach of the levels."""
    contract = task("tsallis-inf", "importance-weighted", arms=ARMS, rounds=5000, epsilon=4.0)
    bound = reach(contract) * (4 * math.sqrt(ARMS * contract.rounds) + 1)
    place = world_of(world, arms=ARMS, gap=0.3)
    assert quantile(contract, place) < bound < uniform_quantile(place, contract.rounds)


def test_ucb_stays_below_its_stochastic_bound():
    """Bubeck and Cesa-Bianchi 2012, theorem 2.1 with psi*(x) = x^2 / (2 proxy), which is Hoeffding's for the levels."""
    alpha, gap = 2.1, 0.5
    contract = task("ucb", arms=ARMS, rounds=5000, epsilon=8.0, exploration=alpha)
    proxy = (reach(contract) / 2) ** 2
    bound = (ARMS - 1) * (8 * alpha * proxy * math.log(contract.rounds) / gap + alpha / (alpha - 2))
    place = world_of("arms", arms=ARMS, gap=gap)
    assert quantile(contract, place) < bound < uniform_quantile(place, contract.rounds)


def test_exp3_stays_below_its_adversarial_bound():
    """Bubeck and Cesa-Bianchi 2012, theorem 3.1, anytime: 2 sqrt(T K ln K), times the reach of the levels."""
    contract = task("exp3", arms=ARMS, rounds=5000, epsilon=4.0)
    bound = reach(contract) * 2 * math.sqrt(contract.rounds * ARMS * math.log(ARMS))
    place = world_of("switching-arms", arms=ARMS, gap=0.3)
    assert quantile(contract, place) < bound < uniform_quantile(place, contract.rounds)


def test_two_points_stay_below_their_bound_and_with_the_step_of_the_paper_they_do_not():
    """R sqrt(T V) + G ln T (3 + R/r), V the mean square of a gradient estimate; distances in the unit disc, G = 1."""
    size, rounds, steepness, outer, inner = 2, 2000, 1.0, 1.0, 1.0
    contract = task("two-point", dimension=size, rounds=rounds, epsilon=4.0)
    mechanism = halves(contract).mechanism
    assert mechanism
    square = size**2 * (steepness**2 / (size - 1) + noise_of(mechanism).variance)
    bound = outer * math.sqrt(rounds * square) + steepness * math.log(rounds) * (3 + outer / inner)
    place = world_of("absolute", dimension=size, steepness=steepness)
    assert quantile(contract, place) < bound
    published = task("two-point", "paper", dimension=size, rounds=rounds, epsilon=4.0)
    assert quantile(published, place) > bound
