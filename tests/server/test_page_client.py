"""The protocol page is enough to write a device: one was, and a real server takes its reports."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import page_client
import pytest

from serving import HELD_MODEL, Server
from sottovoce.privacy.sphere.codebook import candidates, lift, ranking

PAGE = Path(__file__).parents[2] / "docs" / "protocol.md"


@pytest.mark.parametrize(("task", "reports"), [("arms", 6), ("model", 6), ("held-model", 30)])
def test_a_device_written_from_the_page_alone_is_believed(live, task: str, reports: int):
    """With a holdout half of the reports measure: that none of 30 does has probability 1e-9."""
    live.server.create(HELD_MODEL)
    address, before = f"http://127.0.0.1:{live.server.port}", live.server.summary(task)["reports"]
    command = [sys.executable, "-I", page_client.__file__, str(PAGE), address, task, str(reports)]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert answer.stdout.split() == ["accepted"] * reports, answer.stderr
    assert live.server.summary(task)["reports"] == before + reports
    assert isinstance(live.server, Server)


def test_its_codebook_is_ours():
    """Forty coins, dimensions 1 to 40: the same vectors, and with draws that end at the nearest the same index."""
    page, draw = page_client.Page(str(PAGE)), np.random.default_rng(0)
    for dimension in range(1, 41):
        coin = draw.bytes(12)
        ours = candidates(coin, np.arange(8), dimension + 1)
        for pair in range(4):
            assert (
                page_client.vector(page, coin, pair, dimension + 1)
                == ours[2 * pair].tolist()
                == (-ours[2 * pair + 1]).tolist()
            )
        message = draw.normal(size=dimension)
        message /= np.linalg.norm(message) * 1.1
        nearest = {"candidates": 8, "cap": 1, "inside": 1, "outside": 0}
        assert (
            page_client.sphere(page, nearest, message.tolist(), 1.0, coin)[0] == ranking(coin, lift(message, 1.0), 8)[0]
        )
