"""Links: the same curve on a device and in the simulator, and bounds that hold."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import special, stats

from sottovoce.protocol.errors import ConfigurationError, UnknownName
from sottovoce.protocol.links import CURVES, Link

REFERENCES = {"logistic": special.expit, "probit": stats.norm.cdf, "poisson": np.exp, "identity": lambda z: z}
GRID = np.linspace(-5.9, 5.9, 1001)


def test_every_link_has_a_reference():
    assert set(REFERENCES) == set(CURVES)


@pytest.mark.parametrize("name", sorted(CURVES))
def test_a_link_is_its_curve_on_the_device_and_in_the_simulator(name: str):
    link = Link(name)
    np.testing.assert_allclose(link.mean(np, GRID), REFERENCES[name](GRID), rtol=1e-12, atol=2e-15)
    with jax.enable_x64(True):
        np.testing.assert_allclose(link.mean(jnp, jnp.asarray(GRID)), link.mean(np, GRID), rtol=1e-12, atol=2e-15)
        steepness = jax.vmap(jax.grad(lambda z: link.mean(jnp, z)))(jnp.asarray(GRID))
    np.testing.assert_allclose(steepness, link.slope(np, GRID), rtol=1e-6, atol=1e-12)


def test_probit_is_flat_beyond_six_deviations_and_never_leaves_the_unit_interval():
    far = Link("probit").mean(np, np.array([-1e300, -8.0, 8.0, 1e300]))
    np.testing.assert_allclose(far, [0, 0, 1, 1], atol=1e-9)
    assert np.all((far >= 0) & (far <= 1))


@pytest.mark.parametrize("radius", [0.1, 1.0, 2.5])
@pytest.mark.parametrize("name", sorted(CURVES))
def test_the_bounds_of_a_link_hold_everywhere_and_are_reached(name: str, radius: float):
    link = Link(name, radius, maximum=5.0)
    z = np.linspace(-radius, radius, 2001)
    mean, rewards = link.mean(np, z), np.array([link.low, link.high])
    assert link.least_slope == pytest.approx(np.min(link.slope(np, z)), rel=1e-12)
    assert link.largest_mean == pytest.approx(np.max(np.abs(mean)), rel=1e-12)
    assert link.residual == pytest.approx(np.max(np.abs(mean[:, None] - rewards)), rel=1e-12)


def test_a_link_that_does_not_exist_is_refused():
    with pytest.raises(UnknownName, match="unknown link 'cauchit'; choose one of: identity, logistic"):
        Link("cauchit")
    with pytest.raises(ConfigurationError, match="the radius of a link must be a positive finite number, got 0"):
        Link("logistic", radius=0)
