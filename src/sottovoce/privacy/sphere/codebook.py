"""The public codebook of the sphere mechanism: a coin names its unit vectors, the same on every machine.

Candidates come in pairs of opposite vectors: 2 p and 2 p + 1 are pair p and its negative. Integers throughout: Threefry
turns (coin, pair, block) into eight bytes, each byte into an integer of `NORMAL`. A candidate is that integer vector
over its norm. Scores are an exact integer over one correctly rounded square root, so two languages rank alike.
"""

import numpy as np
from numpy.typing import NDArray

from sottovoce.privacy.sphere.normal_table import OUTERMOST, UPPER
from sottovoce.privacy.threefry import threefry

COIN_BYTES = 12
"""Eight bytes of key and four of counter."""

NORMAL: NDArray[np.int64] = np.array([-n for n in reversed(UPPER)] + list(UPPER))
"""A byte as a normal number, times 1024."""

FAR_OUT: NDArray[np.int64] = np.array(OUTERMOST)
"""A second byte for the two outermost bins."""

OUTER_STREAM = 0x7A11
"""Combined with the counter's second word, it names the stream of those second bytes."""

FIXED_POINT = 2**15
"""The lifted message is rounded to multiples of 1 / FIXED_POINT before it is compared with candidates."""


def candidates(coin: bytes, indices: NDArray[np.int64], dimension: int) -> NDArray[np.int64]:
    """The integer vectors of these candidates, one a row; of one codebook, or of one each (as many coins, joined).

    >>> first, second = candidates(bytes(12), np.arange(2), 3)
    >>> first.tolist() == (-second).tolist()
    True
    """
    return pairs(coin, indices >> 1, dimension) * np.where(indices & 1, -1, 1)[:, None]


def pairs(coin: bytes, indices: NDArray[np.int64], dimension: int) -> NDArray[np.int64]:
    """The first vector of each of these pairs."""
    blocks = -(-dimension // 8)
    words = np.frombuffer(coin, dtype=">u4").astype(np.uint32).reshape(-1, 3).T
    counters = (indices[:, None] * blocks + np.arange(blocks)).astype(np.uint32).ravel()
    x, y = _stream(words, np.repeat(np.arange(len(indices)), blocks), counters, 0)
    octets = np.stack([x, y], axis=1).astype("<u4").view(np.uint8).reshape(len(indices), blocks * 8)[:, :dimension]
    found = NORMAL[octets]
    rows, columns = np.nonzero((octets == 0) | (octets == 255))  # the outermost bins: a second byte says how far out
    if len(rows):
        fine, _ = _stream(words, rows, (indices[rows] * blocks * 8 + columns).astype(np.uint32), OUTER_STREAM)
        found[rows, columns] = np.sign(found[rows, columns]) * FAR_OUT[fine & 255]
    return found


def _stream(
    words: NDArray[np.uint32], rows: NDArray[np.int64], counters: NDArray[np.uint32], stream: int
) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Random words for each counter, by the coin of its row or by the only coin."""
    left, right, second = words[:, rows] if words.shape[1] > 1 else words[:, 0]
    return threefry((left, right), counters, np.broadcast_to(second ^ np.uint32(stream), counters.shape))


def scores(coin: bytes, lifted: NDArray[np.int64], count: int) -> NDArray[np.float64]:
    """How near each candidate is to the lifted message: integer inner product over the candidate's norm."""
    vectors = pairs(coin, np.arange(count // 2), len(lifted)).astype(np.float64)  # exact: far below 2^53
    first = (vectors @ lifted.astype(np.float64)) / np.sqrt(np.sum(vectors * vectors, axis=1))
    return np.stack([first, -first], axis=1).ravel()


def ranking(coin: bytes, lifted: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Candidates from the nearest to the farthest, ties by index."""
    return np.argsort(-scores(coin, lifted, count), kind="stable")


def lift(message: NDArray[np.float64], radius: float) -> NDArray[np.int64]:
    """The message over its radius, put on the unit sphere by one slack coordinate, in fixed point."""
    unit = message / radius
    slack = np.sqrt(max(0.0, 1.0 - float(unit @ unit)))
    return np.rint(np.append(unit, slack) * FIXED_POINT).astype(np.int64)
