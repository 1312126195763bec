"""What people see of Table 1: a figure for every row, and one page that says how everything was chosen."""

import html
from importlib import resources
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

HEADINGS = ("row", "preset", "against", "exponent (95 %)", "theorem", "no privacy", "epsilon", "left", "verdict")
AXES = {"rounds": "rounds (people)", "epsilon": "1/epsilon", "gap": "1/gap"}


def write_table1(folder: Path, measured: list[Measured], *, quick: bool) -> Path:
    """Write a figure per row and `table1.html`; returns the page."""
    sections = []
    for name in dict.fromkeys(m.row.name for m in measured):
        row = [m for m in measured if m.row.name == name]
        figure = draw(row)
        figure.savefig(folder / f"{name}.png", dpi=160)
        sections.append(_section(row, svg_of(figure)))
    page = folder / "table1.html"
    text = resources.files("sottovoce.lab.table1").joinpath("page.html").read_text("utf-8")
    body = Template(text).substitute(
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
    quantities = list(dict.fromkeys(m.axis.quantity for m in row))
    figure, axes = panels(len(quantities), (10.4, 4.8))
    for panel, quantity in zip(axes, quantities, strict=True):
        _draw_panel(panel, [m for m in row if m.axis.quantity == quantity])
    headline(figure, f"{row[0].row.title}: {row[0].row.learner}")
    return figure


def _draw_panel(panel: Axes, measured: list[Measured]) -> None:
    plain_logarithms(panel)
    first, axis, unit = measured[0], measured[0].axis, measured[0].row.unit
    for m in measured:
        colour = (CHOSEN if m.preset == "practical" else PAPER)[0]
        _points(panel, axis.sizes, m.values, colour, f"{m.preset}: {m.fitted.value:.2f}")
    if axis.reference is not None and first.nonprivate:
        _points(panel, axis.sizes, axis.reference, NO_PRIVACY, f"no privacy: {first.nonprivate.value:.2f}")
    if unit == "regret":
        panel.plot(axis.sizes, axis.random_play, color=UNIFORM, linestyle=DOTTED, label="random play")
    allowed = (axis.sizes / axis.sizes[0]) ** axis.theorem * axis.factors / axis.factors[0]
    start = first.values[0].mean() * 1.25
    theorem = f"theorem: {axis.theorem:.2f}" + f" times {axis.factor}" * bool(axis.factor)
    panel.plot(axis.sizes, start * allowed, color="#777", linewidth=1, linestyle="--", label=theorem)
    panel.set(xlabel=AXES[axis.quantity], ylabel=unit)
    subtitle(panel, f"{unit} against {AXES[axis.quantity]}, {axis.held}")
    panel.set_xticks(axis.sizes, [f"{size:,.0f}" if size >= 100 else f"{size:.3g}" for size in axis.sizes])
    panel.xaxis.set_minor_locator(NullLocator())
    panel.legend(frameon=False, fontsize=8.5, loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2)


def _points(panel: Axes, sizes: np.ndarray, values: np.ndarray, colour: str, label: str) -> None:
    mean, error = values.mean(axis=1), 1.96 * values.std(axis=1, ddof=1) / np.sqrt(values.shape[1])
    panel.errorbar(
        sizes, mean, np.minimum(error, 0.9 * mean), color=colour, marker="o", markersize=4, capsize=2, label=label
    )


def verdict(m: Measured) -> str:
    """In words: what the measurement shows, or what it cannot."""
    return "shown" if m.shown else "too noisy yet" if m.regret_share > SHARE else "not shown"


def _rows(measured: list[Measured]) -> str:
    chosen = [place for place, m in enumerate(measured) if m.preset == "practical"]
    return table(HEADINGS, [_cells(m) for m in measured], words=3, chosen=chosen)


def _cells(m: Measured) -> tuple[str, ...]:
    return (
        m.row.title,
        m.preset,
        m.axis.quantity,
        str(m.fitted),
        f"{m.axis.theorem:.2f}",
        f"{m.nonprivate.value:.2f}" if m.nonprivate else "-",
        f"{m.epsilon:g}",
        f"{m.regret_share:.1%}",
        verdict(m),
    )


def _section(measured: list[Measured], picture: str) -> str:
    first, row = measured[0], measured[0].row
    largest = f"gap {row.gaps[-1]:g}" if row.gaps else f"{row.horizons[-1]:,}"
    notes = "".join(
        f"<p class='note'><b>Against {m.axis.quantity} this row is not shown</b>: the interval ends at "
        f"{m.fitted.high:.2f}, the theorem says {m.axis.theorem:.2f}; the largest run was {largest}, with "
        f"{m.regret_share:.1%} of the regret of random play.</p>"
        for m in measured
        if m.preset == "practical" and not m.shown
    )
    sizes = {AXES[m.axis.quantity]: ", ".join(f"{size:,.4g}" for size in m.axis.sizes) for m in measured}
    chosen = "; ".join(f"{axis}: {text}" for axis, text in sizes.items())
    return (
        f"<h2>{html.escape(row.title)}</h2><p class='note'>{html.escape(row.why)} {html.escape(chosen)}. "
        f"{first.values.shape[1]} seeds.</p><figure>{picture}</figure>{notes}"
    )
