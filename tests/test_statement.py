"""The statement for the privacy officer says what the contract says, and keeps saying it."""

import datetime
import json
import math
import re
from pathlib import Path
from typing import Any

import jsonschema_rs
import msgspec
import pytest
import yaml

from serving import MODEL, task_file
from sottovoce.catalogue.resolve import contract_of
from sottovoce.catalogue.task_file import TaskFile, load_task_file
from sottovoce.cli.statement import with_shuffler
from sottovoce.client.terms import EXTENSIONS
from sottovoce.lab.shuffling import DELTA, shuffled_epsilon
from sottovoce.privacy.mechanisms import MECHANISMS
from sottovoce.protocol.budget import Budget
from sottovoce.protocol.wire import ModelReport, TicketReport
from sottovoce.report import odds
from sottovoce.report.statement import words
from sottovoce.report.statement.facts import Facts, facts_of
from sottovoce.report.statement.registry import as_registry_entry
from sottovoce.report.statement.text import as_markdown, as_page
from test_cli import refused, typed

ROOT = Path(__file__).resolve().parents[1]
GOLDEN = ROOT / "tests" / "golden" / "statement"
TASKS = {
    "headline": ROOT / "experiments" / "live" / "headline.toml",
    "recommend": ROOT / "experiments" / "live" / "recommend.toml",
    "gaussian": GOLDEN / "gaussian.toml",
    "shuffled": GOLDEN / "shuffled.toml",
}
"""Tickets; a scale-free learner with features; Gaussian noise with a delta; a shuffler."""


def facts(name: str, **how: Any) -> Facts:
    return facts_of(contract_of(load_task_file(TASKS[name])), **how)


@pytest.mark.parametrize("name", ["recommend", "gaussian", "shuffled"])
def test_the_text_is_as_it_was_reviewed(name: str):
    """To renew it: `sottovoce statement TASK > tests/golden/statement/NAME.md`, and read what has changed."""
    assert typed("statement", str(TASKS[name])) == (GOLDEN / f"{name}.md").read_text("utf-8")


def test_the_example_of_the_manual_is_what_the_command_prints():
    page = (ROOT / "docs" / "statement.md").read_text("utf-8")
    (shown,) = re.findall(r"^```markdown\n(.*?)^```$", page, re.M | re.S)
    assert typed("statement", str(TASKS["headline"])) == shown


def test_no_line_is_wider_than_a_terminal():
    for name in TASKS:
        assert max(map(len, as_markdown(facts(name)).splitlines())) <= 80


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.0, 5.5])
def test_every_number_follows_the_contract(epsilon: float):
    said = as_markdown(facts_of(contract_of(task_file(privacy={"epsilon": epsilon, "lifetime": 4 * epsilon}))))
    row = re.search(r"\| one report +\|(.*)\|", said)
    assert row
    reports, shown, factor, even, rare = (float(cell.strip(" %\u00a0").replace(",", "")) for cell in row[1].split("|"))
    assert (reports, shown) == (1, epsilon)
    grown = math.exp(epsilon)
    for number, true in ((factor, grown), (even / 100, grown / (1 + grown)), (rare / 100, grown / (99 + grown))):
        assert true <= number <= true * 1.1
    ever = re.search(r"\| ever +\| +(\d+) \| +([\d.]+) ", said)
    assert ever
    assert (int(ever[1]), float(ever[2])) == (4, 4 * epsilon)


@pytest.mark.parametrize("epsilon", [0.01, 0.7, 3.0, 11.9])
def test_a_bound_in_odds_is_never_rounded_down(epsilon: float):
    for delta in (0.0, 1e-5, 0.2):
        spent = Budget(epsilon, delta)
        assert float(odds.factor(spent).replace(",", "")) >= math.exp(epsilon)
        right = (math.exp(epsilon) + delta) / (1 + math.exp(epsilon))
        assert right <= float(odds.even_guess(spent).rstrip("\u00a0%")) / 100 <= right + 0.001


def test_a_new_field_of_a_report_a_new_mechanism_or_extension_must_be_explained():
    assert set(EXTENSIONS) <= set(words.EXTENSIONS)
    assert "signed by the app's own" in as_markdown(facts_of(contract_of(task_file(admission="signed"))))
    fields = {*ModelReport.__struct_fields__, *TicketReport.__struct_fields__}
    assert fields == set(words.WIRE)
    manual = (ROOT / "docs" / "privacy.md").read_text("utf-8")
    assert set(words.MECHANISMS) == set(MECHANISMS)
    assert all(sentence in manual for sentence in words.MECHANISMS.values())


def test_data_without_noise_is_said_in_the_verdict():
    said = as_markdown(facts("headline", warm=1234)).split("## ")[0]
    assert "The 1,234 rows that the task started from have no such protection." in " ".join(said.split())
    assert "None. All that" in as_markdown(facts("headline", warm=0))


