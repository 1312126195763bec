"""Ten thousand malformed bodies, for `make soak`."""

from pathlib import Path

import pytest

from malforming import send_malformed
from serving import Server

pytestmark = pytest.mark.soak


def test_ten_thousand_malformed_bodies_change_nothing(tmp_path: Path):
    server = Server(tmp_path / "data").start()
    try:
        send_malformed(server, 10_000)
    finally:
        server.close()
