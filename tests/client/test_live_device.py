"""A device against a pretended server: what it chooses, what it promises, and what becomes of it."""

import contextlib
import json
import math
import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import date

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pretend import NOON, PERSON, Clock, Server, any_contract, arms, contextual, points, problem

from sottovoce.catalogue.algorithms import algorithms
from sottovoce.catalogue.task_file import Privacy, Reward
from sottovoce.client import Device, Limits
from sottovoce.client.answers import context_of
from sottovoce.client.http import Response
from sottovoce.privacy.drawing import privatise
from sottovoce.privacy.mechanisms import decode
from sottovoce.protocol.codec import from_text
from sottovoce.protocol.contract import ByModel, contract_from
from sottovoce.protocol.errors import (
    BadInput,
    ConfigurationError,
    ContractChanged,
    ContractRefused,
    Unreachable,
)
from sottovoce.protocol.fields import Category, Number
from sottovoce.protocol.offers import version_of
from sottovoce.protocol.permits import coin_of

HOUR, DAY = 3600, 86400
PRESETS = [
    (name, preset)
    for name, algorithm in algorithms().items()
    if algorithm.trust == "local"
    for preset in algorithm.presets
]
JUST_OVER = HOUR + 1e-4
"""After the deadline, before any report is due (but for one chance in 600,000)."""


def device(server: Server, task: str = "headline", clock=None, permits: int = 6, **settings) -> Device:
    """With this many permits at hand, where the task has a model."""
    mine = Device("https://learn.example", task, transport=server, clock=clock or Clock(), **settings)
    if isinstance(mine.contract.offers, ByModel):
        mine.prefetch(permits)
    return mine


# --- choosing and reporting ------------------------------------------------------------------------------------------


def test_a_person_chooses_observes_and_reports():
    server, clock = Server(contextual()), Clock()
    mine = device(server, clock=clock)
    decision = mine.choose(PERSON)
    assert decision.reported
    assert decision.name == mine.contract.offers.actions[decision.action]
    assert mine.observe(decision.id, reward=1.0)
    (waiting,) = mine.outbox()
    assert waiting.epsilon == 4.0
    clock.now += 2 * HOUR
    assert mine.send().acknowledged == 1
    assert list(server.received.values()) == [waiting.report]
    assert mine.outbox() == []
    assert mine.stats()["sent"] == 1


def test_the_report_decodes_to_the_gradient_on_average():
    """300 reports of one gradient; each coordinate within 5 standard errors: false alarms below 24 * 6e-7."""
    server = Server(contextual(privacy=Privacy(epsilon=4.0, lifetime=1e6)))
    mine = device(server, limits=Limits(lifetime=1e6), permits=301)
    mechanism = mine._terms.mechanism
    decision = mine.choose(PERSON)
    model, user = mine._network.models[mine._network.newest], mine._terms.user
    features, _ = context_of(mine.contract.offers, PERSON)
    truth = user.message(model, features, decision.action, 1.0)
    for _ in range(300):
        mine.observe(mine.choose(PERSON).id, 1.0)
    found = [decode(mechanism, journalled(mechanism, waiting.report)) for waiting in mine.outbox()]
    error = np.std(found, axis=0) / math.sqrt(len(found))
    assert np.all(np.abs(np.mean(found, axis=0) - truth) < 5 * error)
    assert np.linalg.norm(truth) > 0.2


def journalled(mechanism, report: dict) -> bytes:
    """The payload with its coin, as the server keeps it."""
    coin = coin_of(from_text(report["permit"]), from_text(report["nonce"]))
    return coin[: mechanism.coin_size] + from_text(report["payload"])


def test_tickets_bring_the_servers_choice_and_go_back():
    server = Server(arms())
    mine = device(server, "colours")
    decision = mine.choose()
    assert (decision.action, decision.name) == (1, "green")
    mine.observe(decision.id, 4.0)
    assert mine.send(force=True).acknowledged == 1
    assert server.received[f"ticket-{1:021}"]["gate"] == 0


