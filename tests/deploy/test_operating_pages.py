"""The pages for operators are true: our commands are typed, and what other programs are asked about exists."""

import contextlib
import io
import os
import re
import runpy
import shlex
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import yaml
from test_watching import rules

from manual import OPERATED, ROOT, blocks
from serving import ARMS, TOKEN, Caller, Server, ticket_report, until
from sottovoce.cli import main as cli
from sottovoce.server.web.app import pattern_of
from sottovoce.server.web.routes import ROUTES

DEPLOY = ROOT / "deploy"
KINDS = {"caddyfile", "nginx", "console", "ini"}
"""Of blocks. What a proxy's file says is compared with the file in test_proxies.py; settings of PostgreSQL, and its
programs, are used in test_postgres_backup.py."""
SERVICES = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
backup = runpy.run_path(str(DEPLOY / "backup.py"))["main"]


def lines(page: str) -> list[list[str]]:
    """What is typed, in words."""
    found = [block for block in blocks(ROOT / page) if block.kind == "console"]
    return [shlex.split(line.removeprefix("$ "), comments=True) for block in found for line in block.text.splitlines()]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """With a task that has learned a little; its data is in the folder that the pages name."""
    found = Server(tmp_path_factory.mktemp("operated") / "data").start()
    try:
        contract = found.create(ARMS | {"id": "headline"})
        found.report("headline", *(ticket_report(contract, ticket) for ticket in found.tickets("headline", 40)))
        found.caught_up("headline")
        (found.folder.parent / "deploy").symlink_to(DEPLOY)
        yield found
    finally:
        found.close()


# --- commands --------------------------------------------------------------------------------------------------------


def here(words: list[str], server: Server) -> list[str]:
    return [word.replace("http://127.0.0.1:8080", f"http://127.0.0.1:{server.port}") for word in words]


def is_asked_for(words: list[str], server: Server) -> None:
    """A route that exists, and its answer is no failure."""
    path = words[-1].removeprefix("http://127.0.0.1:8080")
    assert pattern_of(path)[0] in {route.path for route in ROUTES if route.method == "GET"}
    assert server.call("GET", path).status == 200


def is_about_the_unit(words: list[str], server: Server) -> None:
    assert words[1:] == ["daemon-reload"] or (DEPLOY / "sottovoce.service").stem in words


def is_about_services(words: list[str], server: Server) -> None:
    """Of compose.yaml."""
    assert words[1] == "compose"
    named = [word for word in words[3:] if word in SERVICES or ("-" in word.strip("-") and not word.startswith("-"))]
    assert set(named) <= {*SERVICES}
    assert words[2] in ("up", "ps", "logs", "build")


def is_about_files(words: list[str], server: Server) -> None:
    assert (ROOT / words[-1]).is_file()


def makes_the_installation(words: list[str], server: Server) -> None:
    """Of the unit: its program, its secret, its file."""
    unit = (DEPLOY / "sottovoce.service").read_text() + "/etc/systemd/system/sottovoce.service"
    assert words[-1] in unit or words[-1] == "sottovoce[server]"


def ours(words: list[str], server: Server) -> None:
    command(*here(words, server), folder=server.folder.parent)


def command(*words: str, folder: Path) -> str:
    """What one of our own commands prints, in this folder; in this process, which has learned to compute already."""
    printed = io.StringIO()
    with (
        contextlib.chdir(folder),
        contextlib.redirect_stdout(printed),
        mock.patch.object(sys, "argv", [*words]),
        mock.patch.dict(os.environ, {"SOTTOVOCE_ADMIN_TOKEN": TOKEN}),
        pytest.raises(SystemExit) as left,
    ):
        cli()
    assert left.value.code in (0, None), words
    return printed.getvalue()


def python(words: list[str], server: Server) -> None:
    if words[1:3] == ["-m", "venv"]:
        makes_the_installation(words, server)
    elif words[1] == "make_secrets.py":
        assert (DEPLOY / words[1]).is_file()  # tests/deploy/test_compose.py runs it
    else:
        subprocess.run([sys.executable, *words[1:]], cwd=server.folder.parent, check=True)


CHECKS: dict[str, Callable[[list[str], Server], None]] = {
    "sottovoce": ours,
    "python3": python,
    "curl": is_asked_for,
    "systemctl": is_about_the_unit,
    "journalctl": is_about_the_unit,
    "docker": is_about_services,
    "promtool": is_about_files,
    "install": makes_the_installation,
    "/opt/sottovoce/bin/pip": makes_the_installation,
    **dict.fromkeys(("pg_dump", "pg_restore", "pg_basebackup", "touch"), lambda words, server: None),
    **dict.fromkeys(("export", "df", "du", "free", "top"), lambda words, server: None),
}
"""What is checked of a command, by its first word. The last ones are the system's own."""


