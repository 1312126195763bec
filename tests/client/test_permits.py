"""Permits on a device: fetched singly and ahead, used oldest first, and the coin that they make with a nonce."""

import json

import pytest
from pretend import NOON, PERSON, WEEK, Clock, Server, arms, contextual, number_of

from sottovoce.catalogue.task_file import Privacy
from sottovoce.client import Device
from sottovoce.client.http import Response
from sottovoce.client.permits import AHEAD, LONGEST, PAUSE
from sottovoce.privacy.drawing import privatise
from sottovoce.protocol.codec import from_text, to_text
from sottovoce.protocol.permits import coin_of, commitment_of

HOUR, DAY = 3600, 86400


class Watched(Server):
    """Keeps the bodies of all requests, and when permits were asked for; its clock is the device's."""

    def __init__(self, *contracts: bytes) -> None:
        super().__init__(*contracts)
        self.heard: list[bytes] = []
        self.fetched: list[float] = []

    def request(self, method, path, body=None, headers=None):
        self.heard.append(body or b"")
        return super().request(method, path, body, headers)

    def permits(self, contract, body):
        self.fetched.append(self.clock.now)
        return super().permits(contract, body)


def device(server: Server, task: str = "headline", **settings) -> Device:
    return Device("https://learn.example", task, transport=server, clock=server.clock, **settings)


def permits_used(mine: Device) -> list[int]:
    return [number_of(waiting.report["permit"]) for waiting in sorted(mine.outbox(), key=lambda waiting: waiting.due)]


def pass_time(mine: Device, clock: Clock, seconds: float, every: float = 15.0) -> None:
    """What the background thread does in that time."""
    end = clock.now + seconds
    while clock.now < end:
        clock.now += every
        mine.send()


# --- the coin --------------------------------------------------------------------------------------------------------


def test_until_the_report_the_server_hears_only_the_hash_of_the_nonce():
    server = Watched(contextual())
    mine = device(server)
    mine.observe(mine.choose(PERSON).id, 1.0)
    (waiting,) = mine.outbox()
    nonce = waiting.report["nonce"]
    assert server.commitments == [to_text(commitment_of(from_text(nonce)))]
    assert not any(nonce.encode() in body for body in server.heard)
    mine.send(force=True)
    assert any(nonce.encode() in body for body in server.heard)


@pytest.mark.parametrize(("task", "contract"), [("headline", contextual()), ("colours", arms())])
def test_no_two_permits_have_the_same_nonce(task, contract):
    server = Watched(contract)
    device(server, task).prefetch(20)
    device(server, task).prefetch(20)
    assert len(set(server.commitments)) == len(server.commitments) >= 40


def test_a_report_is_drawn_with_the_coin_of_its_permit_and_nonce(monkeypatch):
    coins = []

    def watched(mechanism, message, entropy, coin):
        coins.append(coin)
        return privatise(mechanism, message, entropy, coin)

    monkeypatch.setattr("sottovoce.client.device.privatise", watched)
    mine = device(Watched(contextual()))
    mine.observe(mine.choose(PERSON).id, 1.0)
    (waiting,) = mine.outbox()
    assert coins == [coin_of(from_text(waiting.report["permit"]), from_text(waiting.report["nonce"]))]
    assert len(from_text(waiting.report["payload"])) == 1  # the index alone


def test_the_reports_of_all_people_are_equally_long_on_the_wire():
    server = Watched(contextual())
    for person, reward in ((PERSON, 1.0), ({"age": 18, "country": "de", "member": False}, 0.0), ({}, None)):
        mine = device(server)
        mine.observe(mine.choose(person).id, reward)
        mine.send(force=True)
    assert len(server.bodies) == 3
    assert len({len(body) for body in server.bodies}) == 1


# --- using -----------------------------------------------------------------------------------------------------------


def test_permits_are_used_oldest_first_and_once_also_after_a_restart(tmp_path):
    server = Watched(contextual(delay="0s"))
    first = device(server, folder=tmp_path)
    first.prefetch(4)
    first.observe(first.choose(PERSON).id, 1.0)
    server.clock.now += 1
    first.close()
    asked = len(server.fetched)
    second = device(server, folder=tmp_path)
    assert len(server.fetched) == asked
    for _ in range(3):
        second.observe(second.choose(PERSON).id, 1.0)
        server.clock.now += 1
    assert permits_used(second) == [1, 2, 3, 4]
    without = second.choose(PERSON)
    assert (without.reported, without.problem) == (False, "there is no permit at hand, so nothing is reported")
    assert second.budget().spent == 16.0


def test_a_permit_that_would_expire_before_its_report_is_due_is_thrown_away_before_the_draw():
    server = Watched(contextual())  # a report is due an hour and ten minutes later at the latest
    server.lifetime = DAY
    mine = device(server)
    server.clock.now += DAY - HOUR - 601
    assert mine._stock.left(server.clock.now) == 1
    server.clock.now += 1
    decision = mine.choose(PERSON)
    assert (decision.reported, mine.budget().spent) == (False, 0.0)
    server.clock.now -= HOUR  # it does not come back with the clock
    assert not mine.choose(PERSON).reported


