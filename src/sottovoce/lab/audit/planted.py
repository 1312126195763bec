"""Devices that are BROKEN ON PURPOSE, for the audit to catch. No device imports this file; the tests check that.

Each sender is a mistake someone could make in earnest, in as few lines as it takes.
"""

import random
from dataclasses import replace

import numpy as np

from sottovoce.lab.audit.clues import cap_threshold
from sottovoce.lab.audit.subjects import Raw, Sender, Subject, embed, honest, measured, most_different
from sottovoce.privacy.domains import Ball, Interval
from sottovoce.privacy.drawing import DRAWS, SYSTEM, Entropy, privatise
from sottovoce.privacy.grid.draw import draw_laplace
from sottovoce.privacy.grid.mechanism import Laplace
from sottovoce.privacy.levels.mechanism import Levels
from sottovoce.privacy.mechanisms import Mechanism, calibrate, name_of
from sottovoce.privacy.sphere import codebook
from sottovoce.privacy.sphere.mechanism import Sphere
from sottovoce.privacy.sphere.mechanism import sphere as calibrate_sphere
from sottovoce.protocol.budget import Budget
from sottovoce.protocol.codec import pack


def _half_noise(mechanism: Mechanism, raw: Raw) -> bytes:
    """The noise of twice the epsilon: about half of what the promise needs."""
    epsilon, delta = mechanism.budget
    return honest(calibrate(name_of(mechanism), mechanism.domain, Budget(2 * epsilon, delta)), raw)


def _unverified(mechanism: Mechanism, raw: Raw) -> bytes:
    """A device that never checks whether its numbers keep the promise."""
    return DRAWS[name_of(mechanism)](mechanism, embed(mechanism, raw), SYSTEM, b"")


def _missing_clip(mechanism: Laplace, raw: Raw) -> bytes:
    """A number out of its range, put on the grid as it came."""
    low, high = mechanism.domain.extract(np.array([[-1.0], [1.0]]))
    return draw_laplace(mechanism, np.array([2 * (raw[0] - low) / (high - low) - 1]), SYSTEM)


def _seeded(mechanism: Mechanism, raw: Raw) -> bytes:
    """An honest mechanism on a generator that starts alike on every device."""
    return privatise(mechanism, embed(mechanism, raw), _SEEDED)


def _redrawn_coin(mechanism: Sphere, raw: Raw) -> bytes:
    """A new coin until some candidate is near enough to the message: now the coin itself depends on the message."""
    lifted = codebook.lift(embed(mechanism, raw), mechanism.domain.radius)
    while True:
        report = honest(mechanism, raw)
        nearest = codebook.scores(report[: codebook.COIN_BYTES], lifted, mechanism.candidates).max()
        if nearest >= 0.5 * codebook.FIXED_POINT:  # the median, for one pair in three dimensions
            return report


def _threshold_cap(mechanism: Sphere, raw: Raw) -> bytes:
    """The cap is everything near enough, not exactly `cap` candidates; where nothing is, the nearest is sent."""
    coin = SYSTEM.octets(codebook.COIN_BYTES)
    lifted = codebook.lift(embed(mechanism, raw), mechanism.domain.radius)
    scores = codebook.scores(coin, lifted, mechanism.candidates)
    near = scores >= cap_threshold(mechanism)
    if not near.any():
        return coin + pack([int(scores.argmax())], mechanism.report_size)
    weights = [mechanism.inside if n else mechanism.outside for n in near]
    draw = SYSTEM.below(sum(weights))
    index = next(i for i in range(len(weights)) if draw < sum(weights[: i + 1]))
    return coin + pack([index], mechanism.report_size)


def _sent_rank(mechanism: Sphere, raw: Raw) -> bytes:
    """An honest report, and with it how near the candidate was."""
    report = honest(mechanism, raw)
    coin, index = report[: codebook.COIN_BYTES], int.from_bytes(report[codebook.COIN_BYTES :], "big")
    lifted = codebook.lift(embed(mechanism, raw), mechanism.domain.radius)
    order = codebook.ranking(coin, lifted, mechanism.candidates)
    return report + pack([order.tolist().index(index)], 2)


def _second_report(mechanism: Mechanism, raw: Raw) -> bytes:
    """Two honest reports of one datum, as after a crash between drawing and sending."""
    return honest(mechanism, raw) + honest(mechanism, raw)


def _purpose_by_reward(mechanism: Levels, raw: Raw) -> bytes:
    """A device that looks for a permit to measure the baseline where the reward was low, and the choice otherwise."""
    good = embed(mechanism, raw)[0] > 0
    while bool((report := measured(mechanism, raw))[0]) != good:
        pass
    return report


class _ConstantSeed:
    """An `Entropy` that every process starts with the same seed."""

    def __init__(self) -> None:
        self._random = random.Random(0)

    def below(self, bound: int) -> int:
        return self._random.randrange(bound)

    def octets(self, count: int) -> bytes:
        return self._random.randbytes(count)


_SEEDED: Entropy = _ConstantSeed()


def planted_subjects() -> list[Subject]:
    """Every planted bug, at the promise it breaks.

    >>> sorted({str(subject.planted) for subject in planted_subjects()})[:3]
    ['classical formula', 'half noise', 'missing clip']
    """
    levels, laplace = (calibrate(name, Interval(), Budget(1.0)) for name in ("levels", "laplace"))
    gaussian, sphere = calibrate("gaussian", Interval(), Budget(1.0, 1e-5)), calibrate("sphere", Ball(2), Budget(1.0))
    classical = calibrate("gaussian", Interval(), Budget(20.0, 1e-5), "classical")
    # Few candidates, a quarter of them in the cap: then a threshold cap is often empty.
    small = replace(calibrate_sphere(Ball(2), Budget(2.0)), candidates=4, cap=1)
    across = (((1.0, 0.0),), ((0.0, 1.0),))  # the pairs of a coin are equally near to opposite messages

    def broken(bug: str, sender: Sender, mechanism: Mechanism, effort: float = 0.1) -> Subject:
        people = most_different(mechanism.domain)
        return Subject(mechanism=mechanism, people=people, sender=sender, planted=bug, effort=effort)

    return [
        *(broken("half noise", _half_noise, mechanism) for mechanism in (levels, sphere, laplace, gaussian)),
        broken("classical formula", _unverified, classical),
        replace(broken("missing clip", _missing_clip, laplace), people=((0.0,), (3.0,))),
        *(broken("seeded randomness", _seeded, mechanism) for mechanism in (levels, sphere)),
        replace(broken("redrawn coin", _redrawn_coin, sphere, effort=0.05), people=across),
        broken("threshold cap", _threshold_cap, small, effort=0.2),
        broken("rank sent along", _sent_rank, sphere, effort=0.05),
        broken("second report", _second_report, sphere, effort=0.05),
        broken("purpose by reward", _purpose_by_reward, levels, effort=0.05),
    ]
