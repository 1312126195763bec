"""Every command of the readme and of the manual is typed: as it stands, or smaller by the rules of one table."""

import contextlib
import importlib
import io
import re
import runpy
import shlex
import shutil
import sys
from argparse import ArgumentParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest

from catalogue import made_up_ratings
from manual import FOLLOWED, OPERATED, OWN_TEST, PAGES, ROOT, Block, assert_alike, blocks, listed
from sottovoce.cli import main
from sottovoce.lab.study.cells import Cell

STUDY = {"--rounds": "20", "--seeds": "2", "--epsilon": "1"}
SMALLER: dict[str, dict[str, str | None]] = {
    "simulate": STUDY,
    "sweep": STUDY | {"--on": "local", "--workers": "1"},
    "frontier": STUDY | {"--learner": "thompson"},
    "choose": {"--rounds": "20", "--epsilon": "1", "--learner": "thompson"},
    "choose --world linear": {"--rounds": "20", "--epsilon": "1", "--learner": "scale-free"},
    "choose --arms 5": {"--rounds": "20", "--epsilon": "1", "--learner": "top-two"},
    "plan": {"--rounds": "20", "--epsilon": "1"},
    "try": {"--people": "100", "--seeds": "1", "--epsilon": "4"},
    "audit": {"--trials": "1000", "--workers": "1"},
    "audit --all": {"--all": None, "--mechanism": "levels", "--trials": "1000", "--workers": "1"},
    "reproduce movielens": STUDY,
    "reproduce movielens --replay": {},
    "reproduce movielens --apart": {"--rounds": "20"},
    "reproduce table1": {"--quick": None, "--row": "one-point-convex", "--json": "table1.json"},
}
"""What is put in place of an option, or added, so that a command ends in a second or two; None leaves an option out.
The longest beginning that fits counts. A command whose beginning is not here is typed as it stands. Two
commands that are the same when smaller run once. Of a study only the learner and uniform play are run; its published
form and no privacy are in tests/conformance."""

SMALL_FILES = {
    r"^(rounds|horizon) = .*$": r"\1 = 20",
    r"^seeds = .*$": "seeds = 2",
    r"^epsilon = \[.*$": "epsilon = [1.0]",
    r'^world = \["([\w-]+)".*$': r'world = ["\1"]',
}
"""Lines of study and task files, and what is put in their place."""
IN_A_FILE = ("--rounds", "--seeds", "--epsilon")
"""Options that a file already says."""

TABLES = {
    "customers.csv": "age,member,plan\n" + "20,yes,small\n30,no,large\n" * 20,
    "log.csv": "age,shown,clicked,probability\n" + "20,a,1,0.5\n30,b,0,0.5\n" * 20,
}
"""The tables of docs/try.md; the first two lines of the first are printed there."""

NEED_A_SERVER = [["sottovoce", name] for name in ("devices", "inspect", "serve", "task")]
"""A page that is followed must have the same line: tests/server/test_manual.py types it."""

RUN_BEFORE: dict[str, str] = {}
"""What the smaller commands printed."""

MADE = {
    "make setup": "Makefile",
    "make demo": "tests/server/test_quick_start.py",
    "make newsroom": "tests/browser/test_newsroom.py",
    "make test": "tests",
    "make check": "Makefile",
    "make bench": "benchmarks",
    "make scale": "benchmarks",
    "make gpu": "tests/gpu.py",
    ". .venv/bin/activate": "Makefile",
    "pip install": "pyproject.toml",
    "python -m pip install": "tests/soak/test_movielens.py",
}
"""Commands around the tests, not in them: they install this package, or run all tests. Beside each where it is done."""


ALONE = [page for page in PAGES if page.relative_to(ROOT).as_posix() not in {*FOLLOWED, *OPERATED}]
"""The pages whose commands need no server."""


def with_commands() -> list[Any]:
    return [pytest.param(page, id=str(page.relative_to(ROOT))) for page in ALONE if lines_of(page)]


