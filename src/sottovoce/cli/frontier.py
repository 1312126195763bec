"""`sottovoce frontier`: regret against epsilon for every learner and preset in one world."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from sottovoce.cli import simulate
from sottovoce.cli.choose import ladder_of
from sottovoce.cli.output import JsonFile, folder, say, table_of, words, write_rows
from sottovoce.cli.study_options import Device, Learners, with_study
from sottovoce.protocol.errors import ConfigurationError

if TYPE_CHECKING:
    from sottovoce.lab.choosing.frontier import Frontier
    from sottovoce.lab.study.file import StudyInWorlds


@with_study(tasks=True, without=("learner", "preset", "epsilon", "tune"))
def frontier(
    asked: "StudyInWorlds",
    learner: Learners = None,
    epsilon: Annotated[
        list[float] | None, typer.Option(help="A budget to draw; may be repeated (default 0.25 to 16).")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Folder of results (default: results/frontier-NAME).")] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Run again what the folder already holds.")] = False,
    device: Device = None,
    json: JsonFile = None,
) -> None:
    """Draw regret against epsilon for every learner and preset that fits, beside no privacy and uniform play."""
    from sottovoce.lab.choosing.candidates import comparison_of
    from sottovoce.lab.choosing.frontier import LADDER, frontier_of, remarks_of, rows_of, studies_of, write_frontier
    from sottovoce.lab.study.results import Folder

    compared = comparison_of(asked, learner or (), same_tries=False)
    if compared.answers:
        raise ConfigurationError(f"{asked.study.learner} looks for an answer; frontier draws regret (see `choose`)")
    pairs = studies_of(compared, ladder_of(asked, epsilon, LADDER))
    place = folder(out or Path("results") / simulate.name_of("frontier", *(study for study, _ in pairs)))
    jobs = [(Folder(place / f"{one.learner}-{one.preset}", one), one, cells) for one, cells in pairs]
    found = frontier_of([study for study, _ in pairs], simulate.run_jobs(jobs, fresh))
    say(_table(found))
    say()
    remarks = remarks_of([cell for _, cells in pairs for cell in cells])
    for note in filter(None, [asked.note, *remarks, *compared.left_out]):
        say(note, "dim")
    say(f"report: {write_frontier(place, found)}", wrap=False)
    write_rows(json, rows_of(found))


def _table(found: "Frontier") -> Table:
    from sottovoce.lab.choosing.words import name_of

    study = found.study
    title = f"Regret of {study.rounds:,} people by epsilon, mean of {study.seeds} seeds"
    table = table_of(title, words("who", wraps=True), *(f"{epsilon:g}" for epsilon in study.epsilon))
    for curve in found.curves:
        table.add_row(name_of(curve.study), *(f"{result.last()[0]:,.0f}" for result in curve.results))
    for name, result in found.lines:
        table.add_row(name, *[""] * (len(study.epsilon) - 1), f"{result.last()[0]:,.0f}", style="dim")
    return table
