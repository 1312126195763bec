"""What forged reports cost, for five learners: the figure and the tables of docs/forgers.md.

    python experiments/forgers.py            20,000 people, 16 seeds; writes docs/images/forgers.png
    python experiments/forgers.py --quick    a short look, to see that it works; writes nothing

Forgers hold a share of all permits and tickets, use every one, know the world, and aim where it hurts most.
"""

import argparse
import dataclasses
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import matplotlib
import numpy as np
from matplotlib.figure import Figure

from sottovoce import Ball, Budget, halves, task
from sottovoce.learners import uniform_of
from sottovoce.learners.base import Key
from sottovoce.privacy.sphere.mechanism import Sphere, sphere, sphere_mean
from sottovoce.protocol.fields import Number
from sottovoce.report.confidence import student_quantile
from sottovoce.sim.forgers import Forgers
from sottovoce.sim.halves import Halves
from sottovoce.sim.run import simulate
from sottovoce.sim.worlds import world_of, world_of_task
from sottovoce.sim.worlds.people import People

PICTURE = Path(__file__).resolve().parents[1] / "docs" / "images" / "forgers.png"
EPSILON = 1.0
SHARES = (0.0, 0.005, 0.01, 0.02, 0.05, 0.1)
FOUND_BY_SEARCH = 0.8
"""The cosine with his aim of the best candidate among some hundred coins, in 21 dimensions."""


@dataclasses.dataclass(frozen=True)
class FreeCoins(Forgers):
    """Forgers where devices choose their coins, for comparison: one report near the aim is sent again and again."""

    def instead_of(self, estimate: jax.Array, world: Any, offer: Any, key: Key) -> jax.Array:
        aim = self.aim(world, offer)
        aim = aim / jnp.linalg.norm(aim)
        other = jax.random.normal(jax.random.key(0), aim.shape)
        other = other - (other @ aim) * aim
        across = math.sqrt(1 - FOUND_BY_SEARCH**2) * other / jnp.linalg.norm(other)
        forged = (FOUND_BY_SEARCH * aim + across) * self.mechanism.reach
        return jnp.where(jax.random.uniform(jax.random.fold_in(key, 3)) < self.share, forged, estimate)


class Kind(NamedTuple):
    """One learner in one world, and what its forgers aim at."""

    label: str
    parts: Halves
    uniform: Any
    world: Any
    aim: Callable[[Any, Any], Any]
    free: Halves | None = None
    """The same with a codebook as it was where devices chose their coins."""


def candidates() -> People:
    """Ten candidates with four number fields each, as the product encodes them; rewards are +1 or -1."""
    fields = tuple((f"field {i}", Number(low=-1.0, high=1.0)) for i in range(4))
    return People(fields=fields, named=False, rewards=world_of("linear", arms=10, dimension=5))


def large_codebook(mechanism: Sphere) -> Sphere:
    """The best of 256 candidates."""
    ratio = mechanism.inside / mechanism.outside
    cap = max(range(1, 129), key=lambda cap: sphere_mean(mechanism.dimension, 256, cap, ratio))
    mean = sphere_mean(mechanism.dimension, 256, cap, ratio)
    return dataclasses.replace(mechanism, candidates=256, cap=cap, mean=mean)


def kinds(rounds: int) -> list[Kind]:
    shape = {"rounds": rounds, "epsilon": EPSILON}
    arms = task("thompson", arms=5, **shape)
    moments = task("linucb", arms=10, dimension=5, **shape)
    gradients = task("gradient", arms=10, dimension=5, link="identity", **shape)
    directions = task("scale-free", arms=10, dimension=5, **shape)
    points = task("two-point", dimension=3, **shape)

    def wrong_arm(world: Any, offer: Any) -> jax.Array:
        best = world.rewards[offer.arm] >= jnp.max(world.rewards)
        return jnp.where(best, -1.0, 1.0)[None]

    def opposite_moment(world: Any, offer: Any) -> jax.Array:
        return jnp.concatenate([jnp.zeros(15), -world.rewards.theta])

    def opposite_gradient(world: Any, offer: Any) -> jax.Array:
        return world.rewards.theta

    def opposite_direction(world: Any, offer: Any) -> jax.Array:
        return jnp.append(-world.rewards.theta, 0.0)

    def away(world: Any, offer: Any) -> jax.Array:
        first, second = world.outcome(world.visit(0, None), offer.public, jax.random.key(0))
        return -jnp.sign(first - second)[None]

    def kind(label: str, made: Any, world: Any, aim: Any) -> Kind:
        parts = halves(made)
        large = isinstance(parts.mechanism, Sphere) and parts._replace(mechanism=large_codebook(parts.mechanism))
        return Kind(label, parts, uniform_of(made), world, aim, large or None)

    return [
        kind("arms (thompson)", arms, world_of("arms", arms=5, gap=0.2), wrong_arm),
        kind("features, moments (linucb)", moments, candidates(), opposite_moment),
        kind("features, gradients (gradient)", gradients, candidates(), opposite_gradient),
        kind("features, directions (scale-free)", directions, candidates(), opposite_direction),
        kind("points (two-point)", points, world_of_task(points), away),
    ]


