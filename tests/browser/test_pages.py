"""Pages that people see have no error, ask nobody else, are reached by keyboard and are readable, light and dark."""

import contextlib
import functools
import http.server
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from manual import ROOT
from pages import problems_of
from sottovoce.cli import main
from test_commands import small_tables

STUDY = "simulate --learner kl-moss --arms 3 --rounds 40 --seeds 2"
BROKEN = """<!doctype html><html lang="en"><title>Broken</title><main style="width: 2000px"><h1>Broken</h1>
<p style="color: #bbb; background: #fff">Faint.</p><button style="outline: none" tabindex="0">Where am I?</button>
<figure style="background: #fff"><svg><text y="20" style="fill: #ccc">Faint too</text></svg></figure>
<script>console.error("spoken"); fetch("http://127.0.0.2:9/").catch(() => 0);</script></main></html>"""


def made(command: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Type a command that writes a page."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "argv", ["sottovoce", *command.split()])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code in (0, None)


def test_reports_are_readable_by_everybody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A study, Table 1 with one row, and a trial of a table."""
    small_tables(monkeypatch)
    (tmp_path / "people.csv").write_text("age,plan\n" + "20,small\n30,large\n" * 20)
    made(f"{STUDY} --out study", tmp_path, monkeypatch)
    made("reproduce table1 --out table1", tmp_path, monkeypatch)
    made("try people.csv --label plan --people 100 --seeds 1 --out trial", tmp_path, monkeypatch)
    pages = [
        tmp_path / "study" / "report.html",
        tmp_path / "table1" / "table1.html",
        tmp_path / "trial" / "report.html",
    ]
    assert problems_of(*(page.as_uri() for page in pages)) == ""


def test_the_manual_is_readable_by_everybody(manual: str):
    assert problems_of(f"{manual}/", f"{manual}/table1/") == ""


@pytest.mark.parametrize(
    "found", ["color-contrast", "contrast 1.6", "cut at the side", "console: spoken", "request to", "focus is not seen"]
)
def test_what_is_wrong_with_a_page_is_found(found: str, broken: str):
    assert found in broken


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> str:
    page = tmp_path_factory.mktemp("broken") / "page.html"
    page.write_text(BROKEN)
    return problems_of(page.as_uri())


@pytest.fixture(scope="module")
def manual(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The manual, built from a copy and served."""
    folder = tmp_path_factory.mktemp("manual")
    for name in ("docs", "scripts", "src"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "mkdocs.yml", folder)
    command = [Path(sys.executable).parent / "zensical", "build"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    handler = functools.partial(Quiet, directory=str(folder / "site"))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with contextlib.closing(server.socket):
            yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Says nothing about requests."""

    def log_message(self, format: str, *arguments: object) -> None:
        pass
