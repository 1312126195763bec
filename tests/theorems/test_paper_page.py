"""docs/paper.md: nothing of the paper is missing, and what the page names exists."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "paper.md").read_text(encoding="utf-8")
ROWS = [
    line.split(" | ") for line in PAGE.splitlines() if line.count(" | ") == 4 and line[2:7] not in ("paper", "--- |")
]
NUMBERED = [
    *(f"Definition {number}" for number in (1, 2, 3)),
    *(f"Algorithm {number}" for number in range(1, 6)),
    *(f"Theorem {number}" for number in range(1, 13) if number != 4),
    "Corollary 4",
    *(f"Lemma {number}" for number in (1, 2)),
    "Table 1",
]
"""The numbers of the full version, in which the corollary is counted among the theorems."""


def test_no_number_of_the_paper_is_missing():
    said = [row[0].removeprefix("| ") for row in ROWS]
    assert [name for name in NUMBERED if said.count(name) != 1] == []


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0][2:])
def test_a_row_says_where_and_by_what_it_is_tested(row: list[str]):
    _, says, here, tested, _ = row
    assert says
    assert here
    tests = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", tested)
    assert tests
    for file, name in tests:
        assert not name or f"\ndef {name}(" in (ROOT / file).read_text(encoding="utf-8"), name


def test_errata_are_named_by_numbers_that_exist():
    entries = re.findall(r"^### (\d+)\.", (ROOT / "docs" / "errata.md").read_text(encoding="utf-8"), re.MULTILINE)
    named = re.findall(r"errat(?:um|a) (\d+)(?: and (\d+))?", PAGE)
    assert len(named) > 10
    assert {number for pair in named for number in pair if number} <= set(entries)
