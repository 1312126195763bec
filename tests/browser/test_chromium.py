"""The browser device in a real Chromium, against a real server: the tests are the files in clients/browser/chromium."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from node import BROWSER, run_node
from serving import TOKEN, Server

FILES = sorted((BROWSER / "chromium").glob("*.test.mjs"))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    assert (BROWSER / "dist" / "sottovoce.js").is_file(), "the browser device is not built: run `make browser`"
    server = Server(tmp_path_factory.mktemp("served")).start()
    try:
        yield server
    finally:
        server.close()


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name.partition(".")[0])
def test_in_chromium(server: Server, file: Path):
    settings = {"SOTTOVOCE_SERVER": f"http://127.0.0.1:{server.port}", "SOTTOVOCE_ADMIN_TOKEN": TOKEN}
    run_node("--test", "--test-timeout=60000", "--test-reporter=spec", file, settings=settings)
