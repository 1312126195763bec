"""What the dashboard shows of a task, as data: counts, words, ranges. There is nothing of a person in it to show."""

from collections.abc import Sequence
from typing import Any

import msgspec

from sottovoce.catalogue.task import learning_of
from sottovoce.catalogue.task_file import TaskFile
from sottovoce.protocol import team, wire
from sottovoce.protocol.contract import ByModel, Contract
from sottovoce.protocol.offers import model_from
from sottovoce.protocol.strict import Strict
from sottovoce.report.describe import alarms, coefficients, costs, facts, range_of
from sottovoce.report.learning import expected, is_learning
from sottovoce.report.promotion import before_promotion
from sottovoce.server.admins import Role
from sottovoce.server.store.base import HOUR, Tally
from sottovoce.server.web.task import LiveTask

LARGEST_COEFFICIENTS = 20
"""Of a model: those furthest from zero."""


class Line(Strict, frozen=True, kw_only=True):
    """One task in the list."""

    status: wire.TaskStatus
    title: str
    reports: int
    """Private reports in the journal."""
    behind: int
    """Of them and of rows of consented data: how many are not learned from yet."""
    alarms: int
    """How many things somebody should look at."""


class Lines(Strict, frozen=True, kw_only=True):
    token: str
    """The name of the token that asks."""
    role: Role
    """What it allows."""
    tasks: list[Line]


class Named(Strict, frozen=True, kw_only=True):
    """A fact, an alarm or a cost: its name and a sentence."""

    name: str
    sentence: str


class Range(Strict, frozen=True, kw_only=True):
    """Where the mean reward of an action lies, with 95 % confidence at every time at once."""

    low: float
    high: float


class Coefficient(Strict, frozen=True, kw_only=True):
    """What one feature is worth to the newest model."""

    name: str
    worth: float


class Counted(Strict, frozen=True, kw_only=True):
    """Reports within an hour, or within a day where that is some days ago."""

    start: int
    """Seconds since 1970."""
    verdicts: dict[str, int]


class Overview(Strict, frozen=True, kw_only=True):
    """Everything that the dashboard shows of one task."""

    line: Line
    learner: str
    horizon: int
    """About how many reports are expected."""
    reward_low: float
    reward_high: float
    learning: str
    """Is it learning? yes, partly, not yet, no, or not known."""
    because: str
    """Why, in a sentence."""
    promotion: str
    """What is known before an apprentice is promoted; empty for a task that is live."""
    summary: team.Summary | None
    """None while the first offer is being prepared."""
    ranges: list[Range | None]
    """One for each estimate of the summary."""
    coefficients: list[Coefficient]
    """Of the newest model, those furthest from zero first; none for a task with tickets."""
    facts: list[Named]
    costs: list[Named]
    alarms: list[Named]
    prediction: team.Prediction | None
    expected: str
    """The prediction in words, beside where the task is now; empty where there is none."""
    history: list[Counted]
    actions: list[team.Action]
    """The newest things that were done with the task, the newest first."""
    now: int
    """Seconds since 1970, by the server's clock."""


class TaskText(Strict, frozen=True, kw_only=True):
    """A task file as a team writes it."""

    text: str
    """TOML."""


class Checked(Strict, frozen=True, kw_only=True):
    """A task file that would be taken: what to create it with, and what it promises."""

    file: TaskFile
    costs: list[Named]


def line_of(task: LiveTask, now: float) -> Line:
    return Line(
        status=task.status(now),
        title=task.contract.title,
        reports=task.reports,
        behind=task.behind,
        alarms=len(list(alarms(task.summary()))) if task.ready else int(task.broken),
    )


def overview_of(task: LiveTask, history: Sequence[Tally], actions: list[team.Action], now: float) -> Overview:
    contract, learning = task.contract, learning_of(task.contract)
    summary = task.summary() if task.ready else None
    predicted = task.row.prediction
    prediction = msgspec.json.decode(predicted, type=team.Prediction) if predicted else None
    word, because = is_learning(contract, summary) if summary else ("not yet", "The first offer is being prepared.")
    return Overview(
        line=line_of(task, now),
        learner=learning.learner,
        horizon=learning.horizon,
        reward_low=contract.reward.low,
        reward_high=contract.reward.high,
        learning=word,
        because=because,
        promotion=before_promotion(contract, summary) if summary and task.row.mode == "apprentice" else "",
        summary=summary,
        ranges=[_range(contract, row) for row in summary.estimates] if summary else [],
        coefficients=_coefficients(task),
        facts=named(facts(contract, task.status(now), summary)) if summary else [],
        costs=named(costs(contract)),
        alarms=named(alarms(summary)) if summary else [],
        prediction=prediction,
        expected=expected(prediction, task.reports) if prediction else "",
        history=_counted(history),
        actions=actions,
        now=int(now),
    )


def named(pairs: Any) -> list[Named]:
    return [Named(name=name, sentence=sentence) for name, sentence in pairs]


def _range(contract: Contract, row: team.ArmEstimate) -> Range | None:
    ends = range_of(contract, row)
    return Range(low=ends[0], high=ends[1]) if ends else None


def _coefficients(task: LiveTask) -> list[Coefficient]:
    offers = task.contract.offers
    if not (isinstance(offers, ByModel) and task.ready):
        return []
    theta = model_from(task.model(), offers.model, offers.dimension).theta.tolist()
    rows = [Coefficient(name=name, worth=worth) for name, worth in zip(coefficients(offers), theta, strict=True)]
    return sorted(rows, key=lambda row: -abs(row.worth))[:LARGEST_COEFFICIENTS]


def _counted(history: Sequence[Tally]) -> list[Counted]:
    hours: dict[int, dict[str, int]] = {}
    for one in history:
        hours.setdefault(one.hour, {})[one.verdict] = one.reports
    return [Counted(start=hour * HOUR, verdicts=verdicts) for hour, verdicts in hours.items()]
