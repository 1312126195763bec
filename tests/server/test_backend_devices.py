"""One process that holds the devices of many people."""

import threading
from pathlib import Path
from typing import Any

import pytest

from serving import free_port, until
from sottovoce.client import Devices, Http, Limits
from sottovoce.client import people as people_module
from sottovoce.protocol.errors import Unreachable

LIMITS = Limits(epsilon=2.0, lifetime=4.0)


def devices_of(live, folder: Path) -> Devices:
    return Devices(f"http://127.0.0.1:{live.server.port}", folder, limits=LIMITS)


def test_many_people_at_once_have_their_own_budgets_and_few_files_are_open(
    live, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(people_module, "MOST_OPEN", 3)
    devices, before = devices_of(live, tmp_path), live.server.caught_up("arms")["reports"]
    left: list[int] = []

    def visit(person: str) -> None:
        for _ in range(2):
            with devices.of(person, "arms") as device:
                assert device.observe(device.choose().id, 1.0)
        with devices.of(person, "arms") as device:
            left.append(device.budget().reports_left)

    threads = [threading.Thread(target=visit, args=(f"person {number}",)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert left == [0] * 8
    assert len(devices._held) <= 3
    assert devices.send(force=True) == 0
    devices.close()
    assert live.server.caught_up("arms")["reports"] == before + 16


def test_a_person_can_opt_out_before_a_task_is_joined_and_while_no_server_answers(live, tmp_path: Path):
    dead = Devices(f"http://127.0.0.1:{free_port()}", tmp_path, limits=LIMITS)
    dead.opt_out("ada")
    with pytest.raises(Unreachable), dead.of("ada", "arms"):
        pass
    dead.close()
    devices = devices_of(live, tmp_path)
    assert devices.opted_out("ada")
    assert not devices.opted_out("bob")
    with devices.of("ada", "arms") as device:
        assert not device.choose().reported
    devices.opt_in("ada")
    with devices.of("ada", "arms") as device:
        assert device.choose().reported
    devices.close()


def test_opting_out_withdraws_what_has_not_left(live, tmp_path: Path):
    devices, before = devices_of(live, tmp_path), live.server.caught_up("arms")["reports"]
    with devices.of("ada", "arms") as device:
        device.observe(device.choose().id, 1.0)
    devices.opt_out("ada")
    assert devices.send(force=True) == 0
    devices.close()
    assert live.server.caught_up("arms")["reports"] == before


def test_the_thread_sends_for_those_who_do_not_come_back(live, tmp_path: Path):
    before = live.server.caught_up("arms")["reports"]
    first = devices_of(live, tmp_path)
    with first.of("ada", "arms") as device:
        device.observe(device.choose().id, 1.0)
        device._vault.run("UPDATE outbox SET due = 0")
    first.close()
    second = devices_of(live, tmp_path)
    second.start(every=0.05)
    until(lambda: live.server.summary("arms")["reports"] == before + 1)
    second.close()


def test_the_folders_name_nobody(live, tmp_path: Path):
    devices = devices_of(live, tmp_path)
    with devices.of("ada@example.org", "arms") as device:
        device.choose()
    devices.close()
    again = devices_of(live, tmp_path)
    assert again.folder_of("ada@example.org") == devices.folder_of("ada@example.org")
    elsewhere = devices_of(live, tmp_path / "other")
    assert elsewhere.folder_of("ada@example.org") != devices.folder_of("ada@example.org")
    assert not [file for file in tmp_path.rglob("*") if file.is_file() and b"ada@example" in file.read_bytes()]
    assert not list(tmp_path.rglob("*ada*"))


def test_what_is_the_same_for_everybody_is_asked_for_once_and_stays_new(
    live, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """A person who comes back after a long time chooses by the newest model, and has a permit."""
    asked: list[str] = []
    request = Http.request

    def noted(self: Http, method: str, path: str, *rest: Any) -> Any:
        asked.append(f"{method} {path.split('/')[-1]}")
        return request(self, method, path, *rest)

    monkeypatch.setattr(Http, "request", noted)
    devices = devices_of(live, tmp_path)
    for number in range(5):
        with devices.of(f"person {number}", "model") as device:
            assert device.choose({"age": 30.0}).reported
    assert (asked.count("GET contract"), asked.count("GET model")) == (1, 2)  # `model` is the task, and its model
    assert asked.count("POST permits") == 5
    devices.close()
    live.server.report("model", *live.server.model_reports(live.model, 25))
    before = device._network.newest
    until(lambda: live.server.version("model") not in ("", before))
    newest = live.server.version("model")
    devices = devices_of(live, tmp_path)
    with devices.of("person 0", "model") as device:
        assert device._network.newest == newest
        assert device.choose({"age": 30.0}).reported
    devices.close()
