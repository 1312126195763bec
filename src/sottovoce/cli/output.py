"""What every command that computes does with its rows."""

import json
from pathlib import Path
from typing import Any


def write_rows(path: Path | None, rows: list[dict[str, Any]]) -> None:
    """The stable contract of `--json`: an object with one list, `rows`."""
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"rows": rows}, indent=2, allow_nan=False) + "\n")
