"""The frontier: regret against epsilon for every learner and preset in one world, as a figure, a page and a table."""

import csv
import html
import json
from collections.abc import Sequence
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from matplotlib.figure import Figure

from sottovoce.lab.choosing.candidates import Comparison
from sottovoce.lab.choosing.words import name_of
from sottovoce.lab.study.cells import Cell, CellResult, cells_of, notices_of
from sottovoce.lab.study.file import Study
from sottovoce.lab.study.page import section_of, setting_of, share_of
from sottovoce.lab.study.results import row
from sottovoce.report.figure import (
    DOTTED,
    NO_PRIVACY,
    SEVERAL,
    UNIFORM,
    headline,
    legend,
    panels,
    plain_logarithms,
    subtitle,
)
from sottovoce.report.page import footer, lift_in_words, table, verdict, whole_page

LADDER = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
"""Budgets that are drawn where nobody says which."""

LINES: tuple[Any, ...] = ("-", "--", "-.", (0, (1, 1)))
"""Of the presets: the practical one first."""

NAMES = ("learner", "preset")

SEEN = """In the rows with a report the server saw noisy reports only; with no privacy the learner saw raw data."""

NOTE = """Regret: what was lost against always playing the best action, mean over seeds ± half of its 95 % interval
(Student's t). A smaller epsilon is better for people: lower left is best."""


class Curve(NamedTuple):
    """One learner and preset at growing budgets."""

    study: Study
    results: list[CellResult]


class Frontier(NamedTuple):
    """All of them, those with less regret at the largest budget first; and what they are compared with."""

    curves: list[Curve]
    plain: CellResult
    """The learner that was asked for, without privacy."""
    uniform: CellResult

    @property
    def study(self) -> Study:
        return self.curves[0].study

    @property
    def lines(self) -> list[tuple[str, CellResult]]:
        """Those that have no epsilon."""
        return [(f"{self.plain.cell.task.learner}, no privacy", self.plain), ("uniform play", self.uniform)]


def studies_of(compared: Comparison, epsilon: Sequence[float]) -> list[tuple[Study, list[Cell]]]:
    """The study of each curve and its cells; no privacy and uniform play are run with the first."""
    found = []
    for place, candidate in enumerate(compared.candidates):
        study = msgspec.structs.replace(candidate, epsilon=sorted(set(epsilon)))
        roles = ("chosen",) if place else ("chosen", "non-private", "uniform")
        found.append((study, [cell for cell in cells_of(study, compared.worlds) if cell.role in roles]))
    return found


def frontier_of(studies: Sequence[Study], results: Sequence[Sequence[CellResult]]) -> Frontier:
    """The curves in their order, from the results of the cells of each study."""
    plain, uniform = (next(r for r in results[0] if r.cell.role == role) for role in ("non-private", "uniform"))
    private = [[result for result in some if result.cell.private] for some in results]
    curves = [Curve(study, some) for study, some in zip(studies, private, strict=True)]
    return Frontier(sorted(curves, key=lambda curve: curve.results[-1].last()[0]), plain, uniform)


def draw_frontier(title: str, frontier: Frontier, narrow: bool = False) -> Figure:
    """Regret against epsilon, both logarithmic: a colour for each learner, a kind of line for each preset."""
    figure, (panel,) = panels(1, (9.4, 7.0 if narrow else 5.2), narrow=narrow)
    learners, presets = ({getattr(curve.study, name): None for curve in frontier.curves} for name in NAMES)
    colours = dict(zip(sorted(learners), cycle(SEVERAL), strict=False))
    lines = dict(zip(sorted(presets, key=lambda name: name != "practical"), cycle(LINES), strict=False))
    for place, (study, results) in enumerate(frontier.curves):
        # A little beside each other, so that bars and equal curves are seen.
        epsilon = np.array(study.epsilon) * 1.012 ** (place - len(frontier.curves) / 2)
        mean, low, high = np.array([result.last() for result in results]).T
        colour = colours[study.learner]
        panel.plot(epsilon, mean, color=colour, linestyle=lines[study.preset], linewidth=1.8, label=name_of(study))
        panel.plot(epsilon, mean, color=colour, linestyle="", marker="o", markersize=3.5)
        panel.vlines(epsilon, np.maximum(low, 0.05 * mean), high, color=colour, linewidth=1.2, alpha=0.6)
    for (name, result), colour, line in zip(frontier.lines, (NO_PRIVACY, UNIFORM), ("-", DOTTED), strict=True):
        panel.axhline(result.last()[0], color=colour, linestyle=line, linewidth=1.6, label=name)
    plain_logarithms(panel)
    panel.set(xlabel="epsilon of one report", ylabel="regret of all people (in units of the reward)")
    panel.set_xticks(frontier.study.epsilon, [f"{epsilon:g}" for epsilon in frontier.study.epsilon])
    legend(panel, "below" if narrow else "beside", handlelength=3.2)
    if not narrow:
        subtitle(panel, f"{setting_of(frontier.study)} Bars: 95 % interval of the mean.")
        headline(figure, title)
    return figure


