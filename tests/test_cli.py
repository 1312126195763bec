"""The command line as a person types it, and the JSON that programs read."""

import contextlib
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import sottovoce as sottovoce_package
from catalogue import made_up_ratings
from sottovoce.catalogue.algorithms import GUIDE, algorithms
from sottovoce.cli import every_command, main
from sottovoce.cli.output import say, table_of, words
from sottovoce.protocol.errors import ConfigurationError, UnknownName

SIMULATE_FIELDS = {
    "role", "learner", "preset", "mechanism", "world", "dimension", "arms", "options", "epsilon", "delta", "rounds",
    "seeds", "publish_every", "regret", "regret_low", "regret_high", "seconds",
}  # fmt: skip
SMALL = ("--learner", "tsallis-inf", "--arms", "3", "--rounds", "300", "--seeds", "2")


def refused(*arguments: str) -> str:
    """What the command says when it refuses; in this process, which is faster than in one of its own."""
    said = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stderr(said):
        patch.setattr(sys, "argv", ["sottovoce", *arguments])
        patch.setenv("COLUMNS", "80")
        patch.setenv("NO_COLOR", "1")
        with pytest.raises(SystemExit) as left:
            main()
    assert left.value.code == 2
    return said.getvalue()


def sottovoce(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run the command in a terminal of 80 columns."""
    environment = os.environ | {"COLUMNS": "80", "NO_COLOR": "1"}
    command = [sys.executable, "-m", "sottovoce", *arguments]
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=300, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def typed(*words: str, cwd: Path | None = None) -> str:
    """What the command prints in a terminal of 80 columns; in this process, which is faster than in one of its own."""
    said = io.StringIO()
    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.redirect_stdout(said),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        patch.setattr(sys, "argv", ["sottovoce", *words])
        patch.setenv("COLUMNS", "80")
        patch.setenv("NO_COLOR", "1")
        patch.chdir(cwd or Path.cwd())
        with pytest.raises(SystemExit) as left:
            main()
    assert not left.value.code
    return said.getvalue()


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which one small study was run."""
    folder = tmp_path_factory.mktemp("study")
    done = sottovoce(
        "simulate", *SMALL, "--epsilon", "1", "--epsilon", "4", "--out", "out", "--json", "o.json", cwd=folder
    )
    (folder / "screen.txt").write_text(done.stdout)
    return folder


def test_the_catalogue_lists_every_algorithm_as_json_too(tmp_path: Path):
    said = typed("algorithms", "--json", "a.json", cwd=tmp_path)
    rows = json.loads((tmp_path / "a.json").read_text())["rows"]
    assert {row["name"] for row in rows} == set(algorithms())
    fields = {"name", "setting", "paper", "algorithm", "bound", "presets", "departures", "trust"}
    assert all(set(row) == fields for row in rows)
    assert all(name in said for name in algorithms())


def test_a_simulation_compares_four_roles_and_keeps_its_json_contract(small: Path):
    rows = json.loads((small / "o.json").read_text())["rows"]
    assert [row["role"] for row in rows] == ["chosen", "chosen", "paper", "paper", "non-private", "uniform"]
    assert [row["epsilon"] for row in rows] == [1.0, 4.0, 1.0, 4.0, None, None]
    for row in rows:
        assert set(row) >= SIMULATE_FIELDS
        assert row["regret_low"] <= row["regret"] <= row["regret_high"]
        assert (row["rounds"], row["seeds"], row["arms"], row["world"]) == (300, 2, 3, "arms")
    assert [row["delta"] for row in rows[:4]] == [0.0, 0.0, 1e-5, 1e-5]


def test_the_table_fits_the_screen_and_names_everybody(small: Path):
    screen = (small / "screen.txt").read_text()
    assert max(map(len, screen.splitlines())) <= 80
    assert "…" not in screen
    for name in ("practical", "paper", "no privacy", "uniform play", "report: out/report.html"):
        assert name in screen


def test_the_report_is_one_page_that_needs_nothing_else(small: Path):
    page = (small / "out" / "report.html").read_text()
    assert page.index("class='verdict'") < page.index("<svg")
    assert "Made by <code>sottovoce simulate --learner tsallis-inf" in page
    assert not re.findall(r"(?:src|href)\s*=\s*[\"'](?!#)", page)
    assert not re.findall(r"url\((?![\"']?#)", page)
    assert (small / "out" / "regret.png").read_bytes().startswith(b"\x89PNG")


def test_a_results_folder_says_what_was_run_with_what(small: Path):
    manifest = json.loads((small / "out" / "manifest.json").read_text())
    assert manifest["study"]["rounds"] == 300
    assert manifest["study"]["seed"] == 0
    assert {"sottovoce", "jax", "numpy", "python"} <= set(manifest["versions"])
    lines = (small / "out" / "traces.csv").read_text().splitlines()
    assert lines[0] == "role,world,epsilon,seed,rounds,regret"
    assert len(lines) == 1 + 6 * 2 * 100


def test_an_interrupted_study_goes_on_where_it_was(small: Path):
    """Two curves are lost, one is torn: exactly those are run again, with the same result."""
    before = json.loads((small / "o.json").read_text())["rows"]
    cells = small / "out" / "cells"
    (cells / "arms-uniform.npz").unlink()
    torn = cells / "arms-paper-epsilon-1.npz"
    torn.write_bytes(torn.read_bytes()[:100])
    kept = (cells / "arms-non-private.npz").stat().st_mtime_ns
    done = sottovoce(
        "simulate", *SMALL, "--epsilon", "1", "--epsilon", "4", "--out", "out", "--json", "p.json", cwd=small
    )
    assert "4 of 6 curves are in out" in done.stderr
    after = json.loads((small / "p.json").read_text())["rows"]
    assert [row["regret"] for row in after] == pytest.approx([row["regret"] for row in before])
    assert (cells / "arms-non-private.npz").stat().st_mtime_ns == kept


def test_a_study_can_be_a_file(tmp_path: Path):
    (tmp_path / "study.toml").write_text(
        'learner = "ucb"\narms = 4\nepsilon = [4.0]\nrounds = 200\nseeds = 2\n'
        "options = { gap = 0.3 }\ntuning = { exploration = 0.5 }\n"
    )
    typed("simulate", "study.toml", "--json", "o.json", "--parquet", cwd=tmp_path)
    rows = json.loads((tmp_path / "o.json").read_text())["rows"]
    assert rows[0]["options"] == {"gap": 0.3}
    assert list(tmp_path.glob("results/*/traces.parquet"))


def test_movielens_is_run_at_honest_budgets_beside_the_published_one(tmp_path: Path):
    made_up_ratings(tmp_path / "ml-100k" / "ua.base")
    small = ("--data", "ml-100k", "--movies", "6", "--rank", "6", "--epsilon", "4", "--rounds", "200", "--seeds", "2")
    said = typed("reproduce", "movielens", *small, "--rotate", "3", "--out", "out", "--json", "o.json", cwd=tmp_path)
    rows = json.loads((tmp_path / "o.json").read_text())["rows"]
    assert [(row["role"], row["epsilon"]) for row in rows] == [
        ("chosen", 4.0), ("non-private", None), ("uniform", None), ("paper", 4.0), ("paper", 800_000.0),
    ]  # fmt: skip
    assert [row["learner"] for row in rows] == ["scale-free", "scale-free", "uniform", "linucb", "linucb"]
    assert rows[0]["options"] == {"scale": "authors", "path": "ml-100k", "rotate": 3}
    screen = " ".join(said.split())
    assert "Harper and J. A. Konstan" in screen
    assert "Without any report: always the longest feature loses" in screen
    assert max(map(len, said.splitlines())) <= 80
    page = (tmp_path / "out" / "report.html").read_text()
    assert "Harper and J. A. Konstan" in page
    assert "paper, epsilon 800000, delta 0.1</b>: gaussian" in page
    assert "does not keep it" in page


def test_the_published_run_is_replayed(tmp_path: Path):
    made_up_ratings(tmp_path / "ua.base")
    small = ("--data", "ua.base", "--movies", "6", "--rank", "6", "--rounds", "120")
    said = typed("reproduce", "movielens", *small, "--replay", "--json", "o.json", cwd=tmp_path)
    rows = json.loads((tmp_path / "o.json").read_text())["rows"]
    assert [row["step"] for row in rows] == [0, 1, 2, 3, 4, 9, 99, 119]
    assert "epsilon 800000, delta 0.1, which protects nobody" in said
    assert "Harper" in said
    typed("reproduce", "movielens", *small, "--apart", "--json", "o.json", cwd=tmp_path)
    apart = json.loads((tmp_path / "o.json").read_text())["rows"]
    assert apart[0]["alone"] == rows[-1]["regret"]
    assert apart[1]["alone"] == apart[1]["with_those_above"]
    assert apart[3]["alone"] > apart[0]["alone"]  # the bonus with its square root explores for longer


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            ("reproduce", "movielens", "--data", "nowhere"),
            "nowhere holds neither ua.base nor u.data; MovieLens 100K is",
        ),
        (
            ("simulate", "--learner", "linucb", "--dimension", "4", "--data", "x"),
            "unknown option of world linear 'path'",
        ),
        (("simulate",), "name a study file or a --learner"),
        (("simulate", "--learner", "linucv"), "unknown learner 'linucv'; choose one of"),
        (("simulate", "--learner", "linucb"), "needs a dimension of at least 1, got 0"),
        (
            ("simulate", "--learner", "linucb", "--world", "arms"),
            "linucb chooses among features; world 'arms' offers arms",
        ),
        (("simulate", "--learner", "kl-ucb", "--epsilon", "-1"), "epsilon must be a positive finite number, got -1.0"),
        (("simulate", "--learner", "kl-ucb", "--preset", "best"), "unknown preset of kl-ucb 'best'"),
        (("simulate", "--learner", "kl-ucb", "--tune", "c"), "expected NAME=VALUE, got 'c'"),
        (
            ("simulate", "--learner", "kl-ucb", "--tune", "c=1"),
            "unknown tuning of kl-ucb 'c'; choose one of: exploration",
        ),
        (
            ("simulate", "--learner", "fkm", "--dimension", "2", "--option", "motion=mad"),
            "unknown motion 'mad'; choose one of: alternating, drifting, fixed, switching",
        ),
        (("simulate", "--learner", "fkm", "--dimension", "2", "--arms", "3"), "leave arms out (got 3)"),
        (("simulate", "nowhere.toml"), "cannot read nowhere.toml"),
        (("simulate", "nowhere.toml", "--epsilon", "2"), "--epsilon cannot be combined with a study file"),
        (("simulate", "--learner", "kl-ucb", "--gap", "2"), "gap must be above 0 and at most 1, got 2"),
        (("plan", "--learner", "kl-ucb", "--gap", "0"), "gap must be above 0 and at most 1, got 0"),
        (("simulate", "--learner", "kl-ucb", "--gap", "0.8"), "gap 0.8 and reward 0.5 make more than 1"),
        (
            ("simulate", "--learner", "kl-ucb", "--option", "gpa=0.1"),
            "'gpa'; choose one of: alpha, gap, reward, rewards",
        ),
        (("simulate", "--learner", "kl-ucb", "--option", "gpa=0.1"), "(did you mean gap?)"),
        (("simulate", "--learner", "kl-ucb", "--option", "arms=4"), "arms is no option of a world"),
        (("simulate", "--learner", "kl-ucb", "--tune", "arm=4"), "(did you mean arms?)"),
        (("simulate", "--learner", "kl-ucb", "--world", "lineer"), "(did you mean linear?)"),
        (("plan", "--learner", "kl-ucb", "--world", "movielens"), "chooses among arms; world 'movielens' offers"),
        (
            ("plan", "--learner", "linucb", "--world", "digits", "--arms", "12", "--dimension", "24"),
            "world digits has 2 to 10 arms, got 12",
        ),
        (("plan", "--learner", "oful", "--dimension", "3"), "oful sees raw data"),
        (("audit",), "say what to audit: a task file, --all or --mechanism NAME"),
        (("algorithms", "--setting", "quantum"), "no setting contains 'quantum'; the settings are"),
    ],
    ids=lambda part: " ".join(part) if isinstance(part, tuple) else "",
)
def test_what_cannot_work_is_refused_in_one_sentence(arguments: tuple[str, ...], says: str):
    said = refused(*arguments)
    assert says in " ".join(said.split())
    assert "Traceback" not in said


