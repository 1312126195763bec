"""What all figures share: colours, panels, axes."""

import html
import io
import re
from collections.abc import Callable, Sequence
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


PHONE = 4.4
"""Inches: a figure of this width is read on a phone without turning it."""


def panels(
    count: int, size: tuple[float, float], *, narrow: bool = False, **shared: Any
) -> tuple[Figure, Sequence[Axes]]:
    """A figure of this size in inches, with so many panels side by side; `narrow` puts one below the other."""
    rows, columns, size = (count, 1, (PHONE, count * size[1])) if narrow else (1, count, size)
    with matplotlib.rc_context({"axes.spines.top": False, "axes.spines.right": False}):
        figure = Figure(figsize=size, layout="constrained")
        return figure, figure.subplots(rows, columns, squeeze=False, **shared).ravel().tolist()


def legend(panel: Axes, where: str = "inside", **options: Any) -> None:
    """Names of the curves: inside the panel, beside it or below it."""
    places: dict[str, dict[str, Any]] = {
        "inside": {"loc": "upper left"},
        "beside": {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)},
        "below": {"loc": "upper center", "bbox_to_anchor": (0.5, -0.14)},
    }
    for name in panel.legend(frameon=False, fontsize=8.5, **places[where], **options).get_texts():
        name.set_parse_math(False)


def headline(figure: Figure, text: str) -> None:
    """The title of a figure, as it is: what stands between two dollars is no formula.

    >>> figure = panels(1, (2.0, 2.0))[0]
    >>> headline(figure, "$_ or $10")
    >>> "$_ or $10" in svg_of(figure, "drawn as it is")
    True
    """
    figure.suptitle(text, x=0.01, ha="left", fontsize=12, fontweight="bold", parse_math=False)


def subtitle(panel: Axes, text: str) -> None:
    panel.set_title(text, loc="left", fontsize=10, color="#555", parse_math=False)


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


def svg_of(figure: Figure, label: str, salt: str = "sottovoce") -> str:
    """The figure as text that can stand inside a page, whose colours a dark page may change.

    >>> "var(--c-0b6e4f, #0b6e4f)" in svg_of(Figure(facecolor=CHOSEN[0]), "a green page")
    True
    """
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": salt}):
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    text = buffer.getvalue()
    text = re.sub(r"(?<=: )#([0-9a-f]{6})", r"var(--c-\1, #\1)", text[text.index("<svg") :])
    return text.replace("<svg", f'<svg role="img" aria-label="{html.escape(label)}"', 1)


def on_every_screen(draw: Callable[[bool], Figure], label: str) -> str:
    """The figure twice: as it is, and narrow; the page shows the one that fits. `draw` is told whether to be narrow."""
    wide, narrow = svg_of(draw(False), label), svg_of(draw(True), label, "narrow")
    return f"<figure class='wide'>{wide}</figure><figure class='narrow'>{narrow}</figure>"
