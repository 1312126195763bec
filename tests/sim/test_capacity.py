"""What `sottovoce capacity` computes: proportions, and the wall that is nearest."""

import msgspec
import pytest

from sottovoce.lab.capacity import DAY, LOAD, Load, measured, need_of
from sottovoce.protocol.errors import ConfigurationError

ROUND = msgspec.structs.replace(
    measured(), postgres=1000.0, sqlite=500.0, permits=1000.0, models=1000.0, copy=10_000.0, postgres_bytes=200.0,
    sqlite_bytes=100.0, permit_bytes=100, report_bytes=300, folds={"gradient": 4000.0},
)  # fmt: skip
"""Constants with which one can compute in one's head."""


def test_a_load_that_is_computed_by_hand():
    """At the peak 1,000 reports a second: a permit (1 ms), a report (1 ms) and two models (2 ms) each, half busy."""
    need = need_of(Load(devices=DAY * 1000 / 4), ROUND)
    assert need.reports_at_peak == pytest.approx(1000)
    assert need.requests_at_peak == pytest.approx(4000)
    assert (need.store, need.web_processes) == ("PostgreSQL", 8)
    assert need.journal == pytest.approx(DAY * 250 * 200 * 30)
    assert need.received_at_peak == pytest.approx(400_000)
    assert need.learner_busy == pytest.approx(0.25)


def test_few_devices_need_one_process_and_sqlite():
    need = need_of(Load(devices=1000), ROUND)
    assert (need.store, need.web_processes) == ("SQLite", 1)
    assert need.journal_a_day == pytest.approx(100_000)


def test_at_a_wall_its_part_is_as_busy_as_it_may_be():
    walls = {wall.what: wall.devices for wall in need_of(Load(devices=1), ROUND).walls}
    assert need_of(Load(devices=walls["one learner process, gradient"]), ROUND).learner_busy == pytest.approx(1)
    at_most = walls["one web process on SQLite"]
    assert need_of(Load(devices=0.999 * at_most), ROUND).store == "SQLite"
    assert need_of(Load(devices=1.001 * at_most), ROUND).store == "PostgreSQL"
    assert need_of(Load(devices=walls["one PostgreSQL"]), ROUND).reports_at_peak == pytest.approx(LOAD * ROUND.copy)


def test_walls_do_not_depend_on_how_many_devices_there_are_and_the_nearest_is_first():
    few, many = (need_of(Load(devices=devices, reports=3), measured()) for devices in (10, 1e9))
    assert [wall.what for wall in few.walls] == [wall.what for wall in many.walls]
    assert [wall.devices for wall in few.walls] == pytest.approx([wall.devices for wall in many.walls])
    assert [wall.devices for wall in few.walls] == sorted(wall.devices for wall in few.walls)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"devices": 0}, "devices must be positive, got 0"),
        ({"reports": float("nan")}, "reports must be positive, got nan"),
        ({"models": -1}, "models must not be negative, got -1"),
        ({"learner": "gradent"}, "did you mean gradient"),
    ],
)
def test_a_load_that_is_none_is_refused(wrong: dict, said: str):
    with pytest.raises(ConfigurationError, match=said):
        need_of(Load(**({"devices": 1.0} | wrong)), measured())