def one_sentence(said: str) -> str:
    assert "Traceback" not in said
    return " ".join(said.split())


def test_results_that_cannot_be_written_are_refused_before_anything_is_computed(tmp_path: Path):
    file = tmp_path / "file"
    file.write_text("mine")
    assert "as the folder of results: it is a file" in one_sentence(refused("simulate", *SMALL, "--out", str(file)))
    below = one_sentence(refused("simulate", *SMALL, "--out", str(file / "below")))
    assert "as the folder of results: Not a directory" in below
    assert "cannot write" in one_sentence(refused("simulate", *SMALL, "--json", str(file / "rows.json")))
    assert "Is a directory" in one_sentence(refused("plan", *SMALL[:2], "--json", str(tmp_path)))
    assert "it is a file" in one_sentence(refused("reproduce", "table1", "--out", str(file)))
    assert file.read_text() == "mine"
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize(
    ("package", "words", "extra"),
    [
        ("pyarrow", ("simulate", *SMALL, "--parquet", "--out", "out"), "parquet"),
        ("ray", ("sweep", *SMALL, "--on", "ray", "--out", "out"), "ray"),
        ("jax", ("simulate", *SMALL), "sim"),
        ("rich", ("algorithms",), "sim"),
        ("granian", ("serve",), "server"),
    ],
)
def test_a_missing_package_is_named_with_the_extra_that_brings_it(
    package: str, words: tuple[str, ...], extra: str, tmp_path: Path
):
    """In a process that cannot import the package; the square brackets must survive."""
    program = (
        f"import sys; sys.modules[{package!r}] = None; sys.argv = ['sottovoce', *{words!r}]\n"
        "from sottovoce.cli import main; main()"
    )
    environment = os.environ | {"COLUMNS": "200", "NO_COLOR": "1", "SOTTOVOCE_ADMIN_TOKEN": "t" * 32}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=60, env=environment
    )
    assert done.returncode == 2, done.stderr
    wanted = f"{package} is not installed; this command needs it: pip install 'sottovoce[{extra}]'"
    assert wanted in one_sentence(done.stderr)


