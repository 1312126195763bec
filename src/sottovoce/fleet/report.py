"""What people see of a fleet's run: regret over people, beside the simulator and uniform play, on one page."""

import html
from typing import Any, NamedTuple

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sottovoce.admin.learned import cell
from sottovoce.catalogue.task import learning_of
from sottovoce.fleet.compare import Interval
from sottovoce.fleet.run import FleetResult
from sottovoce.lab.study.page import CHOSEN, STYLE, svg_of, whole_page
from sottovoce.lab.study.results import versions
from sottovoce.protocol.contract import Contract
from sottovoce.protocol.wire import Summary


class Story(NamedTuple):
    """One task from its contract to what was learned."""

    contract: Contract
    result: FleetResult
    interval: Interval
    summary: Summary
    rows: list[dict[str, Any]]
    """What was learned: see `learned`."""


def page_of(stories: list[Story]) -> str:
    """The whole page; it needs nothing else."""
    heading = "Sottovoce: devices whisper, the server learns"
    people = sum(story.result.people for story in stories)
    body = (
        "<style>td:nth-child(n+2), th:nth-child(n+2) { text-align: right; }</style>"
        f"<h1>{heading}</h1><p class='lead'>{people:,} simulated people, each with a real device, against a real "
        "server over HTTP. The server saw private reports only.</p>"
        f"<figure>{svg_of(draw(stories))}</figure>"
        "<p class='note'>Regret: what was lost against always choosing the best action. Band: 99 of 100 single runs of "
        "the simulator in the same world end inside it.</p>"
        + _table("Regret and its price", RESULT, [_result_row(story) for story in stories])
        + "".join(_learned(story) for story in stories)
        + f"<footer>{html.escape(', '.join(f'{name} {number}' for name, number in versions().items()))}</footer>"
    )
    return whole_page(heading, body)


def draw(stories: list[Story]) -> Figure:
    """A panel per task: the fleet, the simulator's band, uniform play."""
    with matplotlib.rc_context({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False}):
        figure = Figure(figsize=(5.4 * len(stories) + 0.6, 4.2), layout="constrained")
        for panel, story in zip(figure.subplots(1, len(stories), squeeze=False)[0], stories, strict=True):
            _draw_story(panel, story)
        return figure


def _draw_story(panel: Axes, story: Story) -> None:
    result, interval = story.result, story.interval
    colour, dash = STYLE["uniform"]
    people = np.arange(1, len(result.curve) + 1)
    panel.plot(people, np.cumsum(result.uniform_curve), color=colour, linestyle=dash, linewidth=2, label="uniform play")
    panel.fill_between(interval.rounds, interval.low, interval.high, color=CHOSEN[3], alpha=0.45, linewidth=0,
                       label="simulator, 99 of 100 runs")  # fmt: skip
    panel.plot(people, np.cumsum(result.curve), color=CHOSEN[0], linewidth=2, label="the fleet")
    panel.set_title(story.contract.title or story.contract.id, loc="left", fontsize=11, fontweight="bold")
    panel.set(xlabel="people", ylabel="cumulated regret", xlim=(0, None), ylim=(0, None))
    panel.grid(alpha=0.25, linewidth=0.6)
    panel.legend(frameon=False, loc="upper left")


RESULT = ("task", "learner", "people", "regret", "simulator", "uniform", "epsilon a report", "bytes a report")


def _result_row(story: Story) -> list[str]:
    result, interval, learning = story.result, story.interval, learning_of(story.contract)
    return [
        story.contract.id,
        learning.learner,
        f"{result.people:,}",
        f"{result.regret:,.0f}",
        f"{interval.low[-1]:,.0f} to {interval.high[-1]:,.0f}",
        f"{result.regret_uniform:,.0f}",
        f"{result.epsilon:g}",
        f"{result.bytes_per_report}",
    ]


def _learned(story: Story) -> str:
    title = f"What {story.contract.id} learned from {story.summary.learned:,} reports"
    cells = [[cell(value) for value in row.values()] for row in story.rows]
    return _table(title, list(story.rows[0]), cells) if cells else ""


def _table(title: str, columns: tuple[str, ...] | list[str], rows: list[list[str]]) -> str:
    head = "".join(f"<th>{html.escape(column)}</th>" for column in columns)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return (
        f"<h2>{html.escape(title)}</h2><div class='scroll'><table><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table></div>"
    )
