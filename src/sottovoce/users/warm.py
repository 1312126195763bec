"""Answers that people gave in public or with consent, as a device would send them: for a task's warm start.

Every row becomes the message of its domain, clipped and bounded like any other, but without noise. This runs on the
machine of whoever holds the rows; nothing here may be done with data that was promised to stay on a device.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from sottovoce.privacy.domains import domain_from
from sottovoce.protocol.codec import from_decimals
from sottovoce.protocol.contract import ByModel, Contract, RewardTerms
from sottovoce.protocol.errors import BadInput
from sottovoce.protocol.team import WarmRow
from sottovoce.users import user_of
from sottovoce.users.cells import numbers_of, values_of
from sottovoce.users.fields import RawFields, features


class Answer(NamedTuple):
    """One row: what was seen, what was chosen of it, and how it went."""

    arm: int | None
    """What the server must know of the choice; None where the features say it all."""
    context: Any
    action: int
    reward: float


def columns_of(contract: Contract) -> tuple[str, ...]:
    """The columns that a table of answers must have: the fields, the action by name, the reward."""
    offers = contract.offers
    if not offers.arms:
        raise BadInput(f"{contract.id} chooses points; such a task cannot be started from a table")
    fields = sorted(offers.fields) if isinstance(offers, ByModel) else []
    return (*fields, *(("action",) if offers.actions else ()), "reward")


def answers_of(contract: Contract, rows: Iterable[Mapping[str, str]]) -> list[Answer]:
    """The rows of a table as text, understood; what cannot be is refused, with the number of its row."""
    wanted, rows = columns_of(contract), list(rows)
    if rows and set(rows[0]) != set(wanted):
        raise BadInput(f"the columns must be {', '.join(wanted)}; got {', '.join(rows[0])}")
    columns = {name: [row[name] for row in rows] for name in wanted}
    rewards = numbers_of("reward", columns["reward"])
    fields = contract.offers.fields if isinstance(contract.offers, ByModel) else {}
    said = {name: values_of(name, field, columns[name]) for name, field in fields.items()}
    found = []
    for place, reward in enumerate(rewards):
        raw = {name: values[place] for name, values in said.items()}
        try:
            choice = _choice(contract, raw, columns["action"][place] if contract.offers.actions else "")
            found.append(Answer(*choice, _reward(contract.reward, reward)))
        except BadInput as error:
            raise BadInput(f"row {place + 1}: {error}") from error
    return found


def warm_rows(contract: Contract, answers: Iterable[Answer], model: Any = None) -> list[WarmRow]:
    """What devices would send of these answers, without noise; `model` is the one that they depend on, if any."""
    user = user_of(contract.offers.user, domain_from(from_decimals(contract.domain)), contract.offers.link)
    return [
        WarmRow(message=np.asarray(user.message(model, context, action, reward), dtype=float).tolist(), action=arm)
        for arm, context, action, reward in answers
    ]


def _reward(terms: RewardTerms, given: float) -> float:
    if not terms.low <= given <= terms.high:
        raise BadInput(f"the reward {given:g} is outside the declared range, {terms.low:g} to {terms.high:g}")
    return float(terms.to_unit(given))


def _choice(contract: Contract, raw: RawFields, name: str) -> tuple[int | None, Any, int]:
    offers, action = contract.offers, 0
    if offers.actions:
        if name not in offers.actions:
            raise BadInput(f"unknown action {name!r}; this task has: {', '.join(offers.actions)}")
        action = offers.actions.index(name)
    if not isinstance(offers, ByModel):
        return action, None, action
    return None, features(offers, raw if offers.actions else [raw]), action
