"""The wire as another language sees it: what docs/protocol.md says, done without this package."""

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np

from serving import ARMS, ticket_report, until
from sottovoce.client import Device, Limits

PAGE = Path(__file__).resolve().parents[2] / "docs" / "protocol.md"


def test_ten_lines_of_node_recompute_the_digest_from_the_served_bytes(live, tmp_path: Path):
    """The program is the one that the page shows."""
    node = shutil.which("node")
    assert node, "this test needs node: install Node.js 18 or newer"
    (program,) = re.findall(r"^```js\n(.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S)
    assert len(program.splitlines()) <= 10
    script = tmp_path / "digest.mjs"
    script.write_text(program)
    for task in ("arms", "model"):
        command = [node, str(script), f"http://127.0.0.1:{live.server.port}", task]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
        digest = live.server.call("GET", f"/v1/tasks/{task}").json()["digest"]
        assert done.stdout.split() == [digest, "same"]


def test_a_device_joins_chooses_reports_and_is_believed(live):
    address = f"http://127.0.0.1:{live.server.port}"
    for task in ("arms", "model"):
        before = live.server.caught_up(task)["reports"]
        device = Device(address, task, limits=Limits(epsilon=2.0, lifetime=20.0))
        device.prefetch(10)
        for _ in range(10):
            device.observe(device.choose({"age": 40.0} if task == "model" else None).id, 0.5)
        sent = device.send(force=True)
        device.close()
        assert (sent.acknowledged, sent.refused) == (10, 0)
        assert live.server.caught_up(task)["reports"] == before + 10


def test_a_summary_speaks_of_rewards_in_the_units_of_the_task(live):
    """Five standard errors: a false alarm in less than 1e-6 of runs."""
    server, name = live.server, "stars"
    reward = {"low": 1.0, "high": 5.0, "default": 1.0}
    contract = server.create(ARMS | {"id": name, "reward": reward, "privacy": {"epsilon": 8.0}, "publish_every": 50})
    means = {"a": 2.0, "b": 3.0, "c": 4.0}
    for _ in range(6):
        offers = [(ticket, (means["abc"[action]] - 1.0) / 4.0) for ticket, action in server.offers(name, 50)]
        server.report(name, *(ticket_report(contract, ticket, outcome=unit) for ticket, unit in offers))
        server.caught_up(name)
    until(lambda: server.summary(name)["published"] == 300)
    summary = server.summary(name)
    assert (summary["reports"], summary["warm"]) == (300, 0)
    for estimate in summary["estimates"]:
        if estimate["reports"]:
            assert abs(estimate["reward"] - means[estimate["action"]]) < 5 * estimate["error"]
    assert np.isclose(sum(estimate["reports"] for estimate in summary["estimates"]), 300)


def test_another_version_of_the_protocol_is_refused_by_name(live):
    for version in ("v2", "v0", "v31"):
        refused = live.server.call("GET", f"/{version}/tasks/arms")
        assert refused.status == 404
        assert refused.json()["detail"].endswith(f"this server speaks v1 of the protocol, not {version}")
    for path in ("/v1/nothing", "/vv2/tasks", "/v2x/tasks", "/v" + "9" * 5000 + "/tasks"):
        assert live.server.call("GET", path).json()["detail"] == "there is no such route"
