"""Admin tokens: names and roles, rotation while the server runs, and secrets from files."""

import datetime
import json
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from test_security import ADMIN, problem

from manual import ROOT, blocks
from serving import ARMS, TOKEN, Server, until
from sottovoce.cli import main
from sottovoce.protocol.errors import ConfigurationError
from sottovoce.server import logs
from sottovoce.server.admins import LOOK_SECONDS, Admins, admins_in, digest_of_token
from sottovoce.server.secrets import secret
from sottovoce.server.web.routes import ROUTES

LOOKS = {("GET", "/v1/tasks"), ("GET", "/v1/actions"), ("GET", "/v1/overview"), ("POST", "/v1/check")}
LOOKS |= {("GET", "/v1/tasks/arms/overview"), ("GET", "/v1/tasks/arms/snapshots")}
"""What the role read is enough for."""


def entry(name: str, token: str, role: str = "read", expires: str = "") -> str:
    last = f"expires = {expires}\n" if expires else ""
    return f'[tokens.{name}]\nrole = "{role}"\nsha256 = "{digest_of_token(token)}"\n{last}\n'


def write(path: Path, *entries: str) -> Path:
    """As an editor does: a new file takes the place of the old one."""
    new = path.with_suffix(".new")
    new.touch(0o600)
    new.write_text("".join(entries))
    return new.replace(path)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write(tmp_path / "tokens.toml", entry("robot", "r"), entry("me", "o", "operate", "2026-12-31"))


# --- roles -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("served")
    tokens = write(
        folder / "tokens.toml",
        entry("robot", "r"),
        entry("me", "o", "operate"),
        entry("was", "w", "operate", "2020-12-31"),
    )
    server = Server(folder / "data", tokens=tokens).start()
    try:
        server.create(ARMS)
        yield server
    finally:
        server.close()


@pytest.mark.parametrize(("method", "path"), [*ADMIN, ("GET", "/v1/actions")])
def test_a_token_that_may_look_cannot_change_anything(served: Server, method: str, path: str):
    body = {} if method == "POST" else None
    answer = served.call(method, path, body, token="r")
    if (method, path) in LOOKS:
        assert answer.status in (200, 400, 503)  # the body is none, or the learner is still starting
    else:
        said = problem(answer, 403, "forbidden")["detail"]
        role = "shuffle" if path.endswith("batches") else "operate"
        assert said == f"this needs a token with the role {role}; robot has read"
    assert served.call(method, path, body, token="o").status not in (401, 403)


def test_every_route_of_the_team_is_in_these_tests_and_says_its_role(served: Server):
    paths = served.call("GET", "/openapi.json").json()["paths"]
    roles = {(route.method, route.path): route.role for route in ROUTES if route.role}
    assert {(m, p.replace("arms", "{id}").replace("nobody", "{id}")) for m, p in [*ADMIN, ("GET", "/v1/actions")]} == {
        *roles
    }
    assert {place for place, role in roles.items() if role == "read"} == {
        (m, p.replace("arms", "{id}")) for m, p in LOOKS
    }
    for (method, path), role in roles.items():
        operation = paths[path][method.lower()]
        assert operation["security"] == [{"token": [role]}]
        assert {"401", "403"} <= operation["responses"].keys()
    assert all(route.action for route in ROUTES if route.role == "operate")  # what changes something is written down


def test_a_token_whose_last_day_is_over_is_refused_by_its_name(served: Server):
    said = problem(served.call("GET", "/v1/tasks", token="w"), 401, "unauthorized")["detail"]
    assert said.startswith("the last day of the token was is over")


def test_the_last_day_is_a_whole_day(file: Path):
    (me,) = [admin for token in ("o",) if (admin := Admins(file=file).find(token))]
    midnight = datetime.datetime(2027, 1, 1, tzinfo=datetime.UTC).timestamp()
    assert (me.expired(midnight - 1), me.expired(midnight)) == (False, True)


def test_the_page_learns_what_its_token_may_do(served: Server):
    for token, name, role in (("r", "robot", "read"), ("o", "me", "operate"), (TOKEN, "environment", "operate")):
        found = served.call("GET", "/v1/overview", token=token).json()
        assert (found["token"], found["role"]) == (name, role)


# --- rotation --------------------------------------------------------------------------------------------------------


def test_tokens_are_rotated_without_a_restart_and_a_broken_file_changes_nothing(tmp_path: Path):
    tokens = write(tmp_path / "tokens.toml", entry("old", "1"))
    server = Server(tmp_path / "data", token="", tokens=tokens).start()

    def taken() -> list[str]:
        return [token for token in ("1", "2") if server.call("GET", "/v1/tasks", token=token).status == 200]

    try:
        assert taken() == ["1"]
        write(tokens, entry("old", "1"), entry("new", "2"))
        until(lambda: taken() == ["1", "2"], seconds=5)
        write(tokens, entry("new", "2"))
        os.kill(server.pid, signal.SIGHUP)
        until(lambda: taken() == ["2"], seconds=LOOK_SECONDS / 2, pause=0.01)
        for broken in (lambda: write(tokens, "[tokens"), lambda: tokens.chmod(0o644), tokens.unlink):
            said = server.log.read_text().count("the tokens stay as they were")
            broken()
            os.kill(server.pid, signal.SIGHUP)
            until(lambda said=said: server.log.read_text().count("the tokens stay as they were") == said + 1, seconds=5)
            assert taken() == ["2"]
        write(tokens, entry("old", "1"))
        os.kill(server.pid, signal.SIGHUP)
        until(lambda: taken() == ["1"], seconds=5)
    finally:
        server.close()