@pytest.mark.parametrize("page", OPERATED)
def test_the_commands_of_a_page_can_be_typed(page: str, server: Server):
    """Each once; a page's commands in their order."""
    for words in dict.fromkeys(map(tuple, lines(page))):
        CHECKS[words[0]](list(words), server)


@pytest.mark.parametrize("page", OPERATED)
def test_a_page_has_only_blocks_that_are_checked(page: str):
    assert {block.kind for block in blocks(ROOT / page)} <= KINDS


def test_what_the_runbook_looks_for_in_the_log_is_what_the_server_writes():
    said = "".join(path.read_text() for path in (ROOT / "src" / "sottovoce" / "server").rglob("*.py"))
    for words in lines("docs/runbook.md"):
        if "-g" in words:
            assert re.search(rf'log\(\s*"[^"]*{re.escape(words[words.index("-g") + 1])}', said), words


# --- the runbook -----------------------------------------------------------------------------------------------------


def sections() -> dict[str, str]:
    parts = re.split(r"^## ", (ROOT / "docs" / "runbook.md").read_text(), flags=re.MULTILINE)[1:]
    return {part.partition("\n")[0]: part for part in parts}


def test_every_alert_has_a_section_of_the_runbook_and_leads_to_it():
    assert sorted(sections()) == sorted(rule["alert"] for rule in rules())
    for rule in rules():
        assert rule["annotations"]["runbook_url"] == f"docs/runbook.md#{rule['alert'].lower()}"


@pytest.mark.parametrize("name", sections())
def test_a_section_of_the_runbook_says_all_that_whoever_is_woken_needs(name: str):
    said = re.findall(r"^\*\*([^*]+)\*\*", sections()[name], re.MULTILINE)
    assert said == ["What it means.", "What people notice.", "Look at.", "Do.", "Do not."]
    assert "```console" in sections()[name].partition("**Look at.**")[2].partition("**Do.**")[0]


def test_the_page_of_operations_says_how_urgent_every_alert_is():
    page = (ROOT / "docs" / "operations.md").read_text()
    for rule in rules():
        link = f"[{rule['alert']}](runbook.md#{rule['alert'].lower()})"
        (row,) = (line for line in page.splitlines() if link in line)
        assert f"| {rule['labels']['severity']}: " in row


# --- backup and restore ----------------------------------------------------------------------------------------------


def test_a_backup_under_load_can_be_restored_and_replays_to_the_same_state(tmp_path: Path):
    before = Server(tmp_path / "data").start()
    after = Server(tmp_path / "restored")
    stop, accepted = threading.Event(), []

    def load(contract: Any, reports: list[dict[str, Any]]) -> None:
        caller = Caller(before.port)
        while not stop.is_set() and reports:
            answer = caller("POST", "/v1/tasks/arms/reports", {"reports": [reports.pop()]})
            accepted.extend(answer.json()["verdicts"])
        caller.close()

    try:
        contract = before.create(ARMS)
        tickets = [ticket for _ in range(4) for ticket in before.tickets("arms", 100)]
        reports = [ticket_report(contract, ticket) for ticket in tickets]
        loading = threading.Thread(target=load, args=(contract, reports))
        loading.start()
        until(lambda: len(accepted) >= 50, pause=0.005)
        at_least = len(accepted)
        backup(tmp_path / "data", tmp_path / "restored")
        copied_until = len(accepted)
        until(lambda: len(accepted) > copied_until, pause=0.005)  # it went on
        stop.set()
        loading.join()
        before.stop()
        after.start()
        restored = after.caught_up("arms")
        assert at_least <= restored["reports"] <= copied_until + 1
        assert after.report("arms", ticket_report(contract, tickets[-1])) == ["duplicate"]  # the first that was sent
        after.stop()
        assert restored["state"] in command(
            "sottovoce", "task", "replay", "arms", "--data", "restored", folder=tmp_path
        )
        assert restored["reports"] < len(accepted)
    finally:
        stop.set()
        for server in (before, after):
            server.close()
    assert (tmp_path / "restored" / "journal.sqlite").stat().st_mode & 0o077 == 0


def test_a_backup_of_something_else_or_over_something_is_refused(tmp_path: Path):
    with pytest.raises(SystemExit, match="is not the data folder of a server"):
        backup(tmp_path, tmp_path / "copy")
    for name in ("learned.sqlite", "journal.sqlite"):
        (tmp_path / name).touch()
    (tmp_path / "copy").mkdir()
    with contextlib.suppress(FileExistsError):
        backup(tmp_path, tmp_path / "copy")
        raise AssertionError("it wrote over something")
