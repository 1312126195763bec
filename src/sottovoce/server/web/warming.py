"""Rows of consented data, in the clear, as the journal keeps them."""

import secrets
from collections.abc import Sequence

import numpy as np

from sottovoce.privacy.domains import Domain, size
from sottovoce.protocol.wire import REPORT_ID_BYTES, WarmRow
from sottovoce.server.problems import Problem
from sottovoce.server.store import WARM, Report

LARGEST_NUMBER = 1e100
"""No message has a larger one; its square is still finite."""


def warm_report(task: int, domain: Domain, row: WarmRow, contexts: bytes | Sequence[bytes], day: int) -> Report:
    """The row, if it is a message of this domain; `contexts` is what it answers, one for each arm where there are."""
    width, message = size(domain), np.array(row.message)
    within = len(message) == width and bool(np.all(np.abs(message) < LARGEST_NUMBER))
    if not (within and domain.contains(message)):
        raise Problem("bad-request", f"a message of this task has {width} numbers within {domain}")
    if isinstance(contexts, bytes):
        context = contexts
    elif row.action is None or not 0 <= row.action < len(contexts):
        raise Problem("bad-request", f"an action of this task is a number below {len(contexts)}")
    else:
        context = contexts[row.action]
    return Report(task, secrets.token_bytes(REPORT_ID_BYTES), day, WARM, context, message.astype(">f8").tobytes())
