"""From what an app says to the message that is made private. Whatever the input, there is one: silence would speak.

Bad fields become features of zeros and a bad reward becomes the default, so that a report leaves all the same.
"""

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from sottovoce.client.decisions import Pending
from sottovoce.client.offers import Models
from sottovoce.client.terms import Terms
from sottovoce.privacy.domains import size
from sottovoce.protocol.contract import Contract, RewardTerms
from sottovoce.protocol.errors import BadInput
from sottovoce.protocol.wire import ModelReport, TicketReport
from sottovoce.users.fields import features

UNHEARD = object()
"""No reward came in time."""

Array = NDArray[np.floating]


def context_of(contract: Contract, raw: Any) -> tuple[Array, str]:
    """Features, one row per action; for bad input rows of zeros, which say nothing, and what was wrong."""
    try:
        return features(contract, raw), ""
    except BadInput as error:
        problem = str(error)
    except (TypeError, ValueError, AttributeError) as error:
        problem = f"not fields: {type(error).__name__}"
    given = len(raw) if isinstance(raw, Sequence) and not isinstance(raw, str | bytes) else 1
    rows = len(contract.actions) or max(1, min(given, contract.candidates))
    return np.zeros((rows, contract.task.dimension)), problem


def message_of(terms: Terms, models: Models, pending: Pending, reward: Any) -> tuple[Array, list[str]]:
    """What would be said aloud, and what to count."""
    raw = msgspec.msgpack.decode(pending.raw)
    given, notes = heard(terms.contract.reward, reward, (len(raw),) if terms.contract.task.user == "slope" else ())
    outcome = terms.outcomes.outcome(given)
    try:
        with np.errstate(over="ignore"):  # a server may send what overflows; the domain refuses the infinity
            if terms.contextual:
                return terms.user.message(models[pending.source], np.array([raw], dtype=float), 0, outcome), notes
            action = np.array(raw, dtype=float) if isinstance(raw, list) else raw
            return terms.user.message(action, None, action, outcome), notes
    except (BadInput, KeyError):  # KeyError: another process has thrown the model away
        return np.zeros(size(terms.mechanism.domain)), [*notes, "bad_input"]


def heard(terms: RewardTerms, reward: Any, shape: tuple[int, ...] = ()) -> tuple[Array, list[str]]:
    """The reward as numbers of this shape, or the default, and what to count. Clipping happens in `Outcomes`.

    >>> stars = RewardTerms(low=1.0, high=5.0, default=1.0, wait=60)
    >>> [(float(number), notes) for number, notes in (heard(stars, 4), heard(stars, 7.0), heard(stars, "five"))]
    [(4.0, []), (7.0, ['clipped']), (1.0, ['bad_input'])]
    """
    default = np.full(shape, terms.default)
    if reward is UNHEARD:
        return default, ["unobserved"]
    try:
        given = np.asarray(reward)
    except (TypeError, ValueError):
        return default, ["bad_input"]
    if given.dtype.kind not in "biuf" or given.shape != shape or not np.all(np.isfinite(given)):
        return default, ["bad_input"]
    outside = np.any((given < terms.low) | (given > terms.high))
    return given.astype(float), ["clipped"] if outside else []


def document_of(terms: Terms, pending: Pending, name: str, payload: str) -> bytes:
    """The report as it will travel: the same length for every report of this task."""
    if terms.contextual:
        return msgspec.json.encode(ModelReport(id=name, version=pending.source, gate=pending.gate, payload=payload))
    return msgspec.json.encode(TicketReport(ticket=pending.source, gate=pending.gate, payload=payload))