def test_points_take_one_reward_each():
    mine = device(Server(points()), "dials")
    decision = mine.choose()
    assert decision.action.shape == (2, 2)
    assert mine.observe(decision.id, [4.0, 2.0])
    again = mine.choose()
    assert mine.observe(again.id, 3.0)  # one number where two were wanted: the default is reported
    assert mine.stats()["bad_input"] == 1
    assert len(mine.outbox()) == 2


@pytest.mark.parametrize(("learner", "preset"), PRESETS)
def test_every_preset_that_runs_live_is_answered(learner, preset):
    body = any_contract(learner, preset)
    contract = contract_from(body)
    mine = device(Server(body), contract.id, limits=Limits(delta=1e-4, lifetime_delta=1e-3))
    decision = mine.choose(PERSON if isinstance(contract.offers, ByModel) else None)
    mine.observe(decision.id, [1.0] * len(decision.action) if contract.offers.user == "slope" else 1.0)
    assert mine.send(force=True).acknowledged == 1
    assert "bad_input" not in mine.stats()


def test_prefetched_tickets_need_no_server():
    server = Server(arms())
    mine = device(server, "colours")
    mine.prefetch(3)
    server.down = True
    assert all(mine.choose().reported for _ in range(3))
    without = mine.choose()
    assert (without.reported, without.problem != "") == (False, True)


def test_a_finished_task_serves_its_recommendation():
    server = Server(arms())
    server.done = True
    mine = device(server, "colours")
    decision = mine.choose()
    assert (decision.action, decision.name, decision.reported) == (2, "blue", False)
    assert mine.observe(decision.id, 5.0) is False


def test_an_apprentice_shows_the_baseline_and_reports_about_it():
    server = Server(contextual())
    server.mode = "apprentice"
    mine = device(server)
    assert mine.choose(PERSON).action == 0
    decision = mine.choose(PERSON, baseline="blue")
    assert (decision.action, decision.name, decision.reported) == (2, "blue", True)
    with pytest.raises(ConfigurationError, match="baseline"):
        mine.choose(PERSON, baseline="mauve")


def test_candidates_bring_their_own_fields():
    fields = {"genre": Category(values=("jazz", "opera"))}
    mine = device(Server(contextual(actions=(), candidates=3, fields=fields)))
    decision = mine.choose([{"genre": "jazz"}, {"genre": "opera"}])
    assert decision.action in (0, 1)
    assert decision.name == ""


@pytest.mark.parametrize("learner", ["gradient", "linucb", "scale-free"])
@pytest.mark.parametrize("named", [True, False])
def test_a_live_device_reports_what_the_simulated_one_does(learner, named, monkeypatch):
    """A contrast depends on the actions that were not chosen."""
    actions, candidates = (("red", "green"), 0) if named else ((), 3)
    mine = device(Server(contextual(learner=learner, actions=actions, candidates=candidates)))
    person = PERSON if named else [PERSON | {"age": age, "member": age > 30} for age in (20, 40, 90)]
    messages = []

    def watched(mechanism, message, *given):
        messages.append(message)
        return privatise(mechanism, message, *given)

    monkeypatch.setattr("sottovoce.client.device.privatise", watched)
    decision = mine.choose(person)
    mine.observe(decision.id, 1.0)
    context, _ = context_of(mine.contract.offers, person)
    model, user = mine._network.models[mine._network.newest], mine._terms.user
    reward = mine.contract.reward.to_unit(1.0)
    np.testing.assert_allclose(messages, [user.message(model, context, decision.action, reward)], rtol=1e-12)


# --- exactly one report ----------------------------------------------------------------------------------------------


def test_a_reward_counts_once():
    mine = device(Server(contextual()))
    decision = mine.choose(PERSON)
    assert mine.observe(decision.id, 1.0)
    assert mine.observe(decision.id, 0.0) is False
    assert len(mine.outbox()) == 1
    with pytest.raises(ConfigurationError, match="no decision 'nobody'"):
        mine.observe("nobody", 1.0)


