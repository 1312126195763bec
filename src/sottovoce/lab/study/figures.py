"""The figures of a study: regret over rounds, and for learners that recommend an arm how many people that took."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sottovoce.lab.study.cells import CellResult
from sottovoce.report.figure import (
    CHOSEN,
    DOTTED,
    NO_PRIVACY,
    PAPER,
    UNIFORM,
    grid,
    headline,
    legend,
    panels,
    plain_logarithm,
    plain_logarithms,
    subtitle,
)

MANY = 9
"""With more curves in a panel their names stand beside it."""


def draw_regret(title: str, results: Sequence[CellResult], narrow: bool = False) -> Figure:
    """Regret over rounds, a panel per world, both axes logarithmic: a straight line of slope 1 learns nothing."""
    worlds = _by_world(results)
    many = max(map(len, worlds.values())) > MANY
    width = max(7.2, 5.4 * len(worlds) + 0.6) + 2.6 * many
    figure, axes = panels(len(worlds), (width, 4.6), narrow=narrow, sharey=True)
    for panel, (world, shown) in zip(axes, worlds.items(), strict=True):
        _draw_world(panel, world, shown)
        legend(panel, "below" if narrow else "beside" if many else "inside")
    for panel in axes if narrow else axes[:1]:
        panel.set_ylabel("cumulated regret (in units of the reward)")
    if not narrow:
        headline(figure, title)
    return figure


def _draw_world(panel: Axes, world: str, results: Sequence[CellResult]) -> None:
    for result, colour in zip(results, _colours(results), strict=True):
        dash = DOTTED if result.cell.role == "uniform" else "-"
        mean, low, high = result.interval()
        panel.plot(result.rounds, mean, color=colour, linestyle=dash, linewidth=2, label=result.cell.label)
        floor = np.maximum(low, 1e-3 * np.maximum(mean, 1e-9))
        panel.fill_between(result.rounds, floor, high, color=colour, alpha=0.15, linewidth=0)
    panel.set(xlabel="rounds (people)", xlim=(results[0].rounds[0], results[0].rounds[-1]))
    subtitle(panel, world)
    plain_logarithms(panel)


def draw_answers(title: str, shown: Sequence[CellResult], narrow: bool = False) -> Figure:
    """People asked (nine runs of ten) and the share of right answers (95 % interval), a line for each curve."""
    figure, (people, answers) = panels(2, (10.4, 1.6 + 0.36 * len(shown)), narrow=narrow, sharey=True)
    several = len({result.cell.world_name for result in shown}) > 1
    for place, (result, colour) in enumerate(zip(shown, _colours(shown), strict=True)):
        low, high = np.quantile(result.samples, [0.05, 0.95])
        _dot(people, place, (float(result.samples.mean()), float(low), float(high)), colour)
        _dot(answers, place, result.right(), colour)
    labels = [f"{r.cell.world_name}: {r.cell.label}" if several else r.cell.label for r in shown]
    people.set_yticks(range(len(shown)), labels)
    people.invert_yaxis()
    people.set(xscale="log", xlabel="people asked")
    plain_logarithm(people.xaxis)
    answers.set(xlim=(-0.02, 1.02), xlabel="share of runs with the right answer")
    answers.xaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    subtitle(people, "people asked: mean, and nine runs of ten")
    subtitle(answers, "right answers: share, and 95 % interval")
    for panel in (people, answers):
        grid(panel, axis="x")
    if not narrow:
        headline(figure, title)
    return figure


def _dot(panel: Axes, place: int, interval: tuple[float, float, float], colour: str) -> None:
    middle, low, high = interval
    panel.plot([low, high], [place, place], color=colour, linewidth=2)
    panel.plot([middle], [place], color=colour, marker="o", markersize=6)


def _colours(results: Sequence[CellResult]) -> list[str]:
    shades = {"chosen": iter(CHOSEN * 9), "paper": iter(PAPER * 9), "published": iter(PAPER * 9)}
    fixed = {"non-private": NO_PRIVACY, "uniform": UNIFORM}
    return [fixed.get(r.cell.role) or next(shades[r.cell.role]) for r in results]


def _by_world(results: Sequence[CellResult]) -> dict[str, list[CellResult]]:
    worlds: dict[str, list[CellResult]] = {}
    for result in results:
        worlds.setdefault(result.cell.world_name, []).append(result)
    return worlds
