"""What an attacker reads in the bytes, knowing the claimed mechanism and the two people's data: numbers, called clues.

A clue is larger when a transcript looks more like person 0's, and may be useless; the attack picks the one that works.
The first clue of a mechanism is the one that would be best if the claim were true.
A transcript is everything sent about one datum: usually one report, sometimes more reports or bytes that do not belong.
"""

import hashlib
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.privacy.grid.delta import RESOLUTION
from sottovoce.privacy.grid.mechanism import OnGrid
from sottovoce.privacy.mechanisms import Mechanism, name_of
from sottovoce.privacy.sphere import codebook
from sottovoce.privacy.sphere.mechanism import Sphere, inner_products

Clues = dict[str, NDArray[np.float64]]
Messages = tuple[NDArray[np.float64], NDArray[np.float64]]

BATCH = 64
"""Transcripts whose codebooks are held in memory at a time."""


def clues(mechanism: Mechanism, messages: Messages, transcripts: Sequence[bytes]) -> Clues:
    """Every clue of every transcript, by name.

    >>> from sottovoce import Budget, Interval, calibrate
    >>> mechanism = calibrate("levels", Interval(), Budget(1.0))
    >>> found = clues(mechanism, (np.array([-1.0]), np.array([1.0])), [bytes([0]), bytes([1])])
    >>> found["place between the two"].round(2)
    array([ 4.33, -4.33])
    """
    own = OWN_CLUES.get(name_of(mechanism))
    return {
        **(own(mechanism, messages, transcripts) if own else {}),
        "place between the two": _place(mechanism, messages, transcripts),
        "number of bytes": np.array([len(transcript) for transcript in transcripts], dtype=float),
    }


def fingerprints(transcripts: Sequence[bytes]) -> NDArray[np.uint64]:
    """Sixty-four bits that tell any two transcripts apart.

    >>> bool(fingerprints([b"one"])[0] == fingerprints([b"two"])[0])
    False
    """
    digests = b"".join(hashlib.blake2b(transcript, digest_size=8).digest() for transcript in transcripts)
    return np.frombuffer(digests, dtype=np.uint64)


def joined(parts: Sequence[Clues]) -> Clues:
    """The clues of several lots of transcripts, one lot after the other.

    >>> joined([{"coin": np.zeros(1)}, {"coin": np.ones(1)}])
    {'coin': array([0., 1.])}
    """
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def codebooks(coins: Sequence[bytes], count: int, dimension: int) -> NDArray[np.int64]:
    """All candidates of many coins at once, which is faster than one by one: coin, candidate, coordinate.

    >>> bool(np.all(codebooks([bytes(12)], 6, 3)[0] == codebook.candidates(bytes(12), np.arange(6), 3)))
    True
    """
    pairs = count // 2
    first = codebook.pairs(b"".join(coin * pairs for coin in coins), np.tile(np.arange(pairs), len(coins)), dimension)
    return np.stack([first, -first], axis=1).reshape(len(coins), count, dimension)


@lru_cache(maxsize=64)
def cap_threshold(mechanism: Sphere) -> float:
    """The score above which a codebook has `cap` candidates on average.

    >>> from sottovoce import Ball, Budget, calibrate
    >>> mechanism = calibrate("sphere", Ball(2), Budget(2.0))       # a cap of 1 in 4; in R^3 cosines are uniform
    >>> round(cap_threshold(mechanism) / codebook.FIXED_POINT, 2)
    0.5
    """
    inner, mass, _ = inner_products(mechanism.dimension, mechanism.candidates, mechanism.cap)
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


def _place(mechanism: Mechanism, messages: Messages, transcripts: Sequence[bytes]) -> NDArray[np.float64]:
    """The server's estimate along the line from person 1 to person 0."""
    owner, reports = _reports(transcripts, mechanism.coin_size + mechanism.report_size)
    along = mechanism.decode(reports) @ (messages[0] - messages[1]) if reports else np.zeros(0)
    return _sums(owner, len(transcripts), along)


def _sphere_clues(mechanism: Sphere, messages: Messages, transcripts: Sequence[bytes]) -> Clues:
    batches = [transcripts[start : start + BATCH] for start in range(0, len(transcripts), BATCH)]
    return joined([_batch_clues(mechanism, messages, batch) for batch in batches])


def _batch_clues(mechanism: Sphere, messages: Messages, transcripts: Sequence[bytes]) -> Clues:
    width = mechanism.coin_size + mechanism.report_size
    owner, reports = _reports(transcripts, width)
    ranks, best, loss = _standing(mechanism, messages, reports)
    inside, deep = (ranks < mechanism.cap).astype(float), (ranks < mechanism.cap / 2).astype(float)
    tails = [transcript[len(transcript) - len(transcript) % width :] for transcript in transcripts]
    total = partial(_sums, owner, len(transcripts))
    return {
        "index in the cap": total(inside[:, 0] - inside[:, 1]),
        "index in the inner half of the cap": total(deep[:, 0] - deep[:, 1]),
        "nearest candidate of the coin": total(best[:, 0] - best[:, 1]),
        "likelihood of a threshold cap": total(loss),
        "bytes after the report": _tail_clue(tails, owner, ranks),
    }


def _standing(
    mechanism: Sphere, messages: Messages, reports: Sequence[bytes]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """For each message, the rank of the index sent and the coin's best score; and the log ratio of a threshold cap."""
    count = mechanism.candidates
    lifted = np.stack([codebook.lift(message, mechanism.domain.radius) for message in messages]).astype(float)
    coins = [report[: codebook.COIN_BYTES] for report in reports]
    sent = np.array([int.from_bytes(report[codebook.COIN_BYTES :], "big") for report in reports], dtype=int)
    sent = np.minimum(sent, count - 1)[:, None, None]
    books = codebooks(coins, count, lifted.shape[1]).astype(float)
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


def _grid_clues(power: int, mechanism: OnGrid, messages: Messages, transcripts: Sequence[bytes]) -> Clues:
    """The log likelihood ratio if the claim were true: distances to the power 2 for Gaussian noise, 1 for Laplace."""
    scales = mechanism.scale_of_each
    first, second = (np.rint(message / scales * RESOLUTION) for message in messages)
    owner, reports = _reports(transcripts, 8 * len(scales))
    grid = np.frombuffer(b"".join(reports), dtype=">i8").reshape(-1, len(scales)).astype(float)
    claimed = np.sum(np.abs(grid - second) ** power - np.abs(grid - first) ** power, axis=1)
    return {"claimed likelihood ratio": _sums(owner, len(transcripts), claimed)}


OWN_CLUES: dict[str, Callable[[Any, Messages, Sequence[bytes]], Clues]] = {
    "sphere": _sphere_clues,
    "gaussian": partial(_grid_clues, 2),
    "laplace": partial(_grid_clues, 1),
}
"""Clues of one mechanism alone, the best one first; levels need none besides those that every mechanism has."""
