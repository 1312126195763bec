"""Forged reports in the simulator: as strong as the wire allows, and nobody else draws anything else."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sottovoce import Ball, Budget, Interval, calibrate, halves, task
from sottovoce.privacy.mechanisms import Mechanism
from sottovoce.sim.forgers import Forgers, worst_report
from sottovoce.sim.run import simulate
from sottovoce.sim.worlds import world_of


@pytest.mark.parametrize(
    ("mechanism", "reach"),
    [
        (calibrate("levels", Interval(), Budget(1.0)), 2.164),
        (calibrate("sphere", Ball(20), Budget(1.0)), 2.164),
        (calibrate("sphere", Ball(20), Budget(4.0)), 1.45),
    ],
    ids=["levels", "one pair", "many candidates"],
)
def test_a_forger_is_read_as_far_as_the_table_of_the_page_says(mechanism: Mechanism, reach: float):
    """Fixed seeds; the mean of 4,000 forged reports along the aim, within five deviations of the mean at most."""
    aim = jnp.zeros(20 if isinstance(mechanism.domain, Ball) else 1).at[0].set(1.0)
    with jax.enable_x64(True):
        read = np.asarray(
            jax.vmap(lambda key: worst_report(mechanism, aim, key))(jax.random.split(jax.random.key(1), 4000))
        )
    assert np.max(np.linalg.norm(read, axis=1)) <= mechanism.reach * (1 + 1e-9)
    assert read[:, 0].mean() == pytest.approx(reach, rel=0.04)
    assert np.all(np.abs(read[:, 1:].mean(axis=0)) < 5 * read.std() / np.sqrt(4000) + 1e-12)


def test_forgers_do_harm_and_without_a_share_they_change_nothing():
    learner, user, mechanism = halves(task("ucb", arms=4, rounds=600, epsilon=4.0))
    assert mechanism is not None

    def lie(world, offer):
        return jnp.where(world.rewards[offer.arm] >= jnp.max(world.rewards), -1.0, 1.0)[None]

    def regret(share: float | None) -> np.ndarray:
        forgers = None if share is None else Forgers(share, mechanism, lie)
        run = {"rounds": 600, "seeds": 8, "checkpoints": 10, "mechanism": mechanism}
        return simulate(learner, user, world_of("arms", arms=4, gap=0.4), forgers=forgers, **run).regret

    np.testing.assert_array_equal(regret(0.0), regret(None))
    assert regret(0.4)[:, -1].mean() > 2 * regret(None)[:, -1].mean()