def test_a_task_that_devices_refuse_is_said_to_be_one():
    """Gaussian noise and limits without a delta: `Device` refuses such a contract."""
    file = task_file(learner="kl-ucb", preset="paper", privacy={"epsilon": 1.0, "delta": 1e-6, "quieter": []})
    assert "**No device will answer this task.**" in as_markdown(facts_of(contract_of(file)))


def test_what_a_shuffler_would_add_is_marked_hypothetical_and_left_out_where_the_theorem_is_silent():
    assert "Not computed here" in as_markdown(facts("headline"))
    assert "says nothing about this task" in " ".join(as_markdown(facts("gaussian")).split())
    assert "a hypothetical number" in (GOLDEN / "recommend.md").read_text("utf-8")


def test_a_smaller_epsilon_is_claimed_where_a_shuffler_is_declared_and_on_conditions():
    said = " ".join((GOLDEN / "shuffled.md").read_text("utf-8").split())
    assert "a hypothetical number" not in said
    assert "No shuffler runs here" not in said
    assert all(" ".join(condition.split()) in said for condition in words.CONDITIONS)
    epsilon, delta = shuffled_epsilon(2.0, 2000, DELTA), DELTA
    claimed = re.search(r"\| 2,000 +\| ([\d.]+) +\| ([\d.e-]+) ", said)
    assert claimed
    assert epsilon <= float(claimed[1]) <= 1.1 * epsilon
    assert delta == float(claimed[2])
    verdict = said.split("## ")[0]
    assert "(epsilon 2)" in verdict  # what is said first needs nobody's honesty
    silent = " ".join(as_markdown(facts("shuffled")).split())
    assert "How much more is not computed here" in silent


def test_nothing_is_claimed_for_a_shuffler_where_the_theorem_is_silent_or_the_batch_is_small():
    delta = MODEL | {"learner": "linucb", "preset": "paper", "privacy": {"epsilon": 0.9, "delta": 1e-6, "quieter": []}}
    said = statement_of(delta | {"shuffler": {"batch": 50}})
    assert "says nothing about this task" in said
    assert "promises more than it does alone" not in said
    assert "so small a batch adds next to nothing" in statement_of(MODEL | {"shuffler": {"batch": 20}})


def statement_of(file: dict[str, Any]) -> str:
    found = with_shuffler(facts_of(contract_of(msgspec.convert(file, TaskFile))))
    return " ".join(as_markdown(found).split())


# --- the page --------------------------------------------------------------------------------------------------------


def test_the_page_needs_nothing_else_and_shows_names_as_they_are():
    title = "<b>Hours</b> & `days`\n\nof opening"  # no task file may say so, but an older server's contract may
    contract = contract_of(task_file(title="TITLE")).replace(b'"TITLE"', json.dumps(title).encode())
    page = as_page(facts_of(contract))
    assert "&lt;b&gt;Hours&lt;/b&gt; &amp; <code>days</code> of opening" in page
    assert "<b>" not in page
    assert not re.findall(r"(?:src|href)\s*=|url\(|<script", page)
    assert page.index("class='verdict'") < page.index("<h2>")


# --- the registry ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TASKS)
def test_the_entry_has_the_fields_of_the_registry(name: str):
    schema = json.loads((GOLDEN / "registry.json").read_text())
    entry = yaml.safe_load(as_registry_entry(facts(name), datetime.date(2026, 11, 16)))
    jsonschema_rs.Draft7Validator(schema, validate_formats=True).validate(entry)
    contract = load_task_file(TASKS[name])
    promise = entry["deployment"]["privacy_loss"]["privacy_parameters"]
    assert promise["epsilon"] == contract.privacy.epsilon
    assert promise.get("delta") == contract.privacy.delta
    assert entry["deployment"]["deployment_model"]["model_name"] == "Local"
    del entry["status"]
    assert not jsonschema_rs.is_valid(schema, entry)


def test_a_name_with_every_sign_survives_the_yaml():
    title = 'It\'s "so": #1 — \\ 50% {x} [y] & *z* 🙂'
    entry = yaml.safe_load(as_registry_entry(facts_of(contract_of(task_file(title=title))), datetime.date(2026, 1, 1)))
    assert entry["deployment"]["basic"]["name"] == title


# --- the command -----------------------------------------------------------------------------------------------------


def test_files_are_written_where_they_are_asked_for(tmp_path: Path):
    said = typed("statement", str(TASKS["headline"]), "--html", "a/s.html", "--yaml", "a/r.yaml", cwd=tmp_path)
    assert "a/s.html" in said
    assert "complete what says TODO" in " ".join(said.split())
    assert (tmp_path / "a" / "s.html").read_text("utf-8").startswith("<!doctype html>")
    assert yaml.safe_load((tmp_path / "a" / "r.yaml").read_text("utf-8"))["status"] == "Draft"


def test_a_task_that_is_no_file_is_refused_with_a_hint():
    assert "say --server too" in " ".join(refused("statement", "headline").split())
