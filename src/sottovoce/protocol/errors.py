"""Every error Sottovoce raises on purpose.

    SottovoceError
    ├── ConfigurationError   a human chose a value that cannot work
    │   └── UnknownName      a name that is not in its registry
    ├── PrivacyError         the gate refuses; nothing has left the device
    │   ├── BadInput         the raw data is not what the domain declares
    │   ├── BrokenPromise    the mechanism's numbers do not give the promised budget
    │   ├── BudgetExhausted  one more report would exceed the owner's limit
    │   ├── ContractRefused  a task asks for more than is allowed, or is not what it says
    │   └── ContractChanged  another contract under the name of one that was joined
    ├── Unreachable          the server does not answer and nothing is cached
    ├── Refused              the server answers, with a problem
    └── WireError            bytes that are not a report of this task

Whoever catches one catches those below it.
"""

import difflib
import math
from collections.abc import Iterable, Mapping
from typing import TypeVar

Kind = TypeVar("Kind")


class SottovoceError(Exception):
    """The root of the tree: `except SottovoceError` catches all of them and nothing else."""


class ConfigurationError(SottovoceError, ValueError):
    """A human chose a value that cannot work."""


class UnknownName(ConfigurationError):
    """A name that is not in its registry; the message lists those that are, and says which one may be meant.

    >>> str(UnknownName("world", "linaer", ["linear", "arms"]))
    "unknown world 'linaer'; choose one of: arms, linear (did you mean linear?)"
    """

    def __init__(self, kind: str, name: str, known: Iterable[str], elsewhere: Iterable[str] = ()) -> None:
        """`elsewhere` are names that may be meant although they do not belong here."""
        names = sorted(known)
        hint = suggestion(name, [*names, *elsewhere])
        super().__init__(f"unknown {kind} {name!r}; choose one of: {', '.join(names)}{hint}")


def suggestion(name: str, known: Iterable[str]) -> str:
    """The known name that may be meant, in brackets; empty where none is near.

    >>> suggestion("agee", ["age", "price"])
    ' (did you mean age?)'
    """
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f" (did you mean {near[0]}?)" if near else ""


def look_up(kind: str, name: str, registry: Mapping[str, Kind]) -> Kind:
    """What has this name in its registry, or `UnknownName`.

    >>> look_up("coin", "head", {"head": 1, "tail": 0})
    1
    """
    if name not in registry:
        raise UnknownName(kind, name, registry)
    return registry[name]


class PrivacyError(SottovoceError):
    """The gate refuses; nothing has left the device."""


class BadInput(PrivacyError, ValueError):
    """The raw data is not what the domain declares (NaN, infinity, wrong length)."""


class BrokenPromise(PrivacyError):
    """The mechanism's numbers do not give the promised budget."""


class BudgetExhausted(PrivacyError):
    """One more report would exceed the owner's limit."""


class ContractRefused(PrivacyError):
    """A task asks for more than the owner allows, or its contract is not what it claims to be."""


class ContractChanged(PrivacyError):
    """Another contract under the name of one that was joined."""


class Unreachable(SottovoceError):
    """The server does not answer and nothing is cached."""


class Refused(SottovoceError):
    """The server answers, with a problem; the message says what to do."""


class WireError(SottovoceError, ValueError):
    """Bytes that are not a report of this task."""


def check_positive(name: str, value: float) -> None:
    if not (math.isfinite(value) and value > 0):
        raise ConfigurationError(f"{name} must be a positive finite number, got {value!r}")


def check_range(name: str, low: float, high: float) -> None:
    if not 0 < (high - low) / 2 < math.inf:  # half the range is what a number is divided by
        raise ConfigurationError(f"{name} needs finite low < high, got ({low}, {high})")