def test_a_study_file_with_a_wrong_field_or_letter_says_what_may_be_meant(tmp_path: Path):
    file = tmp_path / "study.toml"
    file.write_text('lerner = "ucb"\n')
    said = one_sentence(refused("simulate", str(file)))
    assert "unknown field of" in said
    assert "(did you mean learner?)" in said
    file.write_text('learner = "ucb"\n', encoding="utf-16")
    assert "it is not a text in UTF-8" in one_sentence(refused("plan", str(file)))
    file.write_text("")
    assert "missing required field `learner`" in one_sentence(refused("plan", str(file)))
    file.write_text('id = "x"\n')
    assert "is a live task, not a study; `sottovoce plan" in one_sentence(refused("simulate", str(file)))


def test_the_page_says_of_every_row_who_saw_what(small: Path):
    page = (small / "out" / "report.html").read_text()
    assert "In the rows with a promise the server saw noisy reports only." in page
    assert "In the row “no privacy” it saw raw data" in page


def test_a_best_arm_study_shows_its_answers_before_its_regret(tmp_path: Path):
    small = ("--learner", "sequential-halving", "--arms", "3", "--rounds", "60", "--seeds", "2", "--epsilon", "20")
    said = typed("simulate", *small, "--out", str(tmp_path / "out"))
    assert "Epsilon 20 is simulated only: devices refuse a report above epsilon 12." in " ".join(said.split())
    page = (tmp_path / "out" / "report.html").read_text()
    assert page.index("The answers") < page.index("Lift and regret")
    assert page.index("share of runs with the right answer") < page.index("cumulated regret")
    assert (tmp_path / "out" / "answers.png").read_bytes().startswith(b"\x89PNG")


