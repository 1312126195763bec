"""Choosing: who is compared, the smallest epsilon that is enough, and the figure of all of them."""

import csv
import json
import re
import sys
from pathlib import Path

import msgspec
import numpy as np
import pytest

from sottovoce.catalogue.algorithms import algorithms, needs_delta
from sottovoce.cli import main
from sottovoce.cli.init import starting_file
from sottovoce.lab.choosing import choose as choosing
from sottovoce.lab.choosing.candidates import comparison_of
from sottovoce.lab.choosing.choose import Choice, Score, Wish, choose, people_needed, score_of, taken_of
from sottovoce.lab.choosing.words import also_to_change, lines_of, reasons, rows_of, shortfall, tuning_for
from sottovoce.lab.plan import plans_of
from sottovoce.lab.study.cells import Cell, CellResult, cells_of, run_cells
from sottovoce.lab.study.file import Study, StudyInWorlds, load_task_study
from sottovoce.protocol.errors import ConfigurationError
from test_cli import refused, typed

SMALL = Study(learner="ucb", arms=3, epsilon=[1.0], rounds=400, options={"gap": 0.5})
SMALL_OPTIONS = ("--arms", "3", "--gap", "0.5", "--rounds", "400", "--epsilon", "4", "--epsilon", "1")
SMALL_FRONTIER = (*SMALL_OPTIONS, "--learner", "ucb", "--seeds", "2")


def names(asked: StudyInWorlds, *learners: str) -> list[tuple[str, str]]:
    return [(one.learner, one.preset) for one in comparison_of(asked, learners).candidates]


# --- who is compared -------------------------------------------------------------------------------------------------


def test_everybody_who_answers_the_question_is_compared_and_nobody_else():
    """Learners with arms that keep no raw data and go on; presets that need a delta only where there is one."""
    stopping = {"lil-ucb", "top-two", "clucb", "sequential-halving", "successive-rejects"}
    local = [name for name, one in algorithms().items() if one.trust == "local" and one.actions == "arms"]
    pairs = {(name, preset) for name in local for preset in algorithms()[name].presets}
    pure = {pair for pair in pairs if not needs_delta(*pair)}
    assert set(names(StudyInWorlds(SMALL))) == {pair for pair in pure if pair[0] not in stopping}
    assert set(names(asked_with(learner="top-two"))) == {pair for pair in pure if pair[0] in stopping}
    assert set(names(asked_with(delta=1e-6))) == {pair for pair in pairs if pair[0] not in stopping}


def asked_with(**changes: object) -> StudyInWorlds:
    return StudyInWorlds(msgspec.structs.replace(SMALL, **changes))


def test_candidates_are_asked_the_same_question():
    three = asked_with(learner="clucb", arms=5, tuning={"choose": 2})
    assert {learner for learner, _ in names(three)} == {"clucb"}  # nobody else can look for the best two
    points = asked_with(learner="fkm", arms=0, dimension=2, options={})
    assert not {"two-point", "k-point"} & {learner for learner, _ in names(points)}  # these ask twice or more
    features = asked_with(learner="linucb", dimension=2, options={}, world=["logistic"])
    links = {one.learner: one.tuning.get("link") for one in comparison_of(features).candidates}
    assert links == {"linucb": None, "glm": "logistic", "gradient": "logistic", "scale-free": "logistic"}


def test_a_live_task_tells_every_candidate_what_its_file_says(tmp_path: Path):
    path = tmp_path / "task.toml"
    text = starting_file(path, contextual=True).replace("candidates = 5", 'actions = ["a", "b"]')
    path.write_text(text.replace('# learner = "scale-free"', 'learner = "linucb"'))
    told = {one.learner: one.tuning for one in comparison_of(load_task_study(path)).candidates}
    assert told["scale-free"] == {"link": "identity", "named": 1.0, "contrast": 0.0}
    assert told["linucb"] == {}


def test_a_learner_that_cannot_be_run_is_left_out_and_named():
    compared = comparison_of(asked_with(learner="fkm", arms=0, dimension=2, options={}))
    assert any("interval-search practical cannot be run here" in one for one in compared.left_out)


@pytest.mark.parametrize(
    ("learners", "says"),
    [(["oful"], "oful sees raw data"), (["fkm"], "fkm chooses among points; here the actions are arms")],
)
def test_a_named_learner_that_does_not_fit_is_refused(learners: list[str], says: str):
    with pytest.raises(ConfigurationError, match=says):
        comparison_of(StudyInWorlds(SMALL), learners)


