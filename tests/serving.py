"""A real server in its own process, two small tasks, and honest reports to them."""

import contextlib
import http.client
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from sottovoce.catalogue.resolve import contract_of
from sottovoce.catalogue.task_file import TaskFile
from sottovoce.privacy.domains import Interval, size
from sottovoce.privacy.drawing import privatise
from sottovoce.privacy.gates import mechanisms_of
from sottovoce.protocol.codec import from_text, to_text
from sottovoce.protocol.contract import Contract, contract_from
from sottovoce.protocol.permits import NONCE_BYTES, coin_of, commitment_of
from sottovoce.server.connections import HEADER_SECONDS
from sottovoce.server.store.base import Store, TaskRow

TOKEN = "the-token-of-the-tests"
CLIENT = "127.0.0.2"
"""The address that tests call from; a log that has it tells who called."""

ARMS: dict[str, Any] = {
    "id": "arms",
    "learner": "kl-ucb",
    "actions": ["a", "b", "c"],
    "horizon": 2000,
    "expires": "2099-12-31",
    "privacy": {"epsilon": 2.0},
    "publish_every": 10,
}
MODEL: dict[str, Any] = ARMS | {
    "id": "model",
    "learner": "gradient",
    "actions": ["a", "b"],
    "fields": {"age": {"kind": "number", "low": 0.0, "high": 100.0}},
    "publish_every": 25,
}
MIXED: dict[str, Any] = MODEL | {"id": "mixed", "shuffler": {"batch": 20}}
HELD_ARMS: dict[str, Any] = ARMS | {"id": "held-arms", "holdout": {"share": 0.2, "baseline": "b"}}
HELD_MODEL: dict[str, Any] = MODEL | {"id": "held-model", "holdout": {"share": 0.25}}


def task_file(**numbers: Any) -> TaskFile:
    return msgspec.convert(ARMS | numbers, TaskFile)


def row(number: int = 1, **numbers: Any) -> TaskRow:
    """A task as the store has it."""
    return TaskRow(number, contract_of(task_file(**numbers)), "live", False)


def contract(**numbers: Any) -> Contract:
    return row(**numbers).contract


def created(store: Store, **numbers: Any) -> TaskRow:
    """The task, kept in this store."""
    made = row(**numbers)
    return store.create(made.contract.id, made.body, made.mode)


# --- people ----------------------------------------------------------------------------------------------------------


class Held(NamedTuple):
    """A permit or ticket, and the nonce that it was asked for with."""

    permit: str
    nonce: str

    @property
    def coin(self) -> bytes:
        return coin_of(from_text(self.permit), from_text(self.nonce))


def new_nonces(count: int) -> list[str]:
    return [to_text(secrets.token_bytes(NONCE_BYTES)) for _ in range(count)]


def committing(nonces: list[str]) -> dict[str, list[str]]:
    """The body of a request for as many permits or tickets."""
    return {"commitments": [to_text(commitment_of(from_text(nonce))) for nonce in nonces]}


def honest(contract: Contract, gate: int = 0, outcome: float = 0.3, coin: bytes | None = None) -> bytes:
    """What the server keeps of an honest device's report: a reward, or features and how wrong the model was."""
    mechanism = mechanisms_of(contract)[gate]
    domain: Any = mechanism.domain
    if isinstance(domain, Interval):
        return privatise(mechanism, domain.embed(outcome), coin=coin)
    dimension = contract.offers.dimension
    features = np.full(dimension, 1 / dimension)
    message = domain.embed(features, outcome)
    assert message.shape == (size(domain),)
    return privatise(mechanism, message, coin=coin)


def ticket_report(contract: Contract, ticket: Held, gate: int = 0, outcome: float = 0.3) -> dict[str, Any]:
    payload = to_text(honest(contract, gate, outcome))
    return {"ticket": ticket.permit, "nonce": ticket.nonce, "gate": gate, "payload": payload}


def model_report(contract: Contract, permit: Held, version: str, gate: int = 0) -> dict[str, Any]:
    drawn = honest(contract, gate, coin=permit.coin)[mechanisms_of(contract)[gate].coin_size :]
    return {**permit._asdict(), "version": version, "gate": gate, "payload": to_text(drawn)}


# --- the server ------------------------------------------------------------------------------------------------------


