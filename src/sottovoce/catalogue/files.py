"""What people write by hand: TOML files, decoded strictly, with errors that name the file."""

from pathlib import Path
from typing import TypeVar

import msgspec

from sottovoce.protocol.errors import ConfigurationError

Kind = TypeVar("Kind")


def load(path: Path, kind: type[Kind], name: str) -> Kind:
    """The contents of a TOML file as this type; `name` is what it should be, as in "a task"."""
    try:
        return msgspec.toml.decode(path.read_bytes(), type=kind)
    except OSError as error:
        raise ConfigurationError(f"cannot read {path}: {error.strerror}") from error
    except msgspec.DecodeError as error:
        raise ConfigurationError(f"{path} is not {name}: {error}") from error
