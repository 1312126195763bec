"""How much one host does, on SQLite and on PostgreSQL, in one run on the same machine.

    make scale        (or: PYTHONPATH=tests python benchmarks/scale.py [--turns 3] [--json FILE])

`sottovoce capacity` computes with what was found (src/sottovoce/lab/capacity.toml); docs/capacity.md says what follows.

- durable reports a second on a real PostgreSQL, by web processes (one, two) and by reports in a request (1 to 100);
  against a bare COPY of the same rows, as many to a synced commit, and against a POST that does nothing;
- reports that a learner learns from in a second, by learner;
- what else a device asks for, permits and models, and single reports on SQLite, each a second of one web process;
- bytes in the journal for each report, and on the wire.

The load generator, the database, the servers and the learner share the cores of this machine.
"""

import argparse
import contextlib
import itertools
import json
import secrets
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import psycopg
from growth import ARMS, TODAY, created, fill
from load import closed_loop, get, post
from rich.console import Console
from service import CANDIDATES, batches, doing_nothing, kept
from target import TASK, Target, running

from postgres import Postgres  # of the tests
from sottovoce.cli.output import table_of
from sottovoce.privacy.sphere.codebook import COIN_BYTES
from sottovoce.protocol.codec import from_text, to_text
from sottovoce.protocol.contract import ByTicket
from sottovoce.protocol.permits import commitment_of, report_id
from sottovoce.server.learn.replaying import replayed
from sottovoce.server.store import open_store
from sottovoce.server.store.base import Journalled, Store, TaskRow

SIZES = {1: 6_000, 10: 20_000, 100: 60_000}
"""Reports in a request, and reports of one measurement."""
OTHERS = 6_000
"""Requests of each other kind."""
BARE = """
CREATE TABLE IF NOT EXISTS bare (
  arrival bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, task integer NOT NULL, id bytea NOT NULL,
  day integer NOT NULL, gate integer NOT NULL, context bytea NOT NULL, payload bytea NOT NULL
)
"""
COPY = "COPY bare (task, id, day, gate, context, payload) FROM STDIN (FORMAT BINARY)"
TYPES = ["int4", "bytea", "int4", "int4", "bytea", "bytea"]
LEARNERS: dict[str, dict[str, Any]] = {
    name: ARMS | {"learner": name, "actions": [f"a{n}" for n in range(10)]}
    for name in ("kl-moss", "thompson", "tsallis-inf")
} | {name: TASK | {"id": "bench", "learner": name} for name in ("scale-free", "gradient", "linucb")}
FEW, MANY = 20_000, 220_000
"""Reports of two replays: their difference is learning alone, without the start."""


# --- reports a second ------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def servers(store: str, count: int) -> Iterator[list[Target]]:
    with contextlib.ExitStack() as end:
        yield [end.enter_context(running(store)) for _ in range(count)]


def accepted(targets: list[Target], turns: int) -> Iterator[dict[str, Any]]:
    version = targets[0].call("GET", "/v1/tasks/bench")["version"]
    for size, reports in SIZES.items():
        found = [measured(targets, version, size, reports) for _ in range(turns)]
        medians = {name: statistics.median(one[name] for one in found) for name in found[0]}
        yield {"processes": len(targets), "size": size} | medians


