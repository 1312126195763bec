"""What a device tells its app, and how what the app tells it becomes the message that is made private.

There always is a message: sending nothing would tell something. Bad fields become features of zeros and a bad reward
becomes the default, so that a report leaves all the same.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from sottovoce.client.tables import Pending
from sottovoce.client.terms import Terms
from sottovoce.privacy.domains import Interval, size
from sottovoce.privacy.mechanisms import Mechanism
from sottovoce.protocol.codec import to_text
from sottovoce.protocol.contract import ByModel, ByTicket, RewardTerms
from sottovoce.protocol.errors import BadInput, ConfigurationError
from sottovoce.protocol.wire import ModelReport, TicketReport
from sottovoce.users.fields import features

NOT_OBSERVED = object()
"""No reward came in time."""

Array = NDArray[np.floating]


@dataclass(frozen=True)
class Decision:
    """What to show, and under which id to tell how it went."""

    id: str
    action: Any
    """The number of an action, a point, the points to try, or the numbers of the recommended arms."""
    name: str
    reported: bool
    """True if exactly one report will be sent; False if nothing will be."""
    problem: str = ""
    """For developers: what was wrong with the input, or why there was no offer. Never sent."""


@dataclass(frozen=True)
class Waiting:
    """One report as it will leave, what it cost, and when it is due (seconds since 1970)."""

    report: dict[str, Any]
    epsilon: float
    delta: float
    due: float


@dataclass(frozen=True)
class Sent:
    """What became of the reports that were due."""

    acknowledged: int = 0
    refused: int = 0
    waiting: int = 0
    """All that is left in the outbox."""


def context_of(offers: ByModel, raw: Any) -> tuple[Array, str]:
    """Features, one row per action; for bad input rows of zeros, which say nothing, and what was wrong."""
    try:
        return features(offers, raw), ""
    except BadInput as error:
        problem = str(error)
    except Exception as error:  # whatever an app gives
        problem = f"not fields: {type(error).__name__}"
    given = len(raw) if isinstance(raw, Sequence) and not isinstance(raw, str | bytes) else 1
    rows = len(offers.actions) or max(1, min(given, offers.candidates))
    return np.zeros((rows, offers.dimension)), problem


def kept_of(model: Any, context: Array, action: int) -> list[list[float]]:
    """The rows of features that the message will need, the chosen one first; a contrast is one with all the others."""
    contrast = getattr(model, "contrast", 0.0) > 0
    return [context[action].tolist(), *(np.delete(context, action, axis=0).tolist() if contrast else ())]


def baseline_of(offers: ByModel, baseline: int | str, number: int) -> int:
    """The app's own choice among so many actions, by its number or its name."""
    index = offers.actions.index(baseline) if baseline in offers.actions else baseline
    if isinstance(index, int) and 0 <= index < number:
        return index
    raise ConfigurationError(f"the baseline must be one of {number} actions, got {baseline!r}")


def name_of(offers: ByModel | ByTicket, action: Any) -> str:
    """The name of an action, or of several; empty where actions have none."""
    numbers = action if isinstance(action, tuple) else (action,)
    return ", ".join(offers.actions[number] for number in numbers) if offers.actions else ""


def mechanism_of(terms: Terms, pending: Pending) -> Mechanism:
    """Through which it is made private: the permit says whether it teaches or measures."""
    gates = terms.mechanisms if terms.purpose_of(pending) == "learning" else terms.measuring
    return gates[pending.gate]


def message_of(
    terms: Terms, models: Mapping[str, Any], pending: Pending, mechanism: Mechanism, reward: Any
) -> tuple[Array, list[str]]:
    """What is made private through this mechanism, and what to count."""
    raw, offers = msgspec.msgpack.decode(pending.raw), terms.contract.offers
    shape = (len(raw),) if isinstance(offers, ByTicket) and offers.slopes else ()
    given, notes = observed(terms.contract.reward, reward, shape)
    try:
        reward = terms.contract.reward.to_unit(given)
        if isinstance(offers, ByModel) and isinstance(mechanism.domain, Interval):
            return mechanism.domain.embed(reward), notes  # it measures: the reward alone
        if isinstance(offers, ByModel):
            rows = np.atleast_2d(np.array(raw, dtype=float))  # one row in what earlier versions kept
            return terms.user.message(models[pending.version], rows, 0, reward), notes
        action = np.array(raw, dtype=float) if isinstance(raw, list) else raw
        return terms.user.message(action, None, action, reward), notes
    except (BadInput, KeyError):  # KeyError: another process has thrown the model away
        return np.zeros(size(mechanism.domain)), [*notes, "bad_input"]


def observed(terms: RewardTerms, reward: Any, shape: tuple[int, ...] = ()) -> tuple[Array, list[str]]:
    """The reward as numbers of this shape, or the default, and what to count. `to_unit` clips.

    >>> stars = RewardTerms(low=1.0, high=5.0, default=1.0, wait=60, unit_low=0.0, unit_high=1.0)
    >>> [(float(number), notes) for number, notes in (observed(stars, given) for given in (4, 7.0, "five"))]
    [(4.0, []), (7.0, ['clipped']), (1.0, ['bad_input'])]
    """
    default = np.full(shape, terms.default)
    if reward is NOT_OBSERVED:
        return default, ["unobserved"]
    try:
        given = np.asarray(reward)
    except Exception:  # whatever an app gives
        return default, ["bad_input"]
    if given.dtype.kind not in "biuf" or given.shape != shape or not np.all(np.isfinite(given)):
        return default, ["bad_input"]
    outside = np.any((given < terms.low) | (given > terms.high))
    return given.astype(float), ["clipped"] if outside else []


def document_of(terms: Terms, pending: Pending, payload: bytes) -> bytes:
    """The report as it will travel: the same length for every report of this task, also for one that measures."""
    payload = payload.ljust(terms.mechanisms[pending.gate].report_size, b"\0")
    drawn = {"nonce": pending.nonce, "gate": pending.gate, "payload": to_text(payload)}
    if isinstance(terms.contract.offers, ByModel):
        return msgspec.json.encode(ModelReport(permit=pending.permit, version=pending.version, **drawn))
    return msgspec.json.encode(TicketReport(ticket=pending.permit, **drawn))
