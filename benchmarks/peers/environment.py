"""Peers, each in a folder of its own below .venv-peers: the product never imports any of them.

    python benchmarks/peers/environment.py        installs what is missing, prints what there is

A package that cannot be installed or imported is kept as a sentence that says why.
"""

import json
import os
import subprocess
import sys
import venv
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
PLACE = ROOT / ".venv-peers"
PYTHON = PLACE / "python" / "bin" / "python"
"""With nothing but pip: each peer brings its own NumPy."""


class Package(NamedTuple):
    """What is installed, and what is imported by whoever uses it."""

    name: str
    imported: str
    needs: tuple[str, ...] = ()
    """Beside what it asks for itself, so that it runs."""


PACKAGES = (
    Package("mabwiser", "mabwiser.mab"),
    Package("river", "river.bandit"),
    Package("contextualbandits", "contextualbandits.online"),
    Package("vowpalwabbit", "vowpalwabbit.pyvw", ("numpy",)),
    Package("SMPyBandits", "SMPyBandits.Policies", ("scipy<1.14",)),
    Package("obp", "obp.policy"),
    Package("opendp", "opendp.prelude"),
)
RATINGS = Package("recbole", "", ("--no-deps",))
"""Carries MovieLens 100K, which may not be here; nothing else of it is used."""
PUBLISHED_PRIVATE = ("ldpbandit", "ldp-bandits", "private-bandits", "dpbandits", "private-linucb", "privunit")
"""Names under which published private learners could be; `searched` asks for each."""


def folder_of(package: Package) -> Path:
    return PLACE / package.name


def installed(package: Package) -> str:
    """Nothing if the package can be used, else why not; what was found is kept."""
    note = PLACE / f"{package.name}.json"
    if not note.exists():
        note.write_text(json.dumps(_install(package)))
    return json.loads(note.read_text())


def _install(package: Package) -> str:
    bare()
    print(f"installing {package.name}", file=sys.stderr, flush=True)
    command = [PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    done = _run([*command, "--target", str(folder_of(package)), package.name, *package.needs], 240)
    if done.returncode:
        return f"could not be installed ({reason_of(done.stderr)})"
    if not package.imported:
        return ""
    done = _run([PYTHON, "-c", f"import {package.imported}"], 60, package)
    return f"cannot be imported ({reason_of(done.stderr)})" if done.returncode else ""


def bare() -> Path:
    """A Python with pip alone, made when first asked for."""
    if not PYTHON.exists():
        venv.create(PLACE / "python", with_pip=True)
    return PYTHON


def _run(command: list, seconds: float, package: Package | None = None) -> subprocess.CompletedProcess:
    return subprocess.run(
        [str(word) for word in command], env=environment_of(package), capture_output=True, text=True, timeout=seconds
    )


def environment_of(package: Package | None) -> dict[str, str]:
    """The variables of a process that may import this package, and this alone; one thread for linear algebra."""
    alone = {"PYTHONPATH": str(folder_of(package)) if package else "", "PYTHONWARNINGS": "ignore"}
    return os.environ | alone | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def reason_of(said: str) -> str:
    r"""The line of an error message that says most.

    >>> reason_of("  File x.py\n    AttributeError: no cython_sources\nnote: not a problem with pip")
    'AttributeError: no cython_sources'
    """
    lines = [line.strip() for line in said.splitlines() if "Error: " in line or "ERROR: " in line]
    return (lines or said.strip().splitlines() or ["no reason given"])[-1][:120]


def versions(package: Package, *others: str) -> dict[str, str]:
    """Of the package, and of others that came with it."""
    found = {one.name.lower(): one.version for one in metadata.distributions(path=[str(folder_of(package))])}
    return {name: found[name.lower()] for name in (package.name, *others) if name.lower() in found}


def searched() -> dict[str, bool]:
    """Names of published private learners, and whether a package of this name can be had."""
    command = [bare(), "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(PLACE / "found")]
    return {name: _run([*command, name], 60).returncode == 0 for name in PUBLISHED_PRIVATE}


def package_of(name: str) -> Package:
    return next(package for package in PACKAGES if package.name == name)


def main() -> None:
    for package in PACKAGES:
        reason = installed(package)
        print(package.name, reason or versions(package, "numpy", "scipy"), flush=True)
    for name, there in searched().items():
        print(f"{name}: {'can be had' if there else 'there is no such package'}", flush=True)


if __name__ == "__main__":
    main()