def measured(targets: list[Target], version: str, size: int, reports: int) -> dict[str, float]:
    ports, sent = [one.port for one in targets], batches(targets[0], version, reports // size, size)
    nothing = size * closed_loop(ports, doing_nothing(sent))
    targets[0].settle()
    ours = size * closed_loop(ports, sent)
    targets[0].settle()
    bare = bare_copy(targets[0].store, sent, version)
    return {"reports": ours, "of_copy": ours / bare, "of_nothing": ours / nothing}


def bare_copy(store: str, requests: list[bytes], version: str) -> float:
    """Rows a second of a bare COPY of the same rows, one synced commit for those of each request."""
    groups = [list(map(row, body(request), itertools.repeat(version))) for request in requests]
    with psycopg.connect(store, autocommit=True) as connection:
        connection.execute(BARE)
        start = time.perf_counter()
        for rows in groups:
            with connection.cursor() as cursor, cursor.copy(COPY) as copy:
                copy.set_types(TYPES)
                for one in rows:
                    copy.write_row(one)
        seconds = time.perf_counter() - start
        connection.execute("DROP TABLE bare")
    return sum(map(len, groups)) / seconds


def body(request: bytes) -> list[dict[str, str]]:
    return json.loads(request.partition(b"\r\n\r\n")[2])["reports"]


def row(report: dict[str, str], version: str) -> Journalled:
    id = report_id(commitment_of(from_text(report["nonce"])))
    return Journalled(1, id, 0, 0, bytes.fromhex(version), kept(report))


def journal_bytes(store: str) -> float:
    """Of each report in PostgreSQL: its row, its id, and their indexes."""
    tables = "relkind = 'r' AND (relname ~ '^journal' OR relname = 'ids')"
    with psycopg.connect(store) as connection:
        (size,) = connection.execute(f"SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE {tables}").fetchone()
        (reports,) = connection.execute("SELECT count(*) FROM journal").fetchone()
    return float(size) / reports


def asked_for(target: Target) -> dict[str, float]:
    """Permits, and looks at the model, a second of one web process."""
    return {
        "permit": closed_loop([target.port], [permit_request() for _ in range(OTHERS)]),
        "model": closed_loop([target.port], [get("/v1/tasks/bench/model")] * OTHERS),
    }


def on_sqlite() -> dict[str, float]:
    """Durable reports a second of one web process, by reports in a request."""
    with running() as target:
        version = target.call("GET", "/v1/tasks/bench")["version"]
        return {
            str(size): size * closed_loop([target.port], batches(target, version, reports // size, size))
            for size, reports in SIZES.items()
            if size in (1, 100)
        }


def wire_bytes(request: bytes) -> dict[str, int]:
    """Of what a device sends for one report; what a browser adds in headers is not in it."""
    return {"permit": len(permit_request()), "report": len(request)}


def permit_request() -> bytes:
    return post("/v1/tasks/bench/permits", {"commitments": [to_text(secrets.token_bytes(32))]})


# --- learning --------------------------------------------------------------------------------------------------------


def learning() -> Iterator[dict[str, Any]]:
    for name, file in LEARNERS.items():
        with tempfile.TemporaryDirectory() as folder:
            task = created(Path(folder), [file])[0]
            with contextlib.closing(open_store(folder)) as store:
                fill_any(store, task, FEW)
                few = seconds_of(store, task)
                fill_any(store, task, MANY - FEW)
                folds = (MANY - FEW) / (seconds_of(store, task) - few)
            size = (Path(folder) / "journal.sqlite").stat().st_size
            yield {"learner": name, "folds": folds, "sqlite_bytes": size / MANY}


def fill_any(store: Store, task: TaskRow, count: int) -> None:
    """Reports to what was published first."""
    if isinstance(task.contract.offers, ByTicket):
        fill(store, task, count, TODAY)
        return
    version = bytes.fromhex(store.publications(task.number)[-1].version)
    for start in range(0, count, 10_000):
        payloads = [
            secrets.token_bytes(COIN_BYTES) + bytes([n % CANDIDATES]) for n in range(min(10_000, count - start))
        ]
        store.append([Journalled(task.number, secrets.token_bytes(16), TODAY, 0, version, one) for one in payloads])


def seconds_of(store: Store, task: TaskRow) -> float:
    start = time.perf_counter()
    with jax.enable_x64(True):
        replayed(store, task)
    return time.perf_counter() - start


# --- what is shown ---------------------------------------------------------------------------------------------------


def show(found: dict[str, Any]) -> None:
    console = Console()
    table = table_of(
        "Durable reports on PostgreSQL", "web processes", "in a request", "reports a second", "of a COPY", "of nothing"
    )
    for one in found["accepted"]:
        cells = f"{one['reports']:,.0f}", f"{one['of_copy']:.2f}", f"{one['of_nothing']:.2f}"
        table.add_row(str(one["processes"]), f"{one['size']:,}", *cells)
    console.print(table)
    table = table_of("Learning", "learner", "reports a second", "bytes in SQLite a report")
    for one in found["learning"]:
        table.add_row(one["learner"], f"{one['folds']:,.0f}", f"{one['sqlite_bytes']:,.0f}")
    console.print(table)
    console.print(f"PostgreSQL keeps {found['postgres_bytes']:,.0f} bytes for a report, its id and their indexes.")
    asked, sqlite = found["asked"], found["sqlite"]
    console.print(f"One web process: {asked['permit']:,.0f} permits a second, {asked['model']:,.0f} models;")
    console.print(f"on SQLite {sqlite['1']:,.0f} single reports a second, {sqlite['100']:,.0f} in requests of 100.")
    console.print(
        f"On the wire a permit asks with {found['wire']['permit']} bytes, and a report has {found['wire']['report']}."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    found: dict[str, Any] = {"accepted": []}
    with contextlib.closing(Postgres()) as postgres:
        store = postgres.start().new()
        for processes in (1, 2):
            with servers(store, processes) as targets:
                for row in accepted(targets, options.turns):
                    found["accepted"].append(row)
                    print(row, flush=True)
        found["postgres_bytes"] = journal_bytes(store)
        with running(store) as target:
            version = target.call("GET", "/v1/tasks/bench")["version"]
            found["wire"] = wire_bytes(batches(target, version, 1, 1)[0])
            found["asked"] = asked_for(target)
    found["sqlite"] = on_sqlite()
    print(found["asked"], found["sqlite"], flush=True)
    found["learning"] = []
    for row in learning():
        found["learning"].append(row)
        print(row, flush=True)
    show(found)
    if options.json:
        options.json.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
