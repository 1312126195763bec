"""The live server against what it stands on, in one run on the same machine.

    make bench        (or: python benchmarks/service.py --json FILE [--reports 1000000])

- batches: durable reports a second in requests of 100, against a bare SQLite `executemany` of the same rows, 100 to a
  synced commit, into the same table;
- single reports and reads of the model, against a route that does nothing (/healthz): reads against GET, reports
  against a POST of the same body, and for comparison against GET too;
- the 99th percentile of a single report at half the load of `single`, against that of the route that does nothing;
- memory of both processes over a million reports, and how far the learner is behind when the last is acknowledged;
- one report of a Python device (gradient learner, d = 10, epsilon 4): choose and observe, in memory and on disk.

The load generator runs beside the server on the same cores. Each ratio is the median of several turns in which both
sides alternate. Reports are random but valid bytes: the server cannot tell them from honest ones.
"""

import argparse
import asyncio
import json
import secrets
import sqlite3
import statistics
import time
from pathlib import Path

from load import closed_loop, get, paced, post
from rich.console import Console
from target import TASK, Target, running

from sottovoce.cli.output import table_of
from sottovoce.client import Device, Limits
from sottovoce.privacy.sphere.codebook import COIN_BYTES
from sottovoce.protocol.codec import from_text, to_text
from sottovoce.protocol.contract import DAY
from sottovoce.protocol.permits import NONCE_BYTES, coin_of, commitment_of, report_id
from sottovoce.server.store.base import Journalled
from sottovoce.server.store.sqlite import INSERT, ROW
from sottovoce.server.store.sqlite_migrations import JOURNAL
from sottovoce.server.web.permits import PermitOffice

LOAD = 10_000
"""Requests of one measurement."""
CANDIDATES = 16
"""Of the codebook at epsilon 4."""


# --- requests --------------------------------------------------------------------------------------------------------


def random_report(version: str, permits: PermitOffice) -> dict[str, object]:
    nonce = secrets.token_bytes(NONCE_BYTES)
    permit = permits.issue(commitment_of(nonce), int(time.time()) + DAY)
    payload = bytes([secrets.randbelow(CANDIDATES)])
    return {"permit": permit, "nonce": to_text(nonce), "version": version, "gate": 0, "payload": to_text(payload)}


def batches(target: Target, version: str, count: int, size: int) -> list[bytes]:
    """Reports with permits that the server would have issued: asking for them is not what is measured."""
    path, permits = "/v1/tasks/bench/reports", target.permits()
    return [post(path, {"reports": [random_report(version, permits) for _ in range(size)]}) for _ in range(count)]


def kept(report: dict[str, str]) -> bytes:
    """The coin and the payload, as the journal has them."""
    coin = coin_of(from_text(report["permit"]), from_text(report["nonce"]))
    return coin[:COIN_BYTES] + from_text(report["payload"])


def doing_nothing(requests: list[bytes]) -> list[bytes]:
    """The same bodies, to the route that does nothing."""
    return [request.replace(b"/v1/tasks/bench/reports", b"/healthz", 1) for request in requests]


def bare_sqlite(folder: Path, requests: list[bytes], version: str) -> float:
    """Rows a second of a bare `executemany` of the same rows, one synced commit a batch."""
    rows = []
    for request in requests:
        reports = json.loads(request.partition(b"\r\n\r\n")[2])["reports"]
        rows.append([
            Journalled(1, report_id(commitment_of(from_text(r["nonce"]))), 0, 0, bytes.fromhex(version), kept(r))
            for r in reports
        ])  # fmt: skip
    path = folder / f"bare-{secrets.token_hex(4)}.sqlite"
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    for statement in (statement for migration in JOURNAL for statement in migration.statements):
        connection.execute(statement)
    insert = INSERT.format(ROW)
    start = time.perf_counter()
    for batch in rows:
        connection.execute("BEGIN")
        connection.executemany(insert, batch)
        connection.execute("COMMIT")
    seconds = time.perf_counter() - start
    connection.close()
    return sum(len(batch) for batch in rows) / seconds


# --- the measurements ------------------------------------------------------------------------------------------------


def measure(target: Target, turns: int, reports: int) -> list[dict[str, object]]:
    version = target.call("GET", "/v1/tasks/bench")["version"]
    wanted = {"batches of 100": 0.6, "single": 0.6, "single against GET": 0.0, "model": 0.7}
    ratios: dict[str, list[tuple[float, float]]] = {name: [] for name in wanted}
    for _ in range(turns):
        sent = batches(target, version, 100, 100)
        target.settle()
        durable = 100 * closed_loop(target.port, sent)
        target.settle()
        ratios["batches of 100"].append((durable, bare_sqlite(target.folder, sent, version)))
        single, model = batches(target, version, LOAD, 1), [get("/v1/tasks/bench/model")] * LOAD
        for name, requests, nothing in (
            ("model", model, [get("/healthz")] * LOAD),
            ("single", single, doing_nothing(single)),
            ("single against GET", batches(target, version, LOAD, 1), [get("/healthz")] * LOAD),
        ):
            before = closed_loop(target.port, nothing)
            ours = closed_loop(target.port, requests)
            target.settle()
            ratios[name].append((ours, (before + closed_loop(target.port, nothing)) / 2))
    rows: list[dict[str, object]] = [
        {
            "what": name,
            "per_second": statistics.median(ours for ours, _ in pairs),
            "against": statistics.median(theirs for _, theirs in pairs),
            "ratio": statistics.median(ours / theirs for ours, theirs in pairs),
            "wanted": wanted[name],
        }
        for name, pairs in ratios.items()
    ]
    rows.append(tail(target, version, statistics.median(ours for ours, _ in ratios["single"]) / 2, turns))
    rows += [device_report(target, folder) for folder in (None, target.folder / "device")]
    return [*rows, memory_over(target, version, reports)] if reports else rows


