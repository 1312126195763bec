"""What every command does with its rows: a table for people, JSON for programs."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table

WORDS = {"who", "of", "task", "server", "promise", "fate", "report", "mechanism", "verdict", "evidence"}
"""Columns of words stand left, columns of numbers right."""


def write_rows(path: Path | None, rows: list[dict[str, Any]]) -> None:
    """The stable contract of `--json`: an object with one list, `rows`."""
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"rows": rows}, indent=2, allow_nan=False) + "\n")


def table_of(title: str, *headings: str) -> "Table":
    """An empty table without a frame, narrow enough for 80 columns; only evidence may wrap."""
    from rich import box
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0))
    for heading in headings:
        table.add_column(heading, justify="left" if heading in WORDS else "right", no_wrap=heading != "evidence")
    return table


@contextmanager
def progress_bar(title: str, total: int) -> "Iterator[Callable[[int], None]]":
    """A bar on the error stream that goes away at the end; yields what to call with each step."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        job = bar.add_task(title, total=total)
        yield lambda steps: bar.advance(job, steps)