def test_where_nobody_answers_the_question_it_is_said():
    with pytest.raises(ConfigurationError, match="none of them looks for little regret as ucb does"):
        comparison_of(StudyInWorlds(SMALL), ["top-two"])


# --- what is recommended ---------------------------------------------------------------------------------------------


def made_up(shares: dict[str, dict[float, float]], spread: float = 0.01):
    """Instead of the simulator: runs that cost these shares of uniform play's regret, give or take `spread`."""

    def run(study: Study, cells: list[Cell], progress: object = None):
        for cell in cells:
            share = 1.0 if cell.role == "uniform" else shares[cell.task.learner][cell.task.epsilon]
            runs = 100.0 * (share + (cell.role != "uniform") * spread * np.linspace(-1, 1, study.seeds))
            rounds = np.array([study.rounds // 2, study.rounds])
            nothing = np.zeros(study.seeds)
            yield CellResult(cell, rounds, np.stack([0.7 * runs, runs], axis=1), 0.0, nothing, nothing > 0)

    return run


def recommended(
    patch: pytest.MonkeyPatch, shares: dict[str, dict[float, float]], wish: float, spread: float = 0.01
) -> Choice:
    patch.setattr(choosing, "run_cells", made_up(shares, spread))
    compared = comparison_of(StudyInWorlds(SMALL), list(shares))
    only = [one for one in compared.candidates if one.preset == "practical"]
    return choose(compared._replace(candidates=only), Wish(regret=wish), [1.0, 2.0, 4.0])


@pytest.mark.parametrize(("wish", "epsilon"), [(0.6, 1.0), (0.35, 2.0), (0.25, 4.0)])
def test_the_smallest_epsilon_that_is_enough_is_recommended(
    wish: float, epsilon: float, monkeypatch: pytest.MonkeyPatch
):
    shares = {"ucb": {1.0: 0.5, 2.0: 0.4, 4.0: 0.3}, "exp3": {1.0: 0.7, 2.0: 0.3, 4.0: 0.2}}
    choice = recommended(monkeypatch, shares, wish)
    assert choice.reached
    assert choice.taken.epsilon == epsilon
    assert choice.taken.study.learner == ("ucb" if epsilon == 1.0 else "exp3")
    assert choice.taken.runs == 32  # as many as a plan has
    assert ("Epsilon 1 is not enough" in reasons(choice)[1]) == (epsilon == 2.0)
    (row,) = [row for row in rows_of(choice) if row["recommended"]]
    assert (row["epsilon"], row["reaches"]) == (epsilon, True)


def test_a_first_look_that_was_too_dark_does_not_cost_people_a_larger_epsilon(monkeypatch: pytest.MonkeyPatch):
    """The first runs lose three times as much as those that count, so the first guess is epsilon 4."""
    shares = {"ucb": {1.0: 0.5, 2.0: 0.3, 4.0: 0.1}}
    dark = {"ucb": {epsilon: 3 * share for epsilon, share in shares["ucb"].items()}}
    long, short = made_up(shares), made_up(dark)
    monkeypatch.setattr(choosing, "FIRST_PEOPLE", 100)
    monkeypatch.setattr(
        choosing, "run_cells", lambda study, *rest: (short if study.rounds == 100 else long)(study, *rest)
    )
    compared = comparison_of(StudyInWorlds(SMALL), ["ucb"])
    choice = choose(compared._replace(candidates=compared.candidates[:1]), Wish(regret=0.35), [1.0, 2.0, 4.0])
    assert choice.taken.epsilon == 2.0


def test_a_budget_is_enough_only_if_the_whole_interval_is(monkeypatch: pytest.MonkeyPatch):
    shares = {"ucb": {1.0: 0.098, 2.0: 0.08, 4.0: 0.07}}
    assert recommended(monkeypatch, shares, 0.1, spread=0.001).taken.epsilon == 1.0
    assert recommended(monkeypatch, shares, 0.1, spread=0.02).taken.epsilon == 2.0


def test_among_those_that_may_be_equally_good_the_one_of_the_guide_is_taken(monkeypatch: pytest.MonkeyPatch):
    nearly = {"ucb": dict.fromkeys((1.0, 2.0, 4.0), 0.200), "thompson": dict.fromkeys((1.0, 2.0, 4.0), 0.201)}
    assert recommended(monkeypatch, nearly, 0.3).taken.study.learner == "thompson"
    clearly = {"ucb": dict.fromkeys((1.0, 2.0, 4.0), 0.2), "thompson": dict.fromkeys((1.0, 2.0, 4.0), 0.25)}
    assert recommended(monkeypatch, clearly, 0.3).taken.study.learner == "ucb"


def test_where_nothing_is_enough_the_best_is_named_and_how_many_people_it_would_take(monkeypatch: pytest.MonkeyPatch):
    shares = {"ucb": {1.0: 0.5, 2.0: 0.4, 4.0: 0.3}, "exp3": {1.0: 0.7, 2.0: 0.5, 4.0: 0.4}}
    choice = recommended(monkeypatch, shares, 0.2)
    assert not choice.reached
    assert not any(row["recommended"] for row in rows_of(choice))
    assert (choice.taken.study.learner, choice.taken.epsilon) == ("ucb", 4.0)
    growth = np.log(1 / 0.7) / np.log(2)
    assert people_needed(choice.taken) == pytest.approx(400 * 1.5 ** (1 / (1 - growth)), rel=0.01)
    assert "about 920 people would do" in shortfall(choice.taken)
    far = choice.taken._replace(wish=Wish(regret=0.01))
    assert people_needed(far) is None
    assert "more people than were simulated" in shortfall(far)


def answer(epsilon: float, samples: float, right: int, wish: int) -> Score:
    (cell,) = [cell for cell in cells_of(asked_with(learner="lil-ucb").study) if cell.role == "chosen"]
    found = np.arange(20) < right
    people = samples + np.linspace(-5, 5, 20)
    result = CellResult(cell, np.array([400]), np.ones((20, 1)), 0.0, people, found | True, found)
    return score_of(SMALL, result, result, Wish(people=wish))


def test_an_answer_counts_if_it_is_right_often_enough_and_comes_in_time():
    assert answer(1.0, 190, 19, 200).reaches
    assert not answer(1.0, 190, 18, 200).reaches  # 0.9, and 0.95 was wanted
    assert not answer(1.0, 199, 20, 200).reaches  # the interval goes beyond
    assert taken_of([answer(1.0, 190, 18, 200), answer(1.0, 195, 19, 200)]).mean == pytest.approx(195)


def test_what_is_predicted_is_the_plan_of_the_recommended_task(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(choosing, "FIRST_RUNS", 32)  # nothing is compiled twice
    compared = comparison_of(StudyInWorlds(SMALL), ["ucb"])
    choice = choose(compared._replace(candidates=compared.candidates[:1]), Wish(regret=0.9), [2.0])
    (planned,) = plans_of(msgspec.structs.replace(SMALL, epsilon=[2.0]))
    (row,) = rows_of(choice)
    assert row["predicted_regret"] == planned.predicted_regret
    assert choice.taken.mean == planned.predicted_regret / planned.uniform_regret


def test_only_lines_that_change_are_named_and_what_else_the_file_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "task.toml"
    path.write_text(starting_file(path, contextual=False))  # kl-moss at epsilon 2, at most 6 in a week
    file = load_task_study(path).file
    assert file is not None
    taken = recommended(monkeypatch, {"ucb": {1.0: 0.5, 2.0: 0.4, 4.0: 0.3}}, 0.45).taken
    assert lines_of(taken, file) == ['learner = "ucb"']
    assert lines_of(taken, None) == ['learner = "ucb"', 'preset = "practical"', "", "[privacy]", "epsilon = 2.0"]
    louder = msgspec.structs.replace(file, learner="ucb", privacy=msgspec.structs.replace(file.privacy, epsilon=4.0))
    assert lines_of(taken, louder) == ["[privacy]", "epsilon = 2.0"]
    assert also_to_change(taken, file) == ""
    tuned = msgspec.structs.replace(file, learner="kl-ucb", tuning={"bonus": 1.0})
    assert also_to_change(taken, tuned) == "take bonus out of [tuning]"
    tight = msgspec.structs.replace(file, privacy=msgspec.structs.replace(file.privacy, window=1.0))
    assert "budgets must grow" in also_to_change(taken, tight)


def test_a_learner_that_is_recommended_is_told_in_the_file_what_its_preset_does_not_say(tmp_path: Path):
    path = tmp_path / "task.toml"
    text = starting_file(path, contextual=True).replace("candidates = 5", 'actions = ["a", "b"]')
    # logistic, unless its file says otherwise
    path.write_text(text.replace('# learner = "scale-free"', 'learner = "glm"'))
    asked = load_task_study(path)
    practical = [one for one in comparison_of(asked).candidates if one.preset == "practical"]
    told = {one.learner: tuning_for(one, asked.file) for one in practical}
    assert told["scale-free"] == {"link": "logistic"}
    assert told["glm"] == told["linucb"] == {}


# --- the commands ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("choose", "--regret", "10"), "regret is a share of uniform play's, as in 10% or 0.1; got '10'"),
        (("choose", "--people", "100", "--learner", "ucb"), "ucb never stops with an answer; say --regret"),
        (("choose", "--people", "100", "--regret", "10%"), "say --people instead of --regret"),
        (("choose", "--people", "0", "--learner", "top-two"), "people must be at least 1, got 0"),
        (("choose", "--epsilon", "16"), "devices refuse a report above epsilon 12, got 16"),
        (("choose", "--world", "arms", "--world", "switching-arms"), "compared in one world, got arms, switching-arms"),
        (("frontier", "--learner", "top-two"), "top-two looks for an answer; frontier draws regret"),
        (("frontier", "--learner", "ubc"), "(did you mean ucb?)"),
        (("choose", "--learner", "ucb", "--learner", "oful"), "oful sees raw data"),
        (("choose", "--arms", "1"), "arms must be at least 2, got 1"),
    ],
    ids=lambda part: " ".join(part) if isinstance(part, tuple) else "",
)
def test_what_cannot_be_chosen_is_refused_in_one_sentence(arguments: tuple[str, ...], says: str):
    said = refused(*arguments)
    assert says in " ".join(said.split())
    assert "Traceback" not in said


def test_the_command_says_what_to_take_and_why_in_80_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    shares = {name: {1.0: 0.3, 4.0: 0.05} for name in algorithms()}
    monkeypatch.setattr(choosing, "run_cells", made_up(shares))
    said = typed("choose", *SMALL_OPTIONS, "--json", "c.json", cwd=tmp_path)
    assert max(map(len, said.splitlines())) <= 80
    assert "recommended: kl-moss, preset practical (levels, one byte a report), epsilon 4" in said
    assert "Epsilon 1 is not enough" in said
    assert "epsilon = 4.0" in said
    rows = json.loads((tmp_path / "c.json").read_text())["rows"]
    assert [row["learner"] for row in rows if row["recommended"]] == ["kl-moss"]


def test_the_command_fails_where_nothing_is_enough(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(choosing, "run_cells", made_up({name: {1.0: 0.3, 4.0: 0.2} for name in algorithms()}))
    monkeypatch.setattr(sys, "argv", ["sottovoce", "choose", *SMALL_OPTIONS])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 1


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small frontier."""
    place = tmp_path_factory.mktemp("frontier")
    said = typed("frontier", *SMALL_FRONTIER, "--out", "out", "--json", "f.json", cwd=place)
    (place / "screen.txt").write_text(said)
    return place


def test_a_frontier_has_the_numbers_of_a_simulation(drawn: Path):
    study = msgspec.structs.replace(SMALL, seeds=2, epsilon=[1.0, 4.0])
    results = {(r.cell.role, r.cell.task.epsilon): r.last()[0] for r in run_cells(study, cells_of(study))}
    rows = json.loads((drawn / "f.json").read_text())["rows"]
    mine = {row["epsilon"]: row["regret"] for row in rows if row["preset"] == "practical" and row["role"] == "chosen"}
    assert mine == {epsilon: results["chosen", epsilon] for epsilon in (1.0, 4.0)}
    assert {row["role"]: row["regret"] for row in rows if row["role"] == "uniform"} == {
        "uniform": results["uniform", 1.0]
    }


def test_a_frontier_leaves_a_figure_and_a_page_that_needs_nothing_else(drawn: Path):
    screen = (drawn / "screen.txt").read_text()
    assert max(map(len, screen.splitlines())) <= 80
    assert "ucb laplace" in screen
    page = (drawn / "out" / "report.html").read_text()
    assert "ucb, no privacy" in page
    assert not re.findall(r"(?:src|href)\s*=\s*[\"'](?!#)", page)
    assert (drawn / "out" / "frontier.png").read_bytes().startswith(b"\x89PNG")
    with (drawn / "out" / "frontier.csv").open() as file:
        assert [row["epsilon"] for row in csv.DictReader(file)] == ["1.0", "4.0"] * 2 + [""] * 2


def test_a_frontier_goes_on_where_it_was(drawn: Path):
    kept = sorted((drawn / "out").glob("*/cells/*.npz"))
    assert len(kept) == 2 * 2 + 2
    kept[0].unlink()
    before = [file.stat().st_mtime_ns for file in kept[1:]]
    assert typed("frontier", *SMALL_FRONTIER, "--out", "out", cwd=drawn) == (drawn / "screen.txt").read_text()
    assert kept[0].exists()
    assert [file.stat().st_mtime_ns for file in kept[1:]] == before
