"""Pull the plug at any moment: no acknowledged report is lost, none is counted twice, and nothing learned differs."""

import json
import os
import signal
import time
from pathlib import Path

from loading import Load, check_journal, kill_under_load
from serving import ARMS, CLIENT, MODEL, TOKEN, Server, children_of, lives, until


def test_five_kills_under_load_lose_nothing(tmp_path: Path):
    """`make soak` has twenty, and longer pauses."""
    acknowledged, retried = kill_under_load(tmp_path / "data", kills=5, longest=0.5)
    assert acknowledged > 100
    assert retried > 0  # people noticed, and came again


def test_graceful_stops_under_load_lose_nothing_and_say_nothing_about_anybody(tmp_path: Path):
    """A terminal sends SIGINT to the server and to its learner; an operator sends SIGTERM to the server."""
    server = Server(tmp_path / "data").start()
    try:
        loads = [Load(server, server.create(file), seed) for seed, file in enumerate((ARMS, MODEL))]
        secrets = [
            TOKEN,
            CLIENT,
            *(word for ticket in server.tickets("arms", 3) for word in ticket),
            server.version("model"),
        ]
        for sign in (signal.SIGINT, signal.SIGTERM):
            time.sleep(0.3)
            children = list(children_of(server.pid))
            for child in children if sign == signal.SIGINT else []:
                os.kill(child, sign)
            start = time.monotonic()
            assert server.stop(sign) == 0
            assert time.monotonic() - start < 10
            until(lambda: not any(lives(child) for child in children), seconds=1)  # noqa: B023 (used at once)
            server.start()
        for load in loads:
            load.finish()
        assert server.stop() == 0
        check_journal(server.folder, [id for load in loads for id in load.acknowledged])
        log = server.log.read_text()
        events = [json.loads(line)["event"] for line in log.splitlines()]
        assert events.count("stopped") == events.count("listening") == 3
        assert not any(secret in log for secret in secrets)
    finally:
        server.close()