def test_the_version_the_settings_and_the_advice_are_printed():
    assert typed("--version").strip() == f"sottovoce {sottovoce_package.__version__}"
    convex = typed("algorithms", "--setting", "Convex")
    assert "fkm" in convex
    assert "linucb" not in convex.split("Which one should I use?")[0]
    assert {advice.learner for advice in GUIDE} <= set(algorithms())


def helps() -> dict[str, str]:
    """What `--help` shows of every command, by its words."""
    shown, waiting = {}, [((), every_command())]
    for words_before, command in waiting:
        waiting += [((*words_before, name), below) for name, below in getattr(command, "commands", {}).items()]
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            command.main(["--help"], standalone_mode=False)
        shown[" ".join(words_before)] = said.getvalue()
    return shown


def test_the_help_of_every_command_says_what_to_type_and_names_no_type_of_python(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "120")
    shown = helps()
    assert len(shown) > 35
    for command, text in shown.items():
        assert not re.search(r"<\w|\b(str|int|float|bool)\b|list\[|\[\[", text), (command, text)
        options = [line.strip("│* ").split() for line in text.splitlines() if line.strip("│* ").startswith("--")]
        assert all(len(line) > 2 for line in options), (command, text)  # each has a sentence
    assert "--epsilon              NUMBER      Budget of one report; may be repeated." in shown["simulate"]
    assert "[OPTIONS] [STORE]" in shown["store migrate"]


