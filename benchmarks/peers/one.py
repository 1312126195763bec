"""One peer in a process of its own: prints one line of JSON. `learning.py` starts it in the environment of the peer.

PYTHONPATH=.venv-peers/mabwiser .venv-peers/python/bin/python benchmarks/peers/one.py mabwiser people 2000 20 5
"""

import json
import sys
import time

import numpy as np
from interval import half_width, seconds_needed
from memory import peak_megabytes
from worlds import play

from learners import LEARNERS

FEWEST = 5
"""Seeds, before an interval is believed."""


def measured(name: str, world: str, rounds: int, limit: float, percent: float) -> dict:
    """Seeds one after the other until the interval is narrow enough or the time is over."""
    seconds, regrets = [], []
    while len(regrets) < FEWEST or (half_width(regrets) > percent / 100 and sum(seconds) < limit):
        begun = time.perf_counter()
        seed = len(regrets)
        regrets.append(play(world, LEARNERS[name](world, seed), rounds, np.random.default_rng(seed)))
        seconds.append(time.perf_counter() - begun)
    return {
        "rounds_per_second": rounds * len(regrets) / sum(seconds),
        "regret": float(np.mean(regrets)),
        "seeds": len(regrets),
        "half_width": half_width(regrets),
        **seconds_needed(regrets, sum(seconds), percent / 100),
        "megabytes": peak_megabytes(),
    }


def main() -> None:
    name, world, rounds, limit, percent = sys.argv[1:]
    print(json.dumps(measured(name, world, int(rounds), float(limit), float(percent))))


if __name__ == "__main__":
    main()
