"""What grows with the journal and with the number of tasks, and must not be felt.

    python benchmarks/growth.py [--reports 2000000] [--rollback 1000000] [--tasks 200] [--json FILE]

A number of 0 leaves that part out.

- a journal of two million reports: seconds until the server is ready, seconds and memory of a replay;
- half of it forgotten while people report: the slowest request;
- a task with a million reports rolled back: to a snapshot that was kept, and over the widest gap between two of them;
- two hundred tasks, no two of one shape, all of them with reports: memory of the learner, and seconds from a restart
  until the first new report is learned.

Reports are written into the store directly, in its own temporary folder; the server is a real one. Everything is
bounded: some minutes in all.
"""

import argparse
import contextlib
import itertools
import json
import os
import secrets
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from rich.console import Console
from target import TOKEN, Target  # beside this file

from sottovoce.catalogue.resolve import contract_of
from sottovoce.catalogue.task_file import TaskFile
from sottovoce.cli.output import table_of
from sottovoce.protocol.codec import to_text
from sottovoce.protocol.contract import DAY
from sottovoce.protocol.permits import NONCE_BYTES, commitment_of
from sottovoce.server.store import open_store
from sottovoce.server.store.base import Journalled, Published, Store, TaskRow

ARMS: dict[str, Any] = {
    "id": "bench",
    "learner": "kl-ucb",
    "actions": ["a", "b", "c"],
    "horizon": 1_000_000,
    "expires": "2099-12-31",
    "retention": "30d",
    "privacy": {"epsilon": 2.0},
    "publish_every": 1000,
}
OLD_DAYS = 40
TODAY = int(time.time()) // DAY


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reports", type=int, default=2_000_000)
    parser.add_argument("--tasks", type=int, default=200)
    parser.add_argument("--rollback", type=int, default=1_000_000)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    rows = []
    parts = measure_reports(options.reports), measure_rollback(options.rollback), measure_tasks(options.tasks)
    for row in itertools.chain(*parts):
        print(*row, flush=True)
        rows.append(row)
    table = table_of("What grows", "what", "measured", "wanted at most")
    for what, measured, wanted in rows:
        table.add_row(what, f"{measured:,.2f}", f"{wanted:,.0f}")
    Console().print(table)
    if options.json:
        options.json.write_text(json.dumps({"rows": rows}, indent=2) + "\n")


# --- many reports ----------------------------------------------------------------------------------------------------


