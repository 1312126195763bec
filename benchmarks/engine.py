"""The compiled simulator against plain NumPy loops of the same algorithms, in one run on the same machine.

    make bench        (or: python benchmarks/engine.py --json FILE)

The NumPy loops are what one would write by hand: one seed, one round after the other, arrays over arms and dimensions.
They are checked to learn as well as the compiled ones. Compilation is not counted; `seconds` are the best of three.
"""

import argparse
import json
import math
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from sottovoce import halves, noise_of, task
from sottovoce.catalogue.resolve import mechanism_of
from sottovoce.catalogue.task import Task
from sottovoce.privacy.levels.mechanism import Levels
from sottovoce.sim.run import simulate
from sottovoce.sim.worlds import world_of


def numpy_tsallis(contract: Task, rounds: int, rng: np.random.Generator) -> float:
    """Private Tsallis-INF (reduced variance) with randomised response, Bernoulli arms; returns the regret."""
    arms, gap = contract.arms, 0.2
    mechanism = mechanism_of(contract)
    assert isinstance(mechanism, Levels)
    assert mechanism.levels == 2
    keep = mechanism.keep / (mechanism.keep + mechanism.flip)
    reach = mechanism.reach / 2
    means = np.full(arms, 0.5)
    best = rng.integers(arms)
    means[best] -= gap
    losses, x, regret = np.zeros(arms), 0.0, 0.0
    for t in range(1, rounds + 1):
        rate = 2 / (reach * math.sqrt(t))
        x = min(x, losses.min() - 2 / rate)
        while True:
            w = 4 / (rate * (losses - x)) ** 2
            excess = w.sum() - 1
            if abs(excess) < 1e-9:
                break
            x -= excess / (rate * (w**1.5).sum())
            x = min(x, losses.min() - 2 / rate)
        w /= w.sum()
        arm = min(int(np.searchsorted(np.cumsum(w), rng.random())), arms - 1)
        loss = rng.random() < means[arm]
        bit = loss if rng.random() < keep else not loss
        estimate = 0.5 + (reach if bit else -reach)
        baseline = np.where(w >= (2 * reach * rate) ** 2, 0.5, 0.5 - reach)
        losses += baseline
        losses[arm] += (estimate - baseline[arm]) / w[arm]
        regret += means[arm] - means[best]
    return regret


def numpy_linucb(contract: Task, rounds: int, rng: np.random.Generator) -> float:
    """The paper's LinUCB, with its Gaussian noise; returns the regret."""
    d, arms = contract.dimension, contract.arms
    sigma = noise_of(mechanism_of(contract)).per_block[0]
    theta_star = rng.standard_normal(d)
    theta_star /= np.linalg.norm(theta_star)
    gram, moment, theta, regret = np.zeros((d, d)), np.zeros(d), np.zeros(d), 0.0
    log_rounds = math.log(rounds)
    spectral_unit = sigma * (4 * math.sqrt(d) + 2 * math.log(2 * rounds / 0.1))
    inverse = np.eye(d)
    for t in range(1, rounds + 1):
        spectral = spectral_unit * math.sqrt(t)
        width = 2 * sigma * math.sqrt(d * log_rounds)
        width += (math.sqrt(3 * spectral) + sigma * math.sqrt(d * t / spectral)) * d * log_rounds
        actions = rng.standard_normal((arms, d))
        actions /= np.linalg.norm(actions, axis=1, keepdims=True)
        scores = actions @ theta + width * np.sqrt(np.einsum("ij,jk,ik->i", actions, inverse, actions))
        means = actions @ theta_star
        choice = int(np.argmax(scores))
        x = actions[choice]
        y = 1.0 if rng.random() < (1 + means[choice]) / 2 else -1.0
        noise = np.triu(rng.normal(0, sigma, (d, d)))
        noise += np.triu(noise, 1).T
        gram += np.outer(x, x) + noise
        moment += y * x + rng.normal(0, sigma, d)
        inverse = np.linalg.inv(gram + 2 * spectral * np.eye(d))
        theta = inverse @ moment
        regret += means.max() - means[choice]
    return regret


def compiled(contract: Task, world: str, rounds: int, seeds: int) -> float:
    """Mean regret of the compiled loop."""
    learner, user, mechanism = halves(contract)
    place = world_of(world, arms=contract.arms, dimension=contract.dimension)
    trace = simulate(learner, user, place, rounds=rounds, mechanism=mechanism, seeds=seeds, checkpoints=10)
    return float(trace.regret[:, -1].mean())


def best_of(times: int, work: Callable[[], float]) -> tuple[float, float]:
    """(seconds, value) of the fastest of a few runs."""
    results = []
    for _ in range(times):
        start = time.perf_counter()
        value = work()
        results.append((time.perf_counter() - start, value))
    return min(results)


def compare(
    name: str, contract: Task, world: str, by_hand: Callable, rounds: int, hand_rounds: int, seeds: int
) -> dict:
    """One row: microseconds a round and seed, both ways, and the ratio."""
    compiled(contract, world, rounds, seeds)  # compile
    seconds, regret = best_of(3, lambda: compiled(contract, world, rounds, seeds))
    rng = np.random.default_rng(0)
    hand_seconds, _ = best_of(3, lambda: by_hand(contract, hand_rounds, rng))
    ours, theirs = seconds / rounds / seeds * 1e6, hand_seconds / hand_rounds * 1e6
    return {
        "benchmark": name, "seeds": seeds, "compiled_us": ours, "numpy_us": theirs, "ratio": theirs / ours,
        "regret": regret,
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--quick", action="store_true", help="a tenth of the rounds")
    arguments = parser.parse_args()
    few = 10 if arguments.quick else 1
    tsallis = task("tsallis-inf", arms=10, rounds=20_000, epsilon=1.0)
    linucb = task("linucb", "paper", arms=20, dimension=20, rounds=2_000, epsilon=1.0)
    rows = [
        compare("tsallis-inf, 10 arms", tsallis, "arms", numpy_tsallis, 20_000 // few, 4_000 // few, 64),
        compare("linucb paper, d = 20, 20 arms", linucb, "linear", numpy_linucb, 2_000 // few, 2_000 // few, 64),
    ]
    table = Table(title="Microseconds a round and seed")
    for column in ("benchmark", "seeds", "compiled", "NumPy loop", "times faster"):
        table.add_column(column, justify="left" if column == "benchmark" else "right")
    for row in rows:
        table.add_row(
            row["benchmark"], str(row["seeds"]), f"{row['compiled_us']:.3f}", f"{row['numpy_us']:.1f}",
            f"{row['ratio']:.0f}",
        )  # fmt: skip
    Console().print(table)
    if arguments.json:
        arguments.json.write_text(json.dumps({"rows": rows}, indent=2))


if __name__ == "__main__":
    main()
