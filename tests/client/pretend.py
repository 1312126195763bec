"""A server in the same process, as far as a device can tell; and tasks to try it with."""

import json
from datetime import date

import numpy as np

from sottovoce.catalogue.algorithms import algorithm_of
from sottovoce.catalogue.resolve import contract_of
from sottovoce.catalogue.task_file import Privacy, Reward, TaskFile
from sottovoce.client.http import Response
from sottovoce.protocol.contract import ByTicket, contract_from, digest_of
from sottovoce.protocol.fields import Category, Flag, Number
from sottovoce.protocol.offers import MODELS, model_body, version_of

NOON = 1_800_000_000.0
"""A moment in January 2027."""

WEEK = 7 * 86400

PERSON = {"age": 34, "country": "it", "member": True}


def contextual(**changes) -> bytes:
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


def arms(**changes) -> bytes:
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


def points(learner: str = "two-point", **changes) -> bytes:
    region = (
        {"dimension": 1}
        if learner == "interval-search"
        else {"dimension": 2, "region": {"kind": "ball", "radius": 1.0}}
    )
    return arms(**({"id": "dials", "learner": learner, "actions": ()} | region | changes))


def any_contract(learner: str, preset: str) -> bytes:
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

    def __init__(self, *contracts: bytes) -> None:
        self.contracts = {contract_from(body).id: body for body in contracts}
        self.mode, self.state = "live", "open"
        self.received: dict[str, dict] = {}
        self.bodies: list[bytes] = []
        self.requests: list[tuple[str, str]] = []
        self.permitted = 0
        """Permits and tickets so far; their numbers tell their order."""
        self.commitments: list[str] = []
        self.lifetime = WEEK
        """Of a permit, in seconds."""
        self.clock = Clock()
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
        return getattr(self, rest[0] if rest else "status")(self.contracts[task], body)

    def contract(self, contract, _body) -> Response:
        return Response(200, {}, contract)

    def status(self, contract, _body) -> Response:
        known, version = contract_from(contract), ""
        if known.offers.user in MODELS:
            version = version_of(self.model(contract, None).body)
        status = {"id": known.id, "digest": digest_of(contract), "mode": self.mode, "state": self.state}
        return _answer(status | {"version": version}, {"cache-control": "public, max-age=60"})

    def model(self, contract, _body) -> Response:
        offers = contract_from(contract).offers
        d = offers.dimension
        parts = {
            "theta": self.theta * np.ones(d),
            "precision": np.zeros((d, d)),
            "width": 0.0,
            "explore": 0.0,
            "anchor": np.full(d, 0.1),
            "clip": 0.5,
            "by_anchor": 0.0,
            "base": 0.5,
            "contrast": 1.0,
        }
        kind = MODELS[offers.model]
        return Response(200, {}, model_body(offers.model, kind(*(parts[name] for name in kind._fields))))

    def offers(self, contract, body) -> Response:
        if self.state == "paused":
            return problem(409, "task-paused")
        if self.done:
            return _answer({"offers": [], "done": True, "recommendation": 2})
        known = contract_from(contract)
        offers = [{"ticket": one["permit"], "expires": one["expires"]} for one in self._permits("ticket", body)]
        return _answer({"offers": [offer | {"action": self._action(known, offer["ticket"])} for offer in offers]})

    def permits(self, _contract, body) -> Response:
        if self.state != "open":
            return problem(409, f"task-{self.state}")
        return _answer({"permits": self._permits("permit", body)})

    def _permits(self, kind: str, body: bytes) -> list[dict]:
        """As many as there are commitments, numbered."""
        asked, expires = json.loads(body)["commitments"], int(self.clock.now) + self.lifetime
        self.commitments += asked
        self.permitted += len(asked)
        numbers = range(self.permitted - len(asked) + 1, self.permitted + 1)
        return [{"permit": f"{kind}-{number:021}", "expires": expires} for number in numbers]

    def _action(self, contract, ticket: str):
        offers = contract.offers
        assert isinstance(offers, ByTicket)
        if offers.actions:
            return number_of(ticket) % len(offers.actions)
        pairs = contract.domain.get("dimension", 1)
        point = [0.5] * offers.dimension
        return [point, [-0.5] * offers.dimension] * pairs if offers.slopes else point

    def reports(self, _contract, body) -> Response:
        self.bodies.append(body)
        if self.answer is not None:
            return self.answer
        verdicts = []
        for report in json.loads(body)["reports"]:
            name = report.get("permit") or report["ticket"]
            verdicts.append(self.verdict or ("duplicate" if name in self.received else "accepted"))
            if not self.verdict:
                self.received[name] = report
        return _answer({"verdicts": verdicts})


def number_of(permit: str) -> int:
    """The place of a permit or ticket in the order in which they were issued."""
    return int(permit[-6:])


def _answer(document, headers=None) -> Response:
    return Response(200, headers or {}, json.dumps(document).encode())


def problem(status: int, name: str) -> Response:
    body = {"type": f"urn:sottovoce:problem:{name}", "title": name, "status": status, "detail": ""}
    return Response(status, {}, json.dumps(body).encode())
