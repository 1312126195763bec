"""What a server has learned of a task, as rows for a table."""

from typing import Any

from sottovoce.admin.remote import Remote
from sottovoce.protocol.contract import ByModel, Contract
from sottovoce.protocol.team import Summary
from sottovoce.report.describe import coefficients, range_of
from sottovoce.report.page import cell

ESTIMATE = ("of", "reward", "error", "95 %, at all times", "reports", "share of offers")
"""What was learned of an action. The range holds at every time at once, however often somebody looks."""


def learned(contract: Contract, remote: Remote) -> tuple[Summary, list[dict[str, Any]]]:
    """The summary, and a row for each action or coefficient."""
    summary = remote.settled(contract.id)
    if isinstance(contract.offers, ByModel):
        theta = remote.model(contract).theta.tolist()
        names = coefficients(contract.offers)
        return summary, [{"of": name, "worth": worth} for name, worth in zip(names, theta, strict=True)]
    ranges = [range_of(contract, row) for row in summary.estimates]
    shown = [" to ".join(map(cell, ends)) if ends else None for ends in ranges]
    rows = [
        (row.action, row.reward, row.error, ends, row.reports, row.share)
        for row, ends in zip(summary.estimates, shown, strict=True)
    ]
    return summary, [dict(zip(ESTIMATE, row, strict=True)) for row in rows]
