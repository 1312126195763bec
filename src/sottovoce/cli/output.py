"""What every command does with its rows: a table for people, JSON for programs."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Column, Table
from rich.text import Text

from sottovoce.protocol.errors import ConfigurationError


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


JsonFile = Annotated[Path | None, typer.Option("--json", help="Write the rows to this file.", callback=check_writable)]


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


def say(what: Any = "", style: str = "", *, wrap: bool = True) -> None:
    """Print a text or a table as it is, or an empty line; with `wrap=False` a line keeps its length, as paths need."""
    Console(markup=False).print(what, style=style, highlight=isinstance(what, Table), soft_wrap=not wrap)


def words(heading: str, *, wraps: bool = False) -> Column:
    """A column of words; `wraps` if long ones may take several lines."""
    return Column(heading, no_wrap=not wraps)


def table_of(title: str, *columns: str | Column, rows: Iterable[Sequence[str | Text]] = ()) -> Table:
    """A table without a frame, narrow enough for 80 columns; a column given by its heading is of numbers."""
    every = (Column(c, justify="right", no_wrap=True) if isinstance(c, str) else c for c in columns)
    table = Table(*every, title=title, title_justify="left", box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0))
    for row in rows:
        table.add_row(*row)
    return table


@contextmanager
def progress_bar(title: str, total: int) -> Iterator[Callable[..., None]]:
    """A bar on the error stream that goes away at the end; yields what to call with each step, and a new title."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        job = bar.add_task(title, total=total)
        yield lambda steps, title=None: bar.update(job, advance=steps, description=title)
