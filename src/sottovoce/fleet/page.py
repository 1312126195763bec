"""The page of a fleet's run: regret over people, beside the simulator and uniform play, and what was learned."""

import html
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sottovoce.catalogue.task import learning_of
from sottovoce.fleet.people import Band
from sottovoce.fleet.run import FleetResult
from sottovoce.protocol.contract import ByModel, Contract
from sottovoce.protocol.team import Summary
from sottovoce.report.describe import gain_words
from sottovoce.report.figure import CHOSEN, DOTTED, UNIFORM, grid, legend, on_every_screen, panels
from sottovoce.report.page import cell, footer, lift_in_words, table, verdict, whole_page


class TaskRun(NamedTuple):
    """One task from its contract to what was learned."""

    contract: Contract
    result: FleetResult
    band: Band
    summary: Summary
    rows: list[dict[str, Any]]
    """What was learned, a row for each action or coefficient."""


def page_of(runs: list[TaskRun]) -> str:
    """The whole page; it needs nothing else."""
    heading = "Sottovoce: devices answer in private, the server learns"
    people = sum(run.result.people for run in runs)
    nobody = "; it holds nobody out" if any(run.summary.gain for run in runs) else ""
    body = (
        f"<h1>{heading}</h1><p class='lead'>{people:,} simulated people, each with a real device, against a real "
        "server over HTTP. The server saw private reports only.</p>"
        + verdict(_in_words(run) for run in runs)
        + on_every_screen(lambda narrow: draw(runs, narrow), "Regret over people")
        + "<p class='note'>Regret: what was lost against always choosing the best action. Band: 99 of 100 single "
        f"runs of the simulator in the same world end inside it{nobody}.</p>"
        + _table("Lift and regret, and their price", RESULT, [_result_row(run) for run in runs], RESULT_NOTE, words=2)
        + "".join(_learned(run) for run in runs)
        + footer()
    )
    return whole_page(heading, body)


def lift_of(run: TaskRun) -> float:
    """Reward that a visit brought more than under uniform play."""
    return (run.result.regret_uniform - run.result.regret) / len(run.result.curve)


def _in_words(run: TaskRun) -> str:
    result = run.result
    share = 1 - result.regret / result.regret_uniform
    inside = "inside" if run.band.holds(result.regret) else "outside"
    more = lift_in_words(lift_of(run))
    return (
        f"{run.contract.title or run.contract.id}: at epsilon {result.epsilon:g} a person got {more}, {share:.0%} of "
        f"what is possible; {inside} the range of 99 of 100 simulated runs."
    )


def draw(runs: list[TaskRun], narrow: bool = False) -> Figure:
    """A panel per task: the fleet, the simulator's band, uniform play."""
    figure, axes = panels(len(runs), (5.4 * len(runs) + 0.6, 4.2), narrow=narrow)
    for panel, run in zip(axes, runs, strict=True):
        _draw_run(panel, run)
    return figure


def _draw_run(panel: Axes, run: TaskRun) -> None:
    result, band = run.result, run.band
    people = np.arange(1, len(result.curve) + 1)
    uniform = np.cumsum(result.uniform_curve)
    panel.plot(people, uniform, color=UNIFORM, linestyle=DOTTED, linewidth=2, label="uniform play")
    shade = {"color": CHOSEN[3], "alpha": 0.45, "linewidth": 0}
    panel.fill_between(band.rounds, band.low, band.high, label="simulator, 99 of 100 runs", **shade)
    panel.plot(people, np.cumsum(result.curve), color=CHOSEN[0], linewidth=2, label="these devices")
    title = run.contract.title or run.contract.id
    panel.set_title(title, loc="left", fontsize=11, fontweight="bold", parse_math=False)
    panel.set(xlabel="people", ylabel="cumulated regret (in units of the reward)", xlim=(0, None), ylim=(0, None))
    grid(panel)
    legend(panel)


RESULT = (
    "task", "learner", "people", "lift a person", "regret", "simulator", "uniform play", "epsilon", "bytes",
)  # fmt: skip
RESULT_NOTE = """Lift: reward that a person got more than under uniform play. Regret: what all people together lost
against the best action; beside it the range of 99 of 100 simulated runs, and what uniform play would have lost. Both
in units of the reward. Epsilon and bytes: of one report."""
ARMS_NOTE = """What the server estimates from private reports, in units of the reward. Error: one standard error. 95
%, at all times: the range holds however often one looks. Share of offers: how often the action is offered now."""
MODEL_NOTE = """The public model that devices choose by, learned from private reports: what one unit of a feature adds
to the predicted reward."""


def _result_row(run: TaskRun) -> list[str]:
    result, band, learning = run.result, run.band, learning_of(run.contract)
    return [
        run.contract.id,
        learning.learner,
        f"{result.people:,}",
        f"{lift_of(run):.3f}",
        f"{result.regret:,.0f}",
        f"{band.low[-1]:,.0f} to {band.high[-1]:,.0f}",
        f"{result.regret_uniform:,.0f}",
        f"{result.epsilon:g}",
        f"{result.bytes_per_report}",
    ]


def _learned(run: TaskRun) -> str:
    aside = run.summary.gain.aside if run.summary.gain else 0
    title = f"What {run.contract.id} learned from {run.summary.learned - aside:,} reports"
    cells = [[cell(value) for value in row.values()] for row in run.rows]
    note = MODEL_NOTE if isinstance(run.contract.offers, ByModel) else ARMS_NOTE
    gain = f"<p>{html.escape(gain_words(run.summary.gain))}</p>" if run.summary.gain else ""
    return (_table(title, list(run.rows[0]), cells, note) if cells else "") + gain


def _table(title: str, columns: Sequence[str], rows: list[list[str]], note: str, words: int = 1) -> str:
    return f"<h2>{html.escape(title)}</h2>{table(columns, rows, words=words, note=note)}"
