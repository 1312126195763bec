"""The live server among thousands of connections that want nothing, on the loopback device.

    python benchmarks/connections.py [--seconds 12]

From fifty addresses at once: 5,000 connections that say nothing, 500 bodies that never end, 500 headers that never end
(a byte a second). Whatever the server closes is opened again at once. Meanwhile others ask for /healthz, each on a new
connection, and send single reports at a steady rate. Wanted: /healthz within 100 ms, and a p99 of reports of at most
twice that without the crowd. The crowd runs on the same cores as the server, so it comes within ten seconds rather than
in one moment, and gets a core only when nobody else wants one: otherwise its own work would be measured.
"""

import argparse
import asyncio
import contextlib
import http.client
import multiprocessing
import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from load import paced
from rich.console import Console
from service import batches
from target import Target, running

from sottovoce.cli.output import table_of

ADDRESSES = [f"127.0.0.{last}" for last in range(2, 52)]
HEAD = b"POST /v1/tasks/bench/reports HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\n"
CROWD = {
    "idle": (5000, b"", b""),
    "unfinished bodies": (500, HEAD + b"Content-Length: 1000\r\n\r\n", b" "),
    "slow headers": (500, HEAD + b"X-Name: ", b"a"),
}
"""For each kind of connection: how many, what it says first, and what it says every second."""
COMING_SECONDS = 10.0
RATE = 200
"""Reports a second."""
WANTED_MILLISECONDS = 100


async def _hold(port: int, address: str, first: bytes, more: bytes, after: float) -> None:
    """One connection, opened after so many seconds, and again whenever it is closed."""
    await asyncio.sleep(after)
    while True:
        with contextlib.suppress(OSError):
            reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(address, 0))
            writer.write(first)
            while not reader.at_eof():
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(reader.read(4096), 1.0 if more else None)
                writer.write(more)
            writer.close()


async def _crowd(port: int) -> None:
    held = [
        _hold(port, ADDRESSES[number % len(ADDRESSES)], first, more, COMING_SECONDS * number / count)
        for count, first, more in CROWD.values()
        for number in range(count)
    ]
    await asyncio.gather(*held)


def crowd(port: int) -> None:
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    asyncio.run(_crowd(port))


def health(port: int, seconds: float) -> list[float]:
    """Milliseconds for each of many calls, ten a second."""
    found, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        connection.request("GET", "/healthz")
        assert connection.getresponse().status == 200
        connection.close()
        found.append(1000 * (time.perf_counter() - start))
        time.sleep(0.1)
    return found


def measure(target: Target, seconds: float) -> dict[str, float]:
    version = target.call("GET", "/v1/tasks/bench")["version"]
    used = _processor_seconds(target.pid)
    requests = batches(target, version, int(RATE * seconds), 1)
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(health, target.port, seconds)
        reports = sorted(1000 * one for one in asyncio.run(paced(target.port, requests, RATE)))
    alive = asked.result()
    return {
        "connections": len(os.listdir(f"/proc/{target.pid}/fd")),
        "/healthz, slowest": max(alive),
        "report, median": reports[len(reports) // 2],
        "report, p99": reports[int(0.99 * len(reports))],
        "% of a core": 100 * (_processor_seconds(target.pid) - used) / seconds,
        "memory": target.memory()["server"],
    }


def _processor_seconds(pid: int) -> float:
    """Which this process has used so far, its learner not counted."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=12.0, help="of each of the two measurements")
    seconds = parser.parse_args().seconds
    with running() as target:
        measure(target, 2.0)  # what is done for the first time takes longer
        alone = measure(target, seconds)
        crowding = multiprocessing.get_context("spawn").Process(target=crowd, args=(target.port,), daemon=True)
        crowding.start()
        time.sleep(COMING_SECONDS + 2.0)
        crowded = measure(target, seconds)
        crowding.kill()
        crowding.join()
    table = table_of("Among 6,000 connections that want nothing (milliseconds, MB)", "", "alone", "crowded")
    for name, value in alone.items():
        table.add_row(name, f"{value:,.1f}", f"{crowded[name]:,.1f}")
    Console().print(table)
    ratio = crowded["report, p99"] / alone["report, p99"]
    print(f"slowest /healthz {crowded['/healthz, slowest']:.1f} ms (wanted within {WANTED_MILLISECONDS})")
    print(f"p99 of reports {ratio:.2f} times the usual (wanted at most 2)")


if __name__ == "__main__":
    main()
