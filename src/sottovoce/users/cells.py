"""What the cells of a table say, as people and their programs write them: for a trial, and for a warm start.

A number may have a currency (its sign, or a code such as EUR), marks between thousands, and a percent sign (then it is
a hundredth). A comma is the mark of decimals if a number of the same column can be read in no other way, as 12,5 and
1.234,56, but not 1,234.
"""

import math
import re
from collections.abc import Iterable, Sequence

from sottovoce.protocol.errors import BadInput
from sottovoce.protocol.fields import Category, Field, Flag

MISSING = {"", "?", "na", "n/a", "#n/a", "<na>", "nan", "null"}
"""What a cell says that says nothing."""
YES, NO = {"true", "t", "yes", "y", "1"}, {"false", "f", "no", "n", "0"}

_BETWEEN = " '\u2019\u00a0\u202f"
_CURRENCY = "[$€£¥₹]|USD|EUR|GBP|JPY|CNY|INR|CHF|CAD|AUD|BRL|SEK|NOK|DKK|PLN|CZK"
_WRITTEN = re.compile(rf"([+-]?)\s*(?:{_CURRENCY})?\s*(\S.*?)\s*({_CURRENCY}|%)?")
_THOUSANDS = re.compile(rf"[1-9]\d{{0,2}}([,{_BETWEEN}])\d{{3}}(\1\d{{3}})*(\.\d*)?")
_COMMA = re.compile(rf"(\d+|[1-9]\d{{0,2}}([.{_BETWEEN}])\d{{3}}(\2\d{{3}})*)(,\d+)?")


def says_nothing(cell: str) -> bool:
    """Is the value of this cell not known?"""
    return cell.strip().lower() in MISSING


def is_flag(cell: str) -> bool:
    """Does this cell say yes or no, or 1 or 0?"""
    return cell.strip().lower() in YES | NO


def values_of(name: str, field: Field, cells: Sequence[str]) -> list[float | bool | str | None]:
    """What the cells of a column say of this field, as an app would; None where it is not known.

    >>> values_of("member", Flag(), ["yes", "FALSE", "NA"])
    [True, False, None]
    """
    if isinstance(field, Category):
        return [cell if cell in field.values else None for cell in cells]
    said = (None if says_nothing(cell) else cell for cell in cells)
    if isinstance(field, Flag):
        return [cell and _flag(name, row, cell) for row, cell in enumerate(said, 1)]
    comma = decimal_comma(cells)
    return [cell and _number(name, row, cell, comma) for row, cell in enumerate(said, 1)]


def numbers_of(name: str, cells: Sequence[str]) -> list[float]:
    """A column that decides what is learned: numbers in every cell, or yes and no, which count as 1 and 0.

    >>> numbers_of("spent", ["$1,200.50", "0"]), numbers_of("bought", ["yes", "no"]), numbers_of("share", ["50 %"])
    ([1200.5, 0.0], [1.0, 0.0], [0.5])
    """
    check_complete(name, cells)
    comma = decimal_comma(cells)
    return [
        float(_flag(name, row, cell)) if is_flag(cell) else _number(name, row, cell, comma)
        for row, cell in enumerate(cells, 1)
    ]


def check_complete(name: str, cells: Sequence[str]) -> None:
    """Refuse a column that decides what is learned and has no value in some rows."""
    if missing := sum(map(says_nothing, cells)):
        raise BadInput(
            f"column {name!r} has no value in {missing:,} of {len(cells):,} rows: fill them in, or remove these rows"
        )


def decimal_comma(cells: Iterable[str]) -> bool:
    """Does a comma stand before the decimals in this column?

    >>> decimal_comma(["12,5", "1.234,56"]), decimal_comma(["1,234", "$1,234.50"]), decimal_comma(["1,234", "0,5"])
    (True, False, True)
    """
    bodies = (_WRITTEN.fullmatch(cell.strip()) for cell in cells if "," in cell)
    return any(body and _COMMA.fullmatch(body[2]) and not _THOUSANDS.fullmatch(body[2]) for body in bodies)


def number_in(cell: str, comma: bool) -> float | None:
    """The finite number that a cell says, if it is one.

    >>> number_in("-$1,200.50", comma=False), number_in("1.200,50 EUR", comma=True), number_in("12 St", comma=False)
    (-1200.5, 1200.5, None)
    """
    found = _WRITTEN.fullmatch(cell.strip())
    if not found:
        return None
    sign, body, unit = found.groups()
    if comma and _COMMA.fullmatch(body):
        body = re.sub(f"[.{_BETWEEN}]", "", body).replace(",", ".")
    elif not comma and _THOUSANDS.fullmatch(body):
        body = re.sub(f"[,{_BETWEEN}]", "", body)
    try:
        number = float(sign + body) / (100 if unit == "%" else 1)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _number(name: str, row: int, cell: str, comma: bool) -> float:
    number = number_in(cell, comma)
    if number is None:
        raise BadInput(f"row {row}: {name!r} must be a finite number, got {cell!r}")
    return number


def _flag(name: str, row: int, cell: str) -> bool:
    if not is_flag(cell):
        raise BadInput(f"row {row}: {name!r} must be true or false, got {cell!r}")
    return cell.strip().lower() in YES
