"""What an app declares of a flag, and how an action becomes the flag's value and the other way round."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from openfeature.exception import GeneralError, TypeMismatchError

from sottovoce.protocol.contract import ByModel, Contract

KINDS: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "object": (dict, list),
    "boolean": (bool,),
    "integer": (int,),
    "float": (float,),
}


@dataclass(frozen=True)
class Flag:
    """One flag: the task that decides it, and the value of each action.

    >>> Flag(values={"Short": {"lines": 1}, "Long": {"lines": 3}}).value("Long")
    {'lines': 3}
    >>> Flag().value("Long")
    'Long'
    """

    task: str = ""
    """The id of the task; the flag's key when left out."""
    values: Mapping[str, Any] = field(default_factory=dict)
    """By the name of the action; the name itself when left out."""
    event: str = ""
    """The tracking event whose value is the reward; the flag's key when left out."""

    def value(self, action: str) -> Any:
        return self.values.get(action, action)

    def check(self, contract: Contract, kind: str) -> None:
        """Refuse what was not declared for this task, and a question for another type than its values have."""
        actions = contract.offers.actions
        if not actions:
            raise GeneralError(f"task {contract.id!r} has no named actions; a flag needs them")
        if self.values and set(self.values) != set(actions):
            raise GeneralError(
                f"the values of a flag of {contract.id!r} are of {sorted(actions)}, got {sorted(self.values)}"
            )
        if not all(type(self.value(action)) in KINDS[kind] for action in actions):
            raise TypeMismatchError(f"the values of a flag of task {contract.id!r} are not of type {kind}")

    def baseline(self, contract: Contract, default: Any) -> int:
        """The action whose value is the flag's default: what the app would show by itself. Else the first."""
        matches = (number for number, name in enumerate(contract.offers.actions) if self.value(name) == default)
        return next(matches, 0)


def fields_of(contract: Contract, attributes: Mapping[str, Any]) -> dict[str, Any] | None:
    """Of all that the context has, what the task declares; nothing where it takes no features."""
    if not isinstance(contract.offers, ByModel):
        return None
    return {name: attributes[name] for name in contract.offers.fields if name in attributes}
