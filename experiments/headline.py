"""Hiding the action costs linear regret, hiding the report does not: the figure of docs/headline.md.

    python experiments/headline.py            100,000 people, 8 seeds; writes docs/images/headline.png
    python experiments/headline.py --quick    a short look, to see that it works; writes nothing

Every person brings a secret vector v. Two buttons are described by v and -v, so which one is better depends on her.
Standard differential privacy must hide v from whoever sees the button she gets; local privacy hides it in the report.
"""

import argparse
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import matplotlib
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from sottovoce import halves, task
from sottovoce.learners.base import Key, configuration
from sottovoce.learners.convex.regions import on_sphere
from sottovoce.report.confidence import student_quantile
from sottovoce.sim.run import simulate
from sottovoce.sim.trace import Trace
from sottovoce.users import LocalUser

PICTURE = Path(__file__).resolve().parents[1] / "docs" / "images" / "headline.png"
EPSILON = 1.0
DIMENSION = 3


@configuration()
class Opposites:
    """The features of the two buttons are v and -v, with v uniform on the sphere; rewards are +1 or -1, mean <x, e1>.

    By symmetry the direction of theta* does not matter. The wrong button costs 2 |<v, e1>|, in three dimensions 1 on
    average.
    """

    def visit(self, round: jax.Array, key: Key) -> jax.Array:
        own = on_sphere(key, DIMENSION)
        return jnp.stack([own, -own])

    def outcome(self, context: jax.Array, action: jax.Array, key: Key) -> jax.Array:
        return jnp.where(jax.random.uniform(key) < (1 + context[action, 0]) / 2, 1.0, -1.0)

    def regret(self, context: jax.Array, action: jax.Array) -> jax.Array:
        return jnp.max(context[:, 0]) - context[action, 0]


FLOOR = 1 / (1 + math.exp(EPSILON))
"""What every person loses on average if her button is epsilon-DP in v: it is the wrong one so often."""


@dataclass(frozen=True)
class HiddenAction:
    """A user whose button is epsilon-DP in her context: the chosen one with odds e^epsilon, else the other one.

    Everything else is raw and the learner keeps it raw: standard DP could not do better than this. For v and -v have
    opposite best buttons, and no epsilon-DP rule errs on both together less often than 2/(1 + e^epsilon).
    """

    open: LocalUser
    epsilon: float

    def act(self, public: Any, context: Any, entropy: Any) -> Any:
        flipped = entropy < 1 / (1 + math.exp(self.epsilon))
        return jnp.where(flipped, 1 - self.open.act(public, context, 0.5), self.open.act(public, context, 0.5))

    def message(self, public: Any, context: Any, action: Any, reward: Any) -> Any:
        return self.open.message(public, context, action, reward)

    @property
    def domain(self) -> Any:
        return getattr(self.open, "domain")  # noqa: B009


class Line(NamedTuple):
    label: str
    colour: str
    trace: Trace

    @property
    def growth(self) -> float:
        """The exponent of the mean regret over the second half of the run, as in every study."""
        mean, rounds = self.trace.regret.mean(axis=0), self.trace.rounds
        half = int(np.searchsorted(rounds, rounds[-1] / 2))
        return float(np.log(mean[-1] / mean[half]) / np.log(rounds[-1] / rounds[half]))


def lines(rounds: int, seeds: int) -> list[Line]:
    """The four learners, all LinUCB, in the same world with the same visitors."""
    shape = {"arms": 2, "dimension": DIMENSION, "rounds": rounds, "epsilon": EPSILON}
    local, curator = halves(task("linucb", **shape)), halves(task("joint-dp-linucb", **shape))
    learner, user, _ = halves(task("linucb", **shape, warm=0.0), private=False)

    def run(learner: Any, user: Any, mechanism: Any) -> Trace:
        return simulate(learner, user, Opposites(), rounds=rounds, mechanism=mechanism, seeds=seeds, checkpoints=1000)

    return [
        Line("standard DP: action hidden", "#b23a48", run(learner, HiddenAction(user, EPSILON), None)),
        Line("local DP: report hidden", "#0b6e4f", run(*local)),
        Line("joint DP: a trusted curator", "#3d5a80", run(*curator)),
        Line("no privacy", "#8d99ae", run(learner, user, None)),
    ]


def draw(found: list[Line]) -> Figure:
    """Log-log: slope 1 never stops losing, a flat line has learned."""
    with matplotlib.rc_context({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False}):
        figure = Figure(figsize=(8.2, 4.8), layout="constrained")
        panel = figure.subplots()
        for _, colour, trace in found:
            mean, seeds = trace.regret.mean(axis=0), len(trace.regret)
            half = student_quantile(0.975, seeds - 1) * trace.regret.std(axis=0, ddof=1) / math.sqrt(seeds)
            panel.plot(trace.rounds, mean, color=colour, linewidth=2.2)
            panel.fill_between(
                trace.rounds, np.maximum(mean - half, mean / 10), mean + half, color=colour, alpha=0.15, lw=0
            )
        for line, height in zip(
            found, spread_out([float(line.trace.regret[:, -1].mean()) for line in found]), strict=True
        ):
            panel.annotate(
                f"{line.label}\nregret {line.trace.regret[:, -1].mean():,.0f}, growth {line.growth:.2f}",
                (line.trace.rounds[-1], height), (8, 0), textcoords="offset points",
                color=line.colour, va="center", fontsize=8.5, annotation_clip=False,
            )  # fmt: skip
        rounds = found[0].trace.rounds
        panel.plot(rounds, FLOOR * rounds, color="black", linestyle=(0, (1, 1.5)), linewidth=1.2)
        panel.annotate(
            "every standard DP learner\nis above this line", (4000, 0.93 * FLOOR * 4000), (-150, 22), fontsize=8,
            textcoords="offset points", arrowprops={"arrowstyle": "-", "linewidth": 0.6},
        )  # fmt: skip
        panel.set(xscale="log", yscale="log", xlabel="people", ylabel="cumulated regret", xlim=(rounds[0], rounds[-1]))
        for axis in (panel.xaxis, panel.yaxis):
            axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
            axis.set_minor_formatter(NullFormatter())
        panel.grid(alpha=0.25, linewidth=0.6)
        title = f"Hiding the action costs linear regret, hiding the report does not (epsilon {EPSILON:g})"
        figure.suptitle(title, x=0.01, ha="left", fontsize=12, fontweight="bold")
        return figure


def spread_out(heights: list[float], ratio: float = 2.3) -> list[float]:
    """The same heights from the highest to the lowest, each at least `ratio` below the one above it."""
    placed = heights[:1]
    for height in heights[1:]:
        placed.append(min(height, placed[-1] / ratio))
    return placed


def main() -> None:
    """Run, print the numbers of the page, save the picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    found = lines(2_000 if quick else 100_000, 2 if quick else 8)
    for line in found:
        print(f"{line.label:30} regret {line.trace.regret[:, -1].mean():10,.0f}   growth {line.growth:.2f}")
    if not quick:
        draw(found).savefig(PICTURE, dpi=160)


if __name__ == "__main__":
    main()
