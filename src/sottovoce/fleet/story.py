"""The page of a fleet's run: regret over people, beside the simulator and uniform play, and what was learned."""

import html
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sottovoce.catalogue.task import learning_of
from sottovoce.fleet.compare import Band
from sottovoce.fleet.run import FleetResult
from sottovoce.protocol.contract import Contract
from sottovoce.protocol.wire import Summary
from sottovoce.report.figure import CHOSEN, DOTTED, UNIFORM, grid, panels, svg_of
from sottovoce.report.page import cell, footer, table, whole_page


class Story(NamedTuple):
    """One task from its contract to what was learned."""

    contract: Contract
    result: FleetResult
    band: Band
    summary: Summary
    rows: list[dict[str, Any]]
    """What was learned, a row for each action or coefficient."""


def page_of(stories: list[Story]) -> str:
    """The whole page; it needs nothing else."""
    heading = "Sottovoce: devices answer in private, the server learns"
    people = sum(story.result.people for story in stories)
    body = (
        f"<h1>{heading}</h1><p class='lead'>{people:,} simulated people, each with a real device, against a real "
        "server over HTTP. The server saw private reports only.</p>"
        f"<figure>{svg_of(draw(stories))}</figure>"
        "<p class='note'>Regret: what was lost against always choosing the best action. Band: 99 of 100 single runs of "
        "the simulator in the same world end inside it.</p>"
        + _table("Regret and its price", RESULT, [_result_row(story) for story in stories], words=2)
        + "".join(_learned(story) for story in stories)
        + footer()
    )
    return whole_page(heading, body)


def draw(stories: list[Story]) -> Figure:
    """A panel per task: the fleet, the simulator's band, uniform play."""
    figure, axes = panels(len(stories), (5.4 * len(stories) + 0.6, 4.2))
    for panel, story in zip(axes, stories, strict=True):
        _draw_story(panel, story)
    return figure


def _draw_story(panel: Axes, story: Story) -> None:
    result, band = story.result, story.band
    people = np.arange(1, len(result.curve) + 1)
    uniform = np.cumsum(result.uniform_curve)
    panel.plot(people, uniform, color=UNIFORM, linestyle=DOTTED, linewidth=2, label="uniform play")
    shade = {"color": CHOSEN[3], "alpha": 0.45, "linewidth": 0}
    panel.fill_between(band.rounds, band.low, band.high, label="simulator, 99 of 100 runs", **shade)
    panel.plot(people, np.cumsum(result.curve), color=CHOSEN[0], linewidth=2, label="the fleet")
    panel.set_title(story.contract.title or story.contract.id, loc="left", fontsize=11, fontweight="bold")
    panel.set(xlabel="people", ylabel="cumulated regret", xlim=(0, None), ylim=(0, None))
    grid(panel)
    panel.legend(frameon=False, loc="upper left")


RESULT = ("task", "learner", "people", "regret", "simulator", "uniform", "epsilon a report", "bytes a report")


def _result_row(story: Story) -> list[str]:
    result, band, learning = story.result, story.band, learning_of(story.contract)
    return [
        story.contract.id,
        learning.learner,
        f"{result.people:,}",
        f"{result.regret:,.0f}",
        f"{band.low[-1]:,.0f} to {band.high[-1]:,.0f}",
        f"{result.regret_uniform:,.0f}",
        f"{result.epsilon:g}",
        f"{result.bytes_per_report}",
    ]


def _learned(story: Story) -> str:
    title = f"What {story.contract.id} learned from {story.summary.learned:,} reports"
    cells = [[cell(value) for value in row.values()] for row in story.rows]
    return _table(title, list(story.rows[0]), cells) if cells else ""


def _table(title: str, columns: Sequence[str], rows: list[list[str]], words: int = 1) -> str:
    return f"<h2>{html.escape(title)}</h2>{table(columns, rows, words=words)}"
