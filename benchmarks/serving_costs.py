"""How the cost of serving grows: in the length of the journal, in tasks, and in processes that take reports.

    PYTHONPATH=tests python benchmarks/serving_costs.py [--of journal] [--of tasks] [--of processes] [--quick]

- journal: seconds of a whole replay, less those of a journal with one report; and seconds until a server with that
  journal is ready;
- tasks: megabytes of the learner, and seconds until a server with so many different tasks is ready; all have reports;
- processes: durable reports a second of one task on one PostgreSQL by so many servers, in requests of 100, beside a
  bare COPY of the same rows and a POST that does nothing (as `benchmarks/scale.py`, once each).

Reports are written into the store directly, in its own temporary folder; servers are real ones on the loopback device.
The load generator, the database, the servers and the learner share the cores of this machine.
"""

import argparse
import contextlib
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from found import keep
from growth import ARMS, TODAY, created, fill, learned, replayed, running
from powers import power_of
from rich.console import Console
from scale import measured, servers

from postgres import Postgres  # of the tests
from sottovoce.cli.output import table_of
from sottovoce.server.store import open_store

SIZES: dict[str, list[int]] = {
    "journal": [50_000, 150_000, 450_000, 1_350_000],
    "tasks": [1, 4, 16, 64],
    "processes": [1, 2, 4],
}
REPORTS_OF_A_TASK = 50
REPORTS, IN_A_REQUEST = 60_000, 100


def journal(reports: int) -> dict[str, float]:
    """One task with so many reports."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        row = created(folder, [ARMS])[0]
        with contextlib.closing(open_store(folder)) as store:
            fill(store, row, reports, TODAY)
        replay, _ = replayed(folder)
        with running(folder) as (target, _):
            while learned(target, row) < reports:
                time.sleep(0.1)
        with running(folder) as (_, ready):
            return {"replay, seconds": replay, "until ready, seconds": ready}


def journals(sizes: list[int]) -> list[dict[str, float]]:
    """Each less what a replay of a single report takes: that is starting and compiling."""
    start, rows = journal(1)["replay, seconds"], []
    for size in sizes:
        rows.append({"size": size} | journal(size))
        rows[-1]["replay, seconds"] -= start
        print("journal", rows[-1], flush=True)
    return rows


def tasks(count: int) -> dict[str, float]:
    """So many tasks, no two of one shape, all of them with reports."""
    files = [ARMS | {"id": f"t{n}", "actions": [f"a{arm}" for arm in range(n + 2)]} for n in range(count)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = created(folder, files)
        with contextlib.closing(open_store(folder)) as store:
            for row in rows:
                fill(store, row, REPORTS_OF_A_TASK, TODAY)
        most = 0.0
        with running(folder) as (target, _):
            while any(learned(target, row) < REPORTS_OF_A_TASK for row in rows):
                most = max(most, target.memory()["learner"])
                time.sleep(0.1)
            most = max(most, target.memory()["learner"])
        with running(folder) as (_, ready):
            return {"learner, megabytes": most, "until ready, seconds": ready}


def processes(count: int) -> dict[str, float]:
    """So many servers on one PostgreSQL."""
    with contextlib.closing(Postgres()) as postgres, servers(postgres.start().new(), count) as targets:
        version = targets[0].call("GET", "/v1/tasks/bench")["version"]
        found = measured(targets, version, IN_A_REQUEST, REPORTS)
    return {"reports a second": found["reports"], "of a COPY": found["of_copy"], "of nothing": found["of_nothing"]}


PARTS: dict[str, Callable[[int], dict[str, float]]] = {"tasks": tasks, "processes": processes}
FITTED = {"journal": "replay, seconds", "tasks": "learner, megabytes", "processes": "reports a second"}
"""The cost whose power law is computed; all others are kept beside it."""


def each(what: str, sizes: list[int]) -> list[dict[str, float]]:
    rows = []
    for size in sizes:
        rows.append({"size": size} | PARTS[what](size))
        print(what, rows[-1], flush=True)
    return rows


def grown(what: str, sizes: list[int]) -> dict[str, Any]:
    rows = journals(sizes) if what == "journal" else each(what, sizes)
    names = [name for name in rows[0] if name != "size"]
    laws = {name: power_of(sizes, [row[name] for row in rows]) for name in names}
    return {"what": what, "rows": rows, "laws": laws, "fitted": FITTED[what]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--of", choices=SIZES, action="append")
    parser.add_argument("--quick", action="store_true", help="the three smallest sizes of each; nothing is kept")
    options = parser.parse_args()
    table = table_of("How the cost of serving grows", "in", "what", "from", "to", "exponent")
    for what in options.of or SIZES:
        found = grown(what, SIZES[what][: 3 if options.quick else None])
        first, last = found["rows"][0], found["rows"][-1]
        for name, law in found["laws"].items():
            ends = (f"{row['size']:,}: {row[name]:,.3g}" for row in (first, last))
            table.add_row(what, name, *ends, str(law))
        if not options.quick:
            keep("serving_costs", what, found)
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
