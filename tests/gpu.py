"""Play every learner in every preset on a GPU and on the CPU, and say whether the numbers are the same.

    python tests/gpu.py [--devices gpu cpu] [--learner NAME] [--lanes] [--jobs 4] [--json FILE]

Each device plays in processes of its own, the same seeds with the same random numbers; `tests/agreement.py` compares.
With `--lanes` a GPU plays whatever it can in the loop for many seeds (`sim/lanes`), else all in the usual one.
A learner fails that disagrees (one false alarm in a million runs of all of them), or that takes longer than the limit,
compiling included. The second device compiles without optimisations: that takes half the time and rounds in another
order, so that `--devices cpu cpu`, on any machine, compares two programs too.
"""

import argparse
import contextlib
import itertools
import json
import os
import sys
import time
import traceback
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from agreement import FALSE_ALARM, Played, agreement_of, random_numbers, unlike

ROUNDS, SEEDS, LIMIT = 300, 256, 300
"""The limit is in seconds, for one learner on one device."""
PLAIN = "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"
Pair = tuple[str, str]
"""A learner and a preset."""


class Player:
    """A process that plays on a device; started again after one that did not end in time."""

    def __init__(self, device: str, flags: str, lanes: bool) -> None:
        self.device, self.flags, self.lanes = device, flags, lanes
        self._start()

    def _start(self) -> None:
        context = get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=serve, args=(theirs, self.device, self.lanes), daemon=True)
        os.environ["XLA_FLAGS"] = self.flags
        os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"  # several processes share the card
        self.process.start()
        theirs.close()
        found = self._hear(LIMIT)
        if not isinstance(found, tuple):
            raise SystemExit(f"{Path(__file__).name}: {found or f'no process for the {self.device} started'}")
        self.name, self.numbers = found

    def ask(self, pair: Pair) -> None:
        self.asked = time.monotonic()
        with contextlib.suppress(OSError):  # it died: `answer` says so
            self.pipe.send(pair)

    def answer(self) -> tuple[Played, float] | str:
        """What was played and how long it took, or why nothing was."""
        found = self._hear(LIMIT - (time.monotonic() - self.asked))
        if found is None:
            self.close()
            self._start()
            return f"{self.name} died, or was not done after {LIMIT} seconds"
        return f"{self.name}: {found}" if isinstance(found, str) else found

    def _hear(self, seconds: float) -> Any:
        try:
            return self.pipe.recv() if self.pipe.poll(max(0.0, seconds)) else None
        except (EOFError, OSError):
            return None

    def close(self) -> None:
        self.process.kill()
        self.process.join()


def serve(pipe: Connection, device: str, in_lanes: bool) -> None:
    """What a player's process does: say what it computes on, then play what it is asked for."""
    from catalogue import ready
    from sottovoce.protocol.errors import ConfigurationError
    from sottovoce.sim.device import in_words, use
    from sottovoce.sim.lanes import advance
    from sottovoce.sim.run import simulate

    if in_lanes:
        advance.FEWEST = 1
    try:
        use(device)
    except ConfigurationError as error:
        return pipe.send(str(error))
    pipe.send((in_words(), random_numbers(0)))
    while True:
        start, each = time.monotonic(), ready(*pipe.recv())
        parts, run = (each.learner, each.user, each.world), {"rounds": ROUNDS, "seeds": SEEDS, "checkpoints": 1}
        try:
            trace = simulate(*parts, mechanism=each.mechanism, **run)
        except Exception:
            pipe.send(traceback.format_exc().strip().splitlines()[-1])
        else:
            pipe.send((Played(trace.regret, trace.samples), time.monotonic() - start))


def compared(tables: list[list[Player]], pairs: list[Pair]) -> Iterator[dict[str, Any]]:
    """A row for each pair, in their order; as many are played at once as there are tables."""
    free: SimpleQueue[list[Player]] = SimpleQueue()
    for players in tables:
        free.put(players)

    def row_of(pair: Pair) -> dict[str, Any]:
        players = free.get()
        try:
            return {"learner": pair[0], "preset": pair[1]} | one_row(players, pair, len(pairs))
        finally:
            free.put(players)

    with ThreadPoolExecutor(len(tables)) as pool:
        yield from pool.map(row_of, pairs)


def one_row(players: list[Player], pair: Pair, comparisons: int) -> dict[str, Any]:
    for player in players:
        player.ask(pair)
    answers = [player.answer() for player in players]
    there = [answer for answer in answers if not isinstance(answer, str)]
    if failed := [answer for answer in answers if isinstance(answer, str)]:
        return {"holds": False, "failed": "; ".join(failed)}
    played, seconds = zip(*there, strict=True)
    found = agreement_of(*played, comparisons)
    return {"holds": found.holds, **found._asdict(), "regret": [*map(mean, played)], "seconds": [*seconds]}


def mean(played: Played) -> float:
    return float(played.regret[:, -1].mean())


def line(row: dict[str, Any]) -> str:
    name = f"{row['learner']} {row['preset']}"
    if "failed" in row:
        return f"{name:<48} FAILED  {row['failed']}"
    numbers = (*row["regret"], row["alike"], row["distance"], *row["seconds"])
    text = "{:9.2f} {:9.2f} {:6.1%} {:6.2f} {:6.1f} {:6.1f}".format(*numbers)
    return f"{name:<48} {text}  {'same' if row['holds'] else 'DIFFERENT'}"


def main() -> None:
    from catalogue import PRESETS

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--devices", nargs=2, default=["gpu", "cpu"], choices=["gpu", "cpu"])
    parser.add_argument("--learner", action="append", choices=sorted({learner for learner, _ in PRESETS}))
    parser.add_argument("--lanes", action="store_true")
    parser.add_argument("--jobs", type=int, default=max(1, (os.cpu_count() or 1) // 4), help="presets at once")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    pairs = [pair for pair in PRESETS if not options.learner or pair[0] in options.learner]
    sides = list(zip(options.devices, ("", PLAIN), strict=True))
    tables = [[Player(*side, options.lanes) for side in sides] for _ in range(min(options.jobs, len(pairs)))]
    names, numbers = ([getattr(player, what) for player in tables[0]] for what in ("name", "numbers"))
    print(f"{names[0]} beside {names[1]}: {ROUNDS} rounds, {SEEDS} seeds, {len(pairs)} presets")
    if kinds := unlike(*numbers):
        raise SystemExit(f"the two draw other random numbers: {', '.join(kinds)}")
    print("random numbers are the same; regret on both, seeds alike, distance, seconds on both:")
    rows = []
    for row in compared(tables, pairs):
        rows.append(row)
        print(line(row), flush=True)
    for player in itertools.chain(*tables):
        player.close()
    failed = sum(not row["holds"] for row in rows)
    allowed = max((row["allowed"] for row in rows if "allowed" in row), default=0.0)
    print(
        f"{len(rows) - failed} of {len(rows)} are the same: done within {LIMIT} seconds, and at a distance of at most"
    )
    print(f"{allowed:.2f} (one false alarm in {1 / FALSE_ALARM:,.0f} runs of all of them)")
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps({"devices": names, "rows": rows}, indent=2) + "\n")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
