"""What benchmarks found: a file for each in results/benchmarks, from which docs/performance.md is written."""

import json
import os
import platform
from importlib import metadata
from pathlib import Path
from typing import Any

PLACE = Path(__file__).resolve().parents[1] / "results" / "benchmarks"


def keep(name: str, part: str, rows: Any) -> None:
    """One part of one benchmark; the other parts stay as they are."""
    PLACE.mkdir(parents=True, exist_ok=True)
    whole = found(name) | {part: rows}
    (PLACE / f"{name}.json").write_text(json.dumps(whole, indent=2) + "\n", encoding="utf-8")


def found(name: str) -> dict[str, Any]:
    """All parts of this benchmark that were kept."""
    file = PLACE / f"{name}.json"
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


def versions() -> dict[str, str]:
    """Of what we stand on, and how many cores there are."""
    names = ("sottovoce", "numpy", "jax", "jaxlib", "msgspec", "granian", "psycopg")
    installed = {one.name.lower(): one.version for one in metadata.distributions()}
    with_us = {name: installed[name] for name in names if name in installed}
    return {"Python": platform.python_version(), "cores": str(os.cpu_count())} | with_us