def test_the_package_lists_what_it_loads_later():
    assert {"simulate", "halves", "Trace", "calibrate"} <= set(dir(sottovoce_package))


def test_a_wrong_keyword_and_a_bare_number_are_named_first():
    with pytest.raises(UnknownName, match=r"'dim'.*did you mean dimension\?"):
        sottovoce_package.task("linucb", dim=4, arms=3, rounds=10, epsilon=1.0)
    with pytest.raises(UnknownName, match=r"'n_arms'.*did you mean arms\?"):
        sottovoce_package.task("ucb", n_arms=3, rounds=10, epsilon=1.0)
    with pytest.raises(
        ConfigurationError, match=r"give a budget, as in calibrate\('levels', domain, budget\(1.0\)\), got 1.0"
    ):
        sottovoce_package.calibrate("levels", sottovoce_package.Interval(), 1.0)


def test_the_table_is_shown_before_figures_are_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Loading what draws takes a good part of a second: nobody waits for it before the first result."""

    def write_report(folder: Path, *_: object) -> Path:
        print("now the figures")
        return folder / "report.html"

    monkeypatch.setattr("sottovoce.lab.study.page.write_report", write_report)
    said = typed("simulate", *SMALL, cwd=tmp_path)
    assert said.index("uniform play") < said.index("now the figures")


@pytest.mark.parametrize(
    "command", ["simulate", "frontier", "choose", "try iris", "reproduce movielens", "reproduce bounds"]
)
def test_every_command_that_simulates_takes_a_device_before_anything_else(command: str):
    said = refused(*command.split(), "--device", "tpu")
    assert "device" in said
    assert "cpu, gpu" in said


def test_a_device_can_be_named_and_the_folder_of_results_does_not_ask_which_it_was(tmp_path: Path):
    named = typed("simulate", *SMALL, "--out", "here", "--device", "cpu", cwd=tmp_path)
    made = {file.name: file.stat().st_mtime_ns for file in (tmp_path / "here" / "cells").iterdir()}
    assert typed("simulate", *SMALL, "--out", "here", cwd=tmp_path) == named
    assert {file.name: file.stat().st_mtime_ns for file in (tmp_path / "here" / "cells").iterdir()} == made


def test_words_of_others_are_shown_as_they_are_and_command_no_terminal(capsys: pytest.CaptureFixture[str]):
    """Names of tasks and actions come from a file or a server; brackets are no markup there."""
    for name in ("Buy [new]", "[/]", "a :smile:"):
        say(table_of(name, words(name), rows=[[name]]))
        assert capsys.readouterr().out.count(name) == 3
    say("\x1b[2J\x9b31m\ttabulators stay", wrap=False)
    assert capsys.readouterr().out.startswith("\ufffd[2J\ufffd31m")
