"""The audit hears devices in any language: a program that is asked on standard input and answers in hexadecimal."""

import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from sottovoce.cli.audit import audit

TASK = """
id = "headline"
learner = "kl-moss"
actions = ["a", "b"]
horizon = 1000
expires = 2099-12-31
[privacy]
epsilon = 1.0
quieter = []
"""

DEVICE = """
import json, random, sys
question = json.load(sys.stdin)
numbers = json.loads(question["contract"])["gates"][question["gate"]]["numbers"]
keep, flip = {weights}
for _ in range(question["count"]):
    true = question["person"][0] > 0.5
    print("01" if (random.SystemRandom().random() * (keep + flip) < keep) == true else "00")
"""


@pytest.fixture
def task(tmp_path: Path) -> Path:
    file = tmp_path / "task.toml"
    file.write_text(TASK)
    return file


def audited(task: Path, device: str, trials: int = 20_000) -> tuple[int, str]:
    app = typer.Typer()
    app.command()(audit)
    result = CliRunner().invoke(app, [str(task), "--device", device, "--trials", str(trials)])
    return result.exit_code, f"{result.output}{result.exception or ''}"


def written(folder: Path, weights: str) -> str:
    file = folder / "device.py"
    file.write_text(DEVICE.format(weights=weights))
    return f"{sys.executable} {file}"


def test_a_foreign_device_that_keeps_its_promise_passes(task: Path, tmp_path: Path):
    """It fails by chance in one of a thousand runs."""
    code, said = audited(task, written(tmp_path, 'int(numbers["keep"]), int(numbers["flip"])'))
    assert (code, "1 audited, 0 failed" in said) == (0, True), said


def test_a_foreign_device_with_half_the_noise_is_caught(task: Path, tmp_path: Path):
    code, said = audited(task, written(tmp_path, 'int(numbers["keep"]) ** 2, int(numbers["flip"]) ** 2'))
    assert (code, "BROKEN" in said) == (1, True), said


@pytest.mark.parametrize(
    ("device", "says"),
    [
        ("no-such-program", "cannot start the device 'no-such-program'"),
        (f"{sys.executable} -c pass", "sent 0 reports, and was asked for 1"),
        (f"{sys.executable} -c 'print(\"zz\")'", "a line of hexadecimal digits"),
        (f"{sys.executable} -c 1/0", "the device failed"),
    ],
)
def test_a_device_that_cannot_be_heard_is_told_at_once(task: Path, device: str, says: str):
    code, said = audited(task, device)
    assert code != 0
    assert says in said
