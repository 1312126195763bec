"""Learners of others beside ours, on the same work: rounds a second, memory, and time until the mean regret is known.

    python benchmarks/peers/learning.py [--world arms] [--rounds 2000] [--seconds 12] [--quick]

Three worlds (worlds.py); everybody plays the same number of rounds in each, every contestant in a process of its own,
one after the other. Seeds are added until the 95 % interval of the mean regret is within 5 % of it; who does not get
there in `--seconds` gets a time computed from the spread of the seeds seen so far, marked `about`. Compiling is in that
time and not in the rounds a second. Memory is the most that the process ever held. Peers are used as their manuals
show; where a peer has no learner for a world it is left out there.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

sys.path.append(str(Path(__file__).resolve().parents[1]))

from environment import PACKAGES, PYTHON, ROOT, environment_of, installed, package_of, versions
from found import keep
from found import versions as our_versions
from rich.console import Console
from worlds import ROUNDS, SHAPES

from sottovoce.cli.output import table_of

HERE = Path(__file__).resolve().parent
PERCENT = 5


class Contestant(NamedTuple):
    """Who plays where: what it learns by, and how its process knows it."""

    world: str
    who: str
    algorithm: str
    private: bool
    asked: str
    """The name of a peer, or learner/preset/private, plain or loop."""


CONTESTANTS = (
    Contestant("arms", "Sottovoce", "ucb", False, "ucb/practical/plain"),
    Contestant("arms", "MABWiser", "UCB1", False, "mabwiser"),
    Contestant("arms", "river", "UCB", False, "river"),
    Contestant("arms", "SMPyBandits", "UCB", False, "SMPyBandits"),
    Contestant("arms", "Vowpal Wabbit", "SquareCB", False, "vowpalwabbit"),
    Contestant("arms", "Sottovoce", "tsallis-inf", True, "tsallis-inf/practical/private"),
    Contestant("arms", "plain NumPy loop", "tsallis-inf", True, "tsallis-inf/practical/loop"),
    Contestant("people", "Sottovoce", "linucb", False, "linucb/practical/plain"),
    Contestant("people", "MABWiser", "LinUCB", False, "mabwiser"),
    Contestant("people", "river", "LinUCBDisjoint", False, "river"),
    Contestant("people", "contextualbandits", "LinUCB", False, "contextualbandits"),
    Contestant("people", "Vowpal Wabbit", "SquareCB", False, "vowpalwabbit"),
    Contestant("people", "Sottovoce", "scale-free", True, "scale-free/practical/private"),
    Contestant("features", "Sottovoce", "linucb", False, "linucb/practical/plain"),
    Contestant("features", "Vowpal Wabbit", "SquareCB", False, "vowpalwabbit"),
    Contestant("features", "Sottovoce", "linucb of the paper", True, "linucb/paper/private"),
    Contestant("features", "plain NumPy loop", "linucb of the paper", True, "linucb/paper/loop"),
    Contestant("features", "Sottovoce", "scale-free", True, "scale-free/practical/private"),
)


def measured(one: Contestant, rounds: int, seconds: float) -> dict[str, Any]:
    """What its process printed, or why there is nothing."""
    peer = next((package for package in PACKAGES if package.name == one.asked), None)
    if peer and (reason := installed(peer)):
        return {"reason": reason}
    words = [one.asked, one.world, str(rounds), str(seconds), str(PERCENT)]
    command = [str(PYTHON), str(HERE / "one.py")] if peer else [sys.executable, str(HERE / "ours.py")]
    environment = environment_of(peer) if peer else os.environ | {"JAX_COMPILATION_CACHE_DIR": ""}
    done = subprocess.run([*command, *words], env=environment, capture_output=True, text=True, cwd=ROOT)
    if done.returncode:
        return {"reason": f"stopped ({done.stderr.strip().splitlines()[-1][:120]})"}
    return json.loads(done.stdout.splitlines()[-1])


def version_of(one: Contestant) -> str:
    if not any(package.name == one.asked for package in PACKAGES):
        return ""
    return " ".join(versions(package_of(one.asked)).values())


def with_ratios(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Beside each how many times as many rounds the first of ours with the same promise plays.

    >>> rows = [{"private": False, "rounds_per_second": 90.0}, {"private": False, "rounds_per_second": 30.0}]
    >>> [row["ours_beside"] for row in with_ratios(rows)]
    [1.0, 3.0]
    """
    first = {row["private"]: row["rounds_per_second"] for row in reversed(rows) if row.get("rounds_per_second")}
    for row in rows:
        if row.get("rounds_per_second"):
            row["ours_beside"] = first[row["private"]] / row["rounds_per_second"]
    return rows


def show(world: str, rows: list[dict[str, Any]]) -> None:
    table = table_of(
        f"World {world}: {rows[0]['rounds']:,} rounds", "who", "learner", "rounds a second", "MB", "seconds to 5 %",
        "regret", "ours plays",
    )  # fmt: skip
    for row in rows:
        table.add_row(f"{row['who']} {row['version']}", row["algorithm"], *cells(row))
    Console(width=110).print(table)


def cells(row: dict[str, Any]) -> list[str]:
    """The numbers of a row as text; a reason in their place where there are none."""
    if "reason" in row:
        return [row["reason"], "", "", "", ""]
    about = "about " if row["computed"] else ""
    memory = f"{row['megabytes']:,.0f}" if row["megabytes"] else ""
    needed = f"{about}{row['seconds_to_interval']:,.1f}"
    return [f"{row['rounds_per_second']:,.0f}", memory, needed, f"{row['regret']:,.0f}", f"{row['ours_beside']:,.3g} x"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--world", choices=SHAPES, action="append")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--seconds", type=float, default=12.0, help="of one contestant, without its last seed")
    parser.add_argument("--quick", action="store_true", help="300 rounds, 2 seconds each; nothing is kept")
    options = parser.parse_args()
    rounds, seconds = (300, 2.0) if options.quick else (options.rounds, options.seconds)
    for world in options.world or SHAPES:
        rows = []
        for one in (one for one in CONTESTANTS if one.world == world):
            found = measured(one, rounds, seconds)  # installs it, if need be: only then it has a version
            rows.append(one._asdict() | {"rounds": rounds, "version": version_of(one)} | found)
            print(f"{world}: {one.who}, {one.algorithm}: {len(rows)} of {sum(c.world == world for c in CONTESTANTS)}")
        with_ratios(rows)
        show(world, rows)
        if not options.quick:
            keep("learning", world, rows)
            keep("learning", "versions", our_versions())


if __name__ == "__main__":
    main()
