"""What a server can do to a device that does not trust it: follow it, fill it, or have what was withdrawn."""

import json
import random
import re
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest
from pretend import PERSON, Clock, Server, arms, contextual, problem

from sottovoce import Budget, Interval
from sottovoce.catalogue.task_file import Privacy
from sottovoce.client import Device, Limits
from sottovoce.client.background import Background
from sottovoce.client.http import Response
from sottovoce.privacy.grid.calibrate import laplace
from sottovoce.privacy.levels.mechanism import levels
from sottovoce.privacy.mechanisms import verify
from sottovoce.protocol.errors import BrokenPromise, ContractRefused

HOUR = 3600
LASTING = contextual(privacy=Privacy(epsilon=4.0, lifetime=1e5))
GENEROUS = Limits(lifetime=1e5)


class Seeded:
    """Randomness that two devices share."""

    def __init__(self) -> None:
        self._random = random.Random(0)

    def below(self, bound: int) -> int:
        return self._random.randrange(bound)

    def octets(self, count: int) -> bytes:
        return self._random.randbytes(count)


def waiting(server: Server, reports: int) -> tuple[Device, Clock]:
    """A device with so many reports in its outbox."""
    clock = Clock()
    device = Device("http://s", "headline", limits=GENEROUS, transport=server, clock=clock)
    device.prefetch(reports)
    for _ in range(reports):
        device.observe(device.choose(PERSON).id, 1.0)
    return device, clock


# --- what leaves, and how ---------------------------------------------------------------------------------------------


def test_opting_out_stops_everything_that_is_not_on_the_wire_yet():
    class Regretted(Server):
        def reports(self, contract, body):
            device.opt_out()  # while the first of them is on its way
            return super().reports(contract, body)

    server = Regretted(LASTING)
    device, clock = waiting(server, 350)
    clock.now += 2 * HOUR
    assert device.send().acknowledged <= 1
    assert len(server.bodies) == 1
    assert device.outbox() == []
    assert device.stats()["withdrawn"] >= 349


def test_eight_decisions_leave_in_eight_requests_each_at_its_own_time():
    server = Server(LASTING)
    device, clock = waiting(server, 8)
    due = sorted(row.due for row in device.outbox())
    assert len(set(due)) == 8
    for number, moment in enumerate(due, 1):
        clock.now = moment
        device.send()
        assert len(server.bodies) == number
    late, clock = waiting(server := Server(LASTING), 8)
    clock.now += 2 * HOUR  # it was offline, and all are due
    assert late.send().acknowledged == 8
    assert [len(json.loads(body)["reports"]) for body in server.bodies] == [1] * 8


class Recorder(socketserver.ThreadingTCPServer):
    """Serves what a pretended server answers over real HTTP, with `extra` headers, and keeps the bytes of requests."""

    allow_reuse_address = daemon_threads = True

    def __init__(self, pretended: Server, extra: dict[str, str]) -> None:
        super().__init__(("127.0.0.1", 0), _Recorded)
        self.pretended, self.extra = pretended, extra
        self.requests: list[bytes] = []


class _Recorded(socketserver.StreamRequestHandler):
    server: Recorder

    def handle(self) -> None:
        while head := self._until_blank():
            lines = head.decode().split("\r\n")
            method, path, _ = lines[0].split(" ")
            length = next((int(line[16:]) for line in lines if line.lower().startswith("content-length: ")), 0)
            body = self.rfile.read(length)
            self.server.requests.append(head + body)
            answer = self.server.pretended.request(method, path, body)
            headers = {**answer.headers, **self.server.extra, "content-length": str(len(answer.body))}
            text = f"HTTP/1.1 {answer.status} OK\r\n" + "".join(f"{name}: {headers[name]}\r\n" for name in headers)
            self.wfile.write(text.encode() + b"\r\n" + answer.body)

    def _until_blank(self) -> bytes:
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            if not (line := self.rfile.readline()):
                return b""
            head += line
        return head


@contextmanager
def recorded(number: int) -> Iterator[Recorder]:
    """A server that marks a device in every way it can think of, with this number."""
    pretended = Server(LASTING)
    pretended.permitted = number
    mark = {"etag": f'"mark-{number}"', "set-cookie": f"mark={number}", "last-modified": f"mark {number}"}
    mark |= {"location": f"/mark/{number}", "vary": f"mark-{number}", "x-mark": str(number), "server": f"mark {number}"}
    with Recorder(pretended, mark) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server
        server.shutdown()


def traffic(number: int) -> tuple[list[bytes], list[str]]:
    """The bytes of all requests of one device, and the permits that it was given."""
    with recorded(number) as server:
        clock, address = Clock(), f"http://127.0.0.1:{server.server_address[1]}"
        device = Device(address, "headline", limits=GENEROUS, clock=clock, entropy=Seeded())
        for _ in range(3):
            device.observe(device.choose(PERSON).id, 1.0)
            clock.now += 3 * HOUR
            device.send()
        device.close()
        port = str(server.server_address[1]).encode()
        given = [f"permit-{one:021}" for one in range(number + 1, server.pretended.permitted + 1)]
        return [request.replace(port, b"PORT") for request in server.requests], given


