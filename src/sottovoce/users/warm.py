"""Answers that people gave in public or with consent, as a device would speak of them: for a task's warm start.

Every row becomes the message of its domain, clipped and bounded like any other, but without noise. This runs on the
machine of whoever holds the rows; nothing here may be done with data that was promised to stay on a device.
"""

import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from sottovoce.protocol.contract import Contract
from sottovoce.protocol.errors import BadInput
from sottovoce.protocol.fields import Category, Field, Flag
from sottovoce.users import user_of
from sottovoce.users.fields import features
from sottovoce.users.outcomes import outcomes_of

FLAGS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


class Case(NamedTuple):
    """One row: what was seen, what was chosen of it, and how it went."""

    arm: int | None
    """What the server must know of the choice; None where the features say it all."""
    context: Any
    action: int
    outcome: float


class Answer(NamedTuple):
    """A message without noise, and the arm it is about."""

    arm: int | None
    message: list[float]


def columns_of(contract: Contract) -> tuple[str, ...]:
    """The columns that a table of answers must have: the fields, the action by name, the reward."""
    if not (contract.actions or contract.fields):
        raise BadInput(f"{contract.id} chooses points; such a task cannot be started from a table")
    return (*sorted(contract.fields), *(("action",) if contract.actions else ()), "reward")


def cases(contract: Contract, rows: Iterable[Mapping[str, str]]) -> list[Case]:
    """The rows of a table as text, understood; a bad one is refused by its number."""
    outcomes, wanted, found = outcomes_of(contract), set(columns_of(contract)), []
    for number, row in enumerate(rows, 1):
        if set(row) != wanted:
            raise BadInput(f"row {number} must have the columns {', '.join(columns_of(contract))}")
        try:
            outcome = float(outcomes.outcome(_number("reward", row["reward"])))
            found.append(Case(*_choice(contract, row), outcome))
        except BadInput as error:
            raise BadInput(f"row {number}: {error}") from error
    return found


def answers(contract: Contract, cases: Iterable[Case], public: Any = None) -> list[Answer]:
    """What devices would say of these cases, but for the noise; `public` is the model, where that depends on it.

    >>> from datetime import date
    >>> from sottovoce.catalogue.task_file import Privacy, TaskFile
    >>> from sottovoce.catalogue.resolve import contract_of
    >>> file = TaskFile(id="h", learner="thompson", actions=("a", "b"), horizon=9, privacy=Privacy(epsilon=1.0),
    ...                 expires=date(2100, 1, 1))
    >>> answers(contract_of(file), cases(contract_of(file), [{"action": "b", "reward": "1"}]))
    [Answer(arm=1, message=[-1.0])]
    """
    user = user_of(contract.task)
    return [
        Answer(arm, np.asarray(user.message(public, context, action, outcome), dtype=float).tolist())
        for arm, context, action, outcome in cases
    ]


def _choice(contract: Contract, row: Mapping[str, str]) -> tuple[int | None, Any, int]:
    action = 0
    if contract.actions:
        if row["action"] not in contract.actions:
            raise BadInput(f"unknown action {row['action']!r}; this task has: {', '.join(contract.actions)}")
        action = contract.actions.index(row["action"])
    if not contract.fields:
        return action, None, action
    raw = {name: _value(name, field, row[name]) for name, field in contract.fields.items()}
    return None, features(contract, raw if contract.actions else [raw]), action


def _value(name: str, field: Field, text: str) -> float | bool | str:
    match field:
        case Category():
            return text
        case Flag():
            if text.lower() not in FLAGS:
                raise BadInput(f"{name!r} must be true or false, got {text!r}")
            return FLAGS[text.lower()]
        case _:
            return _number(name, text)


def _number(name: str, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise BadInput(f"{name!r} must be a finite number, got {text!r}")
    return number
