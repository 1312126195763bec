"""What people write by hand: TOML files, decoded strictly, with errors that name the file."""

import re
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from sottovoce.protocol.errors import ConfigurationError, UnknownName

Kind = TypeVar("Kind")

UNKNOWN = re.compile(r"unknown field `(?P<field>[^`]*)`(?: - at `\$(?P<path>[.\w]*)`)?$")
"""What msgspec says of a field that is not declared, and where."""


def load(path: Path, kind: type[Kind], name: str) -> Kind:
    """The contents of a TOML file as this type; `name` is what it should be, as in "a task"."""
    try:
        return msgspec.toml.decode(path.read_bytes(), type=kind)
    except OSError as error:
        raise ConfigurationError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{path} is not {name}: it is not a text in UTF-8") from error
    except msgspec.DecodeError as error:
        if (found := UNKNOWN.search(str(error))) and (fields := _fields(kind, found["path"] or "")):
            place = f" in [{found['path'].strip('.')}]" if found["path"] else ""
            raise UnknownName(f"field of {path}{place}", found["field"], fields) from error
        raise ConfigurationError(f"{path} is not {name}: {error}") from error


def _fields(kind: Any, path: str) -> list[str]:
    """The fields that are declared at this place of a type; none where it has no table of fixed fields."""
    for name in filter(None, path.split(".")):
        if name not in (types := {field.name: field.type for field in msgspec.structs.fields(kind)}):
            return []
        kind = types[name]
    declared = isinstance(kind, type) and issubclass(kind, msgspec.Struct)
    return [field.name for field in msgspec.structs.fields(kind)] if declared else []
