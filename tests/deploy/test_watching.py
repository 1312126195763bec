"""Alerts and the Grafana dashboard watch what the server says: every metric and label they name is on its page."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from typing import Any, get_args

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families
from queries import named_by

from manual import ROOT
from serving import HELD_ARMS, MODEL, Server, ticket_report, until
from sottovoce.protocol.wire import Verdict
from sottovoce.server.web.gain import watched

PROMETHEUS = ROOT / "deploy" / "prometheus"
ELSEWHERE = {
    "up": {"job", "instance"},
    "node_filesystem_avail_bytes": {"fstype", "mountpoint"},
    "node_filesystem_size_bytes": {"fstype", "mountpoint"},
}
"""What Prometheus itself and node_exporter say."""
ADDED = {"job", "instance"}
"""Labels that Prometheus adds to every series."""
VALUES = {
    "verdict": set(get_args(Verdict)),
    "of": {"difference", "low", "high"},
    "status": {"500"},
    "job": {"sottovoce"},
    "task": set(),
    "fstype": {"tmpfs", "ramfs", "overlay", "squashfs"},
}
"""What a label is compared with."""


def rules() -> list[dict[str, Any]]:
    groups = yaml.safe_load((PROMETHEUS / "alerts.yaml").read_text())["groups"]
    return [rule for group in groups for rule in group["rules"]]


def dashboard() -> dict[str, Any]:
    return json.loads((ROOT / "deploy" / "grafana" / "sottovoce.json").read_text())


def panels() -> list[dict[str, Any]]:
    return [panel for panel in dashboard()["panels"] if panel["type"] != "row"]


def asked_by_dashboard() -> list[str]:
    """Every query of a panel, and what the variables are filled with."""
    lists = [one["definition"] for one in dashboard()["templating"]["list"] if one["type"] == "query"]
    variables = [re.sub(r"^label_values\((.*), (\w+)\)$", r"max by (\2) (\1)", one) for one in lists]
    return [target["expr"] for panel in panels() for target in panel["targets"]] + variables


EXPRESSIONS = [pytest.param(rule["expr"], id=rule["alert"]) for rule in rules()]
EXPRESSIONS += [pytest.param(query, id=f"panel-{number}") for number, query in enumerate(asked_by_dashboard())]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, set[str]]]:
    """The metrics of a real server that was used a little, with their labels."""
    server = Server(tmp_path_factory.mktemp("watched")).start()
    try:
        contract = server.create(HELD_ARMS)
        server.create(MODEL)
        server.permits("model", 1)
        tickets = server.tickets("held-arms", 100)
        assert set(server.report("held-arms", *(ticket_report(contract, one) for one in tickets))) == {"accepted"}
        until(lambda: b'sottovoce_gain{of="high"' in server.call("GET", "/metrics").body)
        yield labels_of(server.call("GET", "/metrics").body.decode())
    finally:
        server.close()


def labels_of(text: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            found.setdefault(sample.name, set()).update(sample.labels)
    return found


def wrong(expression: str, page: dict[str, set[str]]) -> list[str]:
    """What an expression names and nobody says."""
    named, known = named_by(expression), page | ELSEWHERE
    found = [name for name in named.metrics if name not in known]
    found += [
        f"{name}{{{label}}}"
        for name, labels in named.metrics.items()
        for label in labels
        if label not in known.get(name, set()) | ADDED
    ]
    said = set().union(ADDED, *(known.get(name, set()) for name in named.metrics))
    return found + [f"by ({label})" for label in named.grouped if label not in said]


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_every_metric_and_label_of_an_alert_or_panel_is_on_the_page(expression: str, page: dict[str, set[str]]):
    assert named_by(expression).metrics
    assert not wrong(expression, page)


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_labels_are_compared_with_what_they_can_be(expression: str):
    for label, _, value in named_by(expression).values:
        assert value.startswith("$") or set(value.split("|")) <= VALUES[label], (label, value)


def test_a_metric_or_label_that_nobody_says_is_noticed(page: dict[str, set[str]]):
    assert wrong('sum by (person) (rate(sottovoce_report_total{taks="a"}[5m]))', page) == [
        "sottovoce_report_total",
        "sottovoce_report_total{taks}",
        "by (person)",
    ]
    assert wrong("sottovoce_reports_total{route='x'} unless sottovoce_opened", page) == ["sottovoce_opened"]


def test_the_ends_of_a_gain_have_the_names_that_are_watched():
    names = ("difference", "low", "high")
    gain: Any = type("Gain", (), dict.fromkeys(names, 0.0))()
    assert {name for name, _ in watched(gain)} == VALUES["of"] == set(names)


def test_the_dashboard_shows_every_metric_of_the_server(page: dict[str, set[str]]):
    """Or an alert has it."""
    used = {name for expression in EXPRESSIONS for name in named_by(str(expression.values[0])).metrics}
    ours = {name for name in page if name.startswith("sottovoce_") and "_process_" not in name}
    unused = {name for name in ours - used if not name.endswith(("_created", "_bucket", "_sum", "_count"))}
    assert not unused


# --- Prometheus's own tool -------------------------------------------------------------------------------------------


def test_promtool_finds_the_rules_right_and_they_fire_when_they_must():
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("promtool is not on PATH (Debian: package prometheus); the tests above do without it")
    for command in (["check", "config", "prometheus.yaml"], ["test", "rules", "alerts_test.yaml"]):
        done = subprocess.run([promtool, *command], cwd=PROMETHEUS, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr


def test_every_alert_has_series_that_raise_it_and_series_that_do_not():
    tests = yaml.safe_load((PROMETHEUS / "alerts_test.yaml").read_text())["tests"]
    cases = [case for test in tests for case in test["alert_rule_test"]]
    names = {rule["alert"] for rule in rules()}
    assert {case["alertname"] for case in cases if case["exp_alerts"]} == names
    assert {case["alertname"] for case in cases if not case["exp_alerts"]} == names
