"""The manual is true: its Python runs and prints what it says, its commands parse, its catalogue is current."""

import contextlib
import importlib
import io
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pytest

from catalogue import made_up_ratings
from sottovoce.catalogue.algorithms import Algorithm, algorithms
from sottovoce.cli import main
from sottovoce.engine.complete import complete
from sottovoce.lab.movielens.replay import Replay
from sottovoce.lab.study.cells import Cell, CellResult, cells_of, run_cells
from sottovoce.lab.study.file import Study
from sottovoce.learners import LEARNERS
from sottovoce.sim.halves import halves

ROOT = Path(__file__).resolve().parents[1]
LIVE = ROOT / "docs" / "live.md"
FOLLOWED = (LIVE, ROOT / "docs" / "openfeature.md", ROOT / "docs" / "backend.md")
"""Their commands and their Python need a server: tests/server/test_manual.py follows them line by line."""
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


TRIED = {
    "customers.csv": "age,member,plan\n20,yes,small\n30,no,large\n",
    "log.csv": "age,shown,clicked,probability\n20,a,1,0.5\n30,b,0,0.5\n",
}
"""The tables of docs/try.md."""
NEED_A_SERVER = [["sottovoce", name] for name in ("devices", "inspect", "serve", "task")]


class Block(NamedTuple):
    """A fenced block: what follows the fence, the text, and the line it starts in."""

    kind: str
    text: str
    line: int


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    fences = re.finditer(r"^```([^\n`]*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [Block(found[1].strip(), found[2], text.count("\n", 0, found.start()) + 2) for found in fences]


def with_blocks(*kinds: str) -> list[Any]:
    """The pages that have blocks of these kinds."""
    found = [page for page in PAGES if page not in FOLLOWED and any(block.kind in kinds for block in blocks(page))]
    return [pytest.param(page, id=str(page.relative_to(ROOT))) for page in found]


def commands(page: Path) -> list[list[str]]:
    """Every command line of the page, without the prompt and without comments."""
    lines = [line for block in blocks(page) if block.kind == "console" for line in block.text.splitlines()]
    split = (shlex.split(line.removeprefix("$ "), comments=True) for line in lines)
    return [words for words in split if words and not (words[0] == "export" or "=" in words[0])]


# --- Python ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", with_blocks("python"))
def test_the_python_of_a_page_runs_and_prints_what_stands_below_it(page: Path, tmp_path: Path, monkeypatch: Any):
    """A page is one program. A `text` block right after a `python` block is what that block prints."""
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {"__name__": "__main__"}
    every = blocks(page)
    for block, following in zip(every, [*every[1:], None], strict=True):
        if block.kind == "python":
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile("\n" * (block.line - 1) + block.text, str(page), "exec"), namespace)
            if following and following.kind == "text":
                assert_alike(printed.getvalue(), following.text)


def assert_alike(printed: str, written: str) -> None:
    """The same words, and numbers within a tenth: another processor may round a number and meet other luck."""
    number = r"(?<![\w.])-?\d+(?:,\d{3})*(?:\.\d+)?(?:e-?\d+)?"
    assert re.sub(number, "#", printed).split() == re.sub(number, "#", written).split(), printed
    both = ([float(found.replace(",", "")) for found in re.findall(number, text)] for text in (printed, written))
    for ours, theirs in zip(*both, strict=True):
        assert ours == pytest.approx(theirs, rel=0.1), printed


def test_two_outputs_are_alike_only_if_words_and_numbers_are():
    assert_alike("regret 1,531; 15 of 16\n", "regret 1540;  15 of 16")
    for other in ("regret 1,931; 15 of 16", "loss 1,531; 15 of 16", "regret 1,531; 15 of 16 seeds"):
        with pytest.raises(AssertionError):
            assert_alike("regret 1,531; 15 of 16", other)


def test_a_block_that_is_not_run_is_not_there():
    """Every Python block is run. One that cannot be would have to be marked, and its page to say why."""
    assert not [page for page in PAGES for block in blocks(page) if block.kind.startswith("python ")]


def test_the_skeleton_for_contributors_is_an_algorithm(monkeypatch: pytest.MonkeyPatch):
    """One file, one line, one table, and it learns: less than half of what uniform play loses. Fixed seeds."""
    code, numbers = (
        next(block.text for block in blocks(ROOT / "CONTRIBUTING.md") if block.kind == kind)
        for kind in ("python", "toml")
    )
    namespace: dict[str, Any] = {"__name__": "skeleton"}
    exec(code, namespace)
    monkeypatch.setitem(algorithms(), "greedy", msgspec.convert(tomllib.loads(numbers), Algorithm))
    monkeypatch.setitem(LEARNERS, "greedy", namespace["build"])
    study = Study(learner="greedy", arms=4, epsilon=[4.0], rounds=2000, seeds=8)
    cells = {cell.role: cell for cell in cells_of(study)}
    assert set(cells) == {"chosen", "published", "non-private", "uniform"}
    (curve,) = run_cells(study, [cells["chosen"]])
    uniform = 0.15 * study.rounds  # three arms of four lose 0.2
    assert curve.regret[:, -1].mean() < uniform / 2