def test_a_draw_that_failed_is_not_tried_again(monkeypatch):
    """Nobody knows how far it came; its epsilon stays spent."""
    mine = device(Server(contextual()))
    decision = mine.choose(PERSON)
    draws = []

    def dry(*given):
        draws.append(given)
        raise OSError("no randomness")

    monkeypatch.setattr("sottovoce.client.device.privatise", dry)
    with pytest.raises(OSError, match="no randomness"):
        mine.observe(decision.id, 1.0)
    assert mine.observe(decision.id, 1.0) is False
    assert len(draws) == 1
    assert mine.outbox() == []


def test_the_debit_is_on_the_disk_before_the_draw(tmp_path, monkeypatch):
    """What the log holds when the gate is reached was flushed: the last transaction before it was a full one."""
    mine = device(Server(contextual()), folder=tmp_path)
    found = []

    def watched(*given):
        found.extend(mine._vault.run("PRAGMA synchronous")[0])
        found.extend(mine._vault.run("SELECT count(*) FROM decisions WHERE drawing = 1")[0])
        return privatise(*given)

    monkeypatch.setattr("sottovoce.client.device.privatise", watched)
    mine.observe(mine.choose(PERSON).id, 1.0)
    assert found == [2, 1]


def test_an_unobserved_decision_reports_the_default_once_also_after_a_restart(tmp_path):
    server, clock = Server(contextual()), Clock()
    first = device(server, clock=clock, folder=tmp_path)
    decision = first.choose(PERSON)
    first.close()
    clock.now += JUST_OVER
    second = device(server, clock=clock, folder=tmp_path)
    second.send()
    second.send()
    assert second.stats()["unobserved"] == 1
    assert second.observe(decision.id, 1.0) is False
    clock.now += HOUR
    assert second.send().acknowledged == 1
    assert len(server.received) == 1


def test_a_reward_after_the_deadline_is_too_late():
    clock = Clock()
    mine = device(Server(contextual()), clock=clock)
    decision = mine.choose(PERSON)
    clock.now += HOUR + 1
    assert mine.observe(decision.id, 1.0) is False
    assert mine.stats()["unobserved"] == len(mine.outbox()) == 1


def test_when_a_report_is_due_does_not_depend_on_when_it_was_observed():
    """Both wait for the deadline, then at random up to the delay: the mean of 300 is within 6 standard errors."""
    contract = contextual(privacy=Privacy(epsilon=4.0, lifetime=1e5))
    for after in (0, 3000):
        clock = Clock()
        mine = device(Server(contract), clock=clock, limits=Limits(lifetime=1e5), permits=300)
        made = [mine.choose(PERSON).id for _ in range(300)]
        clock.now += after
        for decision in made:
            mine.observe(decision, 1.0)
        due = np.array([waiting.due for waiting in mine.outbox()]) - NOON - HOUR
        assert np.all((due >= 0) & (due <= 600))
        assert abs(np.mean(due) - 300) < 6 * 600 / math.sqrt(12 * 300)


anything = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3), st.lists(st.floats()))


@settings(max_examples=40, deadline=None)
@given(
    person=st.one_of(
        anything,
        st.fixed_dictionaries({"age": anything, "country": anything, "member": anything}),
        st.dictionaries(st.sampled_from(["age", "country", "zip"]), anything),
    ),
    reward=anything,
    observed=st.booleans(),
)
@example(person={"age": 10**400, "country": "it", "member": True}, reward=10**400, observed=True)
def test_whatever_the_input_one_private_report_of_the_same_length_leaves(person, reward, observed):
    """Nothing un-noised: a report has five fields, of which one is a payload of the mechanism's length."""
    clock = Clock()
    mine = device(SHARED, clock=clock)
    decision = mine.choose(person)
    assert decision.reported
    if observed:
        mine.observe(decision.id, reward)
    clock.now += JUST_OVER
    mine.send()
    (waiting,) = mine.outbox()
    report = waiting.report
    assert set(report) == {"permit", "nonce", "version", "gate", "payload"}
    assert report["gate"] == 0
    assert len(from_text(report["nonce"])) == 12
    assert len(from_text(report["payload"])) == 1
    assert len(json.dumps(report)) == 146
    assert mine._vault.run("SELECT count(*) FROM decisions") == [(0,)]


