"""Many more invented requests, for `make soak`."""

from pathlib import Path

import pytest

from fuzzing import document_of, fuzz
from serving import ARMS, MODEL, Server

pytestmark = pytest.mark.soak


def test_the_server_keeps_to_its_openapi_document_for_long(tmp_path: Path):
    server = Server(tmp_path / "data").start()
    try:
        server.create(ARMS)
        server.create(MODEL)
        document = document_of(server)
        document["components"]["schemas"]["TaskFile"]["properties"]["learner"] = {"enum": ["kl-ucb", "gradient"]}
        assert max(fuzz(server, document, examples=200)) < 500
        assert '"level":"error"' not in server.log.read_text()
    finally:
        server.close()
