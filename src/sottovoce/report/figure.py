"""What all figures share: colours, panels, axes."""

import io
from collections.abc import Sequence
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

CHOSEN = ("#0b6e4f", "#1f9e89", "#6ab187", "#9bc995", "#b9d8a9", "#d5e6c3")
PAPER = ("#b23a48", "#d1735b", "#e09f7d", "#eec8a8", "#f0d9c0", "#6a1b2d")
SEVERAL = (
    "#0b6e4f", "#d1495b", "#2f6fb5", "#e69f00", "#7b4ea3", "#4db6d3", "#8c564b", "#c2479a", "#8a9a1f", "#1b1f3b",
)  # fmt: skip
"""For curves that stand side by side, none before the others."""
NO_PRIVACY = "#2b2d42"
UNIFORM = "#8d99ae"
DOTTED: Any = (0, (1, 1))
"""The line of uniform play."""


def panels(count: int, size: tuple[float, float], **shared: Any) -> tuple[Figure, Sequence[Axes]]:
    """A figure of this size in inches, with so many panels side by side."""
    with matplotlib.rc_context({"axes.spines.top": False, "axes.spines.right": False}):
        figure = Figure(figsize=size, layout="constrained")
        return figure, figure.subplots(1, count, squeeze=False, **shared)[0]


def headline(figure: Figure, text: str) -> None:
    figure.suptitle(text, x=0.01, ha="left", fontsize=12, fontweight="bold")


def subtitle(panel: Axes, text: str) -> None:
    panel.set_title(text, loc="left", fontsize=10, color="#555")


def grid(panel: Axes, **which: Any) -> None:
    panel.grid(alpha=0.25, linewidth=0.6, **which)


def plain_logarithms(panel: Axes) -> None:
    """Both axes logarithmic, with plain numbers and a light grid."""
    panel.set(xscale="log", yscale="log")
    for axis in (panel.xaxis, panel.yaxis):
        plain_logarithm(axis)
    grid(panel)


def plain_logarithm(axis: Any) -> None:
    """Plain numbers at 1, 2, 5, 10 and so on along a logarithmic axis."""
    axis.set_major_locator(LogLocator(10, (1.0, 2.0, 5.0)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}" if value >= 1 else f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def svg_of(figure: Figure) -> str:
    """The figure as text that can stand inside a page."""
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "sottovoce"}):
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    text = buffer.getvalue()
    return text[text.index("<svg") :]