def test_nothing_that_a_server_made_up_comes_back_but_a_permit():
    """Two devices with the same randomness, two servers that mark them: the same bytes, but for the permits.

    The version in a report is the device's own hash of a model that was the same. Another permit is another coin, so
    the private payload may differ too.
    """
    (first, permits), (second, others) = traffic(1000), traffic(5000)
    assert len(first) == len(second) > 8
    assert permits != others
    joined, as_first = b"\n".join(first), b"\n".join(second)
    assert joined != as_first
    for mine, theirs in zip(permits, others, strict=True):
        as_first = as_first.replace(theirs.encode(), mine.encode())
    joined, as_first = (re.sub(rb'"payload":"..?"', b"PAYLOAD", both) for both in (joined, as_first))
    assert joined == as_first
    assert b"mark" not in joined.lower()


# --- what is believed, and kept ---------------------------------------------------------------------------------------


def test_what_is_too_large_is_refused_before_it_is_read():
    class Large(Server):
        def model(self, contract, _body):
            return Response(200, {}, b'{"theta": [' + b"0," * 10**6 + b"0]}")

    device = Device("http://s", "headline", transport=Large(LASTING), clock=Clock(), limits=GENEROUS)
    assert not device.choose(PERSON).reported
    assert device.choose(PERSON).problem == "there is no model yet and the server does not answer"
    with pytest.raises(ContractRefused, match="bytes: refused"):
        Device("http://s", "headline", transport=Huge(LASTING), clock=Clock())


class Huge(Server):
    def contract(self, contract, _body):
        return Response(200, {}, contract + b" " * 2**20)


@pytest.mark.parametrize(
    "answer",
    [
        problem(400, "of-my-own"),
        Response(400, {}, b'{"type": "urn:sottovoce:problem:bad-request", "x": "' + b"y" * 2**17 + b'"}'),
        Response(200, {}, b'{"verdicts": ["of-my-own"]}'),
        Response(200, {}, b'{"verdicts": ["accepted", "accepted"]}'),
        Response(200, {}, b'{"verdicts": []}'),
        Response(200, {}, b"[" * 10**5),
        Response(302, {"location": "http://elsewhere"}, b""),
    ],
    ids=lambda answer: f"{answer.status} {answer.body[:40]!r}",
)
def test_words_that_no_server_of_ours_says_are_not_kept(answer: Response):
    """The report stays, for an honest answer; the ledger and the counts have no new word."""
    server = Server(LASTING)
    device, clock = waiting(server, 1)
    clock.now += 2 * HOUR
    server.answer = answer
    assert device.send().waiting == 1
    assert device.stats()["drawn"] == 1
    assert not [word for word in device.stats() if "my-own" in word]


@pytest.mark.parametrize(
    ("contract", "domain"),
    [(arms(), {"low": "0.0", "high": "5e-324"}), (contextual(learner="scale-free"), {"share": "1e200"})],
)
def test_a_domain_in_which_not_every_message_has_a_place_is_refused(contract: bytes, domain: dict[str, str]):
    """Else a report would leave for some rewards alone, or for none."""
    known = json.loads(contract)
    lie, server = known | {"domain": known["domain"] | domain}, Server(contract)
    server.contracts[known["id"]] = json.dumps(lie).encode()
    with pytest.raises(ContractRefused, match="cannot be kept"):
        Device("http://s", known["id"], transport=server, clock=Clock())


@pytest.mark.parametrize("learner", ["gradient", "scale-free", "linucb"])
def test_a_model_that_overflows_is_answered_whatever_the_app_does_about_overflows(learner: str):
    """Else a server could send one that fails for some people, and see who does not report."""
    server = Server(contextual(learner=learner, privacy=Privacy(epsilon=4.0, lifetime=1e5)))
    server.theta = 1.7e308
    with np.errstate(all="raise"):
        device, _ = waiting(server, 3)
    assert len(device.outbox()) == 3


def test_a_thread_in_the_background_survives_everything_and_says_so(caplog: pytest.LogCaptureFixture):
    survived, calls = threading.Event(), []

    def work() -> None:
        calls.append(1)
        if len(calls) == 1:
            raise RecursionError("what nobody thought of")
        survived.set()

    background = Background(work, "headline")
    background.start(0.001)
    assert survived.wait(10)
    background.stop()
    assert "task headline: RecursionError: what nobody thought of; trying again" in caplog.text


def test_a_number_of_another_type_is_not_taken_for_the_one_that_was_verified():
    honest = levels(Interval(), Budget(1.0))
    verify(honest)
    for forged in (replace(honest, keep=float(honest.keep)), replace(honest, levels=2.0)):
        assert forged == honest
        with pytest.raises(BrokenPromise):
            verify(forged)
    on_grid = replace(laplace(Interval(), Budget(2.0)), scales=(1.0,))
    with pytest.raises(BrokenPromise):
        verify(replace(on_grid, scales=(True,)))
    with pytest.raises(BrokenPromise):
        verify(replace(honest, budget=Budget(True, 0.0)))
