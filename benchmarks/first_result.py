"""Seconds from typing `sottovoce simulate` to its table, when the shapes were compiled before, and where they go.

    python benchmarks/first_result.py [--turns 5] [--quick]

The command runs in new processes with a folder of compiled loops of its own: the first fills it, the others find it.
`all` also writes the figures and the page. What importing takes is measured in one more process.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from found import keep
from rich.console import Console

from sottovoce.cli.output import table_of

COMMANDS = {
    "arms": ["--learner", "tsallis-inf", "--rounds", "1000"],
    "features": ["--learner", "scale-free", "--dimension", "5", "--rounds", "1000"],
}
WANTED = 3.0


def seconds_of(words: list[str], folder: Path) -> tuple[float, float]:
    """One run of the command in a new process: until the last line of its table, and until its end."""
    command = [sys.executable, "-m", "sottovoce", "simulate", *words, "--fresh", "--out", str(folder / "results")]
    environment = os.environ | {"SOTTOVOCE_CACHE": str(folder / "cache")}
    start, table = time.perf_counter(), 0.0
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment, text=True
    ) as run:
        assert run.stdout is not None
        for line in run.stdout:
            if "uniform play" in line:
                table = time.perf_counter() - start
    assert run.returncode == 0
    return table, time.perf_counter() - start


def slowest_imports(folder: Path, words: list[str]) -> list[tuple[str, float]]:
    """Seconds of importing, with all that each brings, of the largest packages."""
    command = [sys.executable, "-X", "importtime", "-m", "sottovoce", "simulate", *words, "--fresh"]
    command += ["--out", str(folder / "results")]
    environment = os.environ | {"SOTTOVOCE_CACHE": str(folder / "cache")}
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    own: dict[str, float] = {}
    for line in done.stderr.splitlines():
        if line.startswith("import time:") and "self [us]" not in line:
            alone, _, name = line.removeprefix("import time:").split("|")
            package = name.strip().partition(".")[0]
            own[package] = own.get(package, 0.0) + int(alone) / 1e6
    return sorted(own.items(), key=lambda pair: -pair[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="one turn; nothing is kept")
    options = parser.parse_args()
    rows = []
    for what, words in COMMANDS.items():
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            first = seconds_of(words, folder)
            warm = [seconds_of(words, folder) for _ in range(1 if options.quick else options.turns)]
            table, end = (statistics.median(times) for times in zip(*warm, strict=True))
            imports = slowest_imports(folder, words)
        rows.append({"what": what, "command": " ".join(words), "first": first[0], "table": table, "end": end})
        rows[-1] |= {"imports": sum(seconds for _, seconds in imports), "slowest": imports[:6]}
        print(f"{what}: {first[0]:.2f} s, then {table:.2f} s, at the end {end:.2f} s", flush=True)
    shown = table_of("Seconds until the first table", "command", "first", "warm", "all", "imports")
    for row in rows:
        shown.add_row(row["command"], *(f"{row[name]:.2f}" for name in ("first", "table", "end", "imports")))
    Console().print(shown)
    print(f"wanted: under {WANTED:g} s on a warm cache")
    if not options.quick:
        keep("first_result", "rows", rows)


if __name__ == "__main__":
    main()
