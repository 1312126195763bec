"""Numbers of a value apart from everything else in it, so that a compiled loop can take the numbers as arguments."""

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from sottovoce.protocol.errors import ConfigurationError


def is_number(leaf: Any) -> bool:
    return isinstance(leaf, (int, float, np.ndarray, np.generic, jax.Array)) and not isinstance(leaf, bool)


def split(tree: Any) -> tuple[list[Any], Any]:
    """(numbers, the rest): the rest is hashable and, with other numbers, makes a value of the same kind again.

    >>> numbers, rest = split({"a": 1.5, "b": "name"})
    >>> join(numbers, rest)
    {'a': 1.5, 'b': 'name'}
    """
    leaves, shape = jax.tree.flatten(tree)
    rest = tuple(None if is_number(leaf) else (leaf,) for leaf in leaves)
    return [leaf for leaf in leaves if is_number(leaf)], (shape, rest)


def join(numbers: list[Any], rest: Any) -> Any:
    """The inverse of `split`."""
    shape, others = rest
    remaining = iter(numbers)
    return jax.tree.unflatten(shape, [next(remaining) if other is None else other[0] for other in others])


def shape_of(tree: Any) -> Any:
    """Two values with equal shapes can be stacked."""
    numbers, rest = split(tree)
    return rest, tuple(np.shape(number) for number in numbers)


def stack(trees: Sequence[Any]) -> Any:
    """One value whose numbers have a leading axis.

    >>> stack([{"a": 1.0}, {"a": 2.0}])["a"].tolist()
    [1.0, 2.0]
    """
    if len({shape_of(tree) for tree in trees}) > 1:
        raise ConfigurationError("only learners and mechanisms of one shape can be run as one batch")
    pairs = [split(tree) for tree in trees]
    columns = zip(*(numbers for numbers, _ in pairs), strict=True)
    numbers = [np.stack([np.asarray(number, dtype=float) for number in column]) for column in columns]
    return join(numbers, pairs[0][1])