def lines_of(page: Path) -> list[tuple[list[str], Block]]:
    """Every command line of a page, without the prompt and without comments, and its block."""
    lines = [(line, block) for block in blocks(page) if block.kind == "console" for line in block.text.splitlines()]
    split = [(shlex.split(line.removeprefix("$ "), comments=True), block) for line, block in lines]
    return [(words, block) for words, block in split if words]


def rule_for(words: list[str]) -> dict[str, str | None]:
    """The rule with the longest beginning that fits; none for a command that is typed as it stands."""
    fitting = [start for start in SMALLER if f"{' '.join(words)} ".startswith(f"{start} ")]
    return SMALLER[max(fitting, key=len)] if fitting else {}


def smaller(words: list[str]) -> list[str]:
    """The command by its rule; beside a file only what the file does not say.

    >>> smaller("simulate --learner ucb --rounds 30000".split())
    ['simulate', '--learner', 'ucb', '--rounds', '20', '--seeds', '2', '--epsilon', '1']
    """
    rule, kept, rest = rule_for(words), [], iter(words)
    for word in rest:
        if word not in rule:
            kept.append(word)
        elif rule[word] is not None:
            next(rest)
    file = any(word.endswith(".toml") for word in words)
    said = {name: value for name, value in rule.items() if value and not (file and name in IN_A_FILE)}
    return kept + [part for pair in said.items() for part in pair]


def shrink(folder: Path) -> None:
    """Make the numbers of every study and task file in a folder small."""
    for file in folder.rglob("*.toml"):
        text = file.read_text()
        for pattern, smaller_line in SMALL_FILES.items():
            text = re.sub(pattern, smaller_line, text, flags=re.MULTILINE)
        file.write_text(text)


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder with the files that commands name: experiments, tables, and ratings that nobody gave."""
    shutil.copytree(ROOT / "experiments", tmp_path / "experiments")
    for name, text in TABLES.items():
        (tmp_path / name).write_text(text)
    data = made_up_ratings(tmp_path / "ml-100k" / "u.data")
    ratings = importlib.import_module("sottovoce.sim.ratings")
    monkeypatch.setattr(ratings, "_in_recbole", lambda: data)
    monkeypatch.setattr(ratings, "_recbole", lambda: "nothing real")
    small_tables(monkeypatch)
    studies = importlib.import_module("sottovoce.cli.simulate")
    whole = studies.run
    few = lambda study, cells, *others, **options: whole(study, [*filter(needed, cells)], *others, **options)  # noqa: E731
    monkeypatch.setattr(studies, "run", few)
    audit, here = (importlib.import_module(f"sottovoce.lab.audit.{name}") for name in ("run", "processes"))
    monkeypatch.setattr(audit, "draw_afresh", here.draw)  # a hundred processes: tests/privacy/test_audit.py has them
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


def needed(cell: Cell) -> bool:
    return cell.role in ("chosen", "uniform")


def small_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Table 1 of one row at three tiny sizes, and bounds of one theorem."""
    rows, bounds = (importlib.import_module(f"sottovoce.lab.{name}") for name in ("table1.rows", "bounds.measure"))
    tiny = {"presets": ("practical",), "horizons": (10, 20, 40), "epsilon_size": 20.0, "epsilons": (1.0, 2.0, 4.0)}
    few = [msgspec.structs.replace(row, **tiny) for row in rows.ROWS if row.name == "one-point-convex"]
    monkeypatch.setattr(rows, "ROWS", few)
    for name, value in {"ROUNDS": 20, "SEEDS": 4, "BOXES": bounds.BOXES[:1]}.items():
        monkeypatch.setattr(bounds, name, value)


