"""Secrets: from the environment, or from a file that the environment names, as containers hand them out."""

import os
from collections.abc import Mapping
from pathlib import Path

from sottovoce.protocol.errors import ConfigurationError


def secret(name: str, environment: Mapping[str, str] = os.environ) -> str:
    """What is in NAME, or in the file whose path is in NAME_FILE, without the end of its line; empty where neither is.

    >>> secret("SOTTOVOCE_ADMIN_TOKEN", {"SOTTOVOCE_ADMIN_TOKEN": "a-long-random-one"}), secret("NOTHING", {})
    ('a-long-random-one', '')
    """
    given, path = environment.get(name, ""), environment.get(f"{name}_FILE", "")
    if not path:
        return given
    if given:
        raise ConfigurationError(f"both {name} and {name}_FILE are set; leave one out")
    try:
        found = Path(path).read_text("utf-8").rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not a text in UTF-8"
        raise ConfigurationError(f"cannot read {path}, which {name}_FILE names: {reason}") from error
    if not found:
        raise ConfigurationError(f"{path}, which {name}_FILE names, is empty")
    return found
