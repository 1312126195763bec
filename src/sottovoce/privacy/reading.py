"""The server side of every mechanism: a report in, an unbiased estimate out, and what its noise is like."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.privacy.base import Mechanism
from sottovoce.privacy.noise import Noise
from sottovoce.protocol.errors import WireError


def decode(mechanism: Mechanism, report: bytes) -> Any:
    """What the server learns from one report: an unbiased estimate, in the domain's natural units.

    >>> from sottovoce import Budget, Interval, calibrate
    >>> mechanism = calibrate("levels", Interval(0.0, 1.0), Budget(1.0))
    >>> [round(float(decode(mechanism, report)), 3) for report in (bytes([0]), bytes([1]))]
    [-0.582, 1.582]
    """
    return mechanism.domain.extract(decode_message(mechanism, report))


def decode_message(mechanism: Mechanism, report: bytes) -> NDArray[np.float64]:
    """The unbiased estimate of the message itself."""
    check(mechanism, report)
    return decode_messages(mechanism, [report])[0]


def decode_messages(mechanism: Mechanism, reports: Sequence[bytes]) -> NDArray[np.float64]:
    """The estimates of many messages, one a row; the reports were checked before."""
    return mechanism.decode(reports)


def check(mechanism: Mechanism, report: bytes) -> None:
    """Refuse bytes that no device would send, so that a forged report says no more than an honest one could.

    That is a wrong length, a level or candidate that there is not, or too much noise.
    """
    if len(report) != report_size(mechanism):
        raise WireError(f"this task's reports have {report_size(mechanism)} bytes, got {len(report)}")
    mechanism.check(report)


def report_size(mechanism: Mechanism) -> int:
    """Bytes of every report of this mechanism, whatever it says.

    >>> from sottovoce import Ball, Budget, calibrate
    >>> report_size(calibrate("sphere", Ball(100), Budget(1.0)))
    14
    """
    return mechanism.report_size


def noise_of(mechanism: Mechanism) -> Noise:
    """What a learner may know of this mechanism's noise.

    >>> from sottovoce import Budget, Interval, calibrate
    >>> round(noise_of(calibrate("levels", Interval(0.0, 1.0), Budget(1.0))).bound, 3)
    1.082
    """
    return mechanism.noise()
