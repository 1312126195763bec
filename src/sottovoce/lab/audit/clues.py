"""What an attacker reads in the bytes, knowing the claimed mechanism and the two people's data: numbers, called clues.

A clue is larger when a transcript looks more like person 0's, and may be useless; the attack picks the one that works.
The first clue of a mechanism is the one that would be best if the claim were true.
A transcript is everything sent about one datum: usually one report, sometimes more reports or bytes that do not belong.
"""

import hashlib
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.privacy import codebook
from sottovoce.privacy.calibration import sphere_law
from sottovoce.privacy.decode import report_size
from sottovoce.privacy.domains import size
from sottovoce.privacy.mechanisms import RESOLUTION, Gaussian, Laplace, Levels, Mechanism, Sphere

Clues = dict[str, NDArray[np.float64]]
Messages = tuple[NDArray[np.float64], NDArray[np.float64]]

BATCH = 64
"""Transcripts whose codebooks are held in memory at a time."""


def clues(mechanism: Mechanism, messages: Messages, transcripts: Sequence[bytes]) -> Clues:
    """Every clue of every transcript, by name.

    >>> from sottovoce import Budget, Interval, calibrate
    >>> mechanism = calibrate("levels", Interval(), Budget(1.0))
    >>> clues(mechanism, (np.array([-1.0]), np.array([1.0])), [bytes([0]), bytes([1])])["level sent"]
    array([0., 1.])
    """
    lengths = np.array([len(transcript) for transcript in transcripts], dtype=float)
    match mechanism:
        case Levels():
            own = {"level sent": np.array([float(int.from_bytes(transcript, "big")) for transcript in transcripts])}
        case Sphere():
            batches = [transcripts[start : start + BATCH] for start in range(0, len(transcripts), BATCH)]
            parts = [_sphere_clues(mechanism, messages, batch) for batch in batches]
            own = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        case Gaussian() | Laplace():
            own = _grid_clues(mechanism, messages, transcripts)
    return {**own, "number of bytes": lengths}


def fingerprints(transcripts: Sequence[bytes]) -> NDArray[np.uint64]:
    """Sixty-four bits that tell any two transcripts apart.

    >>> bool(fingerprints([b"one"])[0] == fingerprints([b"two"])[0])
    False
    """
    digests = b"".join(hashlib.blake2b(transcript, digest_size=8).digest() for transcript in transcripts)
    return np.frombuffer(digests, dtype=np.uint64)


