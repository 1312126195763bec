"""What a server has learned, in the words of the task: how good each action is, or what each field is worth."""

from typing import Any

from sottovoce.admin.remote import Remote
from sottovoce.protocol.contract import ByModel, Contract
from sottovoce.protocol.fields import Category
from sottovoce.protocol.wire import Summary


def learned(contract: Contract, remote: Remote) -> tuple[Summary, list[dict[str, Any]]]:
    """The summary, and a row for each action or coefficient."""
    summary = remote.settled(contract.id)
    if isinstance(contract.offers, ByModel):
        theta = remote.model(contract).theta.tolist()
        names = coefficients(contract.offers)
        return summary, [{"of": name, "worth": worth} for name, worth in zip(names, theta, strict=True)]
    return summary, [
        {
            "of": row.action,
            "reward": row.reward,
            "error": row.error,
            "reports": row.reports,
            "share of offers": row.share,
        }
        for row in summary.estimates
    ]


def coefficients(offers: ByModel) -> list[str]:
    """The names of the coefficients: those of the fields, and of the action they belong to."""
    own = ["(constant)"]
    for name, field in sorted(offers.fields.items()):
        own += [f"{name} {value}" for value in field.values] if isinstance(field, Category) else [name]
    return [f"{action}: {name}" for action in offers.actions for name in own] if offers.actions else own
