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

from manual import FOLLOWED, ROOT, blocks
from serving import Server, Shuffler, until
from sottovoce.cli import main

SMALLER = {"--people 2000": "--people 60"}
"""What is put in place of a number on these pages."""
SAID = {
    "docs/live.md": "will leave: 1 report; left: 2",
    "docs/openfeature.md": "SPLIT 9",
    "docs/backend.md": "will leave: 1 report",
    "docs/tokens.md": "What it means for privacy",
    "docs/shuffler.md": "will be reported: True",
}
"""A sentence that a page must have made its programs print."""


@pytest.mark.parametrize("page", FOLLOWED)
def test_a_page_can_be_followed_from_the_first_line_to_the_last(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Its server is a real one, on a free port. The Python of a page is one program."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    namespace: dict[str, Any] = {"__name__": "__main__"}
    tokens = tmp_path / "tokens.toml" if page in ("docs/tokens.md", "docs/shuffler.md") else None
    printed, server = io.StringIO(), Server(tmp_path / "data", token="choose-your-own", tokens=tokens)
    shuffler = Shuffler(tmp_path / "shuffler", server.address, "films")
    try:
        for block in blocks(ROOT / page):
            text = block.text.replace("http://127.0.0.1:8080", server.address)
            text = text.replace("http://127.0.0.1:8081", shuffler.address)
            for written, small in SMALLER.items():
                text = text.replace(written, small)
            with contextlib.redirect_stdout(printed):
                if block.kind == "python":
                    exec(compile(text, page, "exec"), namespace)
                elif block.kind == "console":
                    for line in text.splitlines():
                        words = shlex.split(line.removeprefix("$ "), comments=True)
                        if words[:2] == ["sottovoce", "shuffler"]:
                            shuffler.token = printed.getvalue().split("kept nowhere:\n")[1].split()[0]
                            shuffler.start().ready()
                        else:
                            follow(words, server, monkeypatch)
        if page == "docs/live.md":
            assert set(namespace["device"].outbox()[0].report) == {"ticket", "nonce", "gate", "payload"}
            assert (tmp_path / "fleet.json").exists()
            kept = server.call("GET", "/v1/tasks/headline/overview", token="choose-your-own").json()
            assert (kept["prediction"]["runs"], kept["prediction"]["followed"]) == (8, 20_000)
            assert kept["expected"].startswith("predicted: about ")
        if page == "docs/tokens.md":
            (written,) = [block.text for block in blocks(ROOT / page) if block.kind == "text"]
            assert plain(written) in plain(printed.getvalue())
        if page == "docs/shuffler.md":
            assert "0 private reports" in plain(printed.getvalue())
            until(lambda: server.summary("films")["reports"] == 100, seconds=10)
        assert SAID[page] in printed.getvalue()
    finally:
        if "device" in namespace:
            namespace["device"].close()
        shuffler.close()
        server.close()


def plain(text: str) -> str:
    """The words of a table, without times and digests."""
    return " ".join(re.sub(r"\d{4}-\d\d-\d\d [\d:]+|\b[0-9a-f]{12}\b|─+", "#", text).split())


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
