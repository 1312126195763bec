"""A table that a team brings: a CSV file with headings, read strictly, with errors that name the file.

Cells are parted by commas, semicolons or tabs: by whichever the headings have most of. Space around them says nothing,
and a column without a heading is left out.
"""

import csv
import itertools
from collections.abc import Iterator
from pathlib import Path

from sottovoce.protocol.errors import ConfigurationError

MARKS = ",;\t"


def rows_of(path: Path) -> Iterator[dict[str, str]]:
    """The rows below the headings; a cell that a row lacks is empty."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            first = file.readline()  # not read twice: the file may be a pipe
            mark = max(MARKS, key=first.count)
            rows = csv.reader(itertools.chain([first], file), delimiter=mark, skipinitialspace=True)
            headings = [heading.strip() for heading in next(rows, [])]
            if twice := {name for name in headings if name and headings.count(name) > 1}:
                raise ConfigurationError(f"{path} has two columns that are called {min(twice)!r}")
            for number, cells in enumerate(filter(None, rows), 1):
                if any(cells[len(headings) :]):
                    raise ConfigurationError(
                        f"{path}: row {number} has {len(cells)} cells, but there are {len(headings)} headings"
                    )
                given = itertools.zip_longest(headings, cells[: len(headings)], fillvalue="")
                yield {name: cell.strip() for name, cell in given if name}
    except OSError as error:
        raise ConfigurationError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{path} is not UTF-8 text; save it as 'CSV UTF-8', not compressed") from error
    except csv.Error as error:
        raise ConfigurationError(f"{path} is not a CSV file: {error}") from error
