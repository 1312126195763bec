"""`sottovoce capacity`: what so many devices a day need, computed from measured constants."""

from typing import TYPE_CHECKING, Annotated

import typer

from sottovoce.cli.output import JsonFile, say, table_of, words, write_rows

if TYPE_CHECKING:
    from sottovoce.lab.capacity import Need

UNITS = ("bytes", "kB", "MB", "GB", "TB", "PB")


def capacity(
    devices: Annotated[float, typer.Argument(help="Devices that are used on one day.")] = 1_000_000,
    reports: Annotated[float, typer.Option(help="Reports of a device on a day.")] = 1.0,
    models: Annotated[float, typer.Option(help="How often a device looks at the model on a day.")] = 2.0,
    peak: Annotated[
        float, typer.Option(help="The busiest hour has so many times the requests of the mean hour.")
    ] = 4.0,
    retention: Annotated[int, typer.Option(help="Days for which single reports are kept.")] = 30,
    learner: Annotated[
        str, typer.Option(metavar="NAME", help="Whose speed counts; one of those measured.")
    ] = "gradient",
    json: JsonFile = None,
) -> None:
    """Say what so many devices a day need, and where the first wall is."""
    from sottovoce.lab.capacity import Load, measured, need_of

    constants = measured()
    load = Load(devices, reports, models, peak, retention, learner)
    need = need_of(load, constants)
    say(f"{devices:,.0f} devices a day; reports of each: {reports:g}; the busiest hour: {peak:g} times the mean")
    say()
    say(table_of("What it needs", words("what"), words("how much"), rows=_rows(need, retention)))
    say()
    rows = [
        (wall.what, _short(wall.devices), "yes" if wall.devices < devices else "no", wall.then) for wall in need.walls
    ]
    title = "Walls, the nearest first: devices a day that it carries"
    say(table_of(title, words("where"), "devices", "passed", words("then", wraps=True), rows=rows))
    say()
    say(f"computed from what was measured on {constants.machine}, {constants.date}, by `{constants.command}`", "dim")
    found = load._asdict() | need._asdict() | {"walls": [wall._asdict() for wall in need.walls]}
    write_rows(json, [found | {"machine": constants.machine, "measured": constants.date}])


def _rows(need: "Need", retention: int) -> list[tuple[str, str]]:
    behind = "" if need.learner_busy <= 1 else ": it falls behind"
    return [
        ("reports a day", f"{need.reports_a_day:,.0f}"),
        ("reports a second at the peak", f"{need.reports_at_peak:,.0f}"),
        ("requests a second at the peak", f"{need.requests_at_peak:,.0f}"),
        ("web processes, half busy", f"{need.web_processes:,}"),
        ("store", need.store),
        ("journal a day", _bytes(need.journal_a_day)),
        (f"journal over {retention} days", _bytes(need.journal)),
        ("received at the peak", f"{_bytes(need.received_at_peak)} a second"),
        ("learner busy at the peak", f"{need.learner_busy:.1%}{behind}"),
    ]


def _bytes(count: float) -> str:
    """A size in a unit that suits it.

    >>> _bytes(1_500_000)
    '1.5 MB'
    """
    power = min(int(max(count, 1)).bit_length() // 10, len(UNITS) - 1)
    while power and count < 1000**power:
        power -= 1
    return f"{count / 1000**power:,.3g} {UNITS[power]}"


def _short(count: float) -> str:
    """Two digits are all that such a number means.

    >>> _short(1_234_567), _short(43_210_000_000), _short(950)
    ('1.2 million', '43 billion', '950')
    """
    for size, name in ((1e9, "billion"), (1e6, "million")):
        if count >= size:
            return f"{float(f'{count / size:.2g}'):,g} {name}"
    return f"{float(f'{count:.2g}'):,.0f}"
