"""A device's report beside OpenDP's and beside a PrivUnit written by hand: microseconds, bytes and error.

    python benchmarks/peers/devices.py [--reports 2000] [--quick]

One number in [0, 1] at epsilon 1: the true one of 2 or 10 levels or another (randomised response), and Laplace noise.
A direction among 10 and 100 coordinates at epsilon 4: our codebook against PrivUnit. What is timed is one call from the
message to the private answer: ours checks that the mechanism keeps its promise, draws integers from the operating
system and gives the bytes that travel; OpenDP draws from the operating system too and gives a value; PrivUnit is NumPy
alone, with floating point. The error is the mean of |estimate - truth|^2. A whole report of a live device, which also
chooses and writes its owner's ledger, is measured by `python benchmarks/service.py`.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1]))

import numpy as np
from environment import PYTHON, ROOT, environment_of, installed, package_of, versions
from found import keep
from privunit import privunit
from privunit import report as privunit_report
from rich.console import Console
from timing import microseconds

import sottovoce
from sottovoce.cli.output import table_of
from sottovoce.privacy.levels.mechanism import Levels
from sottovoce.privacy.mechanisms import Mechanism

EPSILON, SPHERE_EPSILON = 1.0, 4.0
DIMENSIONS = (10, 100)
DRAWS = 2_000
"""Reports of which the error is the mean."""


def levels(count: int) -> Mechanism:
    """Randomised response with these levels; the weights are those of two levels, which keep the same promise."""
    two = sottovoce.calibrate("levels", sottovoce.Interval(0.0, 1.0), sottovoce.budget(EPSILON))
    assert isinstance(two, Levels)
    return Levels(two.domain, two.budget, count, two.keep, two.flip)


def scalars(reports: int) -> list[dict[str, Any]]:
    """Ours and OpenDP's, of one number."""
    domain = sottovoce.Interval(0.0, 1.0)
    laplace = sottovoce.calibrate("laplace", domain, sottovoce.budget(EPSILON))
    ours = {"one of 2 levels": levels(2), "one of 10 levels": levels(10), "Laplace": laplace}
    peer = opendp(reports)
    version = " ".join(versions(package_of("opendp")).values())
    rows = []
    for what, mechanism in ours.items():
        message = domain.embed(1 / 3)
        mine = microseconds(lambda m=mechanism, x=message: sottovoce.privatise(m, x), reports)
        rows.append({"what": what, "who": "Sottovoce", "microseconds": mine, "bytes": mechanism.report_size})
        found = {"microseconds": peer[what]} if isinstance(peer, dict) else {"reason": peer}
        rows.append({"what": what, "who": f"OpenDP {version}", "beside": mine} | found)
    return rows


def opendp(reports: int) -> dict[str, float] | str:
    """Microseconds of each mechanism, or why there are none."""
    package = package_of("opendp")
    if reason := installed(package):
        return reason
    command = [str(PYTHON), str(Path(__file__).with_name("opendp_one.py")), str(EPSILON), str(reports)]
    done = subprocess.run(command, env=environment_of(package), capture_output=True, text=True, cwd=ROOT)
    return f"stopped ({done.stderr.strip().splitlines()[-1]})" if done.returncode else json.loads(done.stdout)


def directions(dimension: int, reports: int) -> list[dict[str, Any]]:
    """Ours and a PrivUnit, of a direction."""
    domain, rng = sottovoce.Ball(dimension), np.random.default_rng(0)
    mechanism = sottovoce.calibrate("sphere", domain, sottovoce.budget(SPHERE_EPSILON))
    numbers, what = privunit(dimension, SPHERE_EPSILON), f"a direction, {dimension} coordinates"
    truth = np.eye(dimension)[0]
    message = domain.embed(truth)

    def ours() -> bytes:
        return sottovoce.privatise(mechanism, message)

    def theirs() -> np.ndarray:
        return privunit_report(numbers, truth, rng)

    mine, other = microseconds(ours, reports), microseconds(theirs, reports)
    sizes = {"Sottovoce": mechanism.report_size, "PrivUnit by hand": 8 * dimension}
    errors = error_of(lambda: sottovoce.decode(mechanism, ours()), truth), error_of(theirs, truth)
    first, second = ({"what": what, "who": who, "bytes": size} for who, size in sizes.items())
    first |= {"microseconds": mine, "error": errors[0]}
    return [first, second | {"microseconds": other, "error": errors[1], "beside": mine}]


def error_of(estimate: Callable[[], np.ndarray], truth: np.ndarray) -> float:
    return float(np.mean([np.sum((estimate() - truth) ** 2) for _ in range(DRAWS)]))


def show(rows: list[dict[str, Any]]) -> None:
    table = table_of("One private report", "what", "who", "microseconds", "bytes", "error", "ours takes")
    for row in rows:
        table.add_row(row["what"], row["who"], *cells(row))
    Console(width=100).print(table)


def cells(row: dict[str, Any]) -> list[str]:
    """The numbers of a row as text.

    >>> cells({"microseconds": 50.0, "beside": 25.0, "bytes": 8})
    ['50.0', '8', '', '0.50 of it']
    """
    if "reason" in row:
        return [row["reason"], "", "", ""]
    ratio = f"{row['beside'] / row['microseconds']:.2f} of it" if "beside" in row else ""
    error = f"{row['error']:.2f}" if "error" in row else ""
    return [f"{row['microseconds']:.1f}", str(row.get("bytes", "")), error, ratio]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reports", type=int, default=2_000)
    parser.add_argument("--quick", action="store_true", help="100 reports; nothing is kept")
    options = parser.parse_args()
    reports = 100 if options.quick else options.reports
    rows = scalars(reports) + [row for dimension in DIMENSIONS for row in directions(dimension, reports)]
    show(rows)
    if not options.quick:
        keep("devices", "rows", rows)


if __name__ == "__main__":
    main()
