"""What people see of Table 1: a figure for every row, and one page that says how everything was chosen."""

import html
from importlib import resources
from pathlib import Path
from string import Template

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from sottovoce.lab.table1.fit import SLACK, WIDEST
from sottovoce.lab.table1.measure import LEAST, SHARE, Measured, Points
from sottovoce.report.figure import (
    CHOSEN,
    DOTTED,
    NO_PRIVACY,
    PAPER,
    UNIFORM,
    headline,
    legend,
    on_every_screen,
    panels,
    plain_logarithms,
    subtitle,
)
from sottovoce.report.page import footer, table, whole_page
from sottovoce.report.page import verdict as verdict_of

COLOURS = (CHOSEN[0], PAPER[0])
"""Of the preset that a row is judged by, and of the other."""
HEADINGS = (
    "row", "preset", "against", "theorem", "exponent (95 %)", "grows", "shown", "held", "left, %", "local slopes",
    "no privacy", "left, %",
)  # fmt: skip
VERDICT = 7
"""So many columns say what is shown; the others say what it was read from."""
NOTE = """Exponents of the regret (best arm: of the samples) in the number of people, in 1/epsilon or in 1/gap, with
95 % intervals over seeds. Shaded: the preset that a row is judged by."""
POINTS_NOTE = """Left: the share of the regret of not learning that is left, in per cent, from the smallest size to
the largest; 100 less this is the lift, in per cent of what is possible. Points in brackets do not count. Local
slopes: the exponent between neighbouring points."""
AXES = {"rounds": "rounds (people)", "epsilon": "1/epsilon", "gap": "1/gap"}


def write_table1(folder: Path, measured: list[Measured], *, quick: bool) -> Path:
    """Write a figure per row, `table1.html` and its table as `table1.md`; returns the page."""
    sections = []
    for name in dict.fromkeys(m.row.name for m in measured):
        row = [m for m in measured if m.row.name == name]
        draw(row).savefig(folder / f"{name}.png", dpi=160)
        sections.append(_section(row))
    page = folder / "table1.html"
    text = resources.files("sottovoce.lab.table1").joinpath("page.html").read_text("utf-8")
    body = Template(text).substitute(
        verdict=verdict_of(_in_words(measured)),
        rows=_rows(measured),
        sections="\n".join(sections),
        slack=SLACK,
        widest=WIDEST,
        share=f"{SHARE:.0%}",
        least=LEAST,
        size="The quick table: three horizons a row, half the seeds." if quick else "The full table.",
        footer=footer(),
    )
    folder.joinpath("table1.md").write_text(markdown(measured), encoding="utf-8")
    page.write_text(whole_page("Table 1, measured", body), encoding="utf-8")
    return page


def _in_words(measured: list[Measured]) -> list[str]:
    """How many of the rows are as their theorem says, by the preset that they are judged by."""
    sentences = []
    for quantity, words in (("rounds", "in the number of people"), ("epsilon", "in 1/epsilon"), ("gap", "in 1/gap")):
        judged = [m for m in measured if m.axis.quantity == quantity and m.preset == m.row.presets[0]]
        missing = ", ".join(m.row.name for m in judged if not m.shown)
        if judged:
            shown = f"{sum(m.shown for m in judged)} of {len(judged)} rows grow as their theorem allows {words}"
            sentences.append(f"{shown}; not shown: {missing}." if missing else f"{shown}.")
    return sentences


def draw(row: list[Measured], narrow: bool = False) -> Figure:
    """Both quantities of one row side by side: points with intervals, and the slope that the theorem allows."""
    quantities = list(dict.fromkeys(m.axis.quantity for m in row))
    figure, axes = panels(len(quantities), (10.4, 4.8), narrow=narrow)
    for panel, quantity in zip(axes, quantities, strict=True):
        _draw_panel(panel, [m for m in row if m.axis.quantity == quantity])
        legend(panel, "below", ncols=1 if narrow else 2)
    if not narrow:
        headline(figure, f"{row[0].row.title}: {row[0].row.learner}")
    return figure


def _draw_panel(panel: Axes, measured: list[Measured]) -> None:
    plain_logarithms(panel)
    first, axis, unit = measured[0], measured[0].axis, measured[0].row.unit
    for m, colour in zip(measured, COLOURS, strict=False):
        _draw_points(panel, m.axis.sizes, m.points, colour, f"{m.preset} {m.axis.held}")
    if first.reference:
        _draw_points(panel, axis.sizes, first.reference, NO_PRIVACY, f"{first.row.reference.learner}, no privacy")
    if unit == "regret":
        panel.plot(axis.sizes, axis.idle, color=UNIFORM, linestyle=DOTTED, label="no learning")
    allowed = (axis.sizes / axis.sizes[0]) ** axis.theorem * axis.factors / axis.factors[0]
    start = first.points.values[0].mean() * 1.25
    theorem = f"theorem: {axis.theorem:.2f}" + f" times {axis.factor}" * bool(axis.factor)
    panel.plot(axis.sizes, start * allowed, color="#777", linewidth=1, linestyle="--", label=theorem)
    panel.set(xlabel=AXES[axis.quantity], ylabel=unit)
    subtitle(panel, f"{unit} against {AXES[axis.quantity]}")
    sizes = sorted({size for m in measured for size in m.axis.sizes})
    panel.set_xticks(sizes, [_plain(size) for size in sizes])
    panel.xaxis.set_minor_locator(NullLocator())


