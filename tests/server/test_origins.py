"""Which web pages may be devices: those that the task declares, through their browsers."""

from typing import Any

import pytest

from serving import ARMS, Answer, committing, new_nonces, row, task_file
from sottovoce.catalogue.resolve import contract_of
from sottovoce.protocol.errors import ConfigurationError

SHOP = "https://shop.example"


@pytest.fixture(scope="module")
def ask(live) -> Any:
    live.server.create(ARMS | {"id": "shop", "origins": [SHOP, "http://localhost:3000"]})

    def asked(method: str, path: str, origin: str, body: Any = None, **headers: str) -> Answer:
        return live.server.call(method, path, body, headers={"origin": origin} | headers)

    return asked


def shared(answer: Answer) -> dict[str, str]:
    return {name: value for name, value in answer.headers.items() if name.startswith("access-control-")}


def test_a_browser_that_asks_first_is_told_what_a_declared_page_may_do(ask):
    for origin in (SHOP, "http://localhost:3000"):
        answer = ask("OPTIONS", "/v1/tasks/shop/offers", origin, **{"access-control-request-method": "POST"})
        assert (answer.status, answer.body) == (204, b"")
        assert shared(answer) == {
            "access-control-allow-origin": origin,
            "access-control-allow-methods": "POST",
            "access-control-allow-headers": "content-type, if-none-match, sottovoce-admission",
            "access-control-max-age": "86400",
            "access-control-expose-headers": "etag, retry-after",
        }


def test_a_declared_page_may_read_answers_and_problems(ask):
    for method, path, body, status in (
        ("GET", "/v1/tasks/shop/contract", None, 200),
        ("POST", "/v1/tasks/shop/offers", committing(new_nonces(1)), 200),
        ("POST", "/v1/tasks/shop/offers", {"commitments": []}, 400),
    ):
        answer = ask(method, path, SHOP, body)
        assert answer.status == status
        assert answer.headers["access-control-allow-origin"] == SHOP
        assert answer.headers["vary"] == "origin"
        assert "access-control-allow-credentials" not in answer.headers


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "", f"{SHOP}.evil", "http://shop.example"])
def test_any_other_page_is_told_nothing(ask, origin: str):
    asked = ask("OPTIONS", "/v1/tasks/shop/offers", origin, **{"access-control-request-method": "POST"})
    assert asked.status == 405
    for answer in (asked, ask("GET", "/v1/tasks/shop/contract", origin)):
        assert not shared(answer)
        assert answer.headers["vary"] == "origin"  # a cache must not show one page the answer to another


def test_no_page_may_use_what_is_not_for_devices(ask):
    for path in ("/v1/tasks/shop/export", "/v1/tasks/shop/pause", "/v1/tasks", "/metrics", "/v1/tasks/arms/offers"):
        for method in ("GET", "OPTIONS", "POST"):
            assert not shared(ask(method, path, SHOP))


@pytest.mark.parametrize(
    "wrong",
    [
        "*",
        "null",
        "shop.example",
        f"{SHOP}/",
        "https://Shop.example",
        f"{SHOP}\n",
        f"{SHOP}:443",
        "http://localhost:80",
    ],
)
def test_an_origin_that_no_browser_sends_is_refused(wrong: str):
    with pytest.raises(ConfigurationError, match="an origin is written like"):
        contract_of(task_file(origins=[wrong]))


@pytest.mark.parametrize("right", [f"{SHOP}:80", f"{SHOP}:8443", "http://localhost:443", "http://localhost:8080"])
def test_a_port_that_browsers_send_is_taken(right: str):
    assert right.encode() in contract_of(task_file(origins=[right]))


def test_a_task_without_origins_has_the_contract_that_it_always_had():
    assert b"origins" not in row().body
    assert SHOP.encode() in row(origins=[SHOP]).body
