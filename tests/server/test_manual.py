"""The pages that need a server are true: their commands are typed one after the other, and their Python is run."""

import contextlib
import io
import re
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from serving import Server
from sottovoce.cli import main
from test_docs import FOLLOWED, ROOT

SAID = {
    "live.md": "will leave: 1 report; left: 2",
    "openfeature.md": "SPLIT 9",
    "backend.md": "will leave: 1 report",
}
"""What the Python of a page must have printed."""


@pytest.mark.parametrize("page", FOLLOWED, ids=lambda page: page.name)
def test_a_page_can_be_followed_from_the_first_line_to_the_last(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The server of the page is a real one, on a free port; of its two thousand people sixty come."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    namespace: dict[str, Any] = {"__name__": "__main__"}
    printed, server = io.StringIO(), Server(tmp_path / "data", token="choose-your-own")
    try:
        for kind, text in re.findall(r"^```(console|python)\n(.*?)^```$", page.read_text("utf-8"), re.M | re.S):
            text = text.replace("http://127.0.0.1:8080", address(server)).replace("--people 2000", "--people 60")
            with contextlib.redirect_stdout(printed):
                if kind == "python":
                    exec(compile(text, str(page), "exec"), namespace)
                    continue
                for line in text.splitlines():
                    follow(shlex.split(line.removeprefix("$ "), comments=True), server, monkeypatch)
        assert SAID[page.name] in printed.getvalue()
        if page.name == "live.md":
            assert set(namespace["device"].outbox()[0].report) == {"ticket", "nonce", "gate", "payload"}
            assert (tmp_path / "fleet.json").exists()
            kept = server.call("GET", "/v1/tasks/headline/overview", token="choose-your-own").json()
            assert (kept["prediction"]["runs"], kept["prediction"]["followed"]) == (8, 20_000)
            assert kept["expected"].startswith("predicted: about ")
    finally:
        if "device" in namespace:
            namespace["device"].close()
        server.close()


def address(server: Server) -> str:
    return f"http://127.0.0.1:{server.port}"


def follow(words: list[str], server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line of the page; settings in front of a command hold for it, exported ones for the rest."""
    while "=" in words[0] or words[0] == "export":
        name, _, value = words.pop(0).partition("=")
        if value:
            monkeypatch.setenv(name, value)
        if not words:
            return
    if words[:2] == ["sottovoce", "serve"]:
        server.start()
    elif words[0] == "sottovoce":
        monkeypatch.setattr(sys, "argv", words)
        with pytest.raises(SystemExit) as left:
            main()
        assert left.value.code in (0, None), shlex.join(words)
    elif words[0] in ("python", "granian"):  # an example with a test of its own
        assert any((ROOT / word).exists() for word in words if word.startswith("examples/")), shlex.join(words)
    else:
        assert words[:2] == ["pip", "install"], shlex.join(words)
