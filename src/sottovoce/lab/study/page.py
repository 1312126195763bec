"""What people see of a study: a figure and a self-contained HTML page."""

import html
import io
from pathlib import Path
from string import Template
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from sottovoce.catalogue.resolve import mechanism_of
from sottovoce.catalogue.task import algorithm_of
from sottovoce.lab.study.cells import Curve, Study, notices_of
from sottovoce.lab.study.results import versions
from sottovoce.privacy.grid.mechanism import Gaussian
from sottovoce.privacy.reading import report_size

CHOSEN = ("#0b6e4f", "#1f9e89", "#6ab187", "#9bc995", "#b9d8a9", "#d5e6c3")
PAPER = ("#b23a48", "#d1735b", "#e09f7d", "#eec8a8", "#f0d9c0", "#6a1b2d")
TRUST = {
    "local": "The server saw private reports only.",
    "central": "A trusted curator heard raw data: simulation only.",
    "none": "The learner heard raw data: simulation only.",
}
PROMISED = {
    "central": "kept by the curator in what she publishes; she herself hears everything.",
    "none": "nothing; the learner hears everything.",
}
STYLE = {"non-private": ("#2b2d42", "-"), "uniform": ("#8d99ae", (0, (1, 1)))}

CROWD = 9
"""With more curves in a panel their names stand beside it."""


def who(curve: Curve) -> str:
    """Who played: a preset by name, nobody's privacy, or chance."""
    names = {"uniform": "uniform play", "non-private": "no privacy"}
    return names.get(curve.cell.role, curve.cell.task.preset)


def promise(curve: Curve) -> str:
    """What was promised to each person."""
    return str(curve.cell.task.budget) if curve.cell.private else "none"


def regret_text(curve: Curve) -> str:
    """The mean and its interval at the end."""
    mean, low, high = (float(series[-1]) for series in curve.interval())
    return f"{mean:,.0f}  ({low:,.0f} to {high:,.0f})"


def write_report(folder: Path, study: Study, curves: list[Curve]) -> Path:
    """Write `regret.png` and `report.html`; returns the page."""
    figure = draw(study, curves)
    figure.savefig(folder / "regret.png", dpi=160)
    page = folder / "report.html"
    page.write_text(_page(study, curves, svg_of(figure)), encoding="utf-8")
    return page


def draw(study: Study, curves: list[Curve]) -> Figure:
    """Regret over rounds, a panel per world, both axes logarithmic: a straight line of slope 1 learns nothing."""
    with matplotlib.rc_context({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False}):
        crowd = max(sum(curve.cell.world == world for curve in curves) for world in study.worlds) > CROWD
        figure = Figure(figsize=(max(7.2, 5.4 * len(study.worlds) + 0.6) + 2.6 * crowd, 4.6), layout="constrained")
        panels = figure.subplots(1, len(study.worlds), sharey=True, squeeze=False)[0]
        for panel, world in zip(panels, study.worlds, strict=True):
            _draw_world(panel, world, [curve for curve in curves if curve.cell.world == world])
        panels[0].set_ylabel("cumulated regret")
        figure.suptitle(_heading(study), x=0.01, ha="left", fontsize=12, fontweight="bold")
        return figure


def _draw_world(panel: Axes, world: str, curves: list[Curve]) -> None:
    shades = {"chosen": iter(CHOSEN * 9), "paper": iter(PAPER * 9)}
    for curve in curves:
        role = curve.cell.role
        colour, dash = (next(shades[role]), "-") if role in shades else STYLE[role]
        mean, low, high = curve.interval()
        panel.plot(curve.rounds, mean, color=colour, linestyle=dash, linewidth=2, label=_label(curve))
        floor = np.maximum(low, 1e-3 * np.maximum(mean, 1e-9))
        panel.fill_between(curve.rounds, floor, high, color=colour, alpha=0.15, linewidth=0)
    panel.set(xlabel="rounds (people)", xlim=(curves[0].rounds[0], curves[0].rounds[-1]))
    panel.set_title(world, loc="left", fontsize=10, color="#555")
    plain_logarithms(panel)
    inside: dict[str, Any] = {"loc": "upper left"}
    beside: dict[str, Any] = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)}
    panel.legend(frameon=False, fontsize=8.5, **(beside if len(curves) > CROWD else inside))


def plain_logarithms(panel: Axes) -> None:
    """Both axes logarithmic, with plain numbers and a light grid."""
    panel.set(xscale="log", yscale="log")
    for axis in (panel.xaxis, panel.yaxis):
        axis.set_major_locator(LogLocator(10, (1.0, 2.0, 5.0)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}" if value >= 1 else f"{value:g}"))
        axis.set_minor_formatter(NullFormatter())
    panel.grid(alpha=0.25, linewidth=0.6)


def _label(curve: Curve) -> str:
    return f"{who(curve)}, {promise(curve)}" if curve.cell.private else who(curve)


def _heading(study: Study) -> str:
    return study.title or f"{algorithm_of(study.learner).title}"


def svg_of(figure: Figure) -> str:
    """The figure as text that can stand inside a page."""
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "sottovoce"}):
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    text = buffer.getvalue()
    return text[text.index("<svg") :]


