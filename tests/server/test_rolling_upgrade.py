"""Servers are replaced by a newer version one after the other while people report: nobody has to notice."""

import contextlib
import os
import subprocess
import sys
from pathlib import Path

from loading import Cluster, newer_version
from serving import model_report, ticket_report


def sottovoce(environment: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "sottovoce", *words]
    return subprocess.run(command, env=os.environ | environment, capture_output=True, text=True, timeout=60)


def test_an_upgrade_of_one_server_after_the_other_loses_nothing(tmp_path: Path):
    """With a migration that only adds: the old version goes on beside the new one. `make soak` goes back, too."""
    newer = newer_version(tmp_path / "newer")
    with contextlib.closing(Cluster(tmp_path)) as cluster:
        first, second = cluster.servers
        arms, model = cluster.contracts
        tickets, permits, version = first.tickets("arms", 3), first.permits("model", 3), first.version("model")
        done = sottovoce(newer, "store", "migrate", cluster.address)
        assert "has now format 99: A table for notes." in done.stdout, done.stderr
        cluster.replace(newer)
        early = [ticket_report(arms, one) for one in tickets]
        assert first.report("arms", *early) == ["accepted"] * 3
        early += [model_report(model, one, version) for one in permits]
        assert second.report("model", *early[3:]) == ["accepted"] * 3
        reports, retried = cluster.check(early)
        assert reports > 100
        assert retried > 0
