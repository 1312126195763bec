"""The audit finds what is broken and leaves alone what is not.

Reports use the operating system's randomness, so nothing here can be seeded. Unless a test says otherwise it fails by
chance with probability at most 1e-6: either the confidence is 1 - 1e-6, or the number of trials leaves 4.75 standard
deviations of room.
"""

import json
import math
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import typer
from scipy import stats
from typer.testing import CliRunner

from sottovoce.cli import audit as audit_module
from sottovoce.cli.audit import audit as audit_command
from sottovoce.lab.audit import run as audit_run
from sottovoce.lab.audit.bounds import Counts, epsilon_bound, epsilon_of_distance
from sottovoce.lab.audit.clues import codebooks
from sottovoce.lab.audit.planted import planted_subjects
from sottovoce.lab.audit.processes import draw
from sottovoce.lab.audit.run import TRIALS, Verdict, audit, audit_all
from sottovoce.lab.audit.subjects import Raw, Subject, honest, honest_subjects, measured
from sottovoce.privacy.domains import Ball, Domain, Interval
from sottovoce.privacy.grid.calibrate import gaussian
from sottovoce.privacy.mechanisms import MECHANISMS, Mechanism, calibrate, name_of, verify
from sottovoce.privacy.sphere import codebook
from sottovoce.protocol.budget import Budget
from sottovoce.protocol.errors import BrokenPromise, ConfigurationError, UnknownName
from sottovoce.report.confidence import clopper_pearson

SURE = 1 - 1e-6
ENDS: tuple[Raw, Raw] = ((0.0,), (1.0,))
OPPOSITE: tuple[Raw, Raw] = (((1.0, 0.0),), ((-1.0, 0.0),))


def label(subject: Subject) -> str:
    parts = [name_of(subject.mechanism), type(subject.mechanism.domain).__name__, f"{subject.promised.epsilon:g}"]
    return "-".join([*parts, *([subject.planted] if subject.planted else [])])


