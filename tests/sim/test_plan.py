"""The plan: the real learner in few runs, closed forms where there are some, every world, files of live tasks too."""

import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

import jax
import msgspec
import numpy as np
import pytest

from sottovoce.cli import keep_compiled_loops
from sottovoce.cli.init import starting_file
from sottovoce.lab import plan as planning
from sottovoce.lab.plan import Plan, plans_of, shortened
from sottovoce.lab.study.cells import cells_of, run_cells
from sottovoce.lab.study.file import Study, is_task_file, load_task_study
from sottovoce.protocol.errors import ConfigurationError, UnknownName
from sottovoce.report.confidence import half_width
from sottovoce.server.learn.compiled import keep_in

SMALL = Study(learner="ucb", arms=3, epsilon=[2.0], rounds=2000, options={"gap": 0.4})


def plan(**changes: object) -> Plan:
    (row,) = plans_of(msgspec.structs.replace(SMALL, **changes))
    return row


# --- against the simulator -------------------------------------------------------------------------------------------


def simulated(study: Study) -> np.ndarray:
    (result,) = run_cells(study, [cell for cell in cells_of(study) if cell.role == "chosen"])
    return result.samples if result.correct is not None else result.regret[:, -1]


@pytest.mark.parametrize(
    "changes",
    [
        {"learner": "ucb"},
        {"learner": "lil-ucb", "rounds": 20_000},
        {"learner": "two-point", "arms": 0, "dimension": 5, "options": {"steepness": 1.0}},
    ],
    ids=lambda changes: changes["learner"],
)
def test_what_is_planned_is_within_a_quarter_of_what_other_seeds_give(changes: dict):
    study = msgspec.structs.replace(SMALL, **changes)
    (row,) = plans_of(study)
    planned = row.predicted_samples if row.predicted_regret is None else row.predicted_regret
    # As many seeds at a time as the plan has, because then nothing is compiled again.
    others = [msgspec.structs.replace(study, seeds=row.runs, seed=seed) for seed in range(1000, 1004)]
    assert planned == pytest.approx(np.mean([simulated(other) for other in others]), rel=0.25)


def test_a_plan_is_the_same_as_a_study_with_as_many_seeds():
    row = plan()
    assert (row.runs, row.followed) == (32, 2000)
    last = simulated(msgspec.structs.replace(SMALL, seeds=row.runs))
    assert row.predicted_regret == pytest.approx(last.mean())
    assert [row.regret_low, row.regret_high] == pytest.approx(list(np.quantile(last, [0.05, 0.95])))
    assert plan() == row


def test_late_reports_and_rare_models_cost_more():
    rows = [plan(), plan(delay=500), plan(publish_every=500)]
    assert rows[0].predicted_regret < min(rows[1].predicted_regret, rows[2].predicted_regret)


# --- reason ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("learner", ["ucb", "lil-ucb"])
def test_more_epsilon_is_less_noise_less_regret_and_fewer_people(learner: str):
    rows = list(plans_of(msgspec.structs.replace(SMALL, learner=learner, epsilon=[0.5, 1.5, 5.0], rounds=5000)))
    for tight, loose in itertools.pairwise(rows):
        assert loose.noise < tight.noise
        assert loose.error < tight.error
        assert loose.people_to_compare < tight.people_to_compare
        if learner == "lil-ucb":
            assert loose.predicted_samples < tight.predicted_samples
            assert loose.predicted_regret is None
            assert loose.predicted_right > 0.9
        else:
            assert loose.predicted_regret < tight.predicted_regret
            assert (loose.people_needed or 5001) <= (tight.people_needed or 5001)
            assert loose.regret_low <= loose.predicted_regret <= loose.regret_high
            assert 0 < loose.predicted_regret < 1.05 * loose.uniform_regret


def test_easy_gaps_need_fewer_people_and_a_known_number_of_them():
    hard, easy = plan(options={"gap": 0.1}), plan(options={"gap": 0.4})
    assert easy.people_to_compare < hard.people_to_compare
    # 2 arms' noise, 3 arms to feed, one-sided 95 %: 2 * 3 * (1.645 * deviation / gap)^2
    assert easy.people_to_compare == pytest.approx(6 * (1.6449 * np.sqrt(0.25 + easy.noise**2) / 0.4) ** 2, abs=1.5)


def test_as_many_as_are_needed_to_be_sure_part_the_ranges_of_two_arms():
    """At epsilon 1 a report is one of two levels, 0.5 +- 1.082: no number of two levels varies more than the squared
    half of their distance, so that is the proxy. One report fewer, and the ranges still touch.
    """
    row, proxy = plan(epsilon=[1.0], options={"gap": 0.4}), (0.5 * (np.e + 1) / (np.e - 1)) ** 2
    each = row.people_to_be_sure / 3
    assert 2 * half_width(each, proxy, 0.05) <= 0.4 < 2 * half_width(each - 1, proxy, 0.05)
    assert plan(preset="laplace", epsilon=[1.0], options={"gap": 0.4}).people_to_be_sure is None


def test_uniform_play_in_the_world_of_arms_costs_what_it_must():
    assert plan(options={}).uniform_regret == pytest.approx(2000 * 2 / 3 * 0.2, rel=0.01)