def measure_reports(reports: int) -> Iterator[tuple[str, float, float]]:
    if not reports:
        return
    with tempfile.TemporaryDirectory() as folder:
        first = created(Path(folder), [ARMS])
        with contextlib.closing(open_store(Path(folder))) as store:
            fill(store, first[0], reports // 2, TODAY - OLD_DAYS)
            fill(store, first[0], reports - reports // 2, TODAY)
        seconds, megabytes = replayed(Path(folder))
        yield f"replay of {reports:,} reports, seconds", seconds, 90.0
        yield "replay, megabytes", megabytes, 300.0
        with running(Path(folder)) as (target, _):
            while learned(target, first[0]) < reports:
                time.sleep(0.1)
        with running(Path(folder)) as (target, start):
            yield f"ready with {reports:,} reports, seconds", start, 1.0
            times = while_forgetting(target)
            yield f"{reports // 2:,} forgotten meanwhile: slowest request, milliseconds", max(times), 50.0
            yield "as many requests with nothing to forget: the slowest", max(single(target) for _ in times), 50.0


def fill(store: Store, row: TaskRow, count: int, day: int) -> None:
    """Reports to the offers that were published first; what they say is one level or the other."""
    offers = published(store, row).offers
    for start in range(0, count, 10_000):
        some = range(min(10_000, count - start))
        store.append([
            Journalled(row.number, secrets.token_bytes(16), day, 0, offers[n % len(offers)].memo, bytes([n % 2]))
            for n in some
        ])  # fmt: skip


def replayed(folder: Path) -> tuple[float, float]:
    """Seconds and megabytes of `sottovoce task replay`."""
    start = time.perf_counter()
    command = [sys.executable, "-m", "sottovoce", "task", "replay", "bench", "--data", str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = status
    assert status == 0
    return time.perf_counter() - start, used.ru_maxrss / 1024


def while_forgetting(target: Target) -> list[float]:
    """Milliseconds of single reports, sent one after the other while old ones are forgotten."""
    times, looked = [], time.monotonic()
    while time.monotonic() < looked + 1 or forgetting(target.folder):
        looked = looked if time.monotonic() < looked + 1 else time.monotonic()
        times.append(single(target))
    return times


def single(target: Target) -> float:
    time.sleep(0.01)
    return 1000 * report(target, "bench")


def report(target: Target, task: str) -> float:
    """Seconds that a single report takes."""
    nonce = secrets.token_bytes(NONCE_BYTES)
    asked = {"commitments": [to_text(commitment_of(nonce))]}
    ticket = target.call("POST", f"/v1/tasks/{task}/offers", asked)["offers"][0]["ticket"]
    start = time.perf_counter()
    said = {"ticket": ticket, "nonce": to_text(nonce), "gate": 0, "payload": "AA"}
    assert target.call("POST", f"/v1/tasks/{task}/reports", {"reports": [said]}) == {"verdicts": ["accepted"]}
    return time.perf_counter() - start


def forgetting(folder: Path) -> bool:
    """Is there still an old report, or the id of one?"""
    with contextlib.closing(sqlite3.connect(folder / "journal.sqlite")) as journal:
        old = "SELECT EXISTS (SELECT 1 FROM {} WHERE day < ?)"
        return any(journal.execute(old.format(table), (TODAY,)).fetchone()[0] for table in ("journal", "ids"))


# --- rolling back ----------------------------------------------------------------------------------------------------


def measure_rollback(reports: int) -> Iterator[tuple[str, float, float]]:
    if not reports:
        return
    with tempfile.TemporaryDirectory() as folder:
        row = created(Path(folder), [ARMS])[0]
        with contextlib.closing(open_store(Path(folder))) as store:
            fill(store, row, reports, TODAY)
        with running(Path(folder)) as (target, _):
            while learned(target, row) < reports:
                time.sleep(0.1)
        yield from rollbacks(Path(folder), reports)


def rollbacks(folder: Path, reports: int, store: str = "") -> Iterator[tuple[str, float, float]]:
    """From the newest to the oldest: a rollback cannot be undone. Everything is learned already."""
    with running(folder, store) as (target, _):
        counts = [count for count in kept(target) if count < reports]
        yield f"{reports:,} reports, snapshots kept", len(counts), 32.0
        yield "rolled back to the newest of them, seconds", rolled_back(target, counts[0]), 5.0
        before, after = max(itertools.pairwise(counts[::-1]), key=lambda pair: pair[1] - pair[0])
        yield f"over {after - before - 1:,} reports of the widest gap, seconds", rolled_back(target, after - 1), 5.0
    with running(folder, store) as (target, _):
        counts = kept(target)
        what = "to one in the middle, right after a restart, seconds"
        yield what, rolled_back(target, counts[len(counts) // 2]), 5.0
        yield "to the first, seconds", rolled_back(target, counts[-1]), 5.0


def kept(target: Target) -> list[int]:
    """After how many reports a state was kept, the newest first; as soon as the learner has said how far it is."""
    while True:
        with contextlib.suppress(OSError):
            return [one["learned"] for one in target.call("GET", "/v1/tasks/bench/snapshots")["snapshots"]]
        time.sleep(0.01)


def rolled_back(target: Target, to: int) -> float:
    """Seconds until the server says that it is done, and serves from that state."""
    start = time.perf_counter()
    target.call("POST", "/v1/tasks/bench/rollback", {"learned": to})
    assert target.call("GET", "/v1/tasks/bench/summary")["learned"] == to
    return time.perf_counter() - start


# --- many tasks ------------------------------------------------------------------------------------------------------


def measure_tasks(tasks: int) -> Iterator[tuple[str, float, float]]:
    if not tasks:
        return
    files = [ARMS | {"id": f"t{n}", "actions": [f"a{arm}" for arm in range(n + 2)]} for n in range(tasks)]
    with tempfile.TemporaryDirectory() as folder:
        rows = created(Path(folder), files)
        with contextlib.closing(open_store(Path(folder))) as store:
            for row in rows:
                fill(store, row, 50, TODAY)
            with running(Path(folder)) as (target, _):
                most = 0.0
                while any(learned(target, row) < 50 for row in rows):
                    most = max(most, target.memory()["learner"])
                    time.sleep(0.2)
            yield f"{tasks} different tasks, learner, megabytes", most, 700.0
            with running(Path(folder)) as (target, _):
                start = time.perf_counter()
                report(target, rows[-1].contract.id)
                while learned(target, rows[-1]) < 51:
                    time.sleep(0.01)
                yield "first report learned after a restart, seconds", time.perf_counter() - start, 10.0


def learned(target: Target, row: TaskRow) -> int:
    return target.call("GET", f"/v1/tasks/{row.contract.id}/summary")["learned"]


# --- both ------------------------------------------------------------------------------------------------------------


def created(folder: Path, files: list[dict[str, Any]]) -> list[TaskRow]:
    """Tasks whose first offers are published."""
    with contextlib.closing(open_store(folder)) as store:
        for file in files:
            store.create(file["id"], contract_of(msgspec.convert(file, TaskFile)), "live")
        with running(folder):
            return store.tasks()


def published(store: Store, row: TaskRow) -> Published:
    return msgspec.msgpack.decode(store.publications(row.number)[-1].body, type=Published)


@contextlib.contextmanager
def running(folder: Path, store: str = "") -> Iterator[tuple[Target, float]]:
    """A server on this folder or store, and how many seconds it took to be ready."""
    command = [sys.executable, "-m", "sottovoce", "serve", "--port", "0", "--rate", "0", "--data", str(folder)]
    start = time.perf_counter()
    environment = os.environ | {"SOTTOVOCE_ADMIN_TOKEN": TOKEN, "SOTTOVOCE_STORE": store}
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    address = json.loads(process.stderr.readline())["address"]
    target = Target(folder, int(address.rsplit(":", 1)[1]), process.pid)
    try:
        while True:
            with contextlib.suppress(OSError):
                target.call("GET", "/readyz")
                break
            time.sleep(0.01)
        yield target, time.perf_counter() - start
    finally:
        process.terminate()
        process.communicate(timeout=60)


if __name__ == "__main__":
    main()
