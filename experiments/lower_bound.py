"""What it costs to protect the arm: the paper's intuition for its conjectured lower bound, as an experiment.

    python experiments/lower_bound.py            20,000 rounds, 16 seeds; a table, and results/lower_bound.png
    python experiments/lower_bound.py --quick    a short look, to see that it works

Zheng et al. 2020, appendix, last section: a bandit with K arms is a contextual bandit whose contexts are the unit
vectors e_1 ... e_K. A contextual protocol then protects the arm and the reward, a context-free one the reward only. The
paper expects the estimation error ||theta_T - theta*||_{M_T}, M_T the diagonal matrix of how often each arm was played,
to grow like T^(1/4) in the first and to stay nearly constant in the second.

One rule, the practical LinUCB, hears three protocols: the arm is public and the reward privatised (levels); both are
protected (the sphere report of x x' and y x), at the same epsilon; no privacy, to see what is due to the rule.
"""

import argparse
import functools
import time
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import matplotlib
import numpy as np
from jax import lax
from numpy.typing import NDArray

from sottovoce import Budget, Interval, Moments, calibrate, halves, task
from sottovoce.learners.base import Key, Offer, configuration, pick
from sottovoce.privacy.domains import MomentEstimate
from sottovoce.sim.halves import Halves
from sottovoce.sim.loop import Carry, begin, play_round, publish_carry
from sottovoce.sim.run import Case, Run, setting_of
from sottovoce.sim.run import parts_of as loop_parts
from sottovoce.users import ScalarUser
from sottovoce.users.by_model import LinearUser

matplotlib.use("Agg")
from matplotlib import pyplot as plt

EPSILON = 2.0
GAP = 0.5
"""The best arm's mean reward; the others' is 0. Rewards are +1 or -1."""

PROTOCOLS = ["arm public", "arm protected", "no privacy"]


@configuration("arms")
class UnitVectors:
    """Arms as unit vectors, the same for everybody. The "regret" counts how often each was played."""

    arms: int
    theta: Any

    def visit(self, round: jax.Array, key: Key) -> jax.Array:
        return jnp.eye(self.arms)

    def outcome(self, context: jax.Array, action: jax.Array, key: Key) -> jax.Array:
        return jnp.where(jax.random.uniform(key) < (1 + pick(self.theta, action)) / 2, 1.0, -1.0)

    def regret(self, context: jax.Array, action: jax.Array) -> jax.Array:
        return (jnp.arange(self.arms) == action).astype(float)


@configuration()
class PublicArm:
    """LinUCB that chooses on the server, so that it knows x x' and hears the reward only."""

    rule: Any

    @property
    def growth(self) -> float:
        return self.rule.growth

    def init(self) -> Any:
        return self.rule.init()

    def ask(self, state: Any, key: Key) -> Offer:
        arms = self.rule.dimension
        arm = LinearUser(Moments(arms)).act(state.model, jnp.eye(arms), jax.random.uniform(key))
        return Offer(arm, arm)

    def tell(self, state: Any, memo: jax.Array, estimate: jax.Array) -> Any:
        x = (jnp.arange(self.rule.dimension) == memo).astype(float)
        return self.rule.tell(state, (), MomentEstimate(jnp.outer(x, x), estimate * x))

    def refresh(self, state: Any) -> Any:
        return self.rule.refresh(state)


class Result(NamedTuple):
    regret: NDArray[np.float64]
    error: NDArray[np.float64]
    """||theta_T - theta*||_{M_T}, for every seed."""


def parts_of(protocol: str, arms: int, rounds: int) -> Halves:
    """The learner of a protocol with its user and its mechanism."""
    contract = task("linucb", arms=arms, dimension=arms, rounds=rounds, epsilon=EPSILON)
    parts = halves(contract, private=protocol == "arm protected")
    if protocol != "arm public":
        return parts
    reward = Interval(-1.0, 1.0)
    return Halves(PublicArm(rule=parts.learner), ScalarUser(reward), calibrate("levels", reward, Budget(EPSILON)))


