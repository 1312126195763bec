"""Two servers on one PostgreSQL for minutes, for `make soak`: kills, a learner that is stopped, upgrades."""

import contextlib
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from loading import TAKES_OVER, Cluster, newer_version

pytestmark = pytest.mark.soak
KILLS = 20


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    with contextlib.closing(Cluster(tmp_path)) as cluster:
        yield cluster


def test_twenty_kills_of_servers_learners_and_the_database_lose_nothing(cluster: Cluster):
    """Pauses are so long that a learner that was started again can have compiled what it needs to take over."""
    draw, pauses = random.Random(20201115), []
    for number in range(KILLS):
        time.sleep(draw.uniform(2.0, 6.0))
        kill = (cluster.kill_learner, cluster.kill_web, cluster.kill_postgres)[number % 3]
        pauses.append((kill(), kill.__name__))
    reports, retried = cluster.check()
    told = ", ".join(f"{name} {pause:.1f}" for pause, name in pauses)
    print(f"{reports} reports, {retried} retries; seconds without learning: {told}")
    assert max(pauses)[0] < TAKES_OVER
    assert reports > 1000
    assert retried > 0


def test_a_learner_that_was_stopped_for_thirty_seconds_writes_nothing_stale(cluster: Cluster):
    pause = cluster.stop_learner(seconds=30.0)
    reports, _ = cluster.check()
    print(f"another learner learned after {pause:.1f} s; {reports} reports")
    assert pause < TAKES_OVER


def test_upgrades_there_and_back_under_load_lose_nothing(cluster: Cluster, tmp_path: Path):
    """Both versions may use the database after the migration, so one can also go back."""
    older, newer = {"PYTHONPATH": os.pathsep.join(sys.path)}, newer_version(tmp_path / "newer")
    sottovoce = [sys.executable, "-m", "sottovoce"]
    serve = [*sottovoce, "serve", "--store", cluster.address, "--port", "0", "--data", str(tmp_path / "none")]
    refused = subprocess.run(serve, env=os.environ | newer, capture_output=True, text=True, timeout=60)
    assert "store migrate" in refused.stderr  # before anything else
    command = [*sottovoce, "store", "migrate", cluster.address]
    subprocess.run(command, env=os.environ | newer, check=True, timeout=60)
    for environment in (newer, older, newer, older, newer):
        time.sleep(2.0)
        cluster.replace(environment)
    reports, retried = cluster.check()
    print(f"{reports} reports, {retried} retries")
    assert reports > 1000
    assert retried > 0
