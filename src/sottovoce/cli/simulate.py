"""`sottovoce simulate`: run a study, show the table, write figures and report."""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer
from rich.console import Console
from rich.table import Table

from sottovoce.catalogue.algorithms import algorithm_of
from sottovoce.cli.output import JsonFile, folder, progress_bar, say, table_of, words, write_rows
from sottovoce.cli.study_options import Device, with_study

if TYPE_CHECKING:
    from sottovoce.lab.study.cells import Cell, CellResult
    from sottovoce.lab.study.file import Study, StudyInWorlds
    from sottovoce.lab.study.results import Folder

GROWTH = "growth: exponent of the regret over the second half; at 1 nothing is learned"
RIGHT = "right: nothing beats what was recommended, 95 % interval; samples: people asked"
SEES = {"local": "", "central": " (a curator sees raw data)", "none": " (sees raw data)"}


@with_study()
def simulate(
    asked: "StudyInWorlds",
    out: Annotated[Path | None, typer.Option(help="Folder of results (default: results/NAME).")] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Run again what the folder already holds.")] = False,
    device: Device = None,
    parquet: Annotated[bool, typer.Option("--parquet", help="Write traces.parquet instead of traces.csv.")] = False,
    json: JsonFile = None,
) -> None:
    """Compare a private learner with its published form, with no privacy and with uniform play."""
    from sottovoce.lab.study.cells import cells_of

    run(asked.study, cells_of(asked.study), out, fresh=fresh, parquet=parquet, json=json)


def run(
    study: "Study", cells: "Sequence[Cell]", out: Path | None, *, fresh: bool, parquet: bool, json: Path | None
) -> None:
    """Run the cells of a study and leave everything a person may want to look at."""
    if parquet:
        import pyarrow.parquet  # noqa: F401  (refused here, before anything is computed)
    place = folder_of(study, out)
    (results,) = run_jobs([(place, study, cells)], fresh)
    show(place, study, results, parquet=parquet, json=json)


def folder_of(study: "Study", out: Path | None) -> "Folder":
    """Where the results of a study are, if not somewhere else."""
    from sottovoce.lab.study.results import Folder

    return Folder(folder(out or Path("results") / name_of(f"{study.learner}-{study.preset}", study)), study)


def show(place: "Folder", study: "Study", results: "list[CellResult]", *, parquet: bool, json: Path | None) -> None:
    """The table on the screen; figures, report and all curves in the folder."""
    from sottovoce.lab.study.cells import notices_of
    from sottovoce.lab.study.results import row

    place.export(results, parquet)
    recommends = any(result.correct is not None for result in results)
    say(_best_arm_table(study, results) if recommends else _regret_table(study, results))

    from sottovoce.lab.study.page import write_report  # draws figures: nobody waits for that before the table

    report = write_report(place.path, study, results)
    say()
    for note in (RIGHT if recommends else GROWTH, *notices_of([result.cell for result in results])):
        say(note, "dim")
    say(f"report: {report}", wrap=False)
    write_rows(json, [row(study, result) for result in results])


Job = tuple["Folder", "Study", "Sequence[Cell]"]
"""A study, its cells, and where their curves are kept."""


def run_jobs(jobs: "Sequence[Job]", fresh: bool) -> "list[list[CellResult]]":
    """The curves of each study, in the order of its cells: taken from its folder, or run and kept there."""
    from sottovoce.lab.study.cells import run_cells

    found = [{cell.name: None if fresh else place.load(cell) for cell in cells} for place, _, cells in jobs]
    missing = [
        [cell for cell in cells if kept[cell.name] is None] for (*_, cells), kept in zip(jobs, found, strict=True)
    ]
    every, to_run = sum(len(cells) for *_, cells in jobs), sum(map(len, missing))
    if kept := every - to_run:
        where = jobs[0][0].path if len(jobs) == 1 else jobs[0][0].path.parent
        note = f"{kept} of {every} curves are in {where}; --fresh runs them again"
        Console(stderr=True).print(note, style="dim", highlight=False)
    with progress_bar(_title() if to_run else "", to_run * jobs[0][1].rounds) as advance:
        for (place, study, _), cells, results in zip(jobs, missing, found, strict=True):
            for result in run_cells(study, cells, advance):
                place.save(result)
                results[result.cell.name] = result
    return [[result for result in results.values() if result is not None] for results in found]


def _title() -> str:
    from sottovoce.sim.device import in_words

    return f"rounds on {in_words()}"


def _regret_table(study: "Study", results: "list[CellResult]") -> Table:
    name = study.learner + SEES[algorithm_of(study.learner).trust]
    title = f"{name}: regret after {study.rounds:,} rounds, mean of {study.seeds} seeds and 95 % interval"
    uniform = {result.cell.world_name: result.last()[0] for result in results if result.cell.role == "uniform"}

    def numbers(result: "CellResult") -> tuple[str, ...]:
        mean, low, high = result.last()
        share = f"{mean / uniform[result.cell.world_name]:.1%}"
        return f"{mean:,.0f}", f"{low:,.0f} to {high:,.0f}", share, f"{result.growth():.2f}"

    return _by_world(title, ("regret", "interval", "of uniform", "growth"), results, numbers)


def _best_arm_table(study: "Study", results: "list[CellResult]") -> Table:
    """For learners that recommend: right or wrong, and how many people it took."""
    title = f"{study.learner}: best of {study.arms} arms, at most {study.rounds:,} people, {study.seeds} seeds"

    def numbers(result: "CellResult") -> tuple[str, ...]:
        share, low, high = result.right()
        interval = f"{low:.0%} to {high:.0%}"
        return f"{result.samples.mean():,.0f}", f"{share:.0%}", interval, f"{result.stopped.mean():.0%}"

    judged = [result for result in results if result.correct is not None]
    return _by_world(title, ("samples", "right", "interval", "stopped"), judged, numbers)


def _by_world(
    title: str,
    columns: Iterable[str],
    results: "list[CellResult]",
    numbers: "Callable[[CellResult], tuple[str, ...]]",
) -> Table:
    """A section per world; fits 80 columns."""
    table = table_of(title, words("who"), "epsilon", "delta", *columns)
    for world in dict.fromkeys(result.cell.world_name for result in results):
        table.add_row(world, style="bold")
        for result in results:
            cell = result.cell
            if cell.world_name == world:
                promise = (f"{number:g}" if cell.private else "-" for number in (cell.task.epsilon, cell.task.delta))
                style = "bold green" if cell.role == "chosen" else None
                table.add_row(f"  {cell.who}", *promise, *numbers(result), style=style)
        table.add_section()
    return table


def name_of(what: str, *studies: "Study") -> str:
    """The name of a folder of results: what was run in which worlds, and a short hash of all numbers."""
    digest = hashlib.sha256(msgspec.json.encode(studies[0] if len(studies) == 1 else studies)).hexdigest()[:6]
    return "-".join([what, *studies[0].worlds, digest])
