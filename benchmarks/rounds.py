"""Microseconds of one round of one seed, and the memory that takes, by learner and number of seeds.

    python benchmarks/rounds.py [--seeds 4096 --seeds 65536] [--learner thompson] [--seconds 5] [--json FILE]
    python benchmarks/rounds.py --device gpu --large --json results/rounds-gpu.json

`--large` goes up to a million seeds; `--usual` plays none of them in lanes (`sim/lanes`), and `--small` has other
learners, in small shapes, of which most are played in lanes. Rounds are private ones at
epsilon 1; compiling is not counted. How many rounds are timed follows from how long the first ones take, so that each
line takes about as long as is asked for. Every line is a process of its own: its memory is the most that was taken of
the GPU's (on a CPU, the most that the process held), and a line that fails does not end the table. The lines with
`movielens` need the ratings: the package recbole, or --data FILE.
"""

import argparse
import json
import platform
import resource
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import jax

from sottovoce import halves, task
from sottovoce.protocol.errors import ConfigurationError
from sottovoce.sim import device
from sottovoce.sim.lanes import advance
from sottovoce.sim.ratings import ratings_of
from sottovoce.sim.run import simulate
from sottovoce.sim.worlds import world_of, world_of_task

ARMS: dict[str, Any] = {"world": "arms", "arms": 10}
LINEAR: dict[str, Any] = {"world": "linear", "arms": 20, "dimension": 20}
MOVIES: dict[str, Any] = {"world": "movielens", "arms": 20, "dimension": 20}
LINES: dict[str, dict[str, Any]] = {
    "tsallis-inf": ARMS,
    "thompson": ARMS,
    "kl-ucb": ARMS,
    "kl-moss": ARMS,
    "linucb paper": LINEAR,
    "linucb": LINEAR,
    "gradient": LINEAR,
    "scale-free": LINEAR,
    "gradient practical movielens": MOVIES,
    "scale-free practical movielens": MOVIES,
}
"""A learner, its preset (practical if there is none), and once more the world where it is not the usual one."""
FEW_ARMS: dict[str, Any] = {"arms": 10}
SHORT: dict[str, Any] = {"arms": 10, "dimension": 5}
FLAT: dict[str, Any] = {"dimension": 2}
SMALL: dict[str, dict[str, Any]] = (
    dict.fromkeys(("exp3", "kl-ucb paper", "kl-moss", "lil-ucb", "clucb", "dp-successive-elimination", "ucb"), FEW_ARMS)
    | dict.fromkeys(("gradient", "glm", "linucb paper", "oful", "scale-free"), SHORT)
    | dict.fromkeys(("joint-dp-linucb published",), SHORT)
    | dict.fromkeys(("linear-perturbation", "newton", "pyramid", "two-point", "tree-bco"), FLAT)
)
"""In the world that each is first tried in."""
USUAL, LARGE = (64, 4096, 65536), (4096, 65536, 262_144, 1_048_576)
FEW = {"cpu": 200, "gpu": 1000}
"""Rounds of the first look; then so many between two checkpoints, so that one compiled loop plays them all."""


def seconds(line: str, about: dict[str, Any], path: str, rounds: int, seeds: int) -> float:
    name, preset, *_ = [*line.split(), "practical"]
    shape = {key: value for key, value in about.items() if key != "world"}
    contract = task(name, preset, rounds=rounds, epsilon=1.0, **shape)
    learner, user, mechanism = halves(contract)
    options = {"path": path} if about == MOVIES else {}
    world = world_of(about["world"], **shape, **options) if "world" in about else world_of_task(contract)
    run = {"rounds": rounds, "seeds": seeds, "checkpoints": rounds // few()}
    simulate(learner, user, world, mechanism=mechanism, **run)
    start = time.perf_counter()
    simulate(learner, user, world, mechanism=mechanism, **run)
    return time.perf_counter() - start


def measured(line: str, about: dict[str, Any], path: str, seeds: int, wanted: float) -> dict[str, Any]:
    found = seconds(line, about, path, rounds := few(), seeds)
    if (times := int(wanted / found)) > 1:
        found = seconds(line, about, path, rounds := times * few(), seeds)
    return {"rounds": rounds, "microseconds": 1e6 * found / rounds / seeds, "megabytes": megabytes()}


def few() -> int:
    return FEW[jax.default_backend()]


def megabytes() -> float:
    """The most so far."""
    if stats := jax.devices()[0].memory_stats():
        return stats["peak_bytes_in_use"] / 2**20
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10


def one_line(
    chosen: str | None, usual: bool, line: str, about: dict[str, Any], path: str, seeds: int, wanted: float
) -> dict[str, Any]:
    """In its own process."""
    start(chosen)
    if usual:
        advance.FEWEST = 2**62
    try:
        return measured(line, about, path, seeds, wanted)
    except Exception as error:
        return {"failed": str(error).splitlines()[0]}


def start(chosen: str | None) -> dict[str, Any]:
    """What computes, and how much memory it has."""
    if chosen:
        device.use(chosen)
    free = device.room()
    return {"device": device.in_words(), "megabytes": free and round(free / 2**20), "jax": jax.__version__}


def apart(function: Any) -> Any:
    """What it returns, computed in a new process."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(function).result()


def ratings_there(path: str) -> bool:
    try:
        return bool(len(ratings_of(path).stars))
    except ConfigurationError as error:
        print(f"without the lines with movielens: {error}")
        return False


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=device.PLATFORMS)
    parser.add_argument("--seeds", type=int, action="append")
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--learner", choices=LINES | SMALL, action="append")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--usual", action="store_true")
    parser.add_argument("--data", default="")
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    try:
        about = apart(partial(start, options.device)) | {"processor": platform.processor() or platform.machine()}
    except ConfigurationError as error:
        raise SystemExit(f"rounds.py: {error}") from None
    print(", ".join(f"{name} {value}" for name, value in about.items() if value))
    print(f"{'learner':>30} {'seeds':>9} {'rounds':>9} {'microseconds':>13} {'MB':>8}")
    table = SMALL if options.small else LINES
    lines, rows = options.learner or list(table), []
    if unknown := ", ".join(line for line in lines if line not in table):
        parser.error(f"no line {unknown} {'with' if options.small else 'without'} --small")
    if any(table[line] is MOVIES for line in lines) and not ratings_there(options.data):
        lines = [line for line in lines if table[line] is not MOVIES]
    for line in lines:
        for seeds in options.seeds or (LARGE if options.large else USUAL):
            asked = line, table[line], options.data, seeds, options.seconds
            found = apart(partial(one_line, options.device, options.usual, *asked))
            rows.append({"learner": line, "seeds": seeds} | found)
            print(f"{line:>30} {seeds:>9,} {in_columns(found)}", flush=True)
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(about | {"rows": rows}, indent=2) + "\n")


def in_columns(found: dict[str, Any]) -> str:
    if "failed" in found:
        return f"failed: {found['failed']}"
    return f"{found['rounds']:>9,} {found['microseconds']:>13.5f} {found['megabytes']:>8,.0f}"


if __name__ == "__main__":
    main()
