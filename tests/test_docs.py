"""The manual is true: its Python runs and prints what it says, its links lead somewhere, its catalogue is current."""

import contextlib
import doctest
import importlib.util
import io
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import msgspec
import pytest

from manual import FOLLOWED, PAGES, ROOT, assert_alike, blocks
from sottovoce.catalogue.algorithms import Algorithm, algorithms
from sottovoce.lab.study.cells import cells_of, run_cells
from sottovoce.lab.study.file import Study
from sottovoce.learners import LEARNERS


def with_python() -> list[Any]:
    """The pages that have Python and need no server."""
    found = [page for page in PAGES if any(block.kind == "python" for block in blocks(page))]
    return [
        pytest.param(page, id=str(page.relative_to(ROOT)))
        for page in found
        if page.relative_to(ROOT).as_posix() not in FOLLOWED
    ]


# --- Python ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", with_python())
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


def test_two_outputs_are_alike_only_if_words_and_numbers_are():
    assert_alike("regret 1,531; 15 of 16\n", "regret 1540;  15 of 16")
    for other in ("regret 1,931; 15 of 16", "loss 1,531; 15 of 16", "regret 1,531; 15 of 16 seeds"):
        with pytest.raises(AssertionError):
            assert_alike("regret 1,531; 15 of 16", other)


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


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_formula_is_written_as_it_is_shown(page: Path):
    """A caret outside code is a power that nobody raised: write <sup>, as scripts/catalogue.py does."""
    prose = re.sub(r"^```.*?^```$|`[^`]*`", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    assert not [line for line in prose.splitlines() if re.search(r"\w\^|\)\^", line)]


def test_the_manual_says_which_version_it_is_of():
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    for file in ("mkdocs.yml", "CITATION.cff"):
        assert version in (ROOT / file).read_text(encoding="utf-8"), file


@pytest.mark.parametrize("name", ["catalogue", "lock"])
def test_the_examples_of_a_script_are_true(name: str):
    spec = importlib.util.spec_from_file_location(f"script_{name}", ROOT / "scripts" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    tried = doctest.testmod(module)
    assert tried.attempted
    assert not tried.failed


def test_a_decision_is_short():
    for page in (ROOT / "docs" / "decisions").glob("*.md"):
        assert len(page.read_text(encoding="utf-8").splitlines()) <= 40, page.name
