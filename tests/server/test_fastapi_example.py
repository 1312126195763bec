"""The backend of `examples/fastapi` in its own process, against a real server."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from serving import Answer, Caller, free_port, until
from sottovoce.catalogue.task_file import load_task_file

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "fastapi"


class Backend:
    """Its users call it."""

    def __init__(self, learning: int, folder: Path) -> None:
        port = free_port()
        settings = {"SOTTOVOCE_SERVER": f"http://127.0.0.1:{learning}", "SOTTOVOCE_PEOPLE": str(folder)}
        command = [sys.executable, "-m", "granian", "--interface", "asgi", "--port", str(port), "--no-log"]
        command += ["--working-dir", str(EXAMPLE), "app:app"]
        self.process = subprocess.Popen(command, env=os.environ | settings | {"SOTTOVOCE_SEND_EVERY": "0.1"})
        self._call = Caller(port)

    def call(self, method: str, path: str, body: Any = None, user: str = "ada") -> Answer:
        return self._call(method, path, body, headers={"X-User": user})

    def up(self) -> bool:
        assert self.process.poll() is None
        try:
            return self.call("GET", "/openapi.json").status == 200
        except OSError:
            return False

    def close(self) -> None:
        self._call.close()
        self.process.terminate()
        self.process.wait(20)


@pytest.fixture
def backend(live, tmp_path: Path) -> Iterator[Backend]:
    file = msgspec.to_builtins(load_task_file(EXAMPLE / "task.toml"))
    live.server.create({key: value for key, value in file.items() if value not in ("", 0, {}, ())})
    running = Backend(live.server.port, tmp_path / "people")
    try:
        until(running.up)
        yield running
    finally:
        running.close()


def test_users_are_served_reports_leave_and_who_opts_out_sends_nothing(live, backend: Backend, tmp_path: Path):
    before = live.server.caught_up("welcome")["reports"]
    for user in ("ada", "bob"):
        shown = backend.call("GET", "/welcome", user=user).json()
        assert shown["show"] in ("A short tour", "A video", "Nothing")
        assert backend.call("POST", f"/welcome/{shown['decision']}", {"reward": 1.0}, user).status == 204
        stranger = "bob" if user == "ada" else "ada"
        assert backend.call("POST", f"/welcome/{shown['decision']}", {"reward": 1.0}, stranger).status == 404
    seen = backend.call("GET", "/privacy").json()
    assert (seen["takes_part"], seen["spent"], seen["limit"]) == (True, 2.0, 10.0)
    assert [set(report) for report in seen["will_leave"]] == [{"permit", "nonce", "version", "gate", "payload"}]
    assert backend.call("POST", "/privacy/opt-out", user="bob").status == 204
    until(lambda: live.server.summary("welcome")["reports"] == before + 1)
    assert backend.call("GET", "/privacy").json()["will_leave"] == []
    assert not backend.call("GET", "/privacy", user="bob").json()["takes_part"]
    assert backend.call("GET", "/welcome", user="eve").status == 401
    assert "statement" in live.server.call("GET", seen["statement"].partition(str(live.server.port))[2]).body.decode()
    assert live.server.caught_up("welcome")["reports"] == before + 1
    folders = [path.name for path in (tmp_path / "people").iterdir() if path.is_dir()]
    assert len(folders) == 2
    assert not {"ada", "bob"} & set(folders)
