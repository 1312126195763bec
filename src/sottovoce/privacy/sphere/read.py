"""Candidates, read on the server."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sottovoce.privacy.sphere import codebook
from sottovoce.privacy.sphere.mechanism import Sphere
from sottovoce.protocol.errors import WireError


def report_size(mechanism: Sphere) -> int:
    return codebook.SEED_BYTES + 2


def check(mechanism: Sphere, report: bytes) -> None:
    """Refuse a candidate that there is not; no candidate says more than `sphere_reach`."""
    if (index := int.from_bytes(report[codebook.SEED_BYTES :], "big")) >= mechanism.candidates:
        raise WireError(f"this task's codebook has {mechanism.candidates} candidates, got index {index}")


def decode(mechanism: Sphere, reports: Sequence[bytes]) -> NDArray[np.float64]:
    seeds, indices = seeds_and_indices(reports)
    vectors = codebook.candidates(seeds, indices, mechanism.dimension).astype(float)
    lengths = np.sqrt(np.sum(vectors * vectors, axis=1, keepdims=True))
    return vectors[:, :-1] * (sphere_reach(mechanism) / lengths)


def seeds_and_indices(reports: Sequence[bytes]) -> tuple[bytes, NDArray[np.int64]]:
    """All seeds, joined, and the index of every report."""
    seeds = b"".join(report[: codebook.SEED_BYTES] for report in reports)
    return seeds, np.array([int.from_bytes(report[codebook.SEED_BYTES :], "big") for report in reports], dtype=np.int64)


def sphere_reach(mechanism: Sphere) -> float:
    """No estimate is longer than this, whatever the seed and the index."""
    return mechanism.domain.radius / mechanism.mean