SHARED = Server(contextual())


def test_what_was_deleted_is_nowhere_in_the_folder(tmp_path):
    mine = device(Server(contextual()), folder=tmp_path)
    decision = mine.choose(PERSON)
    ((raw,),) = mine._vault.run("SELECT raw FROM decisions")
    assert any(raw in file.read_bytes() for file in tmp_path.iterdir())
    mine.observe(decision.id, 1.0)
    mine.send()
    assert not any(raw[10:60] in file.read_bytes() for file in tmp_path.iterdir())


def test_rewards_outside_the_range_are_clipped_and_counted():
    mine = device(Server(arms()), "colours")
    mine.observe(mine.choose().id, 7.0)
    mine.observe(mine.choose().id, math.nan)
    mine.observe(mine.choose().id, 5.0)
    stats = mine.stats()
    assert (stats["clipped"], stats["bad_input"], stats["drawn"]) == (1, 1, 3)


# --- budgets ---------------------------------------------------------------------------------------------------------


def test_the_owners_limit_counts_over_all_tasks_of_the_folder(tmp_path):
    server = Server(contextual(), contextual(id="other"))
    limits = Limits(lifetime=8.0)
    first = device(server, folder=tmp_path, limits=limits)
    second = device(server, "other", folder=tmp_path, limits=limits)
    assert [first.choose(PERSON).reported, second.choose(PERSON).reported] == [True, True]
    assert [first.choose(PERSON).reported, second.choose(PERSON).reported] == [False, False]
    balance = second.budget()
    assert (balance.spent, balance.spent_by_all, balance.reports_left) == (4.0, 8.0, 0)


def test_a_window_opens_again_and_a_backward_clock_does_not_help():
    clock = Clock()
    contract = contextual(privacy=Privacy(epsilon=4.0, lifetime=16.0, window=8.0, window_days=1))
    mine = device(Server(contract), clock=clock)
    assert mine.choose(PERSON).reported
    clock.now -= 30 * DAY
    assert [mine.choose(PERSON).reported for _ in range(2)] == [True, False]
    clock.now = NOON + DAY - HOUR
    assert not mine.choose(PERSON).reported
    clock.now = NOON + DAY + HOUR
    assert [mine.choose(PERSON).reported for _ in range(3)] == [True, True, False]
    clock.now += 2 * DAY
    assert not mine.choose(PERSON).reported  # the lifetime is spent


def test_without_budget_a_ticket_is_used_and_never_reported():
    server = Server(arms(privacy=Privacy(epsilon=1.0, lifetime=1.0)))
    mine = device(server, "colours")
    assert mine.choose().reported
    decision = mine.choose()
    assert (decision.action, decision.reported) == (2, False)
    assert mine.observe(decision.id, 5.0) is False
    assert mine.stats()["silent"] == 1


def test_a_quieter_gate_is_taken_on_request_or_where_the_limit_wants_it():
    server = Server(contextual())
    assert device(server, epsilon=3.0).budget().epsilon == 2.0
    quiet = device(server, limits=Limits(epsilon=1.5))
    quiet.observe(quiet.choose(PERSON).id, 1.0)
    assert (quiet.outbox()[0].report["gate"], quiet.outbox()[0].epsilon) == (2, 1.0)
    with pytest.raises(ContractRefused, match="asks for epsilon 1 a report at least"):
        device(server, limits=Limits(epsilon=0.5))


def test_gaussian_noise_needs_an_owner_who_allows_a_delta():
    contract = contextual(learner="linucb", preset="paper", privacy=Privacy(epsilon=1.0, lifetime_delta=1e-4))
    with pytest.raises(ContractRefused, match="delta"):
        device(Server(contract))
    allowed = Limits(delta=1e-5, lifetime_delta=1e-4)
    assert device(Server(contract), limits=allowed).budget().reports_left > 3