class Answer(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


class Caller:
    """One keep-alive connection, opened again when it breaks, or when it was idle so long that the server closes it."""

    def __init__(self, port: int, timeout: float = 70.0) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout, source_address=(CLIENT, 0))
        self._last = 0.0

    def __call__(
        self, method: str, path: str, body: Any = None, *, token: str = "", headers: Mapping[str, str] | None = None
    ) -> Answer:
        """Bodies other than bytes are sent as JSON."""
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        sent = {"content-type": "application/json"} | ({"authorization": f"Bearer {token}"} if token else {})
        if time.monotonic() > self._last + HEADER_SECONDS / 2:
            self.close()
        try:
            self._connection.request(method, path, data, sent | dict(headers or {}))
            answer = self._connection.getresponse()
            self._last = time.monotonic()
            return Answer(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
        except (OSError, http.client.HTTPException):
            self.close()
            raise

    def close(self) -> None:
        self._connection.close()


class Server:
    """`sottovoce serve` on one folder and one port, as often as it is started; with `store` on a database."""

    def __init__(
        self,
        folder: Path,
        *,
        token: str = TOKEN,
        rate: float = 0.0,
        proxies: int = 0,
        tokens: Path | None = None,
        store: str = "",
        workers: int = 1,
        environment: Mapping[str, str] = {},
    ) -> None:
        self.folder, self.port, self.log = folder, free_port(workers), folder / "stderr"
        self._environment = os.environ | {"SOTTOVOCE_ADMIN_TOKEN": token, "SOTTOVOCE_STORE": store} | dict(environment)
        self._command = [sys.executable, "-m", "sottovoce", "serve", "--data", str(folder)]
        self._command += ["--port", str(self.port), "--rate", str(rate), "--proxies", str(proxies)]
        self._command += ["--tokens", str(tokens)] if tokens else []
        self._command += ["--workers", str(workers)] if workers > 1 else []
        self._process: subprocess.Popen | None = None
        self._caller = Caller(self.port)

    def become(self, environment: Mapping[str, str]) -> None:
        """From the next start on it is run with these variables."""
        self._environment |= environment

    def start(self) -> "Server":
        self.folder.mkdir(parents=True, exist_ok=True)
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(self._command, env=self._environment, stderr=log)
        until(lambda: self._alive("/healthz"), pause=0.02)
        return self

    def ready(self) -> "Server":
        until(lambda: self._alive("/readyz"))
        return self

    def _alive(self, path: str) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, self.log.read_text()
        try:
            return self.call("GET", path).status == 200
        except OSError:
            return False

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def call(self, method: str, path: str, body: Any = None, **how: Any) -> Answer:
        return self._caller(method, path, body, **how)

    def admin(self, method: str, path: str, body: Any = None) -> Answer:
        return self.call(method, path, body, token=TOKEN)

    def create(self, file: Mapping[str, Any]) -> Contract:
        answer = self.admin("POST", "/v1/tasks", file)
        assert answer.status in (200, 201), answer.body
        return self.contract(file["id"])

    def contract(self, task: str) -> Contract:
        return contract_from(self.call("GET", f"/v1/tasks/{task}/contract").body)

    def summary(self, task: str) -> dict[str, Any]:
        return self.call("GET", f"/v1/tasks/{task}/summary").json()

    def tickets(self, task: str, count: int) -> list[Held]:
        return [ticket for ticket, _ in self.offers(task, count)]

    def offers(self, task: str, count: int) -> list[tuple[Held, Any]]:
        """Tickets and their actions."""
        nonces = new_nonces(count)
        found = self.call("POST", f"/v1/tasks/{task}/offers", committing(nonces)).json()["offers"]
        return [(Held(one["ticket"], nonce), one["action"]) for one, nonce in zip(found, nonces, strict=True)]

    def permits(self, task: str, count: int) -> list[Held]:
        nonces = new_nonces(count)
        found = self.call("POST", f"/v1/tasks/{task}/permits", committing(nonces)).json()["permits"]
        return [Held(one["permit"], nonce) for one, nonce in zip(found, nonces, strict=True)]

    def model_reports(self, contract: Contract, count: int) -> list[dict[str, Any]]:
        """Honest reports about the newest model."""
        version = self.version(contract.id)
        return [model_report(contract, permit, version) for permit in self.permits(contract.id, count)]

    def version(self, task: str) -> str:
        return self.call("GET", f"/v1/tasks/{task}").json()["version"]

    def report(self, task: str, *reports: Mapping[str, Any]) -> list[str]:
        answer = self.call("POST", f"/v1/tasks/{task}/reports", {"reports": reports})
        assert answer.status == 200, answer.body
        return answer.json()["verdicts"]

    def caught_up(self, task: str) -> dict[str, Any]:
        """The summary once all that is in the journal has been learned."""

        def learned() -> bool:
            summary = self.summary(task)
            return summary.get("learned", -1) == summary.get("reports", 0) + summary.get("warm", 0)

        until(learned)
        return self.summary(task)

    def kill(self) -> list[int]:
        """SIGKILL to the server alone, as an operator would; its children, who must end by themselves."""
        children = list(children_of(self.pid))
        self.stop(signal.SIGKILL)
        return children

    def stop(self, sign: int = signal.SIGTERM) -> int:
        assert self._process is not None
        self._caller.close()
        self._process.send_signal(sign)
        return self._process.wait(30)

    def close(self) -> None:
        """Whatever happened, leave nothing behind."""
        self._caller.close()
        if self._process and self._process.poll() is None:
            self._process.kill()
            self._process.wait()


class Shuffler(Server):
    """`sottovoce shuffler` before a server, in a folder of its own; devices use it as they use a server."""

    def __init__(self, folder: Path, server: str, *tasks: str, token: str = TOKEN, batch: int = 0) -> None:
        super().__init__(folder)
        self.token = token
        self._command = [sys.executable, "-m", "sottovoce", "shuffler", "--server", server, "--data", str(folder)]
        self._command += ["--port", str(self.port), "--rate", "0", "--batch", str(batch)]
        self._command += [word for task in tasks for word in ("--task", task)]

    def start(self) -> "Server":
        self._environment = os.environ | {"SOTTOVOCE_SHUFFLER_TOKEN": self.token}
        return super().start()


def children_of(pid: int) -> Iterator[int]:
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(path.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        if parent == pid:
            yield int(path.parent.name)


def lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def resident(pid: int) -> int:
    """Bytes of memory in use."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def free_port(following: int = 1) -> int:
    """The first of so many that follow each other, all of them free."""
    while True:
        with contextlib.ExitStack() as open_ones, contextlib.suppress(OSError, OverflowError):
            first = open_ones.enter_context(socket.socket())
            first.bind(("127.0.0.1", 0))
            port = first.getsockname()[1]
            for number in range(1, following):
                open_ones.enter_context(socket.socket()).bind(("127.0.0.1", port + number))
            return port


def until(claim: Callable[[], bool], seconds: float = 60.0, pause: float = 0.05) -> None:
    """Wait for the claim to hold."""
    end = time.monotonic() + seconds
    while not claim():
        assert time.monotonic() < end, "waited too long"
        time.sleep(pause)
