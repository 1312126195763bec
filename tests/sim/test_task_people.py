"""Simulated people of a live task: raw fields as an app would know them."""

import jax
import jax.numpy as jnp
import numpy as np
from scipy import stats

from sottovoce.protocol.contract import ByModel
from sottovoce.protocol.fields import Flag, Number
from sottovoce.protocol.links import Link
from sottovoce.sim.random import simulation_key
from sottovoce.sim.worlds.people import people_of

ALARM = 1e-6


def test_half_of_the_people_lie_below_a_declared_middle_so_its_coordinate_is_uniform():
    fields = {"spent": Number(low=0.0, high=1000.0, middle=30.0), "member": Flag()}
    world = people_of(ByModel(model="directed", fields=fields, candidates=2, link=Link("identity")))
    with jax.enable_x64(True):
        keys = jax.random.split(simulation_key(3), 2000)
        shown = np.asarray(jax.vmap(lambda key: world.visit(jnp.asarray(0), key))(keys))
    _, _, spent = np.sqrt(3) * np.moveaxis(shown, -1, 0)
    assert stats.kstest(spent.ravel(), stats.uniform(-1, 2).cdf).pvalue > ALARM
    assert stats.kstest(spent.ravel(), stats.uniform(-1, 1.9).cdf).pvalue < ALARM
