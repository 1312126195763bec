"""A table that a team brings: a CSV file with headings, read strictly, with errors that name the file.

Cells are parted by commas, semicolons or tabs: by whichever the headings have most of.
"""

import csv
import itertools
from collections.abc import Iterator
from pathlib import Path

from sottovoce.protocol.errors import ConfigurationError

MARKS = ",;\t"


def rows_of(path: Path) -> Iterator[dict[str, str]]:
    """The rows below the headings; a cell that a row lacks is empty, cells beyond the headings are in `(more)`."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            first = file.readline()  # not read twice: the file may be a pipe
            mark = max(MARKS, key=first.count)
            rows = csv.DictReader(itertools.chain([first], file), delimiter=mark, restval="", restkey="(more)")
            if twice := {name for name in rows.fieldnames or () if list(rows.fieldnames or ()).count(name) > 1}:
                raise ConfigurationError(f"{path} has two columns that are called {min(twice)!r}")
            yield from rows
    except OSError as error:
        raise ConfigurationError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{path} is not UTF-8 text; save it as 'CSV UTF-8'") from error
    except csv.Error as error:
        raise ConfigurationError(f"{path} is not a CSV file: {error}") from error