@pytest.mark.parametrize("page", with_commands())
def test_the_commands_of_a_page_run(page: Path, workplace: Path, monkeypatch: pytest.MonkeyPatch):
    """In order, in one folder. What stands below a command is what it prints: all of it, or its headings."""
    printed: dict[Block, str] = {}
    shortened = set()
    for words, block in lines_of(page):
        shrink(workplace)
        printed[block] = printed.get(block, "") + run(words, monkeypatch)
        if rule_for(words[1:]):
            shortened.add(block)
    for block in blocks(page):
        if block.kind != "text" or block.before not in printed or listed(block, OWN_TEST):
            continue
        if block.before in shortened:
            assert headings_of(block.text) <= headings_of(printed[block.before]), block.place
        else:
            assert_alike(printed[block.before], block.text)


def run(words: list[str], monkeypatch: pytest.MonkeyPatch) -> str:
    """Type one command; what it prints."""
    typed, said = shlex.join(words), io.StringIO()
    if any(typed.startswith(start) for start in MADE):
        return ""
    if words[:2] in NEED_A_SERVER:
        assert words in [line for page in FOLLOWED for line, _ in lines_of(ROOT / page)], (
            f"no page is followed: {typed}"
        )
        return ""
    arguments = smaller(words[1:])
    if shlex.join(arguments) in RUN_BEFORE:
        return RUN_BEFORE[shlex.join(arguments)]
    with contextlib.redirect_stdout(said):
        if words[0] == "sottovoce":
            monkeypatch.setattr(sys, "argv", ["sottovoce", *arguments])
            with pytest.raises(SystemExit) as left:
                main()
            # 1: a wish that was not reached, which a smaller run may well miss; 2 would be a refusal.
            assert left.value.code in (0, None) or (left.value.code == 1 and rule_for(words[1:])), typed
        elif words[:3] == ["python", "-m", "pydoc"]:
            importlib.import_module("pydoc").help(words[3])
        else:
            assert words[0] == "python", f"no rule for: {typed}"
            understood(words[1:], monkeypatch)
    if rule_for(words[1:]):
        RUN_BEFORE[shlex.join(arguments)] = said.getvalue()
    return said.getvalue()


def understood(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A script of experiments is loaded and reads its options, up to the first number; `make soak` runs it."""

    class ReadToTheEnd(Exception):
        pass

    def read(self: ArgumentParser, *arguments: Any) -> None:
        real(self, *arguments)
        raise ReadToTheEnd

    real, script = ArgumentParser.parse_args, ROOT / words[0]
    with monkeypatch.context() as patch:
        patch.setattr(ArgumentParser, "parse_args", read)
        patch.setattr(sys, "argv", [str(script), *words[1:]])
        patch.syspath_prepend(str(script.parent))
        with pytest.raises(ReadToTheEnd):
            runpy.run_path(str(script), run_name="__main__")


def headings_of(text: str) -> set[str]:
    r"""The words above a rule, which name the columns of a table.

    >>> headings_of("who  0.5    1\n─────────────\nucb    3    2\n")
    {'who'}
    """
    lines = text.splitlines()
    above = [line for line, rule in pairwise(lines) if re.fullmatch(r" ?─+ ?", rule)]
    return {" ".join(word for word in line.split() if not word[0].isdigit()) for line in above}


@pytest.mark.parametrize(
    "words", ["simulate --learner linucv", "simulate --lerner ucb", "simulate experiments/no.toml"]
)
def test_a_command_that_is_refused_is_noticed(words: str, workplace: Path, monkeypatch: pytest.MonkeyPatch):
    page = workplace / "page.md"
    page.write_text(f"```console\n$ sottovoce {words}\n```\n")
    with pytest.raises(AssertionError):
        test_the_commands_of_a_page_run(page, workplace, monkeypatch)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_make_target_that_is_named_exists(page: Path):
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    inline = re.findall(r"`make ([a-z]+)`", page.read_text(encoding="utf-8"))
    lines = [words[1] for words, _ in lines_of(page) if words[0] == "make"]
    assert set(inline + lines) <= targets
    assert all((ROOT / place).exists() for place in MADE.values())
