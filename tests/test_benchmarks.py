"""What benchmarks compute from what they measured: power laws, ratios, tables. Nothing is timed here."""

import doctest
import importlib
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"
PURE = ("powers", "comparison", "page", "drawing", "environment", "interval", "privunit", "devices", "learning")
"""Those with examples; what starts processes is left out."""


@pytest.fixture(autouse=True)
def beside_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of benchmarks import each other by their names."""
    for folder in (BENCHMARKS, BENCHMARKS / "peers"):
        monkeypatch.syspath_prepend(folder)


@pytest.mark.parametrize("name", PURE)
def test_the_examples_of_a_benchmark_are_true(name: str):
    tried = doctest.testmod(importlib.import_module(name))
    assert tried.attempted
    assert not tried.failed


def test_a_power_law_is_found_within_its_interval_and_a_wrong_one_is_not():
    powers = importlib.import_module("powers")
    sizes = [10, 100, 1_000, 10_000]
    law = powers.power_of(sizes, [1.1 * 10**1.5, 0.9 * 100**1.5, 1.05 * 1_000**1.5, 10_000**1.5])
    assert abs(law.exponent - 1.5) < law.half < 0.2
    assert abs(law.exponent - 1.0) > law.half


def test_a_power_law_needs_three_sizes():
    with pytest.raises(ValueError, match="at least three sizes, got 2"):
        importlib.import_module("powers").power_of([1, 2], [1, 2])


def test_a_package_that_could_not_be_installed_stands_in_the_table_with_its_reason():
    comparison, page = importlib.import_module("comparison"), importlib.import_module("page")
    row = comparison.timed(
        "Size", "the simulator", "Peer", 2.0, {"reason": "could not be installed (no wheel)"}, "s", ".1f"
    )
    assert "| the simulator | Peer | 2.0 | could not be installed (no wheel) |" in page.compared([row])


def test_the_product_imports_no_peer():
    """They live in a throw-away environment."""
    environment = importlib.import_module("environment")
    source = Path(sys.modules["sottovoce"].__path__[0])
    text = "\n".join(file.read_text(encoding="utf-8") for file in source.rglob("*.py"))
    for package in environment.PACKAGES:
        assert f"import {package.imported.partition('.')[0]}" not in text
