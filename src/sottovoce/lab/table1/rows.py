"""The rows: what is run, what the theorem says, and how the horizons were chosen."""

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

EPSILONS = (0.25, 0.5, 1.0, 2.0)


class Row(NamedTuple):
    """One row. The bound is T^rounds_power (1/epsilon)^epsilon_power times `logarithm(T)`."""

    name: str
    title: str
    learner: str
    world: str
    rounds_power: float
    epsilon_power: float
    shape: dict[str, Any]
    horizons: tuple[int, ...]
    """Of the full table; the quick one takes the first three."""
    options: Mapping[str, Any] = MappingProxyType({})
    tuning: Mapping[str, Any] = MappingProxyType({})
    epsilon: float = 1.0
    """At which the horizons are compared."""
    logarithm: Callable[[float], float] = lambda rounds: 1.0
    logarithm_text: str = "1"
    why: str = ""
    """What was chosen for this row, and why."""
    seeds: int = 64


def _log(power: float) -> Callable[[float], float]:
    return lambda rounds: math.log(rounds) ** power


ROWS = [
    Row(
        name="one-point-convex",
        title="one point, convex",
        learner="fkm",
        world="absolute",
        shape={"dimension": 2},
        rounds_power=3 / 4,
        epsilon_power=1.0,
        horizons=(10_000, 30_000, 100_000, 300_000, 1_000_000),
        why="Losses |x - x*|/2 on the unit disc: convex, neither smooth nor strongly convex.",
    ),
    Row(
        name="one-point-smooth",
        title="one point, convex and smooth",
        learner="saha-tewari",
        world="quadratic",
        shape={"dimension": 2},
        rounds_power=2 / 3,
        epsilon_power=1.0,
        horizons=(10_000, 30_000, 100_000, 300_000),
        logarithm=_log(1 / 3),
        logarithm_text="(ln T)^(1/3)",
        why="Losses |x - x*|^2/4 on the unit disc, of whose curvature the learner is told only the upper bound.",
    ),
    Row(
        name="one-point-strong",
        title="one point, strongly convex",
        learner="agarwal-dekel-xiao",
        world="quadratic",
        shape={"dimension": 2},
        rounds_power=2 / 3,
        epsilon_power=1.0,
        horizons=(10_000, 30_000, 100_000, 300_000, 1_000_000),
        seeds=128,
        options={"kink": 0.5},
        tuning={"steepness": 0.75, "strength": 0.25},
        logarithm=_log(1 / 3),
        logarithm_text="(ln T)^(1/3)",
        why="Half |x - x*|^2/4 and half |x - x*|/2 on the unit disc: strongly convex, not smooth.",
    ),
    Row(
        name="one-point-both",
        title="one point, strongly convex and smooth",
        learner="hazan-levy",
        world="quadratic",
        shape={"dimension": 2},
        rounds_power=1 / 2,
        epsilon_power=1.0,
        horizons=(30_000, 100_000, 300_000, 1_000_000),
        logarithm=_log(1 / 2),
        logarithm_text="(ln T)^(1/2)",
        seeds=128,
        why="Losses |x - x*|^2/4 on the unit disc.",
    ),
    Row(
        name="two-point-convex",
        title="two points, convex",
        learner="two-point",
        world="absolute",
        shape={"dimension": 5},
        rounds_power=1 / 2,
        epsilon_power=2.0,
        horizons=(10_000, 30_000, 100_000, 300_000),
        options={"steepness": 1.0},
        why="Losses |x - x*| on the unit ball in five dimensions, slopes in [-1, 1].",
    ),
    Row(
        name="two-point-strong",
        title="two points, strongly convex",
        learner="two-point-strong",
        world="quadratic",
        shape={"dimension": 2},
        rounds_power=0.0,
        epsilon_power=2.0,
        horizons=(30_000, 100_000, 300_000, 1_000_000),
        epsilon=4.0,
        logarithm=_log(1.0),
        logarithm_text="ln T",
        seeds=128,
        why="Losses |x - x*|^2/4 on the unit disc, slopes in [-1, 1].",
    ),
    Row(
        name="contextual-linear",
        title="contextual linear",
        learner="linucb",
        world="linear",
        shape={"dimension": 3, "arms": 10},
        rounds_power=3 / 4,
        epsilon_power=1.0,
        horizons=(5_000, 15_000, 50_000, 150_000),
        why="Ten fresh unit vectors for every person, in three dimensions.",
    ),
    Row(
        name="contextual-glm",
        title="contextual generalised linear",
        learner="glm",
        world="logistic",
        shape={"dimension": 3, "arms": 10},
        rounds_power=3 / 4,
        epsilon_power=1.0,
        horizons=(10_000, 30_000, 100_000, 300_000),
        why="Ten fresh unit vectors for every person, in three dimensions, logistic rewards.",
    ),
    Row(
        name="arms-adversarial",
        title="arms, adversarial",
        learner="tsallis-inf",
        world="switching-arms",
        shape={"arms": 5},
        rounds_power=1 / 2,
        epsilon_power=1.0,
        horizons=(10_000, 30_000, 100_000, 300_000),
        options={"gap": 0.1},
        why="Five arms whose losses jump together in phases that grow by 1.6; the best stays best by 0.1.",
    ),
    Row(
        name="arms-stochastic",
        title="arms, stochastic",
        learner="tsallis-inf",
        world="arms",
        shape={"arms": 5},
        rounds_power=0.0,
        epsilon_power=2.0,
        horizons=(30_000, 100_000, 300_000, 1_000_000),
        options={"gap": 0.4},
        epsilon=4.0,
        logarithm=_log(1.0),
        logarithm_text="ln T",
        seeds=128,
        why="Five Bernoulli arms, losses 0.5 and one 0.1: a wide gap, because the logarithm shows late.",
    ),
    Row(
        name="stochastic-convex",
        title="stochastic convex, one dimension",
        learner="interval-search",
        world="absolute",
        shape={"dimension": 1},
        rounds_power=1 / 2,
        epsilon_power=1.0,
        horizons=(100_000, 300_000, 1_000_000, 3_000_000),
        epsilon=2.0,
        logarithm=_log(3 / 2),
        logarithm_text="(ln T)^(3/2)",
        seeds=32,
        why="Losses |x - x*|/2 on [-1, 1]. In more dimensions the published constants never move: see `pyramid`.",
    ),
]


class BestArmRow(NamedTuple):
    """Samples until a best-arm learner stops, against 1/epsilon and against 1/gap: both squares in the theorem."""

    name: str = "best-arm"
    title: str = "best arm, samples"
    learner: str = "lil-ucb"
    arms: int = 5
    gaps: tuple[float, ...] = (0.4, 0.28, 0.2, 0.14, 0.1)
    epsilon: float = 1.0
    gap: float = 0.4
    power: float = 2.0
    seeds: int = 192
    rounds: int = 3_000_000
    why: str = "Five Bernoulli arms, one better by the gap, confidence 0.95; a run that never stops counts its rounds."


BEST_ARM = BestArmRow()