def test_a_long_task_is_followed_for_a_while_and_the_plan_says_so(monkeypatch: pytest.MonkeyPatch):
    assert (shortened(SMALL).rounds, shortened(SMALL).seeds) == (2000, 32)
    monkeypatch.setattr(planning, "LONGEST", 2000)
    row = plan(rounds=8000)
    assert (row.rounds, row.followed) == (8000, 2000)
    assert row.note == "Regret, people and samples are of the first 2,000 of 8,000 people."
    assert row.error == pytest.approx(plan().error / 2)  # of all 8,000


def test_a_quick_plan_makes_few_and_short_runs():
    whole = msgspec.structs.replace(SMALL, rounds=1_000_000)
    assert [(shortened(one, quick=True).rounds, shortened(one, quick=True).seeds) for one in (SMALL, whole)] == [
        (2000, 8),
        (20_000, 8),
    ]


def test_a_budget_that_devices_refuse_is_planned_and_named():
    assert plan(epsilon=[20.0]).note == ("Epsilon 20 is simulated only: devices refuse a report above epsilon 12.")


def test_what_cannot_be_planned_is_refused_in_words():
    with pytest.raises(UnknownName, match=r"option of world arms 'gpa'.*did you mean gap\?"):
        plan(options={"gpa": 0.1})
    with pytest.raises(ConfigurationError, match="one number per arm: 3, got 2"):
        plan(options={"rewards": [0.1, 0.2]})
    with pytest.raises(ConfigurationError, match="at least one epsilon"):
        plan(epsilon=[])
    with pytest.raises(UnknownName, match=r"unknown learner.*did you mean ucb\?"):
        plan(learner="ubc")
    with pytest.raises(ConfigurationError, match="sees raw data"):
        plan(learner="oful", dimension=3, options={})


# --- a live task -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("contextual", "world"), [(False, "arms"), (True, "people")])
def test_the_file_of_a_live_task_is_planned_with_its_own_numbers(contextual: bool, world: str, tmp_path: Path):
    path = tmp_path / "task.toml"
    path.write_text(starting_file(path, contextual=contextual).replace("20_000", "2_000"))
    assert is_task_file(path)
    study, worlds, said, _ = load_task_study(path)
    (row,) = plans_of(study, worlds)
    assert (row.world, row.rounds, row.epsilon) == (world, 2000, 4.0 if contextual else 2.0)
    assert study.publish_every == 2
    assert row.predicted_regret < row.uniform_regret
    assert (row.people_to_compare is None) == contextual
    assert ("fields are uniform" if contextual else "the world 'arms'") in said


# --- the command -----------------------------------------------------------------------------------------------------


def run(*arguments: str, cwd: Path, cache: Path) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"COLUMNS": "80", "NO_COLOR": "1", "SOTTOVOCE_CACHE": str(cache)}
    environment.pop("JAX_COMPILATION_CACHE_DIR", None)  # a test that ran `main` in this process has set it
    command = [sys.executable, "-m", "sottovoce", "plan", *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=120, env=environment)


def test_the_command_plans_a_file_and_a_torn_cache_of_compiled_loops_does_not_matter(tmp_path: Path):
    (tmp_path / "study.toml").write_text('learner = "ucb"\narms = 3\nepsilon = [1.0, 4.0]\nrounds = 1000\n')
    done = run("study.toml", "--json", "p.json", cwd=tmp_path, cache=tmp_path / "cache")
    assert done.returncode == 0, done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 80
    rows = json.loads((tmp_path / "p.json").read_text())["rows"]
    assert [row["epsilon"] for row in rows] == [1.0, 4.0]
    assert set(rows[0]) == set(Plan._fields)
    kept = list((tmp_path / "cache").iterdir())
    assert kept
    for entry in kept:
        entry.write_bytes(entry.read_bytes()[:10])
    again = run("study.toml", cwd=tmp_path, cache=tmp_path / "cache")
    assert again.returncode == 0, again.stderr
    assert again.stdout == done.stdout


def test_compiled_loops_are_kept_where_the_owner_says_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def kept() -> str | None:
        monkeypatch.delenv("JAX_COMPILATION_CACHE_DIR", raising=False)
        keep_compiled_loops()
        return os.environ.get("JAX_COMPILATION_CACHE_DIR")

    monkeypatch.delenv("SOTTOVOCE_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert kept() == str(tmp_path / "sottovoce")
    monkeypatch.setenv("SOTTOVOCE_CACHE", str(tmp_path / "mine"))
    assert kept() == str(tmp_path / "mine")
    before = jax.config.jax_compilation_cache_dir  # pyright: ignore[reportAttributeAccessIssue]
    keep_in(tmp_path / "data")
    assert jax.config.jax_compilation_cache_dir == before  # pyright: ignore[reportAttributeAccessIssue]
    (tmp_path / "file").write_text("not a folder")
    for unusable in ("", str(tmp_path / "file"), str(tmp_path / "file" / "below")):
        monkeypatch.setenv("SOTTOVOCE_CACHE", unusable)
        assert kept() is None
