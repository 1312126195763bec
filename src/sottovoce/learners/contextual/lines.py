"""Do all people report along one line? The products of the coordinates of their reports tell, where noise is not loud.

With r a report, w its direction times the residual without noise, and v the variance of the noise of a coordinate,
E[r r'] is about E[w w'] + v I. M is the mean of the products less the noise. Then (tr M)^2 / |M|^2, with |M|^2 the sum
of the squares of its entries, is 1 if all w lie along one line, and the number of coordinates if they lie evenly.

Where features are very uneven this number is small too, though all candidates are fresh. In two or three coordinates
the two are hard to tell apart. `docs/defaults.md` says what that costs, and where the constants come from.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

LINES = 1.3
"""Fewer are one."""
EARLIEST = 300.0
"""Reports."""
NOISE = 20.0
"""And so many times (v d)^2."""
LOUDEST = 0.6
"""Where v is larger nothing is seen: at epsilon 1 products of reports say nothing at all."""
STRENGTH = 0.33
"""tr M counts as at least this, about the share of residuals that are cut: v is known to a few hundredths only."""


class Products(NamedTuple):
    """Of any two coordinates of a report, over all reports; empty arrays where nobody looks."""

    sum: jax.Array
    reports: jax.Array


def no_products(dimension: int) -> Products:
    return Products(jnp.zeros((dimension, dimension)), jnp.zeros(()))


def with_products(products: Products, direction: jax.Array) -> Products:
    """With those of one more report."""
    if not products.sum.size:
        return products
    return Products(products.sum + jnp.outer(direction, direction), products.reports + 1)


def along_one_line(products: Products, variance: float) -> jax.Array:
    """1 if all people seem to report along one line, else 0; `variance` is that of the noise of a coordinate.

    >>> one, even = jnp.outer(jnp.array([0.6, 0.8]), jnp.array([0.6, 0.8])), jnp.eye(2) / 2
    >>> [float(along_one_line(Products(1000 * each, jnp.asarray(1000.0)), 0.0)) for each in (one, even)]
    [1.0, 0.0]
    """
    if not products.sum.size:
        return jnp.zeros(())
    d, reports = len(products.sum), jnp.maximum(products.reports, 1.0)
    clean = products.sum / reports - variance * jnp.eye(d)
    strength = jnp.maximum(jnp.trace(clean), STRENGTH)
    squares = jnp.sum(clean**2) - (variance * d) ** 2 / reports
    enough = reports >= jnp.maximum(EARLIEST, NOISE * (variance * d) ** 2)
    seen = (variance <= LOUDEST) & enough
    return jnp.where(seen & (strength**2 < LINES * squares), 1.0, 0.0)
