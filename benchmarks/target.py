"""A real server with one task, on a free port of this machine, for as long as a benchmark runs."""

import contextlib
import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sottovoce.server.store import open_store
from sottovoce.server.web.permits import PermitOffice

TOKEN = secrets.token_urlsafe(16)
TASK: dict[str, Any] = {
    "id": "bench",
    "learner": "gradient",
    "horizon": 1_000_000,
    "expires": "2099-12-31",
    "candidates": 10,
    "fields": {f"f{i}": {"kind": "number", "low": -1, "high": 1} for i in range(9)},
    "privacy": {"epsilon": 4.0, "lifetime": 4000.0},
    "publish_every": 1000,
}


class Target:
    """A running server and its task."""

    def __init__(self, folder: Path, port: int, pid: int, store: str = "") -> None:
        self.folder, self.port, self.pid, self.store = folder, port, pid, store or str(folder)

    def call(self, method: str, path: str, body: object = None) -> dict:
        headers = {"content-type": "application/json", "authorization": f"Bearer {TOKEN}"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data, headers, method=method)
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)

    def settle(self) -> None:
        """Wait until the learner rests, so that a measurement does not pay for the one before."""
        while (summary := self.call("GET", "/v1/tasks/bench/summary"))["learned"] < summary["reports"]:
            time.sleep(0.1)
        time.sleep(0.2)

    def permits(self) -> PermitOffice:
        """One that issues what the server does: it has the server's key."""
        with contextlib.closing(open_store(self.store)) as store:
            return PermitOffice(store.secret("tickets"), self.call("GET", "/v1/tasks/bench")["digest"])

    def memory(self) -> dict[str, float]:
        """Megabytes of the server and of its learner, as the system counts them."""
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()
        return {"server": _resident(self.pid), "learner": sum(_resident(int(child)) for child in children)}


@contextlib.contextmanager
def running(store: str = "") -> Iterator[Target]:
    """A server on the store at this address; on SQLite if there is none."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "sottovoce", "serve", "--port", "0", "--rate", "0", "--data", folder]
        environment = os.environ | {"SOTTOVOCE_ADMIN_TOKEN": TOKEN, "SOTTOVOCE_STORE": store}
        process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
        assert process.stderr is not None
        address = json.loads(process.stderr.readline())["address"]
        target = Target(Path(folder), int(address.rsplit(":", 1)[1]), process.pid, store)
        try:
            for _ in range(200):
                with contextlib.suppress(OSError):
                    target.call("GET", "/readyz")
                    break
                time.sleep(0.1)
            target.call("POST", "/v1/tasks", TASK)
            yield target
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(30)


def _resident(pid: int) -> float:
    line = next(line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024
