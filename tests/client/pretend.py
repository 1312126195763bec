"""A server in the same process, as far as a device can tell; and tasks to try it with."""

import json
from datetime import date

import msgspec
import numpy as np

from sottovoce.catalogue.resolve import contract_of
from sottovoce.catalogue.task import algorithm_of
from sottovoce.catalogue.task_file import Privacy, Reward, TaskFile
from sottovoce.client.http import Response
from sottovoce.protocol.contract import Contract, Status
from sottovoce.protocol.fields import Category, Flag, Number
from sottovoce.protocol.wire import ModelDocument, TaskDocument, version_of

NOON = 1_800_000_000.0
"""A moment in January 2027."""

PERSON = {"age": 34, "country": "it", "member": True}


def contextual(**changes) -> Contract:
    """A gradient learner over four actions; d = 4 * (1 + 1 + 3 + 1) = 24."""
    fields = {
        "age": Number(low=18.0, high=98.0),
        "country": Category(values=("it", "fr", "de")),
        "member": Flag(),
    }
    file = {
        "id": "headline",
        "learner": "gradient",
        "horizon": 1000,
        "privacy": Privacy(epsilon=4.0, lifetime=40.0),
        "expires": date(2030, 1, 1),
        "actions": ("red", "green", "blue", "grey"),
        "fields": fields,
        "reward": Reward(wait="1h"),
        "delay": "10m",
    }
    return contract_of(TaskFile(**(file | changes)))


def arms(**changes) -> Contract:
    file = {
        "id": "colours",
        "learner": "tsallis-inf",
        "horizon": 1000,
        "privacy": Privacy(epsilon=1.0),
        "expires": date(2030, 1, 1),
        "actions": ("red", "green", "blue"),
        "reward": Reward(low=1.0, high=5.0, default=1.0, wait="1h"),
    }
    return contract_of(TaskFile(**(file | changes)))


def points(learner: str = "two-point", **changes) -> Contract:
    region = (
        {"dimension": 1}
        if learner == "interval-search"
        else {"dimension": 2, "region": {"kind": "ball", "radius": 1.0}}
    )
    return arms(**({"id": "dials", "learner": learner, "actions": ()} | region | changes))


def any_contract(learner: str, preset: str) -> Contract:
    """A task of any learner, with a lifetime delta for those with Gaussian noise."""
    make = {"features": contextual, "arms": arms, "points": points}[algorithm_of(learner).actions]
    return make(learner=learner, preset=preset, privacy=Privacy(epsilon=1.0, lifetime_delta=1e-3))


class Clock:
    """A clock that moves when told to."""

    def __init__(self, now: float = NOON) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


class Server:
    """The routes that a device uses. `down` makes it unreachable; `answer` replaces its answer to reports."""

    def __init__(self, *contracts: Contract) -> None:
        self.contracts = {contract.id: contract for contract in contracts}
        self.status = Status()
        self.received: dict[str, dict] = {}
        self.bodies: list[bytes] = []
        self.requests: list[tuple[str, str]] = []
        self.tickets = 0
        self.done = False
        self.down = False
        self.answer: Response | None = None
        self.verdict = ""
        self.theta = 0.5

    def request(self, method, path, body=None, headers=None) -> Response:
        if self.down:
            raise ConnectionError("the cable is cut")
        self.requests.append((method, path))
        _, _, _, task, *rest = path.split("/")
        if task not in self.contracts:
            return problem(404, "unknown-task")
        return getattr(self, rest[0] if rest else "document")(self.contracts[task], body, headers or {})

    def document(self, contract, _body, _headers) -> Response:
        document = TaskDocument(contract=contract, digest=contract.digest(), status=self.status)
        return Response(200, {}, msgspec.json.encode(document))

    def model(self, contract, _body, headers) -> Response:
        d = contract.task.dimension
        numbers = {
            "theta": (self.theta * np.ones(d)).tolist(),
            "precision": np.zeros((d, d)).tolist(),
            "width": 0.0,
            "explore": 0.0,
            "anchor": np.full(d, 0.1).tolist(),
        }
        if contract.task.user == "linear":
            del numbers["anchor"]
        version = version_of(numbers)
        etag = f'"{version}{self.status.mode}{self.status.paused}"'
        if headers.get("If-None-Match") == etag:
            return Response(304, {"cache-control": "max-age=60"})
        document = ModelDocument(
            version=version,
            kind=contract.task.user,
            model=numbers,
            mode=self.status.mode,
            open=not self.status.paused,
        )
        return Response(200, {"etag": etag, "cache-control": "public, max-age=60"}, msgspec.json.encode(document))

    def offers(self, contract, body, _headers) -> Response:
        if self.status.paused:
            return problem(409, "task-paused")
        if self.done:
            return _answer({"offers": [], "done": True, "recommendation": 2})
        offers = [self._ticket(contract) for _ in range(json.loads(body)["count"])]
        return _answer({"offers": offers})

    def _ticket(self, contract) -> dict:
        self.tickets += 1
        action = self._action(contract.task)
        return {"ticket": f"ticket-{self.tickets:06}", "action": action, "expires": int(NOON) + 86400}

    def _action(self, task):
        if not task.dimension:
            return self.tickets % task.arms
        pairs = int(task.domain.get("dimension", 1))
        return (
            [[0.5] * task.dimension, [-0.5] * task.dimension] * pairs
            if task.user == "slope"
            else [0.5] * task.dimension
        )

    def reports(self, _contract, body, _headers) -> Response:
        self.bodies.append(body)
        if self.answer is not None:
            return self.answer
        verdicts = []
        for report in json.loads(body)["reports"]:
            name = report.get("id") or report["ticket"]
            verdicts.append(self.verdict or ("duplicate" if name in self.received else "accepted"))
            if not self.verdict:
                self.received[name] = report
        return _answer({"verdicts": verdicts})


def _answer(document) -> Response:
    return Response(200, {}, json.dumps(document).encode())


def problem(status: int, name: str) -> Response:
    body = {"type": f"urn:sottovoce:problem:{name}", "title": name, "status": status, "detail": ""}
    return Response(status, {}, json.dumps(body).encode())
