"""A device is killed at every point between paying and sending: it never draws twice for one datum."""

import subprocess
import sys
from pathlib import Path

import pytest
from pretend import PERSON, Clock, Server, contextual

from sottovoce.client import Device, device
from sottovoce.privacy.drawing import privatise

CHILD = """
import os, sys
sys.path.insert(0, sys.argv[1])
from test_device_crashes import counted, joined
from sottovoce.client import device
from sottovoce.client.vault import Vault

folder, point = sys.argv[2], sys.argv[3]
die = lambda *_: os._exit(7)
draw = counted(folder)

def die_after_drawing(*given):
    draw(*given)
    die()

device.privatise = {"before the draw": die, "after the draw": die_after_drawing}.get(point, draw)
if point == "while paying":
    Vault.promise = die
if point == "before the report is kept":
    Vault.finish = die
if point == "before the answer is kept":
    Vault.settle = die

mine = joined(folder)
decision = mine.choose({"age": 34, "country": "it", "member": True})
open(folder + "/decision", "w").write(decision.id)
if point == "after paying":
    die()
mine.observe(decision.id, 1.0)
if point == "after the report is kept":
    die()
mine.send(force=True)
"""

LATER = {  # what is found after the restart: entries, draws, reports that arrived
    "while paying": (0, 0, 0),
    "after paying": (1, 1, 1),
    "before the draw": (1, 0, 0),
    "after the draw": (1, 1, 0),
    "before the report is kept": (1, 1, 0),
    "after the report is kept": (1, 1, 1),
    "before the answer is kept": (1, 1, 1),
}


def counted(folder: str):
    """The true gate, with a mark in a file for every draw."""

    def draw(*given):
        with open(f"{folder}/draws", "a") as marks:
            marks.write("draw\n")
        return privatise(*given)

    return draw


class Recorder(Server):
    """Remembers in a file what arrived, also when the device dies right after."""

    folder = ""

    def reports(self, contract, body):
        with open(f"{self.folder}/arrived", "ab") as arrived:
            arrived.write(body + b"\n")
        return super().reports(contract, body)


def joined(folder: str) -> Device:
    server = Recorder(contextual())
    server.folder = folder
    return Device("https://learn.example", "headline", folder=folder, transport=server, clock=Clock())


def lines(file: Path) -> list[str]:
    return file.read_text().splitlines() if file.exists() else []


@pytest.mark.parametrize("point", LATER)
def test_a_killed_device_never_draws_twice(point, tmp_path, monkeypatch):
    here = str(Path(__file__).parent)
    child = subprocess.run(
        [sys.executable, "-c", CHILD, here, str(tmp_path), point], capture_output=True, text=True, timeout=60
    )
    assert child.returncode == 7, child.stderr
    monkeypatch.setattr(device, "privatise", counted(str(tmp_path)))
    mine = joined(str(tmp_path))
    for decision in lines(tmp_path / "decision"):
        mine.observe(decision, 0.0)
    mine.send(mine._clock() + 7200, force=True)
    entries, draws, arrived = LATER[point]
    assert mine.budget().spent == 4.0 * entries
    assert len(lines(tmp_path / "draws")) == draws
    assert len(set(lines(tmp_path / "arrived"))) == arrived
    assert mine.stats()["lost"] == entries - arrived
    assert mine.outbox() == []
    assert mine._vault.run("SELECT count(*) FROM decisions") == [(0,)]
    assert mine.choose(PERSON).reported
