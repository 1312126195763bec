"""How much one client may send and ask for, and how clients are told apart."""

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from serving import ARMS, Answer, Held, Server, committing, new_nonces, ticket_report
from sottovoce.protocol.contract import Contract
from sottovoce.server.addresses import client_of

RATE = 0.2
BURST = 20
"""What a client has at first: a hundred seconds of it. In the seconds that a test takes, hardly one comes back."""
OTHERS = itertools.count(100)
NOTHING = {"ticket": "x", "nonce": "", "gate": 0, "payload": "AA"}


class Limited(NamedTuple):
    server: Server
    arms: Contract

    def call(self, client: str, method: str, path: str, body: Any = None) -> Answer:
        return self.server.call(method, path, body, headers={"x-forwarded-for": client})

    def left(self, client: str) -> int:
        """How many requests this client is still allowed, by using them up."""
        return next(count for count in range(BURST + 2) if self.call(client, "GET", "/healthz").status == 429)


@pytest.fixture(scope="module")
def limited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Limited]:
    server = Server(tmp_path_factory.mktemp("served"), rate=RATE, proxies=1).start()
    yield Limited(server, server.create(ARMS))
    server.close()


def test_a_client_who_asks_too_often_is_told_when_to_come_back(limited: Limited):
    assert limited.left("192.0.2.1") == BURST
    refused = limited.call("192.0.2.1", "GET", "/healthz")
    assert refused.json()["type"].endswith(":too-many-requests")
    assert 1 <= int(refused.headers["retry-after"]) <= 1 / RATE


@pytest.mark.parametrize(
    ("method", "path", "body", "cost"),
    [
        ("POST", "/v1/tasks/arms/offers", committing(new_nonces(12)), 12),
        (
            "POST",
            "/v1/tasks/arms/reports",
            {"reports": [NOTHING] * 15},
            15,
        ),
        ("POST", "/v1/tasks/arms/reports", b"nothing that could be read", 1),
        ("GET", "/v1/nothing", None, 1),
        ("DELETE", "/v1/tasks/arms", None, 1),
        ("GET", "/v1/tasks/", None, 1),
    ],
    ids=["tickets", "reports", "bad-request", "not-found", "not-allowed", "slash"],
)
def test_a_request_costs_what_it_carries_and_at_least_one(
    limited: Limited, method: str, path: str, body: Any, cost: int
):
    client = f"192.0.2.{next(OTHERS)}"
    answer = limited.call(client, method, path, body)
    assert answer.status in (200, 400, 404, 405)
    assert limited.left(client) == BURST - cost


def test_what_is_refused_is_not_done_and_is_counted(limited: Limited):
    nonces = new_nonces(BURST - 5)
    offers = limited.call("192.0.2.2", "POST", "/v1/tasks/arms/offers", committing(nonces)).json()["offers"]
    held = [Held(offer["ticket"], nonce) for offer, nonce in zip(offers, nonces, strict=True)]
    reports = [ticket_report(limited.arms, ticket) for ticket in held]
    before = refused_by(limited)
    assert limited.call("192.0.2.2", "POST", "/v1/tasks/arms/reports", {"reports": reports}).status == 429
    assert refused_by(limited) == before + len(reports) - 1  # the request itself was within the limit
    taken = limited.call("192.0.2.3", "POST", "/v1/tasks/arms/reports", {"reports": reports}).json()
    assert taken == {"verdicts": ["accepted"] * len(reports)}


def test_a_batch_larger_than_any_burst_is_taken_and_paid_off(limited: Limited):
    batch = {"reports": [NOTHING] * (3 * BURST)}
    assert limited.call("192.0.2.4", "POST", "/v1/tasks/arms/reports", batch).status == 200
    refused = limited.call("192.0.2.4", "GET", "/healthz")
    assert refused.status == 429
    assert int(refused.headers["retry-after"]) > 1.9 * BURST / RATE


def refused_by(limited: Limited) -> int:
    page = limited.call("192.0.2.250", "GET", "/metrics").body.decode()
    return int(float(page.split("\nsottovoce_limited_total ")[1].split("\n")[0]))


def test_clients_are_told_apart_by_what_the_trusted_proxy_wrote(limited: Limited):
    assert limited.left("203.0.113.1, 198.51.100.7") == BURST
    for same in ("198.51.100.7", "203.0.113.99, 198.51.100.7", "::ffff:198.51.100.7", "198.51.100.7 "):
        assert limited.left(same) == 0, same
    assert limited.left("198.51.100.7, 203.0.113.1") == BURST
    assert limited.left("2001:db8::1") == BURST
    assert limited.left("2001:db8::2:3") == 0
    assert limited.left("2001:db8:0:1::1") == BURST


@pytest.mark.parametrize(
    ("forwarded", "proxies", "client"),
    [
        ("192.0.2.1", 0, "127.0.0.1"),
        ("192.0.2.1", 1, "192.0.2.1"),
        ("192.0.2.1, 192.0.2.2", 1, "192.0.2.2"),
        ("192.0.2.1, 192.0.2.2", 2, "192.0.2.1"),
        ("192.0.2.1, 192.0.2.2", 3, "127.0.0.1"),
        ("", 1, "127.0.0.1"),
        ("192.0.2.1,", 1, "127.0.0.1"),
        ("192.0.2.1, unknown", 1, "127.0.0.1"),
        ("192.0.2.1:99", 1, "127.0.0.1"),
        ("192.0.2.1\t, 999.1.1.1", 1, "127.0.0.1"),
    ],
)
def test_an_address_that_no_trusted_proxy_wrote_is_not_believed(forwarded: str, proxies: int, client: str):
    assert client_of("127.0.0.1", forwarded, proxies) == client


def test_a_redirect_is_never_answered(limited: Limited):
    """So none can name the host of whoever asked."""
    for path in ("/v1/tasks/", "/healthz/", "//evil.example/", "/v1/tasks/arms/", "/v1//tasks"):
        headers = {"x-forwarded-for": "192.0.2.6", "host": "evil.example"}
        answer = limited.server.call("GET", path, headers=headers)
        assert answer.status == 404
        assert b"evil" not in answer.body + str(answer.headers).encode()
