"""Do all people report along one line? The products of the coordinates of their reports tell, where noise is not loud.

With r a report, w its direction times the residual without noise, and v the variance of the noise of a coordinate,
E[r r'] is about E[w w'] + v I. M is the mean of the products less the noise. Then (tr M)^2 / |M|^2, with |M|^2 the sum
of the squares of its entries, is 1 if all w lie along one line, and the number of coordinates if they lie evenly.

Where features are very uneven this number is small too, though all candidates are fresh. In two or three coordinates
the two are hard to tell apart. `docs/tuning.md` says what that costs, and where the constants come from.
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
"""Where v is larger nobody looks: at epsilon 1 products of reports say nothing at all."""
STRENGTH = 0.33
"""tr M counts as at least this, about the share of residuals that are cut: v is known to a few hundredths only."""


class Products(NamedTuple):
    """Of any two coordinates of a report, over all reports; `sum` is empty where nobody looks."""

    sum: jax.Array
    squares: jax.Array
    """The sum of the squared lengths: the trace of `sum`, kept because XLA gathers a diagonal slowly."""
    reports: jax.Array


def no_products(dimension: int) -> Products:
    return Products(jnp.zeros((dimension, dimension)), jnp.zeros(()), jnp.zeros(()))


def with_products(products: Products, direction: jax.Array) -> Products:
    """With those of one more report."""
    if not products.sum.size:
        return products
    more = Products(jnp.outer(direction, direction), jnp.sum(direction**2), jnp.ones(()))
    return jax.tree.map(jnp.add, products, more)


def along_one_line(products: Products, variance: float) -> jax.Array:
    """1 if all people seem to report along one line, else 0; `variance` is that of the noise of a coordinate.

    >>> one, even = jnp.outer(jnp.array([0.6, 0.8]), jnp.array([0.6, 0.8])), jnp.eye(2) / 2
    >>> count = jnp.asarray(1000.0)
    >>> [float(along_one_line(Products(count * each, count, count), 0.0)) for each in (one, even)]
    [1.0, 0.0]
    """
    if not products.sum.size:
        return jnp.zeros(())
    d, reports = len(products.sum), jnp.maximum(products.reports, 1.0)
    trace = products.squares / reports
    strength = jnp.maximum(trace - variance * d, STRENGTH)
    squares = jnp.sum(products.sum**2) / reports**2 - 2 * variance * trace + variance**2 * d  # of mean - variance * I
    squares -= (variance * d) ** 2 / reports
    enough = reports >= jnp.maximum(EARLIEST, NOISE * (variance * d) ** 2)
    return jnp.where(enough & (strength**2 < LINES * squares), 1.0, 0.0)
