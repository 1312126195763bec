"""Our default learner with features on MovieLens 100K beside the loop that the authors published, microseconds a round.

    python benchmarks/ratings.py [--data ml-100k] [--rounds 20000] [--epsilon 1] [--made-up] [--quick] [--unwatched]

Ours is `scale-free` at epsilon 1 unless told otherwise, 64 and 256 seeds side by side, compiling not counted; the loop
is the authors' own run (`sottovoce reproduce movielens --replay`), one seed, in plain NumPy. Both recommend one of the
same 20 movies with 20 features to the same people. Without `--data` the ratings come from the package recbole in
.venv-peers; with `--made-up` they are drawn, with as many persons.
"""

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from found import keep
from rich.console import Console

from sottovoce import halves, task
from sottovoce.cli.output import table_of
from sottovoce.lab.movielens.replay import replay
from sottovoce.sim.run import simulate
from sottovoce.sim.worlds.movielens import MovieLens, movielens_of

sys.path.append(str(Path(__file__).resolve().parent / "peers"))
from environment import RATINGS, folder_of, installed

MOVIES, RANK, WANTED = 20, 20, 50
OURS = (
    ("scale-free", "practical", 64),
    ("scale-free", "practical", 256),
    ("linucb", "practical", 64),
    ("linucb", "paper", 64),
)
"""Learner, preset, and the seeds that are played side by side."""
PERSONS, RATED = 943, 0.06
"""Of MovieLens 100K: how many persons, and which share of all movies a person rated; for the made-up table."""


def data_of(path: Path | None) -> str:
    """A file of ratings: one's own, or that of recbole; a sentence that says why there is none."""
    if path:
        return str(path)
    if reason := installed(RATINGS):
        raise SystemExit(f"recbole {reason}: give --data or --made-up")
    return str(next(folder_of(RATINGS).rglob("ml-100k.inter")))


def made_up(folder: Path) -> str:
    """Ratings of as many persons, drawn."""
    rng, file = np.random.default_rng(0), folder / "u.data"
    lines = [
        f"{person}\t{movie}\t{rng.integers(1, 6)}\t0"
        for person in range(1, PERSONS + 1)
        for movie in np.flatnonzero(rng.random(400) < 4 * RATED) + 1
    ]
    file.write_text("\n".join(rng.permutation(lines)) + "\n")  # the first ratings of a person are held out
    return str(file)


def microseconds(play: Callable[[], object], rounds: int, turns: int) -> float:
    """Of one round, the median of a few turns."""
    found = []
    for _ in range(turns):
        start = time.perf_counter()
        play()
        found.append(1e6 * (time.perf_counter() - start) / rounds)
    return statistics.median(found)


def ours(world: MovieLens, learner: str, preset: str, rounds: int, seeds: int, turns: int, **declaring: float) -> float:
    declared = task(learner, preset, arms=MOVIES, dimension=RANK, rounds=rounds, **declaring)
    half, user, mechanism = halves(declared)

    def play() -> None:
        simulate(half, user, world, rounds=rounds, mechanism=mechanism, seeds=seeds, checkpoints=1)

    play()
    return microseconds(play, rounds * seeds, turns)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--made-up", action="store_true")
    parser.add_argument("--rounds", type=int, default=20_000)
    parser.add_argument("--epsilon", type=float, default=1.0, help="of ours; nothing is kept of another than 1")
    parser.add_argument("--quick", action="store_true", help="500 rounds, one turn; nothing is kept")
    parser.add_argument("--unwatched", action="store_true", help="scale-free with watch = 0; nothing is kept")
    options = parser.parse_args()
    rounds, turns = (500, 1) if options.quick else (options.rounds, 3)
    with tempfile.TemporaryDirectory() as folder:
        path = made_up(Path(folder)) if options.made_up else data_of(options.data)
        world = movielens_of(dimension=RANK, arms=MOVIES, path=path)
    loop = microseconds(lambda: replay(world.features, world.theta, rounds), rounds, turns)
    rows: list[dict[str, Any]] = [{"who": "the authors' loop", "microseconds": loop, "ratio": 1.0}]
    for learner, preset, seeds in OURS:
        tuning = {"watch": 0.0} if options.unwatched and learner == "scale-free" else {}
        mine = ours(world, learner, preset, rounds, seeds, turns, epsilon=options.epsilon, **tuning)
        rows.append({"who": f"{learner} {preset}, {seeds} seeds", "microseconds": mine, "ratio": loop / mine})
        print(rows[-1], flush=True)
    source = "made-up ratings of the same shape" if options.made_up else world.source
    table = table_of(f"Microseconds of a round on {source}", "who", "microseconds", "times faster")
    for row in rows:
        table.add_row(row["who"], f"{row['microseconds']:.2f}", f"{row['ratio']:.1f}")
    Console(width=100).print(table)
    print(f"wanted of scale-free: at least {WANTED} times")
    if not (options.quick or options.unwatched) and options.epsilon == 1:
        keep("ratings", "rows", {"source": source, "rounds": rounds, "rows": rows})


if __name__ == "__main__":
    main()