def _page(study: Study, curves: list[Curve], picture: str) -> str:
    heading = html.escape(_heading(study))
    body = Template(PAGE).substitute(
        heading=heading,
        setting=html.escape(_setting(study)),
        trust=TRUST[algorithm_of(study.learner).trust],
        picture=picture,
        rows="\n".join(_row(curve) for curve in curves),
        promises="\n".join(dict.fromkeys(_promise(curve) for curve in curves if curve.cell.private)),
        versions=html.escape(", ".join(f"{name} {number}" for name, number in versions().items())),
        seed=study.seed,
        notices="".join(f"<p>{html.escape(notice)}</p>" for notice in notices_of(study)),
    )
    return whole_page(heading, body)


def whole_page(heading: str, body: str) -> str:
    """A self-contained page in our style."""
    return Template(SHELL).substitute(heading=heading, body=body)


def _setting(study: Study) -> str:
    shape = f"{study.arms} actions" + (f", features of length {study.dimension}" if study.dimension else "")
    if algorithm_of(study.learner).actions == "points":
        shape = f"points of a {study.region.get('kind', 'ball')} in {study.dimension} dimensions"
    options = "".join(f", {name} {value}" for name, value in study.options.items())
    late = f", a model every {study.publish_every} rounds" if study.publish_every > 1 else ""
    late += f", reports {study.delay} rounds late" if study.delay else ""
    return f"{study.rounds:,} people, {study.seeds} seeds; {shape}{options}{late}."


def _row(curve: Curve) -> str:
    mark = ' class="chosen"' if curve.cell.role == "chosen" else ""
    cells = (
        curve.cell.world,
        who(curve),
        promise(curve),
        regret_text(curve),
        f"{curve.growth():.2f}",
        f"{curve.seconds:.1f}",
    )
    return f"<tr{mark}>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in cells) + "</tr>"


def _promise(curve: Curve) -> str:
    """What one person is promised, and what it is worth."""
    if not curve.cell.reports:
        return f"<li><b>{html.escape(_label(curve))}</b>: {PROMISED[algorithm_of(curve.cell.task.learner).trust]}</li>"
    contract, mechanism = curve.cell.task, mechanism_of(curve.cell.task)
    text = f"<b>{html.escape(_label(curve))}</b>: {contract.mechanism}, {_bytes(report_size(mechanism))} a report."
    if isinstance(mechanism, Gaussian):
        delta = mechanism.true_delta
        verdict = "keeps it" if delta <= contract.delta else "<b>does not keep it</b>: simulation only"
        text += f" Promised delta {contract.delta:g}; the noise gives {delta:.2g} and {verdict}."
    else:
        text += " Pure: no delta."
    return f"<li>{text}</li>"


def _bytes(count: int) -> str:
    return "one byte" if count == 1 else f"{count} bytes"


SHELL = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>$heading</title><style>
body { font: 16px/1.55 system-ui, sans-serif; color: #22252e; background: #fbfaf7; margin: 0; }
main { max-width: 62rem; margin: 0 auto; padding: 2.5rem 1.5rem 4rem; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .3rem; } h2 { font-size: 1.1rem; margin: 2.2rem 0 .6rem; }
.lead { color: #5a6070; margin: 0 0 1.6rem; } .note { color: #5a6070; font-size: .9rem; }
figure { background: #fff; border: 1px solid #e6e2d8; border-radius: .6rem; margin: 0; padding: 1rem; }
figure svg { width: 100%; height: auto; }
table { border-collapse: collapse; width: 100%; background: #fff; font-size: .92rem; }
td { font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .45rem .7rem; border-bottom: 1px solid #ece8de; }
th { color: #5a6070; font-weight: 600; } td:nth-child(n+4), th:nth-child(n+4) { text-align: right; }
tr.chosen td { background: #eaf5ef; font-weight: 600; } .scroll { overflow-x: auto; }
li { margin: .3rem 0; } footer { color: #7a8090; font-size: .85rem; margin-top: 2.5rem; }
</style></head><body><main>
$body</main></body></html>
"""

PAGE = """<h1>$heading</h1><p class="lead">$setting $trust</p>
<figure>$picture</figure>
<h2>Regret at the end</h2><div class="scroll"><table>
<thead><tr><th>world</th><th>who</th><th>promise to each person</th><th>regret (95 % interval)</th><th>growth</th>
<th>seconds</th></tr></thead><tbody>
$rows
</tbody></table></div>
<p class="note">Regret: what was lost against always playing the best action. Growth: its exponent over the second half
of the run; 1 means nothing is learned any more. Intervals: Student's t over seeds.</p>
<h2>What each person is promised</h2><ul>
$promises
</ul>
<footer>Simulated with seed $seed; $versions.$notices</footer>"""
