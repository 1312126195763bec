"""Small matrices, one for each seed: under `vmap` these loops are vectorised, while LAPACK is called seed by seed."""

import jax
import jax.numpy as jnp
from jax import lax


def cholesky(matrix: jax.Array) -> jax.Array:
    """The lower triangular root, column by column.

    >>> cholesky(jnp.array([[4.0, 2.0], [2.0, 5.0]])).tolist()
    [[2.0, 0.0], [1.0, 2.0]]
    """
    columns, rest = [], matrix
    for k in range(len(matrix)):
        column = jnp.where(jnp.arange(len(matrix)) >= k, rest[:, k], 0.0) / jnp.sqrt(rest[k, k])
        columns.append(column)
        rest = rest - jnp.outer(column, column)
    return jnp.stack(columns, axis=1)


def solve(root: jax.Array, vector: jax.Array) -> jax.Array:
    """The x with root @ x = vector, for a lower triangular root."""
    found: list[jax.Array] = []
    for k in range(len(root)):
        known = sum((root[k, j] * found[j] for j in range(k)), jnp.zeros(()))
        found.append((vector[k] - known) / root[k, k])
    return jnp.stack(found)


def solve_transposed(root: jax.Array, vector: jax.Array) -> jax.Array:
    """The x with root.T @ x = vector, for a lower triangular root."""
    return solve(root.T[::-1, ::-1], vector[::-1])[::-1]


def damped_newton(curvature: jax.Array, slope: jax.Array) -> jax.Array:
    """The step of Newton's method, shortened to stay in the Dikin ellipsoid.

    >>> damped_newton(jnp.array([[4.0, 0.0], [0.0, 1.0]]), jnp.array([2.0, 0.0])).tolist()
    [0.25, 0.0]
    """
    root = cholesky(curvature)
    scaled = solve(root, slope)
    return solve_transposed(root, scaled) / (1 + jnp.sqrt(scaled @ scaled))


def inverse(matrix: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The inverse of a symmetric matrix by sweeping its pivots, and whether it is positive definite (all are positive).

    The pivot is always the first entry, and its row and column go to the end: after all sweeps they stand as before.
    So every slice is known when the loop is compiled, which halves its time.

    >>> found, definite = inverse(jnp.array([[2.0, 0.0], [0.0, 4.0]]))
    >>> found.tolist(), bool(definite)
    ([[0.5, -0.0], [-0.0, 0.25]], True)
    """

    def sweep(_: int, carried: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        matrix, definite = carried
        pivot, row = matrix[0, 0], matrix[0, 1:]
        edge = row / pivot
        rest = jnp.concatenate([matrix[1:, 1:] - row[:, None] * edge, edge[:, None]], axis=1)
        last = jnp.append(edge, -1 / pivot)
        return jnp.concatenate([rest, last[None]]), definite & (pivot > 0)

    negative, definite = lax.fori_loop(0, len(matrix), sweep, (matrix, jnp.asarray(True)))
    return -negative, definite


def ridge_inverse(matrix: jax.Array, ridge: jax.Array) -> jax.Array:
    """The inverse of a symmetric matrix plus a ridge; negative eigenvalues of the matrix count as zero.

    >>> ridge_inverse(jnp.array([[1.0, 0.0], [0.0, -9.0]]), 1.0).tolist()
    [[0.5, 0.0], [0.0, 1.0]]
    """
    values, vectors = jnp.linalg.eigh(matrix, symmetrize_input=False)
    return (vectors / (jnp.maximum(values, 0.0) + ridge)) @ vectors.T


def with_features(precision: jax.Array, x: jax.Array, weight: jax.Array | float = 1.0) -> tuple[jax.Array, jax.Array]:
    """The inverse of V + weight x x' from that of V (Sherman and Morrison), and weight x' V^-1 x.

    >>> with_features(jnp.eye(2), jnp.array([1.0, 0.0]))[0].tolist()
    [[0.5, 0.0], [0.0, 1.0]]
    """
    seen = precision @ x
    new = weight * (x @ seen)
    return precision - jnp.outer(seen, seen) * (weight / (1 + new)), new


def one_if_zero(value: jax.Array) -> jax.Array:
    """The value, or 1 in place of 0: a ridge, or what is divided by, before there is noise.

    >>> [float(one_if_zero(value)) for value in (0.0, 0.25)]
    [1.0, 0.25]
    """
    return jnp.where(value > 0, value, 1.0)