def _draw_points(panel: Axes, sizes: np.ndarray, points: Points, colour: str, label: str) -> None:
    """A line through all means; points that do not count are hollow."""
    values = points.values
    mean, error = values.mean(axis=1), 1.96 * values.std(axis=1, ddof=1) / np.sqrt(values.shape[1])
    label += f": {_value(points)}"
    panel.errorbar(sizes, mean, np.minimum(error, 0.9 * mean), color=colour, capsize=2, label=label)
    panel.plot(sizes[points.kept], mean[points.kept], "o", color=colour, markersize=4)
    panel.plot(sizes[~points.kept], mean[~points.kept], "o", color=colour, markersize=5, markerfacecolor="white")


def verdict(m: Measured) -> str:
    """In words: what the measurement shows, or why it cannot."""
    if m.points.fitted is None:
        return f"cannot be shown ({m.points.kept.sum()} of {len(m.points.kept)} points)"
    return "yes" if m.shown else "no"


def markdown(measured: list[Measured]) -> str:
    """The table for the documentation."""
    lines = ["| " + " | ".join(HEADINGS) + " |", "|" + "---|" * len(HEADINGS)]
    return "\n".join([*lines, *("| " + " | ".join(cells_of(m)) + " |" for m in measured), ""])


def cells_of(m: Measured) -> tuple[str, ...]:
    """One line of the table, in the order of the headings."""
    beside = m.reference
    return (
        m.row.name,
        m.preset,
        m.axis.quantity,
        f"{m.axis.theorem:.2f}",
        str(m.points.fitted or "-"),
        m.growth,
        verdict(m),
        m.axis.held,
        shares_of(m.points),
        slopes_of(m.points),
        f"{m.row.reference.learner} {_value(beside)}" if beside else "",
        shares_of(beside) if beside else "",
    )


def _plain(size: float) -> str:
    """Without a power of ten.

    >>> _plain(10_000.0), _plain(0.125)
    ('10,000', '0.125')
    """
    return f"{size:,.0f}" if size >= 100 else f"{size:.3g}"


def _value(points: Points) -> str:
    return f"{points.fitted.value:.2f}" if points.fitted else "-"


def slopes_of(points: Points) -> str:
    """The exponents between neighbouring points that count."""
    return " ".join(f"{slope:.2f}" for slope in points.slopes) if points.fitted else "-"


def shares_of(points: Points) -> str:
    """What is left at every size, in per cent; points that do not count in brackets."""
    shares = [f"{100 * left:.2g}" if left < 0.1 else f"{100 * left:.0f}" for left in points.left]
    return " ".join(share if kept else f"({share})" for share, kept in zip(shares, points.kept, strict=True))


def _rows(measured: list[Measured]) -> str:
    chosen = [place for place, m in enumerate(measured) if m.preset == m.row.presets[0]]
    rows = [cells_of(m)[:VERDICT] for m in measured]
    return table(HEADINGS[:VERDICT], rows, words=3, chosen=chosen, note=NOTE)


def _section(measured: list[Measured]) -> str:
    row = measured[0].row
    notes = "".join(
        f"<p class='note'><b>Against {m.axis.quantity} this row is not shown</b> by {m.preset}: {_reason(m)}.</p>"
        for m in measured
        if not m.shown
    )
    chosen = "; ".join(
        f"{m.preset}, {AXES[m.axis.quantity]} {m.axis.held}: " + ", ".join(map(_plain, m.axis.sizes)) for m in measured
    )
    picture = on_every_screen(lambda narrow: draw(measured, narrow), f"{row.title}: {row.unit} on logarithmic axes")
    points = [(f"{m.preset}, {m.axis.quantity}", *cells_of(m)[VERDICT:]) for m in measured]
    return (
        f"<h2>{html.escape(row.title)}</h2><p class='note'>{html.escape(row.theorem)}. {html.escape(row.why)} "
        f"{html.escape(chosen)}. {row.seeds} seeds from {row.seed}.</p>{picture}{notes}"
        + table(("curve", *HEADINGS[VERDICT:-1], "of it left, %"), points, note=POINTS_NOTE)
    )


def _reason(m: Measured) -> str:
    if fitted := m.points.fitted:
        return f"the interval ends at {fitted.high:.2f}, the theorem says {m.axis.theorem:.2f}"
    return f"only {m.points.kept.sum()} of {len(m.points.kept)} points count"
