"""Logs as lines of JSON: what happened and when, by route and task; no address, no header, no body, no token."""

import datetime
import logging
import os
import sys
import traceback
from typing import Any

import msgspec

LOG = logging.getLogger("sottovoce.server")
STDERR = 2
"""The last number of the three standard files."""


class JsonLines(logging.Formatter):
    """One object a line; `extra={"fields": {...}}` adds to it.

    >>> record = logging.LogRecord("x", logging.INFO, "", 0, "task created", None, None)
    >>> JsonLines().format(record).split('"event"')[1]
    ':"task created"}'
    """

    def format(self, record: logging.LogRecord) -> str:
        moment = datetime.datetime.fromtimestamp(record.created, datetime.UTC).isoformat(timespec="milliseconds")
        line: dict[str, Any] = {"time": moment, "level": record.levelname.lower(), "event": record.getMessage()}
        line |= getattr(record, "fields", {})
        if record.exc_info and record.exc_info[0]:
            line["error"] = record.exc_info[0].__name__
            frames = traceback.walk_tb(record.exc_info[2])
            line["trace"] = [f"{frame.f_code.co_qualname}:{number}" for frame, number in frames]
        return msgspec.json.encode(line).decode()


def log(event: str, level: int = logging.INFO, *, failure: bool = False, **fields: Any) -> None:
    """Write one line; with `failure`, where the current exception came from (but not what it says: it may quote)."""
    LOG.log(level, event, extra={"fields": fields}, exc_info=failure)


def to_stderr(name: str = LOG.name, level: int = logging.INFO) -> None:
    """Write what this logger says, from this level on.

    First, because whoever starts the process may have closed the standard files: what is opened next would get their
    numbers, and child processes, which inherit these, would write into it.
    """
    while (null := os.open(os.devnull, os.O_RDWR)) <= STDERR:
        os.set_inheritable(null, True)
    os.close(null)
    handler, logger = logging.StreamHandler(sys.stderr), logging.getLogger(name)
    handler.setFormatter(JsonLines())
    logger.handlers[:], logger.propagate = [handler], False
    logger.setLevel(level)