def test_a_report_that_expired_in_the_outbox_is_settled_and_not_drawn_again(monkeypatch):
    draws = []

    def counted(*given):
        draws.append(given)
        return privatise(*given)

    monkeypatch.setattr("sottovoce.client.device.privatise", counted)
    server = Watched(contextual())
    mine = device(server)
    decision = mine.choose(PERSON)
    mine.observe(decision.id, 1.0)
    server.clock.now += 2 * WEEK
    server.verdict = "expired-permit"
    assert mine.send().refused == 1
    server.verdict = ""
    assert mine.observe(decision.id, 1.0) is False
    pass_time(mine, server.clock, HOUR)
    assert (len(draws), mine.outbox(), server.received) == (1, [], {})
    assert (mine.stats()["expired-permit"], mine.budget().spent) == (1, 4.0)


# --- fetching --------------------------------------------------------------------------------------------------------


def test_permits_are_fetched_one_by_one_at_random_times():
    """The first with the device, each of the others within the pause: on average half of it (5 standard errors)."""
    waits = []
    for _ in range(50):
        server = Watched(contextual())
        mine = device(server)
        assert server.fetched == [NOON]
        pass_time(mine, server.clock, AHEAD * PAUSE + 60, every=60)
        assert len(server.fetched) == len(server.commitments) == AHEAD
        waits.append(server.fetched[1] - NOON)
    assert max(waits) <= PAUSE + 60
    mean, error = sum(waits) / len(waits), PAUSE / (12 * len(waits)) ** 0.5
    assert PAUSE / 2 - 5 * error < mean < PAUSE / 2 + 5 * error + 60


def test_what_a_decision_used_is_not_fetched_again_at_once():
    """When a permit was fetched says nothing about when the device was used."""
    later = 0
    for _ in range(20):
        server = Watched(contextual())
        mine = device(server)
        pass_time(mine, server.clock, 3 * PAUSE, every=60)
        before = len(server.fetched)
        mine.choose(PERSON)
        mine.send()
        later += len(server.fetched) == before
        pass_time(mine, server.clock, PAUSE + 60, every=60)
        assert len(server.fetched) == before + 1
    assert later >= 19


def opted_out(mine: Device, server: Server) -> None:
    mine.opt_out()


def spent(mine: Device, server: Server) -> None:
    assert mine.choose(PERSON).reported


def closed(mine: Device, server: Server) -> None:
    server.state = "paused"
    mine._network.ask_status(server.clock.now)


def changed(mine: Device, server: Server) -> None:
    server.contracts["headline"] = contextual(horizon=2000)
    mine._network.ask_status(server.clock.now)


@pytest.mark.parametrize("end", [opted_out, spent, closed, changed])
def test_no_permit_is_fetched_when_nothing_may_be_reported(end, tmp_path):
    server = Watched(contextual(privacy=Privacy(epsilon=4.0, lifetime=4.0)))
    mine = device(server, folder=tmp_path)
    end(mine, server)
    asked = len(server.fetched)
    pass_time(mine, server.clock, 2 * HOUR, every=120)
    mine.prefetch(5)
    mine.close()
    if end is not changed:
        device(server, folder=tmp_path).send()
    assert len(server.fetched) == asked


def test_a_device_that_opts_in_again_fetches_again():
    server = Watched(contextual())
    mine = device(server)
    mine.opt_out()
    pass_time(mine, server.clock, HOUR)
    mine.opt_in()
    pass_time(mine, server.clock, HOUR)
    assert len(server.fetched) == AHEAD


# --- hostile servers -------------------------------------------------------------------------------------------------


class Hostile(Watched):
    answer_to_permits: object = None

    def permits(self, contract, body):
        super().permits(contract, body)
        return Response(200, {}, json.dumps(self.answer_to_permits).encode())


@pytest.mark.parametrize(
    "permit",
    ["A" * (LONGEST + 4), "A", "AB", "not base64", "AAAA=", "ÄÄÄÄ", "AA+/", None, 7],
    ids=lambda permit: str(permit)[:10],
)
def test_a_permit_that_is_none_is_not_kept(permit):
    server = Hostile(contextual())
    server.answer_to_permits = {"permits": [{"permit": permit, "expires": int(NOON) + WEEK}]}
    mine = device(server)
    assert mine._vault.run("SELECT count(*) FROM permits") == [(0,)]
    assert not mine.choose(PERSON).reported


def test_more_permits_than_were_asked_for_and_endless_ones_change_nothing():
    server = Hostile(contextual())
    server.answer_to_permits = {"permits": [{"permit": "AAAA", "expires": 10**30}] * 50}
    mine = device(server)
    assert mine._stock.left(NOON) == 1
    server.answer_to_permits = {"permits": [{"permit": "AAAA", "expires": -(10**30)}]}
    pass_time(mine, server.clock, 20 * PAUSE, every=60)
    assert len(server.fetched) > 10
    assert mine._vault.run("SELECT count(*) FROM permits")[0][0] <= 2  # what has expired does not pile up


def test_a_ticket_that_is_none_is_not_kept():
    class Long(Server):
        def offers(self, contract, body):
            offer = {"ticket": "A" * (LONGEST + 4), "action": 1, "expires": int(NOON) + DAY}
            return Response(200, {}, json.dumps({"offers": [offer]}).encode())

    mine = device(Long(arms()), "colours")
    assert not mine.choose().reported
    assert mine._vault.run("SELECT count(*) FROM permits") == [(0,)]