def test_opting_out_empties_everything_and_refills_nothing():
    clock = Clock()
    mine = device(Server(contextual()), clock=clock)
    drawn, open_ = mine.choose(PERSON), mine.choose(PERSON)
    mine.observe(drawn.id, 1.0)
    mine.opt_out()
    assert mine.outbox() == []
    assert mine.observe(open_.id, 1.0) is False
    assert not mine.choose(PERSON).reported
    clock.now += 2 * HOUR
    assert mine.send(force=True).acknowledged == 0
    mine.opt_in()
    assert mine.choose(PERSON).reported
    assert mine.budget().spent == 12.0
    assert mine.stats()["withdrawn"] == 2


# --- joining ---------------------------------------------------------------------------------------------------------


def test_a_changed_contract_is_refused_at_the_next_start(tmp_path):
    device(Server(contextual()), folder=tmp_path).close()
    with pytest.raises(ContractChanged):
        device(Server(contextual(horizon=2000)), folder=tmp_path)


def test_a_contract_that_changes_underneath_ends_all_reports():
    server, clock = Server(contextual()), Clock()
    mine = device(server, clock=clock)
    mine.observe(mine.choose(PERSON).id, 1.0)
    waiting = mine.choose(PERSON)
    server.contracts["headline"] = contextual(horizon=2000)
    server.verdict = "bad-gate"
    assert mine.send(force=True).refused == 1
    assert not mine.choose(PERSON).reported
    assert mine.observe(waiting.id, 1.0) is False
    assert mine.stats()["contract-changed"] == 1


def changed(body: bytes, **parts) -> bytes:
    return json.dumps(json.loads(body) | parts).encode()


ENDLESS = {"low": "-1.7e308", "high": "1.7e308"}
"""Finite, but the length between them is not: some rewards would have no place on it, and be missed."""


def test_contracts_that_lie_are_refused():
    contract = contextual()
    known = json.loads(contract)
    loud = known["gates"][0] | {"epsilon": "1.0"}
    lies = {
        "cannot be kept": changed(contract, gates=[loud]),
        "expired": contextual(expires=date(2020, 1, 1)),
        "breaks a rule: a task with a model has fields": changed(
            contract, offers=known["offers"] | {"actions": ["red", "green"]}
        ),
        "breaks a rule: waiting": changed(contract, delay=-1),
        "breaks a rule: the reward has a finite range": changed(contract, reward=known["reward"] | ENDLESS),
        "breaks a rule: messages have a finite scale": changed(
            contract, reward=known["reward"] | {f"unit_{end}": number for end, number in ENDLESS.items()}
        ),
        "breaks a rule: a task with a model": changed(contract, offers={"kind": "tickets", "dimension": 0}),
        "not 'headline'": changed(contract, id="other"),
        "format 1": changed(contract, format=1),
        "has format 4; this version of Sottovoce reads format 3": changed(contract, format=4),
        "asks for nothing that this device does not know": changed(contract, extensions={"permits": {}}),
        "unknown field": changed(contract, surprise=1),
        "not a contract": b"<html>",
        "cannot be read": b'{"format": 3}',
    }
    for words, lie in lies.items():
        server = Server(contract)
        server.contracts["headline"] = lie
        with pytest.raises(ContractRefused, match=words):
            device(server)


def test_a_status_of_another_contract_ends_the_reports():
    class Liar(Server):
        def status(self, contract, body):
            found = json.loads(super().status(contract, body).body)
            return Response(200, {}, json.dumps(found | {"digest": "0" * 64}).encode())

    assert not device(Liar(contextual())).choose(PERSON).reported


def test_a_learner_that_this_package_does_not_know_is_answered():
    """The second part of a contract is hashed, not read: a device accepts a learner newer than itself."""
    learning = {"learner": "quantum-ucb", "preset": "2031", "anything": [1, {"new": True}]}
    server = Server(changed(contextual(), learning=learning))
    mine = device(server)
    assert mine.observe(mine.choose(PERSON).id, 1.0)
    assert mine.send(force=True).acknowledged == 1


def test_the_model_is_named_by_the_device_itself():
    """A server that gives one person's model a name of its own is not followed: the name is a hash of its bytes."""

    class Marker(Server):
        def status(self, contract, body):
            found = json.loads(super().status(contract, body).body)
            return Response(200, {}, json.dumps(found | {"version": "a" * 32}).encode())

    server = Marker(contextual())
    mine = device(server)
    mine.observe(mine.choose(PERSON).id, 1.0)
    (waiting,) = mine.outbox()
    assert waiting.report["version"] == version_of(server.model(contextual(), None).body)


