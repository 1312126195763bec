"""The public codebook of the sphere mechanism: a seed names its unit vectors, the same on every machine.

Integers throughout: Threefry-2x32 (20 rounds; Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3") turns
(seed, candidate, block) into eight bytes, each byte into an integer of `NORMAL`. A candidate is that integer vector
over its norm. Scores are an exact integer over one correctly rounded square root, so two languages rank alike.
"""

import numpy as np
from numpy.typing import NDArray

from sottovoce.privacy.normal_table import OUTERMOST, UPPER

SEED_BYTES = 12
"""Eight bytes of key and four of counter."""

NORMAL: NDArray[np.int64] = np.array([-n for n in reversed(UPPER)] + list(UPPER))
"""A byte as a normal number, times 1024."""

FAR_OUT: NDArray[np.int64] = np.array(OUTERMOST)
"""A second byte for the two outermost bins."""

OUTER_STREAM = 0x7A11
"""Combined with the counter's second word, it names the stream of those second bytes."""

FIXED_POINT = 2**15
"""The lifted message is rounded to multiples of 1 / FIXED_POINT before it is compared with candidates."""

_ROTATIONS = (13, 15, 26, 6, 17, 29, 16, 24)


Words = int | NDArray[np.int64]
"""One 32-bit word for all counters, or one for each."""


def threefry(key: tuple[Words, Words], first: NDArray[np.uint32], second: Words) -> tuple[NDArray, NDArray]:
    """Threefry-2x32-20 of the counters (first, second), both words.

    >>> [hex(int(w[0])) for w in threefry((0, 0), np.zeros(1, np.uint32), 0)]
    ['0x6b200159', '0x99ba4efe']
    """
    schedule = (key[0], key[1], key[0] ^ key[1] ^ 0x1BD11BDA)
    x = first + np.uint32(schedule[0])
    y = np.zeros_like(first) + np.uint32((second + schedule[1]) & 0xFFFFFFFF)
    for group in range(5):
        for rotation in _ROTATIONS[4 * (group % 2) :][:4]:
            x += y
            y = (y << np.uint32(rotation)) | (y >> np.uint32(32 - rotation))
            y ^= x
        x += np.uint32(schedule[(group + 1) % 3])
        y += np.uint32((schedule[(group + 2) % 3] + group + 1) & 0xFFFFFFFF)
    return x, y


def candidates(seed: bytes, indices: NDArray[np.int64], dimension: int) -> NDArray[np.int64]:
    """The integer vectors of these candidates, one a row; of one codebook, or of one each (as many seeds, joined).

    >>> candidates(bytes(12), np.arange(2), 3).shape
    (2, 3)
    """
    blocks = -(-dimension // 8)
    words = np.frombuffer(seed, dtype=">u4").astype(np.int64).reshape(-1, 3)
    counters = (indices[:, None] * blocks + np.arange(blocks)).astype(np.uint32).ravel()
    left, right, second = _words(words, np.repeat(np.arange(len(indices)), blocks))
    x, y = threefry((left, right), counters, second)
    octets = np.stack([x, y], axis=1).astype("<u4").view(np.uint8).reshape(len(indices), blocks * 8)[:, :dimension]
    rows, columns = np.nonzero(outermost(octets))
    counters = (indices[rows] * blocks * 8 + columns).astype(np.uint32)
    left, right, second = _words(words, rows)
    fine, _ = threefry((left, right), counters, second ^ OUTER_STREAM)
    return vectors(octets, fine)


def _words(words: NDArray[np.int64], rows: NDArray[np.int64]) -> tuple[Words, Words, Words]:
    """The three words of the seed for each of these rows, or those of the only seed."""
    left, right, second = words[rows].T if len(words) > 1 else words[0].tolist()
    return left, right, second


def outermost(octets: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Which bytes name one of the two outermost bins, so that a second byte says how far out."""
    return (octets == 0) | (octets == 255)


def vectors(octets: NDArray[np.uint8], fine: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Bytes to integers, with one word of `fine` for every outermost byte, in order."""
    found = NORMAL[octets]
    far = outermost(octets)
    found[far] = np.sign(found[far]) * FAR_OUT[fine & 255]
    return found


def scores(seed: bytes, lifted: NDArray[np.int64], count: int) -> NDArray[np.float64]:
    """How near each candidate is to the lifted message: integer inner product over the candidate's norm."""
    codebook = candidates(seed, np.arange(count), len(lifted)).astype(np.float64)  # exact: far below 2^53
    return (codebook @ lifted.astype(np.float64)) / np.sqrt(np.sum(codebook * codebook, axis=1))


def ranking(seed: bytes, lifted: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Candidates from the nearest to the farthest, ties by index."""
    return np.argsort(-scores(seed, lifted, count), kind="stable")


def lift(message: NDArray[np.float64], radius: float) -> NDArray[np.int64]:
    """The message over its radius, put on the unit sphere by one slack coordinate, in fixed point."""
    unit = message / radius
    slack = np.sqrt(max(0.0, 1.0 - float(unit @ unit)))
    return np.rint(np.append(unit, slack) * FIXED_POINT).astype(np.int64)
