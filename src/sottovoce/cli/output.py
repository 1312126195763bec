"""What every command does with its rows: a table for people, JSON for programs."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from sottovoce.protocol.errors import ConfigurationError

if TYPE_CHECKING:
    from rich.table import Table


def check_writable(path: Path | None) -> Path | None:
    """Refuse a file that cannot be written, before anything is computed."""
    if path is not None:
        there = path.exists()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.open("a").close()
        except OSError as error:
            raise ConfigurationError(f"cannot write {path}: {error.strerror}") from error
        if not there:
            path.unlink()
    return path


JsonFile = Annotated[
    Path | None,
    typer.Option("--json", help="Write the rows to this file.", callback=check_writable),
]


def write_rows(path: Path | None, rows: list[dict[str, Any]]) -> None:
    """The stable contract of `--json`: an object with one list, `rows`."""
    if path is not None:
        path.write_text(json.dumps({"rows": rows}, indent=2, allow_nan=False) + "\n")


def folder(path: Path) -> Path:
    """The folder of results, made if it is not there; refused before anything is computed if that cannot be."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        check_writable(path / ".sottovoce")
    except OSError as error:
        reason = "it is a file" if path.is_file() else error.strerror
        raise ConfigurationError(f"cannot use {path} as the folder of results: {reason}") from error
    return path


class Column(NamedTuple):
    """A column of a table: numbers stand right, words left; `wraps` if long words may take several lines."""

    heading: str
    words: bool = False
    wraps: bool = False


def words(heading: str, *, wraps: bool = False) -> Column:
    """A column of words."""
    return Column(heading, words=True, wraps=wraps)


def table_of(title: str, *columns: str | Column) -> "Table":
    """An empty table without a frame, narrow enough for 80 columns; a column given by its heading is of numbers."""
    from rich import box
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0))
    for column in (Column(column) if isinstance(column, str) else column for column in columns):
        table.add_column(column.heading, justify="left" if column.words else "right", no_wrap=not column.wraps)
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