def remarks_of(cells: Sequence[Cell]) -> list[str]:
    """What must be said of these curves beside the figure."""
    gaussian = {f"{cell.task.delta:g}" for cell in cells if cell.private and cell.task.delta}
    weaker = [f"Gaussian reports promise epsilon with a delta of {', '.join(gaussian)}."] if gaussian else []
    return [*notices_of(cells), *weaker]


def rows_of(frontier: Frontier) -> list[dict[str, Any]]:
    """The rows of `simulate` for each point of each curve, for no privacy and for uniform play."""
    rows = [row(curve.study, result) for curve in frontier.curves for result in curve.results]
    return rows + [row(frontier.study, result) for _, result in frontier.lines]


def write_frontier(folder: Path, frontier: Frontier) -> Path:
    """Write `report.html`, `frontier.png`, `frontier.csv` and `rows.json`; returns the page."""
    cells = [result.cell for curve in frontier.curves for result in curve.results]
    title = f"Regret against epsilon in the world {cells[0].world_name!r}"
    rows = rows_of(frontier)
    _write_csv(folder / "frontier.csv", rows)
    (folder / "rows.json").write_text(json.dumps({"rows": rows}, indent=2))
    numbers = f"<h2>Regret by epsilon</h2>{_table(frontier)}"
    body = "\n".join(
        [
            f"<h1>{html.escape(title)}</h1><p class='lead'>{html.escape(setting_of(frontier.study))}</p>",
            verdict(_in_words(frontier)),
            f"<p class='note'>{SEEN}</p>",
            section_of(folder, "frontier", lambda narrow: draw_frontier(title, frontier, narrow), title, numbers),
            footer(f"Simulated with seed {frontier.study.seed}.", *remarks_of(cells)),
        ]
    )
    page = folder / "report.html"
    page.write_text(whole_page(title, body), encoding="utf-8")
    return page


def _in_words(frontier: Frontier) -> list[str]:
    """At the smallest, the middle and the largest budget: who lost least, and what that is worth."""
    budgets = frontier.study.epsilon
    sentences = []
    for place in sorted({0, len(budgets) // 2, len(budgets) - 1}):
        best = min(frontier.curves, key=lambda curve: curve.results[place].last()[0])
        result = best.results[place]
        more, share = lift_in_words(result.lift_over(frontier.uniform)[0]), share_of(result, frontier.uniform)
        start = f"At epsilon {budgets[place]:g} {name_of(best.study)} lost least"
        sentences.append(f"{start}: a person got {more}, {share:.0%} of what is possible.")
    return sentences


def _table(frontier: Frontier) -> str:
    def shown(result: CellResult) -> str:
        mean, _, high = result.last()
        return f"{mean:,.0f} ±{high - mean:,.0f}"

    budgets = [f"{epsilon:g}" for epsilon in frontier.study.epsilon]
    rows = [
        (name_of(curve.study), curve.results[0].cell.task.mechanism, *map(shown, curve.results))
        for curve in frontier.curves
    ]
    rows += [(name, "-", *[shown(result)] * len(budgets)) for name, result in frontier.lines]
    return table(("who", "report", *(f"epsilon {budget}" for budget in budgets)), rows, words=2, note=NOTE)


def _write_csv(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    columns = ("role", "learner", "preset", "mechanism", "world", "epsilon", "delta", "rounds", "seeds")
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, [*columns, "regret", "regret_low", "regret_high"], extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
