"""Devices that are BROKEN ON PURPOSE, for the audit to catch. No device imports this file; the tests check that.

Each sender is a mistake someone could make in earnest, in as few lines as it takes.
"""

import random
from dataclasses import replace

import numpy as np

from sottovoce.lab.audit.clues import cap_threshold
from sottovoce.lab.audit.subjects import Raw, Sender, Subject, embed, honest
from sottovoce.privacy import codebook, exact
from sottovoce.privacy.calibration import calibrate
from sottovoce.privacy.calibration import gaussian as calibrate_gaussian
from sottovoce.privacy.domains import Ball, Interval
from sottovoce.privacy.mechanisms import RESOLUTION, Gaussian, Laplace, Mechanism, Sphere, name_of
from sottovoce.protocol.budget import Budget
from sottovoce.protocol.codec import pack


def _half_noise(mechanism: Mechanism, raw: Raw) -> bytes:
    """Half of the noise that the promise needs: noise scales halved, or the weights of twice the epsilon."""
    if isinstance(mechanism, Gaussian | Laplace):
        return _grid_report(replace(mechanism, scales=tuple(scale / 2 for scale in mechanism.scales)), raw)
    twice = Budget(2 * mechanism.budget.epsilon)
    return honest(calibrate(name_of(mechanism), mechanism.domain, twice), raw)


def _unverified(mechanism: Mechanism, raw: Raw) -> bytes:
    """A grid mechanism that never checks whether its numbers keep the promise."""
    assert isinstance(mechanism, Gaussian | Laplace)
    return _grid_report(mechanism, raw)


def _missing_clip(mechanism: Mechanism, raw: Raw) -> bytes:
    """A number out of its range, put on the grid as it came."""
    domain = mechanism.domain
    assert isinstance(mechanism, Laplace)
    assert isinstance(domain, Interval)
    unclipped = np.array([(raw[0] - domain.middle) / domain.half])
    return exact._on_grid(mechanism, unclipped, [exact._discrete_laplace(RESOLUTION, exact.SYSTEM)])


def _seeded(mechanism: Mechanism, raw: Raw) -> bytes:
    """An honest mechanism on a generator that starts alike on every device."""
    return exact.privatise(mechanism, embed(mechanism, raw), _SEEDED)


def _redrawn_seed(mechanism: Mechanism, raw: Raw) -> bytes:
    """A new seed until some candidate is near enough to the message: now the seed itself speaks of the message."""
    assert isinstance(mechanism, Sphere)
    lifted = codebook.lift(embed(mechanism, raw), mechanism.domain.radius)
    while True:
        report = honest(mechanism, raw)
        nearest = codebook.scores(report[: codebook.SEED_BYTES], lifted, mechanism.candidates).max()
        if nearest >= 0.994 * codebook.FIXED_POINT:  # the median, for 256 candidates in three dimensions
            return report


def _threshold_cap(mechanism: Mechanism, raw: Raw) -> bytes:
    """The cap is everything near enough, not exactly `cap` candidates: the normaliser depends on the message."""
    assert isinstance(mechanism, Sphere)
    seed = exact.SYSTEM.octets(codebook.SEED_BYTES)
    lifted = codebook.lift(embed(mechanism, raw), mechanism.domain.radius)
    near = codebook.scores(seed, lifted, mechanism.candidates) >= cap_threshold(mechanism)
    weights = [mechanism.inside if n else mechanism.outside for n in near]
    draw = exact.SYSTEM.below(sum(weights))
    index = next(i for i in range(len(weights)) if draw < sum(weights[: i + 1]))
    return seed + pack([index], 2)


def _sent_rank(mechanism: Mechanism, raw: Raw) -> bytes:
    """An honest report, and with it how near the candidate was."""
    assert isinstance(mechanism, Sphere)
    report = honest(mechanism, raw)
    seed, index = report[: codebook.SEED_BYTES], int.from_bytes(report[codebook.SEED_BYTES :], "big")
    lifted = codebook.lift(embed(mechanism, raw), mechanism.domain.radius)
    order = codebook.ranking(seed, lifted, mechanism.candidates)
    return report + pack([order.tolist().index(index)], 2)


def _second_report(mechanism: Mechanism, raw: Raw) -> bytes:
    """Two honest reports of one datum, as after a crash between drawing and sending."""
    return honest(mechanism, raw) + honest(mechanism, raw)


class _ConstantSeed:
    """An `Entropy` that every process starts with the same seed."""

    def __init__(self) -> None:
        self._random = random.Random(0)

    def below(self, bound: int) -> int:
        return self._random.randrange(bound)

    def octets(self, count: int) -> bytes:
        return self._random.randbytes(count)


_SEEDED: exact.Entropy = _ConstantSeed()


def _grid_report(mechanism: Gaussian | Laplace, raw: Raw) -> bytes:
    sampler = exact._discrete_gaussian if isinstance(mechanism, Gaussian) else exact._discrete_laplace
    message = embed(mechanism, raw)
    return exact._on_grid(mechanism, message, [sampler(RESOLUTION, exact.SYSTEM) for _ in message])


def planted_subjects() -> list[Subject]:
    """Every planted bug, at the promise it breaks.

    >>> sorted({str(subject.planted) for subject in planted_subjects()})[:3]
    ['classical formula', 'half noise', 'missing clip']
    """
    scalar, ball, one = Interval(), Ball(2), Budget(1.0)
    ends: tuple[Raw, Raw] = ((0.0,), (1.0,))
    opposite: tuple[Raw, Raw] = (((1.0, 0.0),), ((-1.0, 0.0),))
    sphere = calibrate("sphere", ball, one)
    # Few candidates, half of them in the cap: then the size of a threshold cap varies most from seed to seed.
    small = replace(calibrate("sphere", ball, Budget(2.0)), candidates=4, cap=2)

    def broken(bug: str, sender: Sender, mechanism: Mechanism, people: tuple[Raw, Raw], effort: float = 0.1) -> Subject:
        return Subject(mechanism=mechanism, people=people, sender=sender, planted=bug, effort=effort)

    return [
        broken("half noise", _half_noise, calibrate("levels", scalar, one), ends),
        broken("half noise", _half_noise, sphere, opposite),
        broken("half noise", _half_noise, calibrate("laplace", scalar, one), ends),
        broken("half noise", _half_noise, calibrate("gaussian", scalar, Budget(1.0, 1e-5)), ends),
        broken("classical formula", _unverified, calibrate_gaussian(scalar, Budget(20.0, 1e-5), "classical"), ends),
        broken("missing clip", _missing_clip, calibrate("laplace", scalar, one), ((0.0,), (3.0,))),
        broken("seeded randomness", _seeded, calibrate("levels", scalar, one), ends),
        broken("seeded randomness", _seeded, sphere, opposite),
        broken("redrawn seed", _redrawn_seed, sphere, opposite, effort=0.05),
        broken("threshold cap", _threshold_cap, small, opposite, effort=0.2),
        broken("rank sent along", _sent_rank, sphere, opposite, effort=0.05),
        broken("second report", _second_report, sphere, opposite, effort=0.05),
    ]