def measure(protocol: str, arms: int, rounds: int, seeds: int) -> Result:
    """Regret and estimation error after so many rounds."""
    with jax.enable_x64(True):
        learner, user, mechanism = parts_of(protocol, arms, rounds)
        theta = jnp.where(jnp.arange(arms) == 0, GAP, 0.0)
        world = UnitVectors(arms=arms, theta=theta)
        run, case = Run(rounds=rounds, seeds=seeds), Case(learner, mechanism)
        setting, (learner, gates) = setting_of(case, user, run), loop_parts(case)
        publish = jax.vmap(functools.partial(publish_carry, learner))

        def step(carry: Carry, now: tuple[jax.Array, jax.Array], keys: jax.Array) -> tuple[Carry, None]:
            round, due = now
            one = lambda carry, key: play_round(setting, learner, gates, world, key, carry, round)  # noqa: E731
            carry = jax.vmap(one)(carry, keys)
            return lax.cond(due, publish, lambda same: same, carry) if setting.lazy else carry, None

        @jax.jit
        def play(keys: jax.Array, due: jax.Array) -> Carry:
            start = jax.vmap(lambda key: begin(setting, learner, gates, world, key))(keys)
            return lax.scan(functools.partial(step, keys=keys), start, (jnp.arange(rounds), due))[0]

        carry = play(run.seed_keys(), jnp.asarray(run.publish(learner)))
        plays = np.asarray(carry.regret)
        found = np.asarray(carry.state.model.theta)
        error = np.sqrt(np.sum(plays * (found - np.asarray(theta)) ** 2, axis=1))
        return Result(GAP * plays[:, 1:].sum(axis=1), error)


def mean(values: NDArray[np.float64]) -> str:
    error = values.std(ddof=1) / np.sqrt(len(values))
    return f"{values.mean():9,.1f} +- {error:<6,.1f}"


def table(shapes: list[tuple[int, int]], seeds: int) -> dict[tuple[str, int, int], Result]:
    """Measure every protocol at every (arms, rounds), and print as they come."""
    results = {}
    print(f"{'arms':>5}{'rounds':>8}  {'protocol':16}{'regret':>19}{'error':>22}")
    for arms, rounds in shapes:
        for protocol in PROTOCOLS:
            start = time.perf_counter()
            result = results[protocol, arms, rounds] = measure(protocol, arms, rounds, seeds)
            seconds = time.perf_counter() - start
            print(
                f"{arms:5}{rounds:8,}  {protocol:16}{mean(result.regret):>19}{mean(result.error):>22}{seconds:7.0f} s",
                flush=True,
            )
    return results


def growth(results: dict[tuple[str, int, int], Result], protocol: str, arms: int, what: str) -> float:
    """The exponent p of a quantity that grows like T^p, by least squares over the horizons."""
    horizons = sorted(rounds for name, k, rounds in results if (name, k) == (protocol, arms))
    means = [getattr(results[protocol, arms, rounds], what).mean() for rounds in horizons]
    return float(np.polyfit(np.log(horizons), np.log(means), 1)[0])


def draw(results: dict[tuple[str, int, int], Result], arms: int, rounds: int, path: Path) -> None:
    """Regret as the arms grow; error as the rounds do."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    for protocol in PROTOCOLS:
        counts = sorted(k for name, k, t in results if name == protocol and t == rounds)
        horizons = sorted(t for name, k, t in results if name == protocol and k == arms)
        left.plot(counts, [results[protocol, k, rounds].regret.mean() for k in counts], "o-", label=protocol)
        right.plot(horizons, [results[protocol, arms, t].error.mean() for t in horizons], "o-", label=protocol)
    left.set(xscale="log", yscale="log", xlabel="arms", ylabel="regret", title=f"{rounds:,} rounds")
    right.set(xscale="log", ylim=(0, None), xlabel="rounds", ylabel="estimation error", title=f"{arms} arms")
    for axes, ticks in ((left, counts), (right, horizons)):
        axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
        axes.minorticks_off()
    left.legend()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)


def main() -> None:
    """Print the table, the exponents and where the figure is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="1,000 rounds, 4 seeds")
    rounds, seeds, counts = (1000, 4, [2, 4]) if parser.parse_args().quick else (20_000, 16, [2, 4, 8, 16])
    middle = 4
    shapes = [(arms, rounds) for arms in counts] + [(middle, rounds // n) for n in (16, 4)]
    results = table(shapes, seeds)
    for protocol in PROTOCOLS:
        exponents = [growth(results, protocol, middle, what) for what in ("error", "regret")]
        print(f"{middle} arms, {protocol}: error grows like T^{exponents[0]:.2f}, regret like T^{exponents[1]:.2f}")
    path = Path("results") / "lower_bound.png"
    draw(results, middle, rounds, path)
    print(f"figure: {path}")


if __name__ == "__main__":
    main()
