"""The manual of the live system is true: its commands are typed one after the other, and its Python is run."""

import contextlib
import io
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from serving import Server
from sottovoce.cli import main

PAGE = Path(__file__).resolve().parents[2] / "docs" / "live.md"


def test_the_manual_can_be_followed_from_the_first_line_to_the_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The server of the page is a real one, on a free port; of its two thousand people sixty come."""
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {"__name__": "__main__"}
    printed, server = io.StringIO(), Server(tmp_path / "data", token="choose-your-own")
    try:
        for kind, text in re.findall(r"^```(console|python)\n(.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S):
            text = text.replace("http://127.0.0.1:8080", address(server)).replace("--people 2000", "--people 60")
            with contextlib.redirect_stdout(printed):
                if kind == "python":
                    exec(compile(text, str(PAGE), "exec"), namespace)
                    continue
                for line in text.splitlines():
                    follow(shlex.split(line.removeprefix("$ "), comments=True), server, monkeypatch)
        report = namespace["device"].outbox()[0].report
        assert set(report) == {"ticket", "nonce", "gate", "payload"}
        assert (tmp_path / "fleet.json").exists()
        assert "will leave: 1 report; left: 2" in printed.getvalue()
        kept = server.call("GET", "/v1/tasks/headline/overview", token="choose-your-own").json()
        assert (kept["prediction"]["runs"], kept["prediction"]["followed"]) == (8, 20_000)
        assert kept["expected"].startswith("predicted: about ")
    finally:
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
    else:
        assert words[:2] == ["pip", "install"], shlex.join(words)
