"""Several choices of a learner's numbers side by side in several worlds: what gradient.py and linucb.py print."""

import argparse
import math
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np


def compare(
    about: str,
    measure: str,
    choices: Sequence[Any],
    places: Sequence[Any],
    regrets: Callable[[Any, int, int], list[float]],
    *,
    rounds: int,
    seeds: int,
    form: str,
) -> None:
    """Print a row per world as it is done, then the geometric means; `form` is how a figure is written."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="2,000 rounds, 4 seeds")
    if parser.parse_args().quick:
        rounds, seeds = 2_000, 4
    print(f"{measure} after {rounds:,} rounds, mean of {seeds} seeds; ({', '.join(choices[0]._fields)})")
    names = [f"{number}/{len(places)} {place}" for number, place in enumerate(places, 1)]
    heads = ["(" + ", ".join(f"{value:g}" for value in choice) + ")" for choice in choices]
    first, other = max(map(len, names)), max(map(len, heads)) + 2

    def line(name: str, cells: Sequence[str]) -> str:
        return f"{name:{first}}" + "".join(f"{cell:>{other}}" for cell in cells)

    print(line("", heads), flush=True)
    rows = []
    for name, place in zip(names, places, strict=True):
        start = time.perf_counter()
        rows.append(regrets(place, rounds, seeds))
        seconds = time.perf_counter() - start
        print(line(name, [f"{value:{form}}" for value in rows[-1]]) + f"   {seconds:.0f} s", flush=True)
    means = np.exp(np.log(rows).mean(axis=0))
    assert all(math.isfinite(mean) for mean in means)
    print(line("geometric mean", [f"{value:{form}}" for value in means]))
