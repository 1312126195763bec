"""The two figures of docs/performance.md, each for light and for dark pages."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import matplotlib
from comparison import Row, factor
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator
from powers import Power

from sottovoce.report.figure import grid, headline

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
THEMES = {
    "light": {"text": "#22252b", "faint": "#6b7280", "better": "#0b6e4f", "worse": "#b23a48"},
    "dark": {"text": "#e6e8eb", "faint": "#9aa3ad", "better": "#4cc79c", "worse": "#f08a94"},
}
"""On transparent ground."""
LEARNERS, REPORTS = "Rounds a second", "A private report, microseconds"
SIMULATOR = ("Seconds to import", "Megabytes installed")
WIDTH = 4.6
"""Inches: letters of 8.5 points have 9 pixels on a page of 390."""
LONGEST = 36
"""Characters beside a bar."""
LABELS, BARS = 0.57, 0.37
"""Of the width."""
Colours = dict[str, str]


def both(name: str, draw: Callable[[Colours], Figure]) -> None:
    """Write a figure twice."""
    for theme, colours in THEMES.items():
        text = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")
        style: Any = dict.fromkeys(text, colours["text"]) | {"axes.facecolor": "none"}
        style |= {"axes.spines.top": False, "axes.spines.right": False, "font.size": 9}
        with matplotlib.rc_context(style):
            draw(colours).savefig(IMAGES / f"{name}-{theme}.png", dpi=150, transparent=True)


def ratios(rows: Sequence[Row], colours: Colours) -> Figure:
    """A bar for each comparison, to the right where we do better. One column: it is read on telephones too."""
    lines = _lines(rows)
    heights = [1.5 if "\n" in _words(line) else 1.0 for line in lines]
    places = [sum(heights[:number]) + height / 2 for number, height in enumerate(heights)]
    figure = Figure(figsize=(WIDTH, 0.22 * sum(heights) + 1.0))
    panel = figure.add_axes((LABELS, 0.3 / figure.get_figheight(), BARS, 1 - 0.95 / figure.get_figheight()))
    panel.set(xscale="log", ylim=(sum(heights), 0), xlim=(1 / 40, 4000))
    panel.axvline(1, color=colours["faint"], linewidth=1)
    for place, line in zip(places, lines, strict=True):
        if isinstance(line, str):
            _label(panel, place + 0.1, line, x=0.01 - LABELS / BARS, ha="left", fontweight="bold")
        else:
            _bar(panel, place, line, colours)
    panel.set_yticks([])
    panel.spines[["left", "bottom"]].set_visible(False)
    panel.set_xticks([0.1, 1, 10, 100, 1000], ["0.1", "equal", "10", "100", "1,000"])
    panel.tick_params(axis="x", length=0, labelsize=8)
    panel.minorticks_off()
    panel.grid(axis="x", alpha=0.25, linewidth=0.6)
    headline(figure, "How many times better ours is, on the same\nwork (learners: rounds a second)")
    return figure


def _lines(rows: Sequence[Row]) -> list[str | Row]:
    """The rows that have a ratio, each after the name of its group where that is a new one."""
    lines: list[str | Row] = []
    for row in (row for row in rows if row.ratio is not None):
        if (name := _group(row)) not in lines:
            lines.append(name)
        lines.append(row)
    return lines


def _group(row: Row) -> str:
    if row.section == LEARNERS:
        return row.work
    return f"{row.section}: {row.work}" if row.section in SIMULATOR else row.section


def _words(line: str | Row) -> str:
    """What stands beside a bar, or above several; in two lines where one is too long."""
    if isinstance(line, str):
        return line
    named = line.section == LEARNERS or line.section in SIMULATOR
    words = line.beside if named else f"{line.work}; {line.beside}"
    return words if len(words) <= LONGEST else words.replace("; ", ";\n")


def _label(panel: Axes, place: float, text: str, x: float = 0, ha: str = "right", **style: Any) -> None:
    panel.text(x, place, text, transform=panel.get_yaxis_transform(), va="center", ha=ha, fontsize=8.5, **style)


def _bar(panel: Axes, place: float, row: Row, colours: Colours) -> None:
    assert row.ratio is not None
    right = row.ratio >= 1
    panel.barh(place, row.ratio - 1, left=1, height=0.62, color=colours["better" if right else "worse"])
    _label(panel, place, _words(row))
    panel.annotate(
        factor(row.ratio), (max(row.ratio, 1.0), place), (4, 0), textcoords="offset points", va="center", fontsize=8.5
    )  # fmt: skip


def growth(curves: Sequence[tuple[str, str, Sequence[float], Sequence[float], Power]], colours: Colours) -> Figure:
    """A small panel for each: what was measured, and the power law through it."""
    down = (len(curves) + 1) // 2
    figure = Figure(figsize=(WIDTH, 2.3 * down), layout="constrained")
    panels = figure.subplots(down, 2, squeeze=False).ravel()
    for panel, (title, unit, sizes, costs, law) in zip(panels, curves, strict=False):
        middle, room = (min(costs) * max(costs)) ** 0.5, max(4.0, 1.6 * (max(costs) / min(costs)) ** 0.5)
        panel.set(xscale="log", yscale="log", ylim=(middle / room, middle * room), xlabel=title)
        panel.set_xlim(min(sizes) / 1.5, max(sizes) * 1.5)
        ticks = sizes[:: 1 if len(sizes) < 4 else 2]
        panel.set_xticks(ticks, map(short, ticks))
        panel.xaxis.set_minor_locator(NullLocator())
        panel.yaxis.set_major_locator(LogLocator(10, (1.0,) if room > 8 else (1.0, 2.0, 5.0)))
        panel.yaxis.set_major_formatter(FuncFormatter(short))
        panel.yaxis.set_minor_locator(NullLocator())
        grid(panel)
        panel.plot(sizes, [law.at(size) for size in sizes], color=colours["faint"], linewidth=1.2, linestyle="--")
        panel.plot(sizes, costs, "o", color=colours["better"], markersize=5)
        panel.set_title(unit, loc="left", fontsize=10)
        panel.text(0.04, 0.9, f"exponent {law}", transform=panel.transAxes, fontsize=8.5)
    for panel in panels[len(curves) :]:
        panel.set_visible(False)
    headline(figure, "How cost grows")
    return figure


def short(value: float, _: Any = None) -> str:
    """A number on an axis.

    >>> short(1000.0), short(2e6), short(50.0), short(0.1)
    ('1 k', '2 M', '50', '0.1')
    """
    for size, name in ((1e6, " M"), (1e3, " k")):
        if value >= size and value / size == round(value / size, 2):
            return f"{value / size:g}{name}"
    return f"{value:g}"
