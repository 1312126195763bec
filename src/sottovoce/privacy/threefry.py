"""Threefry-2x32, twenty rounds: a counter and a key to two random words (Salmon et al. 2011).

"Parallel random numbers: as easy as 1, 2, 3". Written on plain operators: NumPy computes the codebook of the sphere
with it, JAX the simulator's random numbers.
"""

from typing import Any

import numpy as np

_ROTATIONS = [[(np.uint32(by), np.uint32(32 - by)) for by in group] for group in ((13, 15, 26, 6), (17, 29, 16, 24))]
"""How far to the left, and how far to the right what falls out there comes back."""


def threefry(key: Any, first: Any, second: Any) -> tuple[Any, Any]:
    """Both output words for the counters (first, second). All are 32-bit words; in NumPy the counters are arrays.

    >>> zero = np.zeros(1, np.uint32)
    >>> [hex(int(word[0])) for word in threefry((np.uint32(0), np.uint32(0)), zero, zero)]
    ['0x6b200159', '0x99ba4efe']
    """
    schedule = (key[0], key[1], key[0] ^ key[1] ^ np.uint32(0x1BD11BDA))
    x, y = first + schedule[0], second + schedule[1]
    for group in range(5):
        for left, right in _ROTATIONS[group % 2]:
            x += y
            y = (y << left) | (y >> right)
            y ^= x
        x += schedule[(group + 1) % 3]
        y += schedule[(group + 2) % 3]
        y += np.uint32(group + 1)
    return x, y
