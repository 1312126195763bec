"""The page docs/errata.md: every entry has a label, a place, a test; every test is named; the README counts right.

What the entries say is tested in `test_errata_*.py` beside this file, and in the files that the page names.
"""

import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "errata.md").read_text(encoding="utf-8")
LABELS = ("wrong", "unproved", "loose", "silent")


def entries() -> dict[str, str]:
    """The numbered entries of the page: title and text."""
    _, *parts = re.split(r"^### (?=\d)", PAGE, flags=re.MULTILINE)
    return {part.splitlines()[0]: re.split(r"^## ", part, flags=re.MULTILINE)[0] for part in parts}


def named_tests(text: str) -> list[tuple[str, str]]:
    return re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", text)


def label(title: str) -> str:
    found = re.fullmatch(r"\d+\. .+ \((\w+)\)", title)
    assert found, title
    return found[1]


def test_every_erratum_has_its_number_and_says_what_the_paper_says_what_is_so_and_what_we_do():
    assert [title.split(".")[0] for title in entries()] == [str(n + 1) for n in range(len(entries()))]
    for title, text in entries().items():
        parts = re.findall(r"^\*\*(\w+)\.\*\*", text, re.MULTILINE)
        assert parts == ["Paper", "Why", "Here", "Test"], title


def test_every_erratum_has_one_of_four_labels_and_the_readme_counts_them():
    counts = Counter(label(title) for title in entries())
    assert set(counts) == set(LABELS)
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    told = re.search(
        r"(\d+) statements of the paper that are wrong, (\d+) that are not proved .*? (\d+) remarks", readme
    )
    assert told, "the sentence of the README about the errata"
    assert [int(n) for n in told.groups()] == [counts["wrong"], counts["unproved"], counts["loose"] + counts["silent"]]


def test_every_test_that_the_page_names_exists():
    for title, text in entries().items():
        assert named_tests(text), title
    for file, name in named_tests(PAGE):
        assert f"\ndef {name}(" in (ROOT / file).read_text(encoding="utf-8"), name


def test_every_test_about_an_erratum_is_named_by_the_page():
    named = {name for _, name in named_tests(PAGE)}
    for path in Path(__file__).parent.glob("test_errata_*.py"):
        assert set(re.findall(r"^def (test_\w+)\(", path.read_text(encoding="utf-8"), re.MULTILINE)) <= named, path.name