def codebooks(seeds: Sequence[bytes], count: int, dimension: int) -> NDArray[np.int64]:
    """`codebook.candidates` of many seeds at once, which is faster than one by one: seed, candidate, coordinate.

    >>> bool(np.all(codebooks([bytes(12)], 5, 3)[0] == codebook.candidates(bytes(12), np.arange(5), 3)))
    True
    """
    blocks = -(-dimension // 8)
    words: Any = np.frombuffer(b"".join(seeds), dtype=">u4").reshape(-1, 3, 1).astype(np.int64)
    counters = np.tile(np.arange(count * blocks, dtype=np.uint32), (len(seeds), 1))
    # Threefry works element by element, so a column of keys gives every row of counters its own.
    halves = codebook.threefry((words[:, 0], words[:, 1]), counters, words[:, 2])
    octets = np.stack(halves, axis=2).astype("<u4").view(np.uint8).reshape(len(seeds), count, blocks * 8)
    octets = octets[:, :, :dimension]
    which, rows, columns = np.nonzero(codebook.outermost(octets))
    key = (words[which, 0, 0], words[which, 1, 0])
    counters = (rows * blocks * 8 + columns).astype(np.uint32)
    fine, _ = codebook.threefry(key, counters, words[which, 2, 0] ^ codebook.OUTER_STREAM)
    return codebook.vectors(octets, fine)


def cap_threshold(mechanism: Sphere) -> float:
    """The score above which a codebook has `cap` candidates on average.

    >>> from sottovoce import Ball, Budget, calibrate
    >>> mechanism = calibrate("sphere", Ball(2), Budget(1.0))       # a cap of 97 in 256; in R^3 cosines are uniform
    >>> round(cap_threshold(mechanism) / codebook.FIXED_POINT, 2) == round(1 - 2 * 97 / 256, 2)
    True
    """
    inner, mass, _ = sphere_law(size(mechanism.domain) + 1, mechanism.candidates, mechanism.cap)
    place = int(np.searchsorted(np.cumsum(mass), mechanism.cap / mechanism.candidates))
    return float(inner[place]) * codebook.FIXED_POINT


def _reports(transcripts: Sequence[bytes], width: int) -> tuple[NDArray[np.int64], list[bytes]]:
    """Every whole report in the transcripts, and the number of the transcript it is from."""
    found = [
        (number, transcript[start : start + width])
        for number, transcript in enumerate(transcripts)
        for start in range(0, len(transcript) - width + 1, width)
    ]
    return np.array([number for number, _ in found], dtype=np.int64), [report for _, report in found]


def _sums(owner: NDArray[np.int64], count: int, per_report: NDArray[np.float64]) -> NDArray[np.float64]:
    """Transcript by transcript, the sum over its reports."""
    sums = np.zeros(count)
    np.add.at(sums, owner, per_report)
    return sums


def _sphere_clues(mechanism: Sphere, messages: Messages, transcripts: Sequence[bytes]) -> Clues:
    width = report_size(mechanism)
    owner, reports = _reports(transcripts, width)
    ranks, best, loss = _standing(mechanism, messages, reports)
    inside, deep = (ranks < mechanism.cap).astype(float), (ranks < mechanism.cap / 2).astype(float)
    tails = [transcript[len(transcript) - len(transcript) % width :] for transcript in transcripts]
    total = partial(_sums, owner, len(transcripts))
    return {
        "index in the cap": total(inside[:, 0] - inside[:, 1]),
        "index in the inner half of the cap": total(deep[:, 0] - deep[:, 1]),
        "nearest candidate of the seed": total(best[:, 0] - best[:, 1]),
        "likelihood of a threshold cap": total(loss),
        "bytes after the report": _tail_clue(tails, owner, ranks),
    }


def _standing(
    mechanism: Sphere, messages: Messages, reports: Sequence[bytes]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """For each message, the rank of the index sent and the seed's best score; and the log ratio of a threshold cap."""
    count = mechanism.candidates
    lifted = np.stack([codebook.lift(message, mechanism.domain.radius) for message in messages]).astype(float)
    seeds = [report[: codebook.SEED_BYTES] for report in reports]
    sent = np.array([int.from_bytes(report[codebook.SEED_BYTES :], "big") for report in reports], dtype=int)
    sent = np.minimum(sent, count - 1)[:, None, None]
    books = codebooks(seeds, count, lifted.shape[1]).astype(float)
    scores = (books @ lifted.T) / np.sqrt(np.sum(books * books, axis=2))[:, :, None]  # report, candidate, message
    own = np.take_along_axis(scores, sent, axis=1)
    nearer = (scores > own) | ((scores == own) & (np.arange(count)[None, :, None] < sent))
    threshold = cap_threshold(mechanism)
    in_cap = np.sum(scores >= threshold, axis=1)
    weight = np.where(own[:, 0] >= threshold, mechanism.inside, mechanism.outside)
    log_chance = np.log(weight) - np.log(in_cap * mechanism.inside + (count - in_cap) * mechanism.outside)
    ranks = np.sum(nearer, axis=1).astype(float)
    return ranks, np.max(scores, axis=1), log_chance[:, 0] - log_chance[:, 1]


def _tail_clue(tails: Sequence[bytes], owner: NDArray[np.int64], ranks: NDArray[np.float64]) -> NDArray[np.float64]:
    """How much nearer the bytes that do not belong are to the index's rank for person 0 than for person 1."""
    clue = np.zeros(len(tails))
    last = {int(number): place for place, number in enumerate(owner)}
    for number, tail in enumerate(tails):
        if tail and number in last:
            distance = np.abs(int.from_bytes(tail, "big") - ranks[last[number]])
            clue[number] = distance[1] - distance[0]
    return clue


def _grid_clues(mechanism: Gaussian | Laplace, messages: Messages, transcripts: Sequence[bytes]) -> Clues:
    scales = np.repeat(mechanism.scales, mechanism.domain.blocks)
    first, second = (np.rint(message / scales * RESOLUTION) for message in messages)
    owner, reports = _reports(transcripts, report_size(mechanism))
    grid = np.frombuffer(b"".join(reports), dtype=">i8").reshape(-1, len(scales)).astype(float)
    power = 2 if isinstance(mechanism, Gaussian) else 1
    claimed = np.sum(np.abs(grid - second) ** power - np.abs(grid - first) ** power, axis=1)
    along = grid @ (first - second)
    return {
        "claimed likelihood ratio": _sums(owner, len(transcripts), claimed),
        "place between the two data": _sums(owner, len(transcripts), along),
    }
