"""What it costs to have each package: seconds until it is imported in a new process, and megabytes when installed.

    python benchmarks/peers/footprint.py [--quick]

Each import is the median of some new processes, less that of a process that imports nothing; files were read before.
Sizes are of what `pip install --target` writes into an empty folder, with all that a package asks for.
"""

import argparse
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

sys.path.append(str(Path(__file__).resolve().parents[1]))

from environment import PACKAGES, PLACE, PYTHON, ROOT, Package, bare, environment_of, folder_of, installed, versions
from found import keep
from rich.console import Console

from sottovoce.cli.output import table_of


class Ours(NamedTuple):
    """One way to install us."""

    who: str
    extras: str
    imported: str


OURS = (
    Ours("a device", "", "sottovoce.client"),
    Ours("the simulator", "[sim]", "sottovoce.sim.run"),
    Ours("a server", "[server]", "sottovoce.server.serve"),
)


def own_folder(one: Ours) -> Package:
    """Installed like a peer, from this repository, in a folder of its own."""
    package = Package(f"sottovoce{one.extras}", one.imported)
    if not folder_of(package).exists():
        print(f"installing sottovoce{one.extras}", file=sys.stderr, flush=True)
        command = [str(bare()), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run(
            [*command, "--target", str(folder_of(package)), f"{ROOT}{one.extras}"], check=True, capture_output=True
        )
    return package


def seconds_of(package: Package | None, turns: int) -> float:
    """Of a new process that imports this."""
    command = [str(PYTHON), "-c", f"import {package.imported}" if package else "pass"]
    found = []
    for _ in range(turns + 1):
        start = time.perf_counter()
        subprocess.run(command, env=environment_of(package), check=True, capture_output=True)
        found.append(time.perf_counter() - start)
    return statistics.median(found[1:])


def megabytes_of(folder: Path) -> float:
    """On the disk, without what Python compiled of it."""
    files = (file for file in folder.rglob("*") if file.is_file() and "__pycache__" not in file.parts)
    return sum(file.lstat().st_size for file in files) / 1e6


def measured(who: str, package: Package, nothing: float, turns: int) -> dict[str, Any]:
    reason = "" if package.name.startswith("sottovoce") else installed(package)
    row = {"who": who, "imported": package.imported, "version": " ".join(versions(package).values())}
    if reason:
        return row | {"reason": reason}
    return row | {"seconds": seconds_of(package, turns) - nothing, "megabytes": megabytes_of(folder_of(package))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="two processes each; nothing is kept")
    options = parser.parse_args()
    turns = 2 if options.quick else 7
    bare()
    PLACE.mkdir(exist_ok=True)
    every = [(f"Sottovoce, {one.who}", own_folder(one)) for one in OURS] + [(one.name, one) for one in PACKAGES]
    nothing = seconds_of(None, turns)
    rows = [measured(who, package, nothing, turns) for who, package in every]
    table = table_of("What it costs to have it", "who", "imported", "seconds", "MB installed")
    for row in rows:
        numbers = (
            ("", row["reason"].partition(" (")[0])
            if "reason" in row
            else (f"{row['seconds']:.2f}", f"{row['megabytes']:,.0f}")
        )
        table.add_row(row["who"], row["imported"], *numbers)
    Console(width=110).print(table)
    if not options.quick:
        keep("footprint", "rows", rows)


if __name__ == "__main__":
    main()
