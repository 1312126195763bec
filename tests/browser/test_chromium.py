"""The browser device in a real Chromium, against a real server: the tests are the files in clients/browser/chromium."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from node import BROWSER, run_node
from serving import TOKEN, Server
from sottovoce.server.admins import digest_of_token

FILES = sorted((BROWSER / "chromium").glob("*.test.mjs"))

READ_TOKEN = "a-token-that-may-look"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    assert (BROWSER / "dist" / "sottovoce.js").is_file(), "the browser device is not built: run `make browser`"
    folder = tmp_path_factory.mktemp("served")
    tokens = folder / "tokens.toml"
    tokens.touch(0o600)
    tokens.write_text(f'[tokens.robot]\nrole = "read"\nsha256 = "{digest_of_token(READ_TOKEN)}"\n')
    server = Server(folder / "data", tokens=tokens).start()
    try:
        yield server
    finally:
        server.close()


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name.partition(".")[0])
def test_in_chromium(server: Server, file: Path):
    settings = {"SOTTOVOCE_SERVER": f"http://127.0.0.1:{server.port}", "SOTTOVOCE_ADMIN_TOKEN": TOKEN}
    settings["SOTTOVOCE_READ_TOKEN"] = READ_TOKEN
    run_node("--test", "--test-timeout=60000", "--test-reporter=spec", file, settings=settings)
