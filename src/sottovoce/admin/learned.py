"""What a server has learned, in the words of the task: how good each action is, or what each field is worth."""

from typing import Any

from sottovoce.admin.remote import Remote
from sottovoce.protocol.contract import Contract
from sottovoce.protocol.fields import Category
from sottovoce.protocol.wire import Summary
from sottovoce.users.outcomes import outcomes_of


def learned(contract: Contract, remote: Remote) -> tuple[Summary, list[dict[str, Any]]]:
    """The summary, and a row for each action or coefficient; all of it comes from private reports."""
    summary = remote.settled(contract.id)
    if contract.offers == "model":
        theta = remote.model(contract.id).theta.tolist()
        return summary, [{"of": name, "worth": worth} for name, worth in zip(names(contract), theta, strict=True)]
    return summary, [_in_rewards(contract, row) for row in summary.estimates]


def names(contract: Contract) -> list[str]:
    """The names of the coefficients: those of the fields, and of the action they belong to."""
    own = ["(constant)"]
    for name, field in sorted(contract.fields.items()):
        own += [f"{name} {value}" for value in field.values] if isinstance(field, Category) else [name]
    return [f"{action}: {name}" for action in contract.actions for name in own] if contract.actions else own


def _in_rewards(contract: Contract, row: dict[str, Any]) -> dict[str, Any]:
    """The server counts losses; people speak of rewards."""
    outcomes = outcomes_of(contract)
    scale = abs(outcomes.reward(1.0) - outcomes.reward(0.0))
    known = row["outcome"] is not None
    return {
        "of": row["action"],
        "reward": float(outcomes.reward(row["outcome"])) if known else None,
        "error": scale * row["error"] if known else None,
        "reports": row["reports"],
        "share of offers": row["share"],
    }
