"""The OpenFeature provider with the real SDK, against a real server."""

import asyncio
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from openfeature import api
from openfeature.client import OpenFeatureClient
from openfeature.evaluation_context import EvaluationContext
from openfeature.event import ProviderEvent
from openfeature.exception import ErrorCode
from openfeature.flag_evaluation import Reason
from openfeature.hook import Hook
from openfeature.provider import ProviderStatus
from openfeature.track import TrackingEventDetails

from serving import MODEL, Server, free_port, until
from sottovoce.catalogue.task_file import load_task_file
from sottovoce.client import Limits
from sottovoce.client.http import Http
from sottovoce.openfeature import Flag, SottovoceProvider

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "openfeature" / "python"
LIMITS = Limits(epsilon=2.0, lifetime=4.0)
FLAGS = {
    "headline": Flag(task="arms"),
    "layout": Flag(task="model", values={"a": {"columns": 1}, "b": {"columns": 2}}, event="read"),
    "missing": Flag(),
}
SLOW = 3600.0
"""Nothing happens in the background but what the first round does."""


def context(person: str = "ada@example.org", **attributes: Any) -> EvaluationContext:
    return EvaluationContext(person, attributes)


def tracked(value: float) -> TrackingEventDetails:
    return TrackingEventDetails(value=value)


Start = Callable[..., tuple[SottovoceProvider, OpenFeatureClient]]


@pytest.fixture
def start(live, tmp_path: Path) -> Iterator[Start]:
    """Set a provider, as an app does."""

    def started(port: int = live.server.port, **how: Any) -> tuple[SottovoceProvider, OpenFeatureClient]:
        given = {"folder": tmp_path / "people", "limits": LIMITS, "every": SLOW} | how
        provider = SottovoceProvider(f"http://127.0.0.1:{port}", FLAGS, **given)
        api.set_provider_and_wait(provider)
        return provider, api.get_client()

    yield started
    api.shutdown()