class Damage(NamedTuple):
    """Regret a round in the last quarter."""

    mean: float
    half: float
    """Half of its 95 % interval."""


def damage(parts: Any, world: Any, forgers: Forgers | None, rounds: int, seeds: int) -> Damage:
    learner, user, mechanism = parts
    run = {"rounds": rounds, "seeds": seeds, "publish_every": 100, "checkpoints": 4}
    trace = simulate(learner, user, world, mechanism=mechanism, forgers=forgers, **run)
    lost = (trace.regret[:, -1] - trace.regret[:, -2]) / (rounds / 4)
    half = student_quantile(0.975, seeds - 1) * lost.std(ddof=1) / math.sqrt(seeds)
    return Damage(float(lost.mean()), float(half))


def curves(kind: Kind, rounds: int, seeds: int) -> dict[str, list[Damage]]:
    """By whose coins: the damage at each share; and uniform play."""
    found = {}
    for name, parts, forgers in (("public", kind.parts, Forgers), ("free", kind.free, FreeCoins)):
        if parts:
            forging = [forgers(share, parts.mechanism, kind.aim) if share else None for share in SHARES]
            found[name] = [damage(parts, kind.world, one, rounds, seeds) for one in forging]
    uniform = kind.parts._replace(learner=kind.uniform)
    return found | {"uniform": [damage(uniform, kind.world, None, rounds, seeds)]}


# --- other ways to fold --------------------------------------------------------------------------------------------


def folding(reports: int = 20_000, dimension: int = 20, share: float = 0.05) -> dict[str, float]:
    """How far forgers move the estimate of a mean, in units of the radius, by the way it is taken from the reports."""
    draw, mechanism = np.random.default_rng(0), sphere(Ball(dimension), Budget(EPSILON))
    vectors = draw.normal(size=(reports, dimension + 1))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    message = np.append(0.5, np.zeros(dimension))
    message[-1] = math.sqrt(0.75)
    truthful = draw.random(reports) < mechanism.inside / (mechanism.inside + mechanism.outside)
    honest = np.sign(vectors @ message) * np.where(truthful, 1, -1)
    forged = draw.random(reports) < share
    signs = np.where(forged, -np.sign(vectors[:, 0]), honest)
    sent = signs * vectors[:, 0] * mechanism.reach
    low, high = np.quantile(sent, (0.1, 0.9))
    return {
        "mean": float(sent.mean()),
        "median of 20 means": float(np.median(sent.reshape(20, -1).mean(axis=1))),
        "mean without the outer tenths": float(sent[(sent >= low) & (sent <= high)].mean()),
    }


# --- what people see -------------------------------------------------------------------------------------------------

COLOURS = {"public": "#0b6e4f", "free": "#b23a48"}
WORDS = {"public": "coins tossed together", "free": "coins chosen by devices"}


def drawn(found: dict[str, dict[str, list[Damage]]]) -> Figure:
    """One panel a kind: regret a round against the share of forgers."""
    with matplotlib.rc_context({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False}):
        figure = Figure(figsize=(11.5, 5.8), layout="constrained")
        places = range(len(SHARES))
        panels = figure.subplots(2, 3).flatten()
        panels[-1].set_axis_off()
        for panel, (label, lines) in zip(panels, found.items(), strict=False):
            for name in [name for name in COLOURS if name in lines]:
                mean, half = np.array(lines[name]).T
                panel.plot(places, mean, "o-", color=COLOURS[name], label=WORDS[name], markersize=3.5)
                panel.fill_between(places, mean - half, mean + half, color=COLOURS[name], alpha=0.15, lw=0)
            panel.axhline(lines["uniform"][0].mean, color="black", linestyle=(0, (2, 2)), lw=1, label="uniform play")
            panel.set(title=label, ylim=(0, None), xticks=list(places))
            panel.set_xticklabels([f"{100 * share:g} %" for share in SHARES])
            panel.grid(alpha=0.25, linewidth=0.6)
        figure.supxlabel("permits and tickets in the hands of forgers")
        figure.supylabel("regret a round, last quarter of 20,000")
        handles, labels = figure.axes[1].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper right", ncols=3, frameon=False)
        figure.suptitle(f"What forgers cost at epsilon {EPSILON:g}", x=0.01, ha="left", fontsize=12, fontweight="bold")
        return figure


def main() -> None:
    """Run, print the numbers of the page, save the picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    rounds, seeds = (800, 2) if quick else (20_000, 16)
    found = {}
    for kind in kinds(rounds):
        found[kind.label] = curves(kind, rounds, seeds)
        for name, line in found[kind.label].items():
            print(
                f"{kind.label:32} {name:8}", "  ".join(f"{one.mean:.3f} ± {one.half:.3f}" for one in line), flush=True
            )
    for name, moved in folding().items():
        print(f"honest 0.500, 5 % forged: {name:30} {moved:.3f}")
    if not quick:
        drawn(found).savefig(PICTURE, dpi=160)


if __name__ == "__main__":
    main()