def test_misnamed_fields_are_logged_and_a_strict_device_refuses_them(caplog):
    wrong = {"agee": 34, "country": "it", "member": True}
    decision = device(Server(contextual())).choose(wrong)
    assert decision.reported
    assert "did you mean age?" in decision.problem
    assert "unknown field 'agee'" in caplog.text
    with pytest.raises(
        BadInput, match=r"unknown field 'agee'; this task has: age, country, member \(did you mean age\?\)"
    ):
        device(Server(contextual()), strict=True).choose(wrong)


def test_a_folder_of_version_0_1_is_refused_by_name(tmp_path):
    with contextlib.closing(sqlite3.connect(tmp_path / "device.sqlite")) as old:
        old.execute("PRAGMA user_version = 1")
    with pytest.raises(ConfigurationError, match=r"written by Sottovoce 0\.1"):
        device(Server(contextual()), folder=tmp_path)


def test_without_a_server_the_cached_contract_and_model_serve(tmp_path):
    server = Server(contextual())
    first = device(server, folder=tmp_path)
    first.choose(PERSON)
    first.close()
    server.down = True
    assert device(server, folder=tmp_path).choose(PERSON).reported
    with pytest.raises(Unreachable):
        device(server)
    server.down = False
    with pytest.raises(ConfigurationError, match="no task 'nothing'"):
        device(server, "nothing")


def test_the_model_is_renewed_by_send_and_old_decisions_keep_theirs():
    server, clock = Server(contextual()), Clock()
    mine = device(server, clock=clock)
    old = mine.choose(PERSON)
    version = mine._network.newest
    clock.now += 61
    mine.send()
    assert mine._network.newest == version  # nothing new
    server.theta = 0.25
    clock.now += 61
    mine.send()
    new = mine.choose(PERSON)
    for decision in (old, new):
        mine.observe(decision.id, 1.0)
    assert {waiting.report["version"] for waiting in mine.outbox()} == {version, mine._network.newest}
    server.down = True
    clock.now += 61
    assert mine.send().waiting == 2
    assert mine.choose(PERSON).reported


def test_a_paused_task_goes_on_choosing_without_reports():
    server, clock = Server(contextual()), Clock()
    mine = device(server, clock=clock)
    assert mine.choose(PERSON).reported
    server.state = "paused"
    clock.now += 61
    mine.send()
    assert not mine.choose(PERSON).reported
    server.state = "open"
    clock.now += 61
    mine.send()
    assert mine.choose(PERSON).reported


# --- bad networks ----------------------------------------------------------------------------------------------------


def outbox_of(server: Server, clock: Clock, number: int = 2) -> Device:
    mine = device(server, clock=clock)
    for _ in range(number):
        mine.observe(mine.choose(PERSON).id, 1.0)
    return mine


def test_what_the_net_loses_is_sent_again_with_the_same_permit():
    class Forgetful(Server):
        def reports(self, contract, body):
            super().reports(contract, body)
            if len(self.bodies) == 1:
                raise TimeoutError("the answer got lost")
            return super().reports(contract, body)

    server, clock = Forgetful(contextual()), Clock()
    mine = outbox_of(server, clock)
    assert mine.send(force=True).waiting == 2
    assert mine.send(force=True).waiting == 2  # left alone for a while
    clock.now += 10
    assert mine.send(force=True).acknowledged == 2
    assert len(server.received) == 2
    assert mine.stats()["duplicate"] == 2


