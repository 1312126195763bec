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
from sottovoce.protocol.contract import Contract
from sottovoce.protocol.wire import Summary
from sottovoce.report.describe import gain_words
from sottovoce.report.figure import CHOSEN, DOTTED, UNIFORM, grid, panels, svg_of
from sottovoce.report.page import cell, footer, table, whole_page


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
        f"<figure>{svg_of(draw(runs))}</figure>"
        "<p class='note'>Regret: what was lost against always choosing the best action. Band: 99 of 100 single runs of "
        f"the simulator in the same world end inside it{nobody}.</p>"
        + _table("Regret and its price", RESULT, [_result_row(run) for run in runs], words=2)
        + "".join(_learned(run) for run in runs)
        + footer()
    )
    return whole_page(heading, body)


def draw(runs: list[TaskRun]) -> Figure:
    """A panel per task: the fleet, the simulator's band, uniform play."""
    figure, axes = panels(len(runs), (5.4 * len(runs) + 0.6, 4.2))
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
    panel.plot(people, np.cumsum(result.curve), color=CHOSEN[0], linewidth=2, label="the fleet")
    panel.set_title(run.contract.title or run.contract.id, loc="left", fontsize=11, fontweight="bold")
    panel.set(xlabel="people", ylabel="cumulated regret", xlim=(0, None), ylim=(0, None))
    grid(panel)
    panel.legend(frameon=False, loc="upper left")


RESULT = ("task", "learner", "people", "regret", "simulator", "uniform", "epsilon a report", "bytes a report")


def _result_row(run: TaskRun) -> list[str]:
    result, band, learning = run.result, run.band, learning_of(run.contract)
    return [
        run.contract.id,
        learning.learner,
        f"{result.people:,}",
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
    gain = f"<p>{html.escape(gain_words(run.summary.gain))}</p>" if run.summary.gain else ""
    return (_table(title, list(run.rows[0]), cells) if cells else "") + gain


def _table(title: str, columns: Sequence[str], rows: list[list[str]], words: int = 1) -> str:
    return f"<h2>{html.escape(title)}</h2>{table(columns, rows, words=words)}"
