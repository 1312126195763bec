"""The project's audit on reports that Chromium drew: the promise is kept, and a bug planted in the device is caught."""

import shutil
from pathlib import Path

import typer
from typer.testing import CliRunner

from node import BROWSER, NODE
from sottovoce.cli.audit import audit

REPORTS = 20_000
TASK = """
id = "stories"
learner = "gradient"
candidates = 3
horizon = 1000
expires = 2099-12-31
[privacy]
epsilon = 4.0
quieter = []
[fields.minutes]
kind = "number"
low = 1.0
high = 20.0
"""


def audited(folder: Path, build: Path) -> tuple[int, str]:
    (folder / "task.toml").write_text(TASK)
    app = typer.Typer()
    app.command()(audit)
    device = f"{NODE} {BROWSER / 'scripts' / 'audit.mjs'} {build}"
    words = [str(folder / "task.toml"), "--device", device, "--trials", str(REPORTS)]
    result = CliRunner().invoke(app, words)
    return result.exit_code, f"{result.output}{result.exception or ''}"


def test_reports_drawn_in_a_browser_keep_the_promise(tmp_path: Path):
    """It fails by chance in one of a thousand runs."""
    code, said = audited(tmp_path, BROWSER / "build")
    assert (code, "1 audited, 0 failed" in said) == (0, True), said


def test_a_bug_in_the_device_is_caught(tmp_path: Path):
    """The better of two draws: each is honest, together they tell too much."""
    build = tmp_path / "build"
    shutil.copytree(BROWSER / "build", build)
    file, sound = build / "privacy" / "sphere.js", "entropy.below(total)"
    text = file.read_text()
    assert sound in text
    file.write_text(text.replace(sound, f"Math.min({sound}, {sound})"))
    code, said = audited(tmp_path, build)
    assert (code, "BROKEN" in said) == (1, True), said
