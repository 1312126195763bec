"""Hiding the action costs linear regret, hiding the report does not: the figure of docs/headline.md.

    python experiments/headline.py            100,000 people, 8 seeds; writes docs/images/headline.png
    python experiments/headline.py --quick    a short look, to see that it works; writes nothing

Every person brings one secret bit: which of two buttons is the better one for her. Standard differential privacy of
the actions must hide the bit from whoever sees the button she gets. Local privacy hides it in the report she sends.
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
from sottovoce.privacy.special import student_quantile
from sottovoce.sim.run import Trace, simulate
from sottovoce.users import LocalUser

PICTURE = Path(__file__).resolve().parents[1] / "docs" / "images" / "headline.png"
EPSILON = 1.0
GAP = 0.8


@configuration()
class TwoButtons:
    """The features of the two buttons are e1 and e2, in an order that is the person's secret bit.

    Rewards are +1 or -1 with mean GAP/2 for e1 and -GAP/2 for e2, the same for everybody: what is to be learned is
    simple, what is to be done with it depends on the person.
    """

    def visit(self, round: jax.Array, key: Key) -> jax.Array:
        order = jnp.eye(2)
        return jnp.where(jax.random.bernoulli(key), order, order[::-1])

    def outcome(self, context: jax.Array, action: jax.Array, key: Key) -> jax.Array:
        return jnp.where(jax.random.uniform(key) < (1 + self._mean(context)[action]) / 2, 1.0, -1.0)

    def regret(self, context: jax.Array, action: jax.Array) -> jax.Array:
        return GAP / 2 - self._mean(context)[action]

    def _mean(self, context: jax.Array) -> jax.Array:
        return GAP / 2 * (context[:, 0] - context[:, 1])


@dataclass(frozen=True)
class HiddenAction:
    """A user whose button is epsilon-DP in her context: the chosen one with odds e^epsilon, else the other one.

    No rule with that promise errs less often than with probability 1/(1 + e^epsilon). Everything else is raw: this is
    the best that standard DP could hope for.
    """

    open: LocalUser
    epsilon: float

    def act(self, public: Any, context: Any, entropy: Any) -> Any:
        flipped = entropy < 1 / (1 + math.exp(self.epsilon))
        return jnp.where(flipped, 1 - self.open.act(public, context, 0.5), self.open.act(public, context, 0.5))

    def message(self, public: Any, context: Any, action: Any, outcome: Any) -> Any:
        return self.open.message(public, context, action, outcome)

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
    shape = {"arms": 2, "dimension": 2, "rounds": rounds, "epsilon": EPSILON}
    local, curator = halves(task("linucb", **shape)), halves(task("joint-dp-linucb", **shape))
    learner, user, _ = halves(task("linucb", **shape, warm=0.0), private=False)

    def run(learner: Any, user: Any, mechanism: Any) -> Trace:
        return simulate(learner, user, TwoButtons(), rounds=rounds, mechanism=mechanism, seeds=seeds, checkpoints=400)

    return [
        Line(
            "standard DP: her action hidden, all else raw", "#b23a48", run(learner, HiddenAction(user, EPSILON), None)
        ),
        Line("local DP: her report hidden", "#0b6e4f", run(*local)),
        Line("joint DP: a trusted curator", "#3d5a80", run(*curator)),
        Line("no privacy", "#8d99ae", run(learner, user, None)),
    ]


def draw(found: list[Line]) -> Figure:
    """Log-log: slope 1 never stops losing, a flat line has learned."""
    with matplotlib.rc_context({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False}):
        figure = Figure(figsize=(7.6, 4.8), layout="constrained")
        panel = figure.subplots()
        for label, colour, trace in found:
            mean, seeds = trace.regret.mean(axis=0), len(trace.regret)
            half = student_quantile(0.975, seeds - 1) * trace.regret.std(axis=0, ddof=1) / math.sqrt(seeds)
            panel.plot(trace.rounds, mean, color=colour, linewidth=2.2)
            panel.fill_between(trace.rounds, np.maximum(mean - half, 1.0), mean + half, color=colour, alpha=0.15, lw=0)
            panel.annotate(
                f"{label}\ngrowth {Line(label, colour, trace).growth:.2f}",
                (trace.rounds[-1], mean[-1]), (8, 0), textcoords="offset points",
                color=colour, va="center", fontsize=9, annotation_clip=False,
            )  # fmt: skip
        rounds = found[0].trace.rounds
        floor = GAP / (1 + math.exp(EPSILON)) * rounds
        panel.plot(rounds, floor, color="#b23a48", linestyle=(0, (1, 1.5)), linewidth=1.2)
        panel.set(xscale="log", yscale="log", xlabel="people", ylabel="cumulated regret", xlim=(rounds[0], rounds[-1]))
        for axis in (panel.xaxis, panel.yaxis):
            axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
            axis.set_minor_formatter(NullFormatter())
        panel.grid(alpha=0.25, linewidth=0.6)
        title = f"Hiding the action is linear, hiding the report is not (epsilon {EPSILON:g})"
        figure.suptitle(title, x=0.01, ha="left", fontsize=12, fontweight="bold")
        return figure


def main() -> None:
    """Run, print the numbers of the page, save the picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    found = lines(2_000 if quick else 100_000, 2 if quick else 8)
    for line in found:
        print(f"{line.label:48} regret {line.trace.regret[:, -1].mean():10,.0f}   growth {line.growth:.2f}")
    if not quick:
        draw(found).savefig(PICTURE, dpi=160)


if __name__ == "__main__":
    main()