# --- commands --------------------------------------------------------------------------------------------------------


def nothing_is_tried(question: Any, epsilon: Any, seeds: int, progress: Any) -> Any:
    """Where `sottovoce try` would start to compute."""
    raise SystemExit(0)


def nothing_is_drawn(jobs: Any, fresh: bool) -> Any:
    """Where `sottovoce frontier` would start to compute."""
    raise SystemExit(0)


def nothing_happens(study: Study, cells: list[Cell], *_: Any) -> Iterator[CellResult]:
    """What a plan or a choice would compute: nobody loses anything but uniform play."""
    seeds = np.ones(study.seeds)
    for cell in cells:
        lost = seeds[:, None] * (cell.role == "uniform")
        correct = seeds > 0 if complete(halves(cell.task).learner).stops else None
        yield CellResult(cell, np.array([study.rounds]), lost, 0.0, seeds, seeds > 0, correct)


@pytest.mark.parametrize("page", with_blocks("console", "bash"))
def test_the_commands_of_a_page_are_understood(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Every line goes through the real command line up to the point where it would start to compute."""
    understood = []
    simulate, audit = (importlib.import_module(f"sottovoce.{name}") for name in ("cli.simulate", "cli.audit"))
    monkeypatch.setattr(simulate, "run", lambda study, *_, **__: understood.extend(cells_of(study)))
    monkeypatch.setattr(audit, "audit_all", lambda subjects, *_, **__: understood.extend(subjects) or iter(()))
    monkeypatch.setattr(simulate, "run_jobs", nothing_is_drawn)
    for name in ("plan", "choosing.choose"):
        monkeypatch.setattr(importlib.import_module(f"sottovoce.lab.{name}"), "run_cells", nothing_happens)
    monkeypatch.setattr(importlib.import_module("sottovoce.lab.try_data.trial"), "trial_of", nothing_is_tried)
    for name in ("table1", "bounds"):
        measure = importlib.import_module(f"sottovoce.lab.{name}.measure")
        monkeypatch.setattr(measure, "measure", lambda *_, **__: iter(()))
    data = made_up_ratings(tmp_path / "ml-100k" / "u.data")
    for name, text in TRIED.items():
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(importlib.import_module("sottovoce.sim.ratings"), "_in_recbole", lambda: data)
    monkeypatch.setattr(importlib.import_module("sottovoce.sim.ratings"), "_recbole", lambda: "nothing real")
    still = lambda features, theta, rounds, *_: Replay(np.zeros(rounds), np.zeros(rounds))  # noqa: E731
    monkeypatch.setattr(importlib.import_module("sottovoce.lab.movielens.replay"), "replay", still)
    shutil.copytree(ROOT / "experiments", tmp_path / "experiments")
    monkeypatch.chdir(tmp_path)
    for words in commands(page):
        if words[:2] in NEED_A_SERVER:
            assert words in commands(LIVE), shlex.join(words)
        elif words[0] == "sottovoce":
            understood.clear()
            monkeypatch.setattr(sys, "argv", words)
            with pytest.raises(SystemExit) as left, contextlib.redirect_stdout(io.StringIO()):
                main()
            assert left.value.code in (0, None), shlex.join(words)
            assert understood or words[1] not in ("simulate", "audit"), shlex.join(words)
        elif words[0] == "python" and words[1] != "-m":
            assert (ROOT / words[1]).exists(), shlex.join(words)
        else:
            assert words[0] in ("make", "python", "."), shlex.join(words)


def test_a_command_that_is_not_understood_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for words in ("simulate --learner linucv", "simulate --lerner linucb", "simulate experiments/none.toml"):
        page = tmp_path / "page.md"
        page.write_text(f"```console\n$ sottovoce {words}\n```\n")
        with pytest.raises((AssertionError, SystemExit)):
            test_the_commands_of_a_page_are_understood(page, tmp_path / words.split()[-1], monkeypatch)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_make_target_that_is_named_exists(page: Path):
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    inline = re.findall(r"`make ([a-z]+)`", page.read_text(encoding="utf-8"))
    lines = [words[1] for words in commands(page) if words[0] == "make"]
    assert set(inline + lines) <= targets


# --- pages -----------------------------------------------------------------------------------------------------------


def test_the_catalogue_page_is_current():
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "catalogue.py", "--check"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_every_page_is_in_the_contents_and_the_other_way_round():
    listed = set(re.findall(r"\S+\.md", (ROOT / "mkdocs.yml").read_text()))
    assert listed == {str(page.relative_to(ROOT / "docs")) for page in PAGES if ROOT / "docs" in page.parents}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_and_every_path_leads_somewhere(page: Path):
    prose = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for link in re.findall(r"\]\((?!https?:|#)([^)#]+)", prose):
        assert (page.parent / link).exists(), link
    for path in re.findall(r"`((?:src|tests|experiments|examples|scripts)/[\w./-]+)`", prose):
        assert (ROOT / path).exists() or path.endswith(("greedy.py", "greedy.toml")), path


def test_a_decision_is_short():
    for page in (ROOT / "docs" / "decisions").glob("*.md"):
        assert len(page.read_text(encoding="utf-8").splitlines()) <= 40, page.name
