"""The systemd units start a server and a shuffler: their commands run, and systemd finds nothing wrong with either."""

import os
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from manual import ROOT
from serving import Caller, free_port, until

UNIT, MIXING = (ROOT / "deploy" / name for name in ("sottovoce.service", "sottovoce-shuffler.service"))
STOP_SECONDS = 10
"""What docs/live.md promises of SIGTERM."""


def settings(unit: Path = UNIT) -> dict[str, list[str]]:
    """Of all sections: a name may stand several times."""
    found: dict[str, list[str]] = {}
    for line in unit.read_text().splitlines():
        if "=" in line and not line.startswith("#"):
            name, _, value = line.partition("=")
            found.setdefault(name, []).append(value)
    return found


@pytest.mark.parametrize("file", [UNIT, MIXING])
def test_a_unit_has_no_more_rights_than_it_needs(file: Path):
    unit = settings(file)
    asked = {"DynamicUser": "yes", "ProtectSystem": "strict", "NoNewPrivileges": "yes", "StateDirectory": file.stem}
    asked |= {"Restart": "on-failure", "KillSignal": "SIGTERM", "CapabilityBoundingSet": "", "UMask": "0077"}
    assert {name: unit[name] for name in asked} == {name: [value] for name, value in asked.items()}
    assert int(unit["TimeoutStopSec"][0]) > STOP_SECONDS
    assert not [line for line in unit["Environment"] if "TOKEN=" in line or "STORE=" in line]


def test_the_command_of_the_unit_runs_and_reads_its_secret_from_a_file(tmp_path: Path):
    port, state, credentials = free_port(), tmp_path / "state", tmp_path / "credentials"
    unit, token = settings(), "a-token-in-a-file"
    credentials.mkdir()
    (name,) = (value.partition(":")[0] for value in unit["LoadCredential"])
    (credentials / name).write_text(token + "\n")
    environment = dict(line.replace("%d", str(credentials)).split("=", 1) for line in unit["Environment"])
    program, *words = shlex.split(unit["ExecStart"][0])
    assert Path(program).name == "sottovoce"
    here = {"${STATE_DIRECTORY}": str(state), "8080": str(port)}
    command = [sys.executable, "-m", "sottovoce", *(here.get(word, word) for word in words)]
    process = subprocess.Popen(command, env=os.environ | environment, stderr=subprocess.DEVNULL)
    caller = Caller(port)
    try:

        def ready() -> bool:
            assert process.poll() is None
            try:
                return caller("GET", "/readyz").status == 200
            except OSError:
                return False

        until(ready)
        assert caller("GET", "/v1/tasks", token=token).status == 200
        assert caller("GET", "/v1/tasks", token="another").status == 401
        process.send_signal(getattr(signal, unit["KillSignal"][0]))
        assert process.wait(STOP_SECONDS) == 0
    finally:
        caller.close()
        process.kill()
        process.wait()
    assert (state / "journal.sqlite").stat().st_mode & 0o077 == 0


def test_a_shuffler_starts_by_its_unit_before_its_server_is_there(tmp_path: Path):
    port, unit = free_port(), settings(MIXING)
    (tmp_path / unit["LoadCredential"][0].partition(":")[0]).write_text("a-token\n")
    environment = dict(line.replace("%d", str(tmp_path)).split("=", 1) for line in unit["Environment"])
    here = {"${STATE_DIRECTORY}": str(tmp_path / "state"), "8081": str(port)}
    here["https://learn.example"] = f"http://127.0.0.1:{free_port()}"
    words = shlex.split(unit["ExecStart"][0])[1:]
    command = [sys.executable, "-m", "sottovoce", *(here.get(word, word) for word in words)]
    process, caller = subprocess.Popen(command, env=os.environ | environment, stderr=subprocess.DEVNULL), Caller(port)
    try:

        def alive() -> bool:
            assert process.poll() is None
            try:
                return caller("GET", "/healthz").status == 200
            except OSError:
                return False

        until(alive)
        assert [caller("GET", path).status for path in ("/readyz", "/v1/tasks/films")] == [503, 404]
        process.send_signal(signal.SIGTERM)
        assert process.wait(STOP_SECONDS) == 0
    finally:
        caller.close()
        process.kill()
        process.wait()


@pytest.mark.parametrize("file", [UNIT, MIXING])
def test_systemd_finds_nothing_wrong(tmp_path: Path, file: Path):
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not on PATH; the tests above do without it")
    unit = tmp_path / file.name
    unit.write_text(file.read_text().replace("/opt/sottovoce/bin/sottovoce", sys.executable))
    checked = subprocess.run(["systemd-analyze", "verify", str(unit)], capture_output=True, text=True)
    about = [line for line in checked.stderr.splitlines() if file.name in line]
    assert not about
    limit = ["systemd-analyze", "security", "--offline=true", "--threshold=20", "--no-pager", str(unit)]
    judged = subprocess.run(limit, capture_output=True, text=True)
    assert judged.returncode == 0, judged.stdout + judged.stderr
