"""Trees of numbers as bytes and back: eight bytes a number, big-endian, in the order of the tree's leaves."""

import hashlib
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from sottovoce.server.store.base import OtherNumbers


def pack(tree: Any) -> bytes:
    """The numbers of a tree.

    >>> pack((1, np.array([0.5]))).hex()
    '00000000000000013fe0000000000000'
    """
    return b"".join(_wire(np.asarray(leaf)).tobytes() for leaf in jax.tree.leaves(tree))


def pack_rows(tree: Any, rows: int) -> list[bytes]:
    """`pack` of each row, for leaves with a leading axis.

    >>> pack_rows(np.array([1, 2]), 2) == [pack(1), pack(2)]
    True
    """
    parts = [_wire(np.asarray(leaf)).reshape(rows, -1).view(np.uint8) for leaf in jax.tree.leaves(tree)]
    return [row.tobytes() for row in np.hstack(parts)] if parts else [b""] * rows


def unpack(like: Any, payload: bytes) -> Any:
    """The tree of the same shape as `like` (arrays, or what `jax.eval_shape` returns).

    >>> unpack((1, np.zeros(1)), pack((7, np.array([0.5]))))
    (array(7), array([0.5]))
    """
    return jax.tree.map(lambda leaf: leaf.reshape(leaf.shape[1:]), unpack_rows(like, [payload]))


def unpack_rows(like: Any, payloads: Sequence[bytes]) -> Any:
    """`unpack` of each payload, joined: leaves with a leading axis.

    >>> unpack_rows(0, [pack(1), pack(2)])
    array([1, 2])
    """
    leaves, shape = jax.tree.flatten(like)
    found, start, width = [], 0, 8 * sum(int(np.prod(np.shape(leaf))) for leaf in leaves)
    if any(len(payload) != width for payload in payloads):
        raise OtherNumbers(f"expected {width} bytes, got {sorted({len(payload) for payload in payloads})}")
    rows = np.frombuffer(b"".join(payloads), np.uint8).reshape(len(payloads), width)
    for leaf in leaves:
        dtype, end = np.dtype(getattr(leaf, "dtype", type(leaf))), start + 8 * int(np.prod(np.shape(leaf)))
        part = np.ascontiguousarray(rows[:, start:end]).view(">f8" if dtype.kind == "f" else ">i8")
        found.append(part.astype(dtype).reshape(len(payloads), *np.shape(leaf)))
        start = end
    return jax.tree.unflatten(shape, found)


def digest(tree: Any) -> str:
    """A hash of the numbers, bit by bit."""
    return hashlib.sha256(pack(tree)).hexdigest()


def _wire(leaf: np.ndarray) -> np.ndarray:
    return leaf.astype(">f8" if leaf.dtype.kind == "f" else ">i8")