def tail(target: Target, version: str, rate: float, turns: int) -> dict[str, object]:
    """The 99th percentile of single reports and of the same bodies to the route that does nothing, at one rate."""
    ours, theirs = [], []
    for _ in range(turns):
        single = batches(target, version, int(4 * rate), 1)
        target.settle()
        for requests, seconds in ((doing_nothing(single), theirs), (single, ours)):
            found = sorted(asyncio.run(paced(target.port, requests, rate)))
            seconds.append(1000 * found[int(0.99 * len(found))])
    ratio = statistics.median(one / other for one, other in zip(ours, theirs, strict=True))
    found = {"p99": statistics.median(ours), "p99_of_nothing": statistics.median(theirs), "p99_ratio": ratio}
    return {"what": "p99 in ms at half load", "per_second": rate} | found


def device_report(target: Target, folder: Path | None, reports: int = 400) -> dict[str, object]:
    """The median time from a person's fields to a report in the outbox."""
    fields = [dict.fromkeys(TASK["fields"], 0.1 * i) for i in range(TASK["candidates"])]
    limits, seconds = Limits(epsilon=4.0, lifetime=4000.0), []
    device = Device(f"http://127.0.0.1:{target.port}", "bench", folder=folder, limits=limits)
    device.prefetch(reports)
    for _ in range(reports):
        start = time.perf_counter()
        device.observe(device.choose(fields).id, 1.0)
        seconds.append(time.perf_counter() - start)
    assert len(device.outbox()) == reports
    device.close()
    where = "on disk" if folder else "in memory"
    return {"what": f"device report {where}", "milliseconds": 1000 * statistics.median(seconds)}


def memory_over(target: Target, version: str, reports: int) -> dict[str, object]:
    """Memory after each tenth; a tenth's worth of requests is made at a time, outside the clock."""
    marks, seconds = [target.memory()], 0.0
    for _ in range(10):
        sent = batches(target, version, reports // 1000, 100)
        start = time.perf_counter()
        closed_loop(target.port, sent)
        seconds += time.perf_counter() - start
        marks.append(target.memory())
    summary = target.call("GET", "/v1/tasks/bench/summary")
    return {
        "what": f"{reports:,} reports",
        "per_second": reports / seconds,
        "server_megabytes": [round(mark["server"], 1) for mark in marks],
        "learner_megabytes": [round(mark["learner"], 1) for mark in marks],
        "behind": summary["reports"] - summary["learned"],
    }


def show(rows: list[dict[str, object]]) -> None:
    table = table_of("The live server on this machine", "what", "a second", "against", "ratio", "wanted")
    for row in (row for row in rows if "per_second" in row):
        numbers = [row.get("per_second"), row.get("against"), row.get("ratio"), row.get("wanted")]
        cells = [f"{n:,.0f}" if isinstance(n, float) and n > 10 else f"{n:.2f}" if n else "" for n in numbers]
        table.add_row(str(row["what"]), *cells)
    console = Console()
    console.print(table)
    for row in rows:
        if isinstance(row.get("p99"), float):
            console.print(
                f"single report at half load: p99 {row['p99']:.1f} ms, a POST that does nothing "
                f"{row['p99_of_nothing']:.1f} ms, ratio {row['p99_ratio']:.1f} (wanted at most 3)"
            )
        if "milliseconds" in row:
            console.print(f"{row['what']}: {row['milliseconds']:.2f} ms (wanted below 2)")
        if "server_megabytes" in row:
            console.print(
                f"memory at every tenth: server {row['server_megabytes']} MB, learner "
                f"{row['learner_megabytes']} MB; the learner was {row['behind']:,} reports behind at the end"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--reports", type=int, default=1_000_000, help="for the memory; 0 leaves it out")
    parser.add_argument("--quick", action="store_true", help="one turn, and no memory")
    options = parser.parse_args()
    turns, reports = (1, 0) if options.quick else (options.turns, options.reports)
    with running() as target:
        rows = measure(target, turns, reports)
    show(rows)
    if options.json:
        options.json.write_text(json.dumps({"rows": rows}, indent=2) + "\n")


if __name__ == "__main__":
    main()
