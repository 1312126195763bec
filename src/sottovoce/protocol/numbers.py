"""Numbers in a contract: whole numbers below 2^53 as they are, every other number as a decimal string.

Languages disagree on how to write 1.0 and on how to read 0.1 into fewer bits; none of them changes a string. Read as an
IEEE double, the string gives back the very number that was written.
"""

import re
from collections.abc import Mapping
from typing import Any

DECIMAL = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?(e[-+]?[0-9]+)?")


def to_decimals(value: Any) -> Any:
    """The same data with every float as a decimal string.

    >>> to_decimals({"low": 0.0, "levels": 2, "scales": (0.5, 1e-05)})
    {'low': '0.0', 'levels': 2, 'scales': ['0.5', '1e-05']}
    """
    match value:
        case float():
            return repr(value)
        case Mapping():
            return {name: to_decimals(one) for name, one in value.items()}
        case list() | tuple():
            return [to_decimals(one) for one in value]
        case _:
            return value


def from_decimals(value: Any) -> Any:
    """The inverse of `to_decimals`; a string that is no decimal number stays a word.

    >>> from_decimals({"low": "0.0", "levels": 2, "scales": ["0.5", "1e-05"], "kind": "interval"})
    {'low': 0.0, 'levels': 2, 'scales': (0.5, 1e-05), 'kind': 'interval'}
    """
    match value:
        case str():
            return float(value) if DECIMAL.fullmatch(value) else value
        case Mapping():
            return {name: from_decimals(one) for name, one in value.items()}
        case list() | tuple():
            return tuple(from_decimals(one) for one in value)
        case _:
            return value