def test_three_hundred_visitors_of_the_example_teach_the_flag(live):
    """Nine of ten buy with one button, one of ten at most with the others.

    A flag that learns nothing shows it to more than 60 of the last 100 in less than 1e-7 of runs.
    """
    file = msgspec.to_builtins(load_task_file(EXAMPLE / "task.toml"))
    live.server.create({key: value for key, value in file.items() if value not in ("", 0, {}, ())})
    command = [sys.executable, str(EXAMPLE / "visitors.py"), "--server", f"http://127.0.0.1:{live.server.port}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=os.environ | shared_memory())
    assert done.returncode == 0, done.stderr
    first, last = done.stdout.splitlines()
    assert first.startswith("first 100 visitors:")
    assert int(last.split("Yes, please ")[1].split(",")[0]) > 60, done.stdout
    assert live.server.summary("checkout")["reports"] > 200


def shared_memory() -> dict[str, str]:
    """Three hundred folders are made faster where no disk has to be waited for."""
    return {"TMPDIR": "/dev/shm"} if os.access("/dev/shm", os.W_OK) else {}


def test_an_evaluation_is_a_choice_and_tracking_its_reward(live, start: Start):
    provider, client = start()
    before = live.server.caught_up("model")["reports"]
    found = client.get_object_details("layout", {"columns": 1}, context(age=40.0, city="Rome"))
    assert (found.error_code, found.reason) == (None, Reason.TARGETING_MATCH)
    assert found.value == {"a": {"columns": 1}, "b": {"columns": 2}}[found.variant or ""]
    assert found.flag_metadata == {"task": "model", "epsilon": 2.0, "reported": True, "reports_left": 1}
    client.track("read", context(), tracked(0.5))
    until(lambda: provider._devices.send(force=True) == 0)
    assert live.server.caught_up("model")["reports"] == before + 1


def test_the_same_question_has_the_same_answer_and_one_report_until_it_is_tracked(start: Start):
    provider, client = start()
    first = client.get_string_details("headline", "a", context())
    assert first.reason == Reason.SPLIT
    for _ in range(5):
        again = client.get_string_details("headline", "a", context())
        assert (again.value, again.reason) == (first.value, Reason.CACHED)
    assert again.flag_metadata["reports_left"] == 1
    client.track("headline", context(), tracked(1.0))
    after = client.get_string_details("headline", "a", context())
    assert (after.reason, after.flag_metadata["reports_left"]) == (Reason.SPLIT, 0)
    other = client.get_string_details("headline", "a", context("bob@example.org"))
    assert (other.reason, other.flag_metadata["reports_left"]) == (Reason.SPLIT, 1)
    assert len(list((provider._devices._root).glob("*/device.sqlite"))) == 2


def test_evaluations_at_the_same_time_are_one_decision(start: Start):
    provider, client = start()
    threads = [threading.Thread(target=client.get_string_details, args=("headline", "a", context())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with provider._devices.of("ada@example.org", "arms") as device:
        assert device.stats()["promised"] == 1


def test_without_budget_or_consent_the_flag_has_its_default_and_says_why(start: Start):
    provider, client = start()
    for _ in range(2):
        assert client.get_string_details("headline", "own", context()).reason == Reason.SPLIT
        client.track("headline", context(), tracked(1.0))
    spent = client.get_string_details("headline", "own", context())
    assert (spent.value, spent.reason, spent.error_code) == ("own", Reason.DEFAULT, None)
    provider.opt_out("eve")
    refused = client.get_string_details("headline", "own", context("eve"))
    assert (refused.value, refused.reason, refused.error_code) == ("own", Reason.DISABLED, None)
    provider.opt_in("eve")
    assert client.get_string_details("headline", "own", context("eve")).reason == Reason.SPLIT


def test_without_a_permit_the_model_chooses_all_the_same_and_nothing_is_reported(start: Start):
    """A new device has one permit; the next comes minutes later."""
    _, client = start()
    assert client.get_object_details("layout", {"columns": 1}, context(age=1.0)).flag_metadata["reported"]
    found = client.get_object_details("layout", {"columns": 1}, context(age=99.0))
    assert (found.error_code, found.reason) == (None, Reason.TARGETING_MATCH)
    assert (found.flag_metadata["reported"], found.flag_metadata["reports_left"]) == (False, 1)
    assert found.variant in ("a", "b")


def test_a_task_that_is_paused_still_answers_with_what_it_knows(live, start: Start):
    provider, client = start()
    client.get_object_details("layout", {"columns": 1}, context(age=1.0))
    live.server.admin("POST", "/v1/tasks/model/pause")
    try:
        with provider._devices.of("ada@example.org", "model") as device:
            provider._devices._options["transport"]._kept.clear()  # as after half a minute
            device._network.ask_status(time.time())
        found = client.get_object_details("layout", {"columns": 1}, context(age=2.0))
        assert (found.error_code, found.reason) == (None, Reason.STALE)
        assert not found.flag_metadata["reported"]
    finally:
        live.server.admin("POST", "/v1/tasks/model/resume")


def test_what_cannot_be_answered_has_the_right_code_and_the_default(start: Start):
    _, client = start()
    for key, code in (("nothing", ErrorCode.FLAG_NOT_FOUND), ("missing", ErrorCode.FLAG_NOT_FOUND)):
        found = client.get_string_details(key, "own", context())
        assert (found.value, found.error_code, found.reason) == ("own", code, Reason.ERROR)
    wrong = [
        client.get_object_details("headline", {"own": 1}, context()),
        client.get_boolean_details("headline", True, context()),
        client.get_integer_details("headline", 7, context()),
        client.get_float_details("headline", 0.5, context()),
        client.get_string_details("layout", "own", context(age=1.0)),
    ]
    assert {found.error_code for found in wrong} == {ErrorCode.TYPE_MISMATCH}
    assert [found.value for found in wrong] == [{"own": 1}, True, 7, 0.5, "own"]
    assert client.get_string_details("headline", "own", context()).flag_metadata["reports_left"] == 1


def test_a_context_without_a_field_is_said_to_be_invalid_and_paid_for_once(start: Start):
    """A report leaves all the same: whether one does must not depend on what is known of a person."""
    provider, client = start()
    for own in ({"columns": 9}, {"columns": 8}):
        found = client.get_object_details("layout", own, context(city="Rome"))
        assert (found.value, found.error_code) == (own, ErrorCode.INVALID_CONTEXT)
        assert "'age' is missing" in (found.error_message or "")
    with provider._devices.of("ada@example.org", "model") as device:
        assert device.budget().reports_left == 1
        assert device.stats()["promised"] == 1


def test_a_dead_server_gives_the_default_and_the_provider_recovers(tmp_path: Path, start: Start):
    """An error at first, ready when there is a server, a new model when there is one, stale when it is gone."""
    server = Server(tmp_path / "data")
    try:
        with pytest.raises(Exception, match="does not answer"):
            start(server.port, every=0.05)
        client = api.get_client()
        assert client.get_provider_status() == ProviderStatus.ERROR
        dead = client.get_string_details("headline", "own", context())
        assert (dead.value, dead.error_code) == ("own", ErrorCode.PROVIDER_NOT_READY)
        heard: list[tuple[ProviderEvent, Any]] = []
        for event in ProviderEvent:
            client.add_handler(event, lambda details, event=event: heard.append((event, details.flags_changed)))
        server.start().create(MODEL | {"publish_every": 1})
        until(lambda: client.get_provider_status() == ProviderStatus.READY)
        until(lambda: server.version("model") != "")
        server.report("model", *server.model_reports(server.contract("model"), 1))
        until(lambda: (ProviderEvent.PROVIDER_CONFIGURATION_CHANGED, ["layout"]) in heard)
        server.stop()
        until(lambda: client.get_provider_status() == ProviderStatus.STALE)
    finally:
        server.close()


def test_nothing_of_a_person_leaves_or_is_written_down(start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    sent: list[bytes] = []
    request = Http.request

    def noted(self: Http, method: str, path: str, body: bytes | None = None, headers: Any = None) -> Any:
        sent.append(f"{method} {path} {headers}".encode() + (body or b""))
        return request(self, method, path, body, headers)

    monkeypatch.setattr(Http, "request", noted)
    provider, client = start()
    client.get_object_value("layout", {"columns": 1}, context(age=40.0, city="Rome"))
    client.get_string_value("headline", "a", context())
    client.track("read", context(city="Rome"), TrackingEventDetails(0.123, {"basket": "shoes"}))
    client.track("clicked-elsewhere", context(), tracked(0.123))
    provider._devices.send(force=True)
    api.shutdown()
    routes = {line.split(b" ")[1].decode().split("/")[-1] for line in sent}
    assert routes == {"arms", "model", "missing", "contract", "permits", "offers", "reports"}
    files = [file.read_bytes() for file in (tmp_path / "people").rglob("*") if file.is_file()]
    for word in (b"ada@example.org", b"Rome", b"shoes", b"0.123", b"city"):
        assert not [line for line in [*sent, *files] if word in line]


def test_what_waits_is_sent_after_a_restart(live, start: Start):
    before = live.server.caught_up("arms")["reports"]
    _, client = start()
    client.get_string_value("headline", "a", context("carl"))
    api.shutdown()
    provider, _ = start()
    with provider._devices.of("carl", "arms") as device:
        decision = device._vault.run("SELECT id FROM decisions")[0][0]
        assert device.observe(decision, 1.0)
    until(lambda: provider._devices.send(force=True) == 0)
    assert live.server.caught_up("arms")["reports"] == before + 1


def test_hooks_run_and_evaluating_may_be_awaited(start: Start):
    seen: list[str] = []

    class Noting(Hook):
        def before(self, hook_context: Any, hints: Any) -> EvaluationContext:
            seen.append("before")
            return EvaluationContext(attributes={"age": 30.0})

        def after(self, hook_context: Any, details: Any, hints: Any) -> None:
            seen.append(f"after {details.variant}")

    _, client = start()
    client.add_hooks([Noting()])
    found = asyncio.run(client.get_object_details_async("layout", {"columns": 1}, context()))
    assert found.error_code is None
    assert seen == ["before", f"after {found.variant}"]


def test_a_port_without_a_server_is_no_server(start: Start):
    with pytest.raises(Exception, match="does not answer"):
        start(free_port())