def test_the_file_is_looked_at_once_a_second_at_most(file: Path, monkeypatch: pytest.MonkeyPatch, caplog: Any):
    now = [0.0]
    admins = Admins(file=file, clock=lambda: now[0])
    monkeypatch.setattr(logs.LOG, "propagate", True)
    file.write_text("")
    for now[0], records in ((0.9, 0), (1.1, 1), (1.9, 1), (5.0, 1)):  # what is wrong is said once
        with caplog.at_level("ERROR"):
            assert admins.find("r")
            assert admins.find("r")
        assert len({one.created for one in caplog.records if one.levelname == "ERROR"}) == records
    file.write_text(entry("other", "x"))
    now[0] = 6.0
    assert (admins.find("r"), admins.find("x") and admins.find("x").name) == (None, "other")


@pytest.mark.parametrize("mode", [0o604, 0o620, 0o601, 0o666])
def test_a_file_that_others_can_use_is_refused(file: Path, mode: int):
    file.chmod(mode)
    with pytest.raises(ConfigurationError, match=f"can be used by others \\(mode {mode:o}\\); say `chmod 600"):
        Admins(file=file)
    file.chmod(0o640)  # its group may read it
    assert Admins(file=file).find("r")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "missing required field `tokens`"),
        (entry("me", "x").replace("read", "write"), "Invalid enum value 'write'"),
        (entry("me", "x").replace("role", "rule"), "unknown field `rule`"),
        (entry("Me", "x"), "lower-case letters.*got 'Me'"),
        (entry("environment", "x"), "not 'environment'"),
        (entry("me", "x") + entry("you", "x"), "me and you are the same token"),
        (re.sub(r'sha256 = ".*"', 'sha256 = "my-token"', entry("me", "x")), "sha256 of me is that of a token"),
        (entry("me", ""), "sha256 of me is that of a token"),
        (entry("me", "x", expires="tomorrow"), "is not a file of tokens"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_in_words(file: Path, text: str, says: str):
    file.write_text(text)
    with pytest.raises(ConfigurationError, match=says) as refusal:
        Admins(file=file)
    assert "my-token" not in str(refusal.value)


# --- the commands ----------------------------------------------------------------------------------------------------


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> Callable[..., tuple[str, str]]:
    def typed(*words: str) -> tuple[str, str]:
        monkeypatch.setattr(sys, "argv", ["sottovoce", *words])
        with pytest.raises(SystemExit):
            main()
        return capsys.readouterr()

    return typed


def test_a_new_token_is_shown_once_and_its_lines_are_what_the_server_reads(tmp_path: Path, typed: Callable[..., Any]):
    file = tmp_path / "new.toml"
    words = ("--role", "read", "--expires", "2099-12-31")
    lines, token = typed("token", "new", "dashboard", *words)[0].rsplit("the token of dashboard", 1)
    token = token.split()[-1]
    assert len(token) == 43
    assert token not in lines
    write(file, lines)
    assert Admins(file=file).find(token) == ("dashboard", "read", digest_of_token(token), datetime.date(2099, 12, 31))
    file.unlink()
    tokens = [typed("token", "new", name, *words, "--file", str(file))[0].split()[-1] for name in ("one", "two")]
    admins = Admins(file=file)  # readable by its owner alone
    assert [found.name for token in tokens if (found := admins.find(token))] == ["one", "two"]
    assert not any(token in file.read_text() for token in tokens)
    assert "has a token two" in " ".join(typed("token", "new", "two", *words, "--file", str(file))[1].split())
    assert "got 'Me'" in typed("token", "new", "Me", *words)[1]


def test_the_file_of_the_manual_is_one(file: Path):
    (text,) = [one.text for one in blocks(ROOT / "docs" / "tokens.md") if one.kind == "toml"]
    file.write_text(text)
    assert [(admin.name, admin.role) for admin in admins_in(file)] == [("anna", "operate"), ("wall-display", "read")]


def test_a_secret_comes_from_the_environment_or_from_the_file_that_it_names(tmp_path: Path):
    path = tmp_path / "secret"
    path.write_text("from the file\n")
    assert secret("NAME", {"NAME_FILE": str(path)}) == "from the file"
    for environment, says in (
        ({"NAME": "x", "NAME_FILE": str(path)}, "both NAME and NAME_FILE are set"),
        ({"NAME_FILE": str(tmp_path / "nothing")}, "which NAME_FILE names: No such file"),
    ):
        with pytest.raises(ConfigurationError, match=says):
            secret("NAME", environment)
    path.write_text("\n")
    with pytest.raises(ConfigurationError, match="is empty"):
        secret("NAME", {"NAME_FILE": str(path)})


def test_the_command_line_says_what_a_token_lacks(served: Server, tmp_path: Path, monkeypatch: Any, typed: Any):
    monkeypatch.delenv("SOTTOVOCE_ADMIN_TOKEN", raising=False)
    monkeypatch.setenv("SOTTOVOCE_ADMIN_TOKEN_FILE", str(tmp_path / "token"))
    monkeypatch.setenv("COLUMNS", "200")
    address = f"http://127.0.0.1:{served.port}"
    for token, said in (
        ("r", "this needs a token with the role operate; robot has read"),
        ("x", "to a token of this server"),
    ):
        (tmp_path / "token").write_text(token)
        assert said in typed("task", "pause", "arms", "--server", address)[1]
    (tmp_path / "token").write_text("o\n")
    assert typed("task", "pause", "arms", "--server", address)[0] == "arms is paused\n"
    log = json.dumps(served.call("GET", "/v1/actions", token="r").json())
    assert '"token": "me"' in log
