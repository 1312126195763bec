"""A file in TOML as a type that declares its fields, with errors in the words of a file."""

import re
from pathlib import Path
from typing import Any, TypeVar, get_args

import msgspec

from sottovoce.protocol.errors import ConfigurationError, UnknownName

KINDS = {
    "array": "a list",
    "object": "a table",
    "str": "a text",
    "int": "a whole number",
    "float": "a number",
    "date": "a date without quotation marks (as 2026-12-31)",
}
"""What the parser calls a kind of value, in words."""
WRONG_KIND = re.compile(r"Expected `(?P<wanted>[^`]+)`, got `(?P<got>[^`]+)` - at `\$\.(?P<path>[^`]+)`")
WRONG_WORD = re.compile(r"Invalid enum value '(?P<got>.*)' - at `\$\.(?P<field>\w+)`")
FIELD_KIND = re.compile(r"Invalid value (?P<got>'.*') - at `\$\.fields\[\.\.\.\]\.kind`")
UNKNOWN = re.compile(r"unknown field `(?P<field>[^`]*)`(?: - at `\$(?P<path>[.\w]*)`)?$")
"""What msgspec says of a field that is not declared, and where."""

Kind = TypeVar("Kind")


def load(path: Path, kind: type[Kind], name: str) -> Kind:
    """The contents of a TOML file as this type; `name` is what it should be, as in "a task"."""
    try:
        return parsed(path.read_bytes(), kind, name, str(path))
    except OSError as error:
        raise ConfigurationError(f"cannot read {path}: {error.strerror}") from error


def parsed(text: bytes, kind: type[Kind], name: str, path: str) -> Kind:
    """A text in TOML as this type; `path` is what errors call it."""
    try:
        return msgspec.toml.decode(text, type=kind)
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{path} is not {name}: it is not a text in UTF-8") from error
    except msgspec.DecodeError as error:
        if (found := UNKNOWN.search(str(error))) and (fields := _fields(kind, found["path"] or "")):
            place = f" in [{found['path'].strip('.')}]" if found["path"] else ""
            raise UnknownName(f"field of {path}{place}", found["field"], fields) from error
        if found := WRONG_WORD.fullmatch(str(error)):
            raise UnknownName(found["field"], found["got"], get_args(_types(kind)[found["field"]])) from error
        raise ConfigurationError(f"{path} is not {name}: {_in_words(str(error))}") from error


def _in_words(error: str) -> str:
    """What is wrong with a value, in the words of a file instead of those of a program.

    >>> _in_words("Expected `array`, got `float` - at `$.epsilon`")
    'epsilon must be a list, got a number'
    """
    if found := FIELD_KIND.fullmatch(error):
        return f"the kind of a field must be number, flag or category, got {found['got']}"
    if found := WRONG_KIND.fullmatch(error):
        wanted, got = (
            " or ".join(KINDS.get(one, one) for one in found[side].split(" | ")) for side in ("wanted", "got")
        )
        return f"{found['path']} must be {wanted}, got {got}"
    return error


def _fields(kind: Any, path: str) -> list[str]:
    """The fields that are declared at this place of a type; none where it has no table of fixed fields."""
    for name in filter(None, path.split(".")):
        if name not in _types(kind):
            return []
        kind = _types(kind)[name]
    return list(_types(kind))


def _types(kind: Any) -> dict[str, Any]:
    """The fields that a type declares, with their types."""
    declared = isinstance(kind, type) and issubclass(kind, msgspec.Struct)
    return {field.name: field.type for field in msgspec.structs.fields(kind)} if declared else {}
