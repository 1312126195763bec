"""What so many devices a day need: requests, processes, disk, and where the first wall is. From measured constants.

Everything is proportion: what one process did in a second, and how often it would have to. Nothing here was seen at
the size that it speaks of, except where a constant was measured.
"""

import math
import tomllib
from collections.abc import Mapping
from importlib.resources import files
from typing import Any, NamedTuple

import msgspec

from sottovoce.protocol.errors import ConfigurationError, UnknownName

DAY = 86_400
LOAD = 0.5
"""At most this share of what a process can do; `benchmarks/service.py` measures how long people then wait."""


class Measured(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The constants, and where they come from."""

    machine: str
    date: str
    command: str
    postgres: float
    """Single reports that one web process makes durable in a second."""
    sqlite: float
    permits: float
    """Permits that one web process issues in a second."""
    models: float
    copy: float
    """Rows a second of a bare COPY into PostgreSQL: nothing that writes these rows one after the other is faster."""
    postgres_bytes: float
    """Of a report in the journal, with its id and indexes."""
    sqlite_bytes: float
    permit_bytes: int
    """Of the request for a permit."""
    report_bytes: int
    folds: dict[str, float]
    """Reports that a learner learns from in a second, by learner."""


class Load(NamedTuple):
    """What is asked of a server."""

    devices: float
    """That are used on one day."""
    reports: float = 1.0
    """Of a device on a day."""
    models: float = 2.0
    """How often a device looks at the model on a day."""
    peak: float = 4.0
    """The busiest hour, beside the mean of the day."""
    retention: int = 30
    """Days for which single reports are kept."""
    learner: str = "gradient"


class Wall(NamedTuple):
    """Something of which there is only one, and how many devices a day it carries."""

    what: str
    devices: float
    then: str


class Need(NamedTuple):
    """What a load needs."""

    reports_a_day: float
    reports_at_peak: float
    """A second."""
    requests_at_peak: float
    web_processes: int
    store: str
    journal_a_day: float
    """Bytes."""
    journal: float
    """Bytes, over the retention."""
    received_at_peak: float
    """Bytes a second, of requests for permits and of reports."""
    learner_busy: float
    """The share of the busiest hour in which the learner learns; above 1 it falls behind until the hour is over."""
    walls: list[Wall]
    """The nearest first."""

    @property
    def first(self) -> Wall:
        return self.walls[0]


def measured() -> Measured:
    """The constants of this version."""
    return msgspec.convert(tomllib.loads(files("sottovoce.lab").joinpath("capacity.toml").read_text("utf-8")), Measured)


def need_of(load: Load, constants: Measured) -> Need:
    """What this load needs.

    >>> need_of(Load(devices=1_000_000), measured()).reports_a_day
    1000000.0
    """
    _check(load, constants.folds)
    reports = load.devices * load.reports * load.peak / DAY
    models = load.devices * load.models * load.peak / DAY
    busy = reports / constants.permits + models / constants.models
    on_sqlite = busy + reports / constants.sqlite <= LOAD
    processes = 1 if on_sqlite else math.ceil((busy + reports / constants.postgres) / LOAD)
    size = constants.sqlite_bytes if on_sqlite else constants.postgres_bytes
    a_day = load.devices * load.reports
    return Need(
        reports_a_day=a_day,
        reports_at_peak=reports,
        requests_at_peak=2 * reports + models,
        web_processes=processes,
        store="SQLite" if on_sqlite else "PostgreSQL",
        journal_a_day=a_day * size,
        journal=a_day * size * load.retention,
        received_at_peak=reports * (constants.permit_bytes + constants.report_bytes),
        learner_busy=reports / constants.folds[load.learner],
        walls=sorted(_walls(load, constants), key=lambda wall: wall.devices),
    )


def _walls(load: Load, constants: Measured) -> list[Wall]:
    """What cannot be had twice. Web processes can: they share nothing but the database."""
    reports, models = load.reports * load.peak / DAY, load.models * load.peak / DAY  # a second, of one device
    busy = reports / constants.permits + reports / constants.sqlite + models / constants.models
    learner = "learners on several servers, each with its own tasks; or a learner that folds faster"
    database = "tasks on several databases: tasks share nothing"
    return [
        Wall("one web process on SQLite", LOAD / busy, "PostgreSQL, and more web processes"),
        Wall(f"one learner process, {load.learner}", constants.folds[load.learner] / reports, learner),
        Wall("one PostgreSQL", LOAD * constants.copy / reports, database),
    ]


def _check(load: Load, folds: Mapping[str, Any]) -> None:
    for name in ("devices", "reports", "peak", "retention"):
        if not getattr(load, name) > 0:
            raise ConfigurationError(f"{name} must be positive, got {getattr(load, name):g}")
    if load.models < 0:
        raise ConfigurationError(f"models must not be negative, got {load.models:g}")
    if load.learner not in folds:
        raise UnknownName("learner", load.learner, list(folds))
