"""What a statement says of a shuffler: what is claimed where the contract declares one, and what would be elsewhere."""

from collections.abc import Iterator

from sottovoce.protocol.budget import Budget
from sottovoce.report import odds
from sottovoce.report.statement import words
from sottovoce.report.statement.blocks import Block, Points, Section, Table
from sottovoce.report.statement.facts import Facts

USELESS = 0.9
"""A batch that leaves more than this share of epsilon adds next to nothing."""
SILENT = "The theorem is about promises without a delta, so it says nothing about this task."
SOURCE = "(Feldman, McMillan and Talwar, FOCS 2021.)"


def section(facts: Facts) -> Section:
    if facts.batch:
        return Section("Mixed with other reports by a shuffler", list(_declared(facts)))
    return Section("Mixed with other reports: a hypothetical number", list(_hypothetical(facts)))


def _declared(facts: Facts) -> Iterator[Block]:
    yield (
        "Devices of this task report to a shuffler, which issues the permits and passes reports on in batches of at "
        f"least {facts.batch:,}. The server takes reports from it alone. None of this is needed for the promises above."
    )
    if facts.promise.delta:
        yield SILENT
        return
    yield "To the server, and to all who see what it sees, a report promises more than it does alone, if:"
    yield Points(words.CONDITIONS)
    if not facts.shuffled:
        yield "How much more is not computed here; `sottovoce statement` computes it."
        return
    rows = [[f"{one.reports:,}", *_cells(one.promise)] for one in facts.shuffled]
    yield Table(["honest reports in a batch", "epsilon of one", "delta", "even guess"], rows)
    if facts.shuffled[-1].promise.epsilon > USELESS * facts.promise.epsilon:
        yield "At this epsilon so small a batch adds next to nothing. A larger one would."
    names = ("one report", f"in {facts.contract.limit.window_days} days", "ever")
    rows = [
        [name, f"{reports:,}", *_cells(spent)]
        for name, (spent, reports) in zip(names, facts.repeated, strict=True)
        if reports
    ]
    yield f"Of all reports of one device, where {facts.batch:,} in each batch are honest:"
    yield Table(["of one device", "reports", "epsilon", "delta", "even guess"], rows)
    yield f"To the shuffler itself, and to whoever works with it, a report is {facts.promise}. {SOURCE}"


def _hypothetical(facts: Facts) -> Iterator[Block]:
    if facts.promise.delta:
        yield SILENT
    elif not facts.shuffled:
        yield "Not computed here; `sottovoce statement` and `sottovoce shuffle` compute it."
    else:
        yield (
            "No shuffler runs here. If a separate, trusted one forgot who sent what and in which order, before the "
            "server reads anything, and everybody sent one report, then of all these reports together one could say:"
        )
        rows = [[f"{one.reports:,}", *_cells(one.promise)] for one in facts.shuffled]
        yield Table(["reports mixed", "epsilon", "delta", "even guess"], rows)
        yield (
            "The first row is what comes under one published model, the last all that is expected. To whoever sees a "
            f"report before it is mixed, it is {facts.promise}. {SOURCE}"
        )


def _cells(promise: Budget) -> list[str]:
    """Rounded up."""
    delta = odds.rounded_up(promise.delta) if promise.delta else 0.0
    return [f"{odds.rounded_up(promise.epsilon):g}", f"{delta:g}", odds.even_guess(promise)]
