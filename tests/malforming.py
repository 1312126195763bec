"""Bodies that are not what the routes take, sent to a server without end, and what must be true afterwards."""

import json
import random
from collections import Counter
from typing import Any

import msgspec

from serving import ARMS, MODEL, Server, resident, ticket_report
from sottovoce.protocol.wire import LARGEST_BODY

ALLOWANCE = 8 * 2**20
"""Bytes that the server may grow by under those bodies: buffers of a few oversized ones, not a leak of each."""

OVERSIZED = 10
"""How many of the bodies are just above the limit."""

JSON, MESSAGEPACK = "application/json", "application/msgpack"
KINDS = [JSON] * 6 + [MESSAGEPACK] * 2 + ["text/plain", "application/xml", "", "application/json; charset=utf-16"]
SCALARS = [None, True, -1, 0, 2**63, -(2**64), 10**400, 1e300, -1e300, 5e-324, "", "\u0000", "\ud83d\ude00" * 9, [], {}]

STRANGE = b'\x00\x1f\x80\xff{}[]":,\\'
"""Bytes that no permit, nonce or payload has."""


def malformed(draw: random.Random, honest: list[dict[str, Any]]) -> bytes:
    """A body that no honest device sends."""
    body = draw.choice(honest)
    text = json.dumps(body).encode()
    match draw.randrange(12):
        case 0:
            return draw.randbytes(draw.randrange(400))
        case 1:
            return text[: draw.randrange(len(text))]
        case 2:
            place = draw.randrange(len(text))
            return text[:place] + bytes(draw.choices(STRANGE, k=1 + draw.randrange(3))) + text[place + 1 :]
        case 3:
            depth = draw.choice((10, 2000, 20_000))
            return draw.choice((b"[", b'{"reports":', b'{"reports":[{"ticket":')) * depth
        case 4:
            return b""
        case 5:
            return text.replace(b'"gate": 0', draw.choice((b'"gate": NaN', b'"gate": 1e300', b'"gate": Infinity')))
        case 6:
            return text + draw.choice((b"x", text, b"\xff\xfe", b"]"))
        case 7:
            return json.dumps(draw.choice(SCALARS)).encode()
        case 8:
            return msgspec.msgpack.encode(body)[: draw.randrange(40)]
        case 9:
            return b"\xdd\xff\xff\xff\xff" + draw.randbytes(
                20
            )  # MessagePack that announces four thousand million items
        case 10:
            return json.dumps({"reports": [changed(draw, body["reports"][0])]}).encode()
        case _:
            return json.dumps(body | {"extra": draw.choice(SCALARS)}).encode()


def changed(draw: random.Random, report: dict[str, Any]) -> dict[str, Any]:
    """A report with a field that is missing, of another type, or unknown."""
    name = draw.choice(sorted(report))
    wrong = draw.choice([value for value in SCALARS if type(value) is not type(report[name])])
    return draw.choice(
        [
            {key: value for key, value in report.items() if key != name},
            report | {name: wrong},
            report | {name + "s": report[name]},
        ]
    )


def send_malformed(server: Server, bodies: int) -> None:
    """Only problem documents of 4xx; the few changes that happen to keep a body valid get a verdict, never an entry."""
    arms, model = server.create(ARMS), server.create(MODEL)
    used = ticket_report(arms, server.tickets("arms", 1)[0])
    (named,) = server.model_reports(model, 1)
    assert server.report("arms", used) == server.report("model", named) == ["accepted"]  # mutants are at most these
    targets = [
        ("/v1/tasks/arms/reports", {"reports": [used]}),
        ("/v1/tasks/model/reports", {"reports": [named]}),
        ("/v1/tasks/arms/offers", {"reports": [used]}),
        ("/v1/tasks/model/permits", {"reports": [named]}),
    ]
    draw, answers, memory = random.Random(bodies), Counter(), 0
    for number in range(bodies):
        path, body = draw.choice(targets)
        kind = draw.choice(KINDS)
        if (number + 1) % (bodies // OVERSIZED) == 0:  # just above the limit
            sent, kind = b'"' + b"a" * LARGEST_BODY, JSON
        else:
            sent = malformed(draw, [body])
        answer = server.call("POST", path, sent, headers={"content-type": kind})
        answers[answer.status] += 1
        if answer.status == 200:
            assert "accepted" not in answer.json().get("verdicts", []), sent
        else:
            assert 400 <= answer.status < 500, (answer, sent[:200])
            assert answer.headers["content-type"] == "application/problem+json"
        if number == bodies // 10:
            memory = resident(server.pid)
    assert answers[413] == OVERSIZED
    assert answers[200] < bodies / 10
    assert resident(server.pid) - memory < ALLOWANCE
    assert server.summary("arms")["reports"] == server.summary("model")["reports"] == 1
    assert server.report("arms", ticket_report(arms, server.tickets("arms", 1)[0])) == ["accepted"]
    assert server.report("model", *server.model_reports(model, 1)) == ["accepted"]
    events = [json.loads(line) for line in server.log.read_text().splitlines()]
    assert not [event for event in events if event["level"] != "info"]