@pytest.fixture
def in_one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Saves the start of five interpreters per audit. Only a seeded device looks different in fresh processes.

    In one thread, because threads that draw in one process wait for each other.
    """
    monkeypatch.setattr(audit_run, "draw_afresh", draw)
    monkeypatch.setattr(audit_run.os, "cpu_count", lambda: 1)


# --- what the audit must leave alone ---------------------------------------------------------------------------------


@pytest.mark.usefixtures("in_one_process")
def test_no_honest_mechanism_is_above_its_promise():
    # Few reports, because there are many mechanisms; levels with twice their epsilon of 1 are found at 1.35 +- 0.12.
    for verdict in audit_all(honest_subjects(), trials=1000, confidence=SURE):
        assert verdict.passed, verdict
        assert 0 <= verdict.lower_bound <= verdict.epsilon


def test_every_mechanism_of_the_registry_is_audited_at_several_promises():
    audited = {(name_of(s.mechanism), s.promised.epsilon) for s in honest_subjects()}
    for name in MECHANISMS:
        assert sum(mechanism == name for mechanism, _ in audited) >= 2
    assert all(subject.sender in (honest, measured) and subject.planted is None for subject in honest_subjects())


def test_noise_so_small_that_reports_repeat_is_not_taken_for_a_seed():
    # At epsilon 12 two fresh devices of one person agree in all 300 reports more often than not.
    mechanism = calibrate("levels", Interval(), Budget(12.0))
    assert audit(Subject(mechanism=mechanism, people=ENDS), trials=2000, confidence=SURE).passed


# --- what it must find -----------------------------------------------------------------------------------------------


ENOUGH = {"levels": 4000, "sphere": 3000, "laplace": 4000, "gaussian": 24_000}
"""Trials that show any planted bug of a mechanism but the subtlest."""


def caught(subject: Subject) -> bool:
    # The threshold cap is the subtlest: true epsilon 2.4 for a promise of 2. With 8,000 trials and more the bound was
    # above 2.2, with a standard deviation of 0.05. The others exceed their promise by more and need less; a report of
    # the sphere costs most, and Gaussians tell least.
    verdict = audit(subject, 10_000 if subject.planted == "threshold cap" else ENOUGH[name_of(subject.mechanism)])
    assert math.isfinite(verdict.lower_bound)
    assert verdict.passed == (verdict.lower_bound > verdict.epsilon)
    return verdict.passed


@pytest.mark.usefixtures("in_one_process")
@pytest.mark.parametrize("subject", [s for s in planted_subjects() if s.planted != "seeded randomness"], ids=label)
def test_a_planted_bug_is_caught(subject: Subject):
    assert caught(subject)


@pytest.mark.parametrize("subject", [s for s in planted_subjects() if s.planted == "seeded randomness"], ids=label)
def test_a_device_that_starts_every_process_from_the_same_seed_is_caught(subject: Subject):
    assert caught(subject)


@pytest.mark.usefixtures("in_one_process")
@pytest.mark.parametrize("subject", [s for s in planted_subjects() if s.planted == "seeded randomness"], ids=label)
def test_only_fresh_processes_give_a_seeded_device_away(subject: Subject):
    assert not audit(subject, 2000, SURE).passed


def test_every_way_to_break_a_mechanism_is_planted():
    planted = {(name_of(s.mechanism), s.planted) for s in planted_subjects()}
    assert {mechanism for mechanism, bug in planted if bug == "half noise"} == set(MECHANISMS)
    for bug in ("redrawn coin", "threshold cap", "rank sent along", "second report", "seeded randomness"):
        assert ("sphere", bug) in planted
    assert {("laplace", "missing clip"), ("gaussian", "classical formula")} <= planted


def at_epsilon_one(mechanism: Mechanism, raw: Raw) -> bytes:
    return honest(calibrate(name_of(mechanism), mechanism.domain, Budget(1.0)), raw)


@pytest.mark.usefixtures("in_one_process")
@pytest.mark.parametrize(
    ("name", "domain", "people", "trials"), [("levels", Interval(), ENDS, 4000), ("sphere", Ball(2), OPPOSITE, 9000)]
)
def test_an_honest_mechanism_with_a_false_promise_is_caught(
    name: str, domain: Domain, people: tuple[Raw, Raw], trials: int
):
    # True epsilon 1, promised 0.6. The bound is about 1 - (3.3 +- 1) * 0.04, of levels and of the sphere alike.
    subject = Subject(mechanism=calibrate(name, domain, Budget(0.6)), people=people, sender=at_epsilon_one)
    assert not audit(subject, trials).passed


def silent_about_zero(mechanism: Mechanism, raw: Raw) -> bytes:
    return honest(mechanism, raw) if raw[0] else b""


@pytest.mark.usefixtures("in_one_process")
@pytest.mark.parametrize("name", ["levels", "laplace"])
def test_a_device_that_stays_silent_about_some_data_is_caught(name: str):
    subject = Subject(mechanism=calibrate(name, Interval(), Budget(1.0)), people=ENDS, sender=silent_about_zero)
    assert not audit(subject, trials=1000, confidence=SURE).passed


# --- how sharp it is -------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("in_one_process")
@pytest.mark.parametrize(
    ("name", "domain", "people", "epsilon", "trials"),
    [
        # Levels at epsilon 1 answer right with p = 0.731. ln(p/(1-p)) has standard deviation 1/sqrt(N p (1-p)) over N
        # fresh reports; 2 for confidence and 4.75 for chance make 15.2/sqrt(N) = 0.098 for N = 24,000.
        ("levels", Interval(), ENDS, 1.0, 30_000),
        # The sphere at epsilon 2: in the cap of one person only with p = 0.728 against q = 0.0985. The caution is
        # 2 (sqrt((1-p)/p) + sqrt((1-q)/q))/sqrt(N), chance 4.75 sqrt((1-p)/p + (1-q)/q)/sqrt(N): 0.194 for N = 12,800.
        ("sphere", Ball(2), OPPOSITE, 2.0, 16_000),
    ],
)
def test_the_bound_reaches_nine_tenths_of_a_tight_promise(
    name: str, domain: Domain, people: tuple[Raw, Raw], epsilon: float, trials: int
):
    # The attacker's choice has luck of its own: of 13 audits of the sphere one chose a clue that proves less, and found
    # 1.74 of 2. So there are five tries.
    subject = Subject(mechanism=calibrate(name, domain, Budget(epsilon)), people=people)
    assert any(audit(subject, trials, confidence=0.95).lower_bound >= 0.9 * epsilon for _ in range(5))


# --- the parts -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("of", [1, 10, 1000, 250_000])
@pytest.mark.parametrize("share", [0.0, 0.001, 0.3, 0.9, 1.0])
@pytest.mark.parametrize("error", [0.05, 5e-4, 1e-9])
def test_clopper_pearson_bounds_agree_with_scipy(of: int, share: float, error: float):
    hits = round(share * of)
    low, high = clopper_pearson(hits, of, error)
    assert low == pytest.approx(stats.beta.ppf(error, hits, of - hits + 1) if hits else 0.0, rel=1e-8)
    assert high == pytest.approx(stats.beta.isf(error, hits + 1, of - hits) if hits < of else 1.0, rel=1e-8)


def test_the_gaussian_bound_inverts_the_calibration():
    for epsilon in (0.5, 1.0, 4.0, 12.0):
        mechanism = gaussian(Interval(), Budget(epsilon, 1e-5))
        assert epsilon_of_distance(2 / mechanism.scales[0], 1e-5) == pytest.approx(epsilon, rel=1e-4)
    assert epsilon_of_distance(1e-6, 1e-5) == 0.0


def test_counts_that_show_nothing_bound_nothing_and_perfect_counts_stay_finite():
    for promised in (Budget(1.0), Budget(1.0, 1e-5)):
        assert epsilon_bound(Counts(500, 500, 1000), promised, 0.999) == 0.0
        assert epsilon_bound(Counts(0, 0, 1000), promised, 0.999) == 0.0
        assert 4 < epsilon_bound(Counts(1000, 0, 1000), promised, 0.999) < 100


@pytest.mark.parametrize("dimension", [1, 3, 8, 9, 40])
def test_the_auditor_reads_the_same_codebook_as_the_device(dimension: int):
    seeds = [bytes(range(n, n + 12)) for n in (0, 7, 200)]
    for seed, book in zip(seeds, codebooks(seeds, 20, dimension), strict=True):
        np.testing.assert_array_equal(book, codebook.candidates(seed, np.arange(20), dimension))


def test_a_device_never_loads_the_planted_bugs():
    code = "import sys, sottovoce, sottovoce.privacy.drawing; print(any('audit' in name for name in sys.modules))"
    paths = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], env=paths, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_the_gate_refuses_the_broken_promises_that_the_audit_catches():
    classical = next(s.mechanism for s in planted_subjects() if s.planted == "classical formula")
    with pytest.raises(BrokenPromise):
        verify(classical)
    with pytest.raises(BrokenPromise):
        honest(replace(calibrate("levels", Interval(), Budget(1.0)), budget=Budget(0.7)), ENDS[0])


def test_what_cannot_be_audited_is_refused_with_the_reason():
    subject = honest_subjects()[0]
    with pytest.raises(ConfigurationError, match="at least 1000 trials, got 10"):
        audit(subject, trials=10)
    with pytest.raises(ConfigurationError, match=r"below 1, got 1\.0"):
        audit(subject, confidence=1.0)
    with pytest.raises(ConfigurationError, match="workers must be at least 1, got 0"):
        audit(subject, workers=0)
    with pytest.raises(ConfigurationError, match="importable"):
        replace(subject, sender=lambda mechanism, raw: b"")


# --- the command -----------------------------------------------------------------------------------------------------


@pytest.fixture
def command() -> typer.Typer:
    app = typer.Typer()
    app.command()(audit_command)
    return app


@pytest.mark.parametrize("planted_is_caught", [True, False])
def test_the_command_writes_every_verdict_and_fails_if_one_does(
    command: typer.Typer, planted_is_caught: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    verdicts = [
        Verdict("levels", "interval", 1.0, 0.0, None, 0.93, True, "place: 73 % against 27 %"),
        Verdict("levels", "interval", 1.0, 0.0, "half noise", 1.8, planted_is_caught, "place: 79 % against 11 %"),
    ]
    monkeypatch.setattr(audit_module, "audit_all", lambda subjects, trials, workers: iter(verdicts))
    result = CliRunner().invoke(command, ["--all", "--json", str(tmp_path / "audit.json")])
    assert result.exit_code == (0 if planted_is_caught else 1)
    assert ("MISSED" in result.output) == (not planted_is_caught)
    rows = json.loads((tmp_path / "audit.json").read_text())["rows"]
    assert [row["lower_bound"] for row in rows] == [0.93, 1.8]
    assert {"mechanism", "epsilon", "delta", "planted", "lower_bound", "passed"} <= set(rows[0])


def test_the_command_wants_to_know_what_to_audit(command: typer.Typer):
    assert isinstance(CliRunner().invoke(command, []).exception, ConfigurationError)
    assert isinstance(CliRunner().invoke(command, ["--mechanism", "laplas"]).exception, UnknownName)


def test_the_command_draws_as_many_reports_as_the_library(command: typer.Typer):
    assert str(TRIALS) in CliRunner().invoke(command, ["--help"], env={"COLUMNS": "200"}).output
