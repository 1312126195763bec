"""`sottovoce inspect` on a real folder."""

import json
import subprocess
import sys

import pytest
from pretend import PERSON, Clock, Server, arms, contextual

from sottovoce.client import Device
from sottovoce.client.inspection import inspection
from sottovoce.protocol.errors import ConfigurationError


def sottovoce(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "sottovoce", *words], capture_output=True, text=True, timeout=60)


def test_an_owner_sees_what_left_what_will_and_what_it_cost(tmp_path):
    server = Server(contextual(), arms())
    news, colours = (
        Device("https://learn.example", task, folder=tmp_path / "state", transport=server, clock=Clock())
        for task in ("headline", "colours")
    )
    news.prefetch(2)
    news.observe(news.choose(PERSON).id, 1.0)
    news.send(force=True)
    news.choose(PERSON)
    colours.observe(colours.choose().id, 5.0)
    out = tmp_path / "rows.json"
    done = sottovoce("inspect", "--device", str(tmp_path / "state"), "--json", str(out))
    assert done.returncode == 0, done.stderr
    first, second = json.loads(out.read_text())["rows"]
    assert first["fates"] == {"sent": 1, "promised": 1}
    assert (first["spent"], first["lifetime"], first["spent_by_all"], first["outbox"]) == (8.0, 40.0, 9.0, [])
    assert [waiting["report"] for waiting in second["outbox"]] == [waiting.report for waiting in colours.outbox()]
    assert first["reports"][0] == {"epsilon": 4.0, "delta": 0.0, "hour": "2027-01-15T08:00:00+00:00", "fate": "sent"}
    for words in ("headline", "sphere, epsilon 4", colours.outbox()[0].report["ticket"], "epsilon 9 of the owner's 40"):
        assert words in done.stdout


def test_a_folder_without_a_device_is_an_error(tmp_path):
    with pytest.raises(ConfigurationError, match=r"has no device\.sqlite"):
        inspection(tmp_path)
    assert list(tmp_path.iterdir()) == []
