"""Admission tokens: signed by the app, shown once, worth what they say."""

import concurrent.futures
from pathlib import Path
from typing import Any

import pytest

from serving import ARMS, MODEL, TOKEN, Caller, Server, committing, new_nonces
from sottovoce.admission import LONGEST, sign
from sottovoce.cli.task import admission_key
from sottovoce.client import Device, Limits
from sottovoce.protocol.codec import from_text, to_text
from sottovoce.protocol.errors import ConfigurationError
from sottovoce.protocol.wire import ADMISSION
from sottovoce.server.problems import Problem
from sottovoce.server.web import tokens
from sottovoce.server.web.tokens import TokenDesk

NOW = 1_700_000_000.0
OFFERS = "/v1/tasks/signed/offers"
LIMITS = Limits(epsilon=2.0, lifetime=20.0)


@pytest.fixture(scope="module")
def key(live) -> str:
    live.server.create(ARMS | {"id": "signed", "admission": "signed"})
    return live.server.admin("GET", "/v1/tasks/signed/admission-key").json()["key"]


def test_tickets_of_a_signed_task_need_a_token_that_works_once(live, key: str):
    def ask(count: int, token: str = "") -> int:
        answer = live.server.call(
            "POST", OFFERS, committing(new_nonces(count)), headers={ADMISSION: token} if token else {}
        )
        assert (answer.status == 200) == ("offers" in answer.json())
        return answer.status

    token = sign(key, "signed", 3)
    assert ask(1) == ask(1, "AAAA") == ask(1, sign(key, "arms")) == ask(4, token) == 403
    assert ask(1, sign(to_text(bytes(32)), "signed")) == 403
    assert ask(3, token) == 200
    assert ask(1, token) == 403
    assert live.server.call("POST", OFFERS, committing(new_nonces(1))).json()["type"].endswith(":not-admitted")


def test_a_token_is_not_used_up_by_a_request_that_fails(live, key: str):
    token = {ADMISSION: sign(key, "signed")}
    live.server.admin("POST", "/v1/tasks/signed/pause")
    assert live.server.call("POST", OFFERS, committing(new_nonces(1)), headers=token).status == 409
    live.server.admin("POST", "/v1/tasks/signed/resume")
    assert live.server.call("POST", OFFERS, committing(new_nonces(1)), headers=token).status == 200


def test_a_device_asks_its_app_for_tokens(live, key: str):
    address, asked = f"http://127.0.0.1:{live.server.port}", []

    def app(count: int) -> str:
        asked.append(count)
        return sign(key, "signed", count)

    device = Device(address, "signed", limits=LIMITS, admission=app)
    device.prefetch(4)
    for _ in range(5):
        device.observe(device.choose().id, 1.0)
    assert device.send(force=True).acknowledged == 5
    device.close()
    assert asked[:2] == [4, 4]  # again when they are used up
    with pytest.raises(ConfigurationError, match="admission"):
        Device(address, "signed", limits=LIMITS)


@pytest.mark.parametrize("given", ["", "a\r\nX-Name: b", None, 7])
def test_an_app_without_a_token_makes_a_device_choose_without_a_report(live, key: str, given):
    device = Device(f"http://127.0.0.1:{live.server.port}", "signed", limits=LIMITS, admission=lambda count: given)
    decision = device.choose()
    device.close()
    assert decision.reported is False


def test_the_team_gets_the_key_by_a_command(live, key: str, monkeypatch: pytest.MonkeyPatch, capsys: Any):
    monkeypatch.setenv("SOTTOVOCE_ADMIN_TOKEN", TOKEN)
    admission_key("signed", f"http://127.0.0.1:{live.server.port}")
    assert capsys.readouterr().out.strip() == key
    assert key not in live.server.log.read_text()


def test_a_task_that_is_open_has_no_key(live):
    assert live.server.admin("GET", "/v1/tasks/arms/admission-key").status == 409


def test_permits_need_a_token_too(live):
    live.server.create(MODEL | {"id": "vouched", "admission": "signed"})
    key = live.server.admin("GET", "/v1/tasks/vouched/admission-key").json()["key"]
    permits = "/v1/tasks/vouched/permits"
    assert live.server.call("POST", permits, committing(new_nonces(1))).status == 403
    token = {ADMISSION: sign(key, "vouched")}
    assert live.server.call("POST", permits, committing(new_nonces(2)), headers=token).status == 403
    assert live.server.call("POST", permits, committing(new_nonces(1)), headers=token).status == 200
    assert live.server.call("POST", permits, committing(new_nonces(1)), headers=token).status == 403


def test_a_used_token_is_remembered_over_a_restart_and_an_old_one_is_taken_by_the_next_server(tmp_path: Path):
    server = Server(tmp_path).start()

    def ask(token: str) -> int:
        return server.call("POST", OFFERS, committing(new_nonces(1)), headers={ADMISSION: token}).status

    try:
        server.create(ARMS | {"id": "signed", "admission": "signed"})
        key = server.admin("GET", "/v1/tasks/signed/admission-key").json()["key"]
        used, kept = sign(key, "signed"), sign(key, "signed")
        assert ask(used) == 200
        server.kill()
        server.start()
        assert (ask(used), ask(kept), ask(kept)) == (403, 200, 403)
    finally:
        server.close()


def test_of_many_who_show_one_token_at_once_one_is_admitted(live, key: str):
    token = {ADMISSION: sign(key, "signed")}
    callers = [Caller(live.server.port) for _ in range(8)]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = pool.map(lambda call: call("POST", OFFERS, committing(new_nonces(1)), headers=token).status, callers)
        assert sorted(answers) == [200] + [403] * 7
    for caller in callers:
        caller.close()


# --- by the clock, without a server ----------------------------------------------------------------------------------


def desk() -> TokenDesk:
    """Of a task, with a store that knows no token."""

    async def admit(id: bytes, expires: int, now: int) -> bool:
        raise AssertionError("reading a token does not use it")

    return TokenDesk(b"secret", "task", admit)


def taken(desk: TokenDesk, token: str, now: float = NOW) -> bool:
    try:
        return desk.read(token, 1, now) is not None
    except Problem:
        return False


def test_a_token_expires_and_is_not_taken_from_the_future():
    own = desk()
    key = to_text(own.key)
    assert taken(own, sign(key, "task", seconds=10, now=NOW), NOW + 9)
    assert not taken(own, sign(key, "task", seconds=10, now=NOW), NOW + 10)
    assert taken(own, sign(key, "task", now=NOW + tokens.CLOCKS))
    assert not taken(own, sign(key, "task", now=NOW + tokens.CLOCKS + 1))


def test_every_byte_of_a_token_is_signed():
    own = desk()
    token = from_text(sign(to_text(own.key), "task", now=NOW))
    for place in range(len(token)):
        altered = bytearray(token)
        altered[place] ^= 1
        assert not taken(own, to_text(bytes(altered)))
    assert not taken(own, to_text(token[:-1]))
    assert taken(own, to_text(token))


@pytest.mark.parametrize("wrong", [{"tickets": 0}, {"tickets": 2**16}, {"seconds": 0}, {"seconds": LONGEST + 1}])
def test_a_token_that_no_server_takes_is_not_signed(wrong: dict[str, int]):
    with pytest.raises(ConfigurationError):
        sign(to_text(bytes(32)), "task", **wrong)