@pytest.mark.parametrize(
    "answer",
    [
        Response(500, {}, b"oops"),
        Response(429, {"retry-after": "30"}, problem(429, "too-many").body),
        Response(200, {}, b"<html>Welcome to the hotel</html>"),
        Response(200, {}, b'{"verdicts": []}'),
        Response(404, {}, b"<html>no such page</html>"),
        problem(409, "task-paused"),
    ],
    ids=lambda answer: f"{answer.status}",
)
def test_reports_stay_until_the_server_has_judged_them(answer):
    server, clock = Server(contextual()), Clock()
    mine = outbox_of(server, clock)
    server.answer = answer
    assert mine.send(force=True).waiting == 2
    server.answer = None
    clock.now += 29
    assert mine.send(force=True).acknowledged == (0 if answer.status in (409, 429) else 2)
    clock.now += 32
    mine.send(force=True)  # a paused task is seen to be open again
    mine.send(force=True)
    assert len(server.received) == 2


def test_verdicts_decide_what_is_dropped():
    server, clock = Server(contextual()), Clock()
    mine = outbox_of(server, clock)
    server.verdict = "task-paused"
    assert mine.send(force=True).waiting == 2
    assert not mine.choose(PERSON).reported
    clock.now += 61
    mine.send(force=True)
    server.verdict = "task-expired"
    assert mine.send(force=True).refused == 2
    assert mine.stats()["task-expired"] == 2
    server.answer = problem(400, "bad-request")
    mine.observe(mine.choose(PERSON).id, 1.0)
    assert mine.send(force=True).refused == 1


def test_large_outboxes_leave_one_by_one_in_random_order():
    server = Server(contextual(privacy=Privacy(epsilon=4.0, lifetime=1e5)))
    mine = device(server, limits=Limits(lifetime=1e5), permits=120)
    for _ in range(120):
        mine.observe(mine.choose(PERSON).id, 1.0)
    before = [row.report["permit"] for row in sorted(mine.outbox(), key=lambda row: row.due)]
    assert mine.send(force=True).acknowledged == 120
    assert [len(json.loads(body)["reports"]) for body in server.bodies] == [1] * 120
    assert list(server.received) != before
    assert len({len(json.dumps(report)) for report in server.received.values()}) == 1


def test_choosing_does_not_wait_for_the_net():
    class Slow(Server):
        def reports(self, contract, body):
            asked.set()
            assert answered.wait(10)
            return super().reports(contract, body)

    asked, answered = threading.Event(), threading.Event()
    server = Slow(contextual(privacy=Privacy(epsilon=4.0, lifetime=400.0)))
    mine = device(server, limits=Limits(lifetime=400.0), permits=41)
    mine.observe(mine.choose(PERSON).id, 1.0)
    with ThreadPoolExecutor(5) as pool:
        sending = pool.submit(mine.send, force=True)
        assert asked.wait(10)
        made = list(pool.map(lambda _: mine.observe(mine.choose(PERSON).id, 1.0), range(40)))
        assert not sending.done()
        answered.set()
        assert sending.result().acknowledged == 1
    assert all(made)
    assert mine.send(force=True).acknowledged == 40
    assert mine.budget().spent == 4.0 * 41


def test_one_report_takes_less_than_two_milliseconds():
    """Of processor time, which a busy machine does not stretch: gradient learner, d = 10, epsilon 4, in memory."""
    fields = {f"taste-{number}": Number(low=0.0, high=1.0) for number in range(9)}
    contract = contextual(actions=(), candidates=4, fields=fields, privacy=Privacy(epsilon=4.0, lifetime=1e4))
    mine = device(Server(contract), limits=Limits(lifetime=1e4), permits=101)
    candidates = [dict.fromkeys(fields, share) for share in (0.1, 0.4, 0.7, 1.0)]
    mine.observe(mine.choose(candidates).id, 1.0)
    start = time.process_time()
    for _ in range(100):
        mine.observe(mine.choose(candidates).id, 1.0)
    assert mine.contract.offers.dimension == 10
    assert (time.process_time() - start) / 100 < 0.002


def test_the_background_thread_sends_and_stops():
    server = Server(contextual(delay="0s", reward=Reward(wait="0s")))
    with Device("https://learn.example", "headline", transport=server) as mine:
        mine.stop()
        mine.choose(PERSON)
        mine.start(every=0.01)
        for _ in range(500):
            if server.received:
                break
            time.sleep(0.01)
    assert len(server.received) == 1
