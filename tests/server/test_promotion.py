"""Before an apprentice is promoted one is told what is known of it, and asked."""

import io

import pytest

from serving import HELD_MODEL, MODEL, TOKEN
from sottovoce.admin.remote import Remote
from sottovoce.cli import main
from sottovoce.fleet.run import run_fleet
from test_cli import typed

NOT_KNOWN = "It is not known whether what was learned is better than what the app shows"


@pytest.fixture
def remote(live, monkeypatch: pytest.MonkeyPatch) -> Remote:
    monkeypatch.setenv("SOTTOVOCE_ADMIN_TOKEN", TOKEN)
    return Remote(f"http://127.0.0.1:{live.server.port}", TOKEN)


def on_one_line(said: str) -> str:
    return " ".join(said.split())


def test_reports_of_an_apprentice_say_what_the_baseline_is_worth_and_not_what_was_learned(live, remote: Remote):
    live.server.create(HELD_MODEL | {"id": "young", "mode": "apprentice"})
    address = f"http://127.0.0.1:{live.server.port}"
    run_fleet(address, "young", 200, seed=3, lockstep=False, connections=2)
    live.server.caught_up("young")
    gain = remote.summary("young").gain
    assert gain is not None
    assert (gain.choice, gain.low, gain.choice_reports) == (None, None, 0.0)
    assert gain.baseline is not None
    shown = live.server.admin("GET", "/v1/tasks/young/overview").json()["promotion"]
    said = on_one_line(typed("task", "promote", "young", "--yes", "--server", address))
    assert said == f"{shown} young is live"
    assert shown.startswith(NOT_KNOWN)
    assert f"The mean reward of the app's own choice is {gain.baseline:.3f}, between 0" in shown
    assert f"from {gain.baseline_reports:.0f} reports." in shown
    assert shown.endswith("Once it chooses, the holdout measures what that gains.")
    assert live.server.admin("GET", "/v1/tasks/young/overview").json()["promotion"] == ""
    assert typed("task", "promote", "young", "--server", address) == "young is live\n"  # nothing to ask


@pytest.mark.parametrize(("answer", "mode"), [("", "apprentice"), ("n\n", "apprentice"), ("y\n", "live")])
def test_nothing_changes_before_somebody_agrees(
    live, remote: Remote, answer: str, mode: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
):
    id = f"asked-{len(answer)}{mode}"
    live.server.create(MODEL | {"id": id, "mode": "apprentice"})
    words = ["sottovoce", "task", "promote", id, "--server", f"http://127.0.0.1:{live.server.port}"]
    monkeypatch.setattr("sys.argv", words)
    monkeypatch.setattr("sys.stdin", io.StringIO(answer))
    with pytest.raises(SystemExit) as left:
        main()
    assert bool(left.value.code) == (mode == "apprentice")
    assert remote.status(id).mode == mode
    said = on_one_line(capsys.readouterr().out)
    assert said.startswith(NOT_KNOWN)
    assert "The task has no holdout, so what it gains will not be measured later either." in said
