"""What people see of Table 1: a figure for every row, and one page that says how everything was chosen."""

import html
from pathlib import Path
from string import Template

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from sottovoce.lab.table1.measure import SHARE, SLACK, Measured
from sottovoce.report.figure import (
    CHOSEN,
    DOTTED,
    NO_PRIVACY,
    PAPER,
    UNIFORM,
    headline,
    panels,
    plain_logarithms,
    subtitle,
    svg_of,
)
from sottovoce.report.page import footer, table, whole_page

COLOURS = {"practical": CHOSEN[0], "paper": PAPER[0]}
AXES = {"rounds": "rounds (people)", "epsilon": "1/epsilon", "gap": "1/gap"}


def write_table1(folder: Path, measured: list[Measured], *, quick: bool) -> Path:
    """Write a figure per row and `table1.html`; returns the page."""
    sections = []
    for name in dict.fromkeys(m.row for m in measured):
        row = [m for m in measured if m.row == name]
        figure = draw(row)
        figure.savefig(folder / f"{name}.png", dpi=160)
        sections.append(_section(row, svg_of(figure)))
    page = folder / "table1.html"
    body = Template(BODY).substitute(
        rows=_rows(measured),
        sections="\n".join(sections),
        slack=SLACK,
        share=SHARE,
        size="The quick table: three horizons a row, half the seeds." if quick else "The full table.",
        footer=footer(),
    )
    page.write_text(whole_page("Table 1, measured", body), encoding="utf-8")
    return page


def draw(row: list[Measured]) -> Figure:
    """Both quantities of one row side by side: points with intervals, and the slope that the theorem allows."""
    quantities = list(dict.fromkeys(m.quantity for m in row))
    figure, axes = panels(len(quantities), (10.4, 4.8))
    for panel, quantity in zip(axes, quantities, strict=True):
        _draw_panel(panel, [m for m in row if m.quantity == quantity])
    headline(figure, f"{row[0].title}: {row[0].learner}")
    return figure


def _draw_panel(panel: Axes, measured: list[Measured]) -> None:
    plain_logarithms(panel)
    first = measured[0]
    for m in measured:
        _points(panel, m.sizes, m.values, COLOURS[m.preset], f"{m.preset}: {m.fitted.value:.2f}")
    if len(first.reference):
        label = f"no privacy: {first.nonprivate.value:.2f}" if first.nonprivate else "no privacy"
        _points(panel, first.sizes, first.reference, NO_PRIVACY, label)
    if len(first.chance):
        panel.plot(first.sizes, first.chance, color=UNIFORM, linestyle=DOTTED, label="random play")
    allowed = (first.sizes / first.sizes[0]) ** first.theorem * first.factors / first.factors[0]
    start = first.values[0].mean() * 1.25
    panel.plot(first.sizes, start * allowed, color="#777", linewidth=1, linestyle="--", label=_theorem(first))
    unit = "samples" if first.row == "best-arm" else "regret"
    panel.set(xlabel=AXES[first.quantity], ylabel=unit)
    subtitle(panel, f"{unit} against {AXES[first.quantity]}, {first.held}")
    panel.set_xticks(first.sizes, [f"{size:,.0f}" if size >= 100 else f"{size:.3g}" for size in first.sizes])
    panel.xaxis.set_minor_locator(NullLocator())
    panel.legend(frameon=False, fontsize=8.5, loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2)


def _points(panel: Axes, sizes: np.ndarray, values: np.ndarray, colour: str, label: str) -> None:
    mean, error = values.mean(axis=1), 1.96 * values.std(axis=1, ddof=1) / np.sqrt(values.shape[1])
    panel.errorbar(
        sizes, mean, np.minimum(error, 0.9 * mean), color=colour, marker="o", markersize=4, capsize=2, label=label
    )


def _theorem(m: Measured) -> str:
    factor = "" if m.logarithm == "1" else f" times {m.logarithm}"
    return f"theorem: {m.theorem:.2f}{factor}"


def verdict(m: Measured) -> str:
    """In words: what the measurement shows, or what it cannot."""
    if m.shown:
        return "shown"
    if m.regret_share > SHARE:
        return "too noisy yet"
    return "not shown"


def _rows(measured: list[Measured]) -> str:
    chosen = [place for place, m in enumerate(measured) if m.preset == "practical"]
    return table(HEADINGS, [_cells(m) for m in measured], words=3, chosen=chosen)


def _cells(m: Measured) -> tuple[str, ...]:
    return (
        m.title,
        m.preset,
        m.quantity,
        f"{m.fitted.value:.2f} ({m.fitted.low:.2f} to {m.fitted.high:.2f})",
        f"{m.theorem:.2f}",
        f"{m.nonprivate.value:.2f}" if m.nonprivate else "-",
        f"{m.epsilon:g}",
        f"{m.regret_share:.1%}",
        verdict(m),
    )


def _section(row: list[Measured], picture: str) -> str:
    first = row[0]
    sizes = {m.quantity: ", ".join(f"{size:,.4g}" for size in m.sizes) for m in row}
    largest = f"{max(first.sizes):,.0f}" if first.quantity == "rounds" else f"gap {1 / max(first.sizes):g}"
    missing = [m for m in row if m.preset == "practical" and not m.shown]
    note = "".join(
        f"<p class='note'><b>Against {m.quantity} this row is not shown</b>: the interval ends at {m.fitted.high:.2f}, "
        f"the theorem says {m.theorem:.2f}; the largest run was {largest}, with {m.regret_share:.1%} of the regret of "
        "random play.</p>"
        for m in missing
    )
    chosen = "; ".join(f"{AXES[quantity]}: {text}" for quantity, text in sizes.items())
    return (
        f"<h2>{html.escape(first.title)}</h2><p class='note'>{html.escape(first.why)} {html.escape(chosen)}. "
        f"{first.values.shape[1]} seeds.</p><figure>{picture}</figure>{note}"
    )


HEADINGS = ("row", "preset", "against", "exponent (95 %)", "theorem", "no privacy", "epsilon", "left", "verdict")

BODY = """<h1>Table 1, measured</h1>
<p class="lead">Every row of the paper's table: how the regret grows with the number of people, and with 1/epsilon.
$size</p>
$rows
<p class="note">Exponents are least-squares slopes of log mean regret, after dividing by the logarithmic factor of the
theorem (named in each figure); intervals are bootstrapped over seeds. Shown: the upper end is at most the theorem's
exponent plus $slack, and at most $share of the regret of random play is left. "epsilon" is the budget of one report;
for the fits against epsilon, which run from 0.25 to 2, it is the largest, and the horizon is the first: at long
horizons easy worlds leave the regime of the theorem for a faster one, whose regret is smaller and falls faster.</p>
<p class="note">How sizes were chosen. Dimensions and worlds are the smallest that belong to the row's class and to no
easier one (each row says which). Horizons grow by about three, from the first at which the practical preset leaves
random play clearly behind to the largest that keeps the whole table within half an hour on two cores; learners that are
tuned for a horizon are run anew for each. Nothing else was selected: seeds start at 1 in every run.</p>
$sections
$footer"""
