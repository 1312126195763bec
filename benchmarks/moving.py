"""A store with a million reports that is copied to another one and back, and rolled back on both.

    PYTHONPATH=tests python benchmarks/moving.py [--reports 1000000] [--json FILE]

- `sottovoce store copy` from SQLite to PostgreSQL and back: seconds with the start of Python, and megabytes;
- on each of the two, a task rolled back: to snapshots that were kept, and over the widest gap between two of them.

The server is a real one and so is PostgreSQL, both on this machine, in temporary folders. Two minutes in all.
"""

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from growth import ARMS, TODAY, created, fill, learned, rollbacks, running
from rich.console import Console

from postgres import Postgres  # of the tests
from sottovoce.cli.output import table_of, words
from sottovoce.server.store import open_store

Measured = Iterator[tuple[str, float, float]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reports", type=int, default=1_000_000)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder, contextlib.closing(Postgres()) as postgres:
        for row in measure(Path(folder), postgres.start().new(), options.reports):
            print(*row, flush=True)
            rows.append(row)
    table = table_of("Moving", words("what", wraps=True), "measured", "wanted at most")
    for what, measured, wanted in rows:
        table.add_row(what, f"{measured:,.2f}", f"{wanted:,.0f}")
    Console().print(table)
    if options.json:
        options.json.write_text(json.dumps({"rows": rows}, indent=2) + "\n")


def measure(folder: Path, store: str, reports: int) -> Measured:
    first, back = folder / "first", folder / "back"
    (row,) = created(first, [ARMS])
    with contextlib.closing(open_store(first)) as filled:
        fill(filled, row, reports, TODAY)
    with running(first) as (target, _):
        while learned(target, row) < reports:
            time.sleep(0.1)
    yield from copied(str(first), store, f"{reports:,} reports from SQLite to PostgreSQL")
    yield from copied(store, str(back), f"{reports:,} reports from PostgreSQL to SQLite")
    for name, address in (("PostgreSQL", store), ("SQLite", "")):
        for what, measured, wanted in rollbacks(back, reports, address):
            yield f"{name}: {what}", measured, wanted


def copied(source: str, target: str, what: str) -> Measured:
    start = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "sottovoce", "store", "copy", source, target], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    first, second, _ = process.stdout.read().splitlines()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = status
    assert status == 0
    assert first.split()[0] == second.split()[0]
    yield f"{what}, seconds", time.perf_counter() - start, 60.0
    yield f"{what}, megabytes", used.ru_maxrss / 1024, 200.0


if __name__ == "__main__":
    main()
