"""`sottovoce simulate`: run a study, show the table, write figure and report."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sottovoce.catalogue.task import algorithm_of
from sottovoce.cli.output import progress_bar, table_of, write_rows
from sottovoce.protocol.errors import ConfigurationError

if TYPE_CHECKING:
    from rich.table import Table

    from sottovoce.lab.study.cells import Cell, Curve, Study
    from sottovoce.lab.study.results import Folder

GROWTH = "growth: exponent of the regret over the second half; at 1 nothing is learned"
RIGHT = "right: nothing beats what was recommended, 95 % interval; samples: people asked"


def simulate(
    context: typer.Context,
    file: Annotated[Path | None, typer.Argument(help="A study in TOML (see experiments/), instead of options.")] = None,
    learner: Annotated[str | None, typer.Option(help="See `sottovoce algorithms`.")] = None,
    preset: Annotated[str, typer.Option()] = "practical",
    world: Annotated[list[str] | None, typer.Option(help="A world by name; may be repeated.")] = None,
    contexts: Annotated[str | None, typer.Option(help="isotropic, ill-conditioned or fixed (linear).")] = None,
    dimension: Annotated[int, typer.Option(help="Length of the features, or of a point.")] = 0,
    region: Annotated[str, typer.Option(help="ball, box or simplex (learners of points).")] = "ball",
    arms: Annotated[int | None, typer.Option(help="How many actions (default 10; none for points).")] = None,
    gap: Annotated[float | None, typer.Option(help="How much better the best arm is (arms, switching-arms).")] = None,
    option: Annotated[list[str] | None, typer.Option(help="Any other option of the world: NAME=VALUE.")] = None,
    data: Annotated[Path | None, typer.Option(help="Your copy of the data (movielens): a file or folder.")] = None,
    epsilon: Annotated[list[float] | None, typer.Option(help="Budget of one report; may be repeated.")] = None,
    delta: Annotated[float | None, typer.Option(help="For mechanisms that need one (default 1e-5).")] = None,
    rounds: Annotated[int, typer.Option()] = 10_000,
    seeds: Annotated[int, typer.Option()] = 8,
    seed: Annotated[int, typer.Option(help="Where the seeds start: another number, other worlds.")] = 0,
    publish_every: Annotated[int, typer.Option(help="Rounds between two published models.")] = 1,
    delay: Annotated[int, typer.Option(help="Rounds until a report arrives.")] = 0,
    tune: Annotated[list[str] | None, typer.Option(help="Override a preset's number: NAME=VALUE.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder of results (default: results/NAME).")] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Run again what the folder already holds.")] = False,
    parquet: Annotated[bool, typer.Option("--parquet", help="Write traces.parquet instead of traces.csv.")] = False,
    json: Annotated[Path | None, typer.Option(help="Write the rows to this file.", dir_okay=False)] = None,
) -> None:
    """Compare a private learner with the paper's preset, with no privacy and with uniform play."""
    from sottovoce.lab.study.cells import Study, load_study

    if file is not None:
        refuse_options(context)
        study = load_study(file)
    elif learner is None:
        raise ConfigurationError("name a study file or a --learner; `sottovoce algorithms` lists them")
    else:
        options = dict(number_of(pair) for pair in option or [])
        options |= {"contexts": contexts, "gap": gap, "path": str(data) if data else None}
        points = algorithm_of(learner).actions == "points"
        study = Study(
            learner=learner,
            preset=preset,
            world=world or [],
            dimension=dimension,
            arms=(0 if points else 10) if arms is None else arms,
            region={"kind": region} if points else {},
            epsilon=epsilon or [1.0],
            delta=delta,
            rounds=rounds,
            seeds=seeds,
            seed=seed,
            publish_every=publish_every,
            delay=delay,
            options={name: value for name, value in options.items() if value is not None},
            tuning=dict(number_of(pair) for pair in tune or []),
        )
    run(study, out, fresh=fresh, parquet=parquet, json=json)


def run(
    study: "Study",
    out: Path | None,
    *,
    beside: "Sequence[Cell]" = (),
    fresh: bool,
    parquet: bool,
    json: Path | None,
) -> None:
    """Run a study, and the cells beside it, and leave everything a person may want to look at."""
    from rich.console import Console

    from sottovoce.lab.study.cells import cells_of, notices_of
    from sottovoce.lab.study.page import write_report
    from sottovoce.lab.study.results import Folder, row

    cells = [*cells_of(study), *beside]
    folder = Folder(out or Path("results") / _name(study), study)
    curves = _run(folder, study, cells, fresh)
    folder.export(curves, parquet)
    console = Console()
    recommends = any(curve.correct is not None for curve in curves)
    console.print(_best_arm_table(study, curves) if recommends else _table(study, curves))
    report = write_report(folder.path, study, curves)
    console.print()
    console.print(RIGHT if recommends else GROWTH, style="dim")
    for notice in notices_of(study):
        console.print(notice, style="dim", highlight=False)
    console.print(f"report: {report}", highlight=False, soft_wrap=True)
    write_rows(json, [row(study, curve) for curve in curves])


def _run(folder: "Folder", study: "Study", cells: list, fresh: bool) -> "list[Curve]":
    from rich.console import Console

    from sottovoce.lab.study.cells import run_cells

    curves = {cell.name: None if fresh else folder.load(cell) for cell in cells}
    missing = [cell for cell in cells if curves[cell.name] is None]
    if len(missing) < len(cells):
        kept = len(cells) - len(missing)
        Console(stderr=True).print(
            f"[dim]{kept} of {len(cells)} curves are in {folder.path}; --fresh runs them again[/]"
        )
    with progress_bar("rounds", len(missing) * study.rounds) as advance:
        for curve in run_cells(study, missing, advance):
            folder.save(curve)
            curves[curve.cell.name] = curve
    return [curve for curve in curves.values() if curve is not None]


def _table(study: "Study", curves: "list[Curve]") -> "Table":
    """A section per world; fits 80 columns."""
    from sottovoce.lab.study.page import who

    hears = {"local": "", "central": " (a curator hears raw data)", "none": " (hears raw data)"}
    name = study.learner + hears[algorithm_of(study.learner).trust]
    title = f"{name}: regret after {study.rounds:,} rounds, mean of {study.seeds} seeds and 95 % interval"
    table = table_of(title, "who", "epsilon", "delta", "regret", "interval", "of uniform", "growth")
    uniform = {c.cell.world: float(c.regret[:, -1].mean()) for c in curves if c.cell.role == "uniform"}
    for world in study.worlds:
        table.add_row(f"[bold]{world}[/]")
        for curve in (curve for curve in curves if curve.cell.world == world):
            mean, low, high = (float(series[-1]) for series in curve.interval())
            table.add_row(
                f"  {who(curve)}",
                f"{curve.cell.task.epsilon:g}" if curve.cell.private else "-",
                f"{curve.cell.task.delta:g}" if curve.cell.private else "-",
                f"{mean:,.0f}",
                f"{low:,.0f} to {high:,.0f}",
                f"{mean / uniform[world]:.1%}",
                f"{curve.growth():.2f}",
                style="bold green" if curve.cell.role == "chosen" else None,
            )
        table.add_section()
    return table


def _best_arm_table(study: "Study", curves: "list[Curve]") -> "Table":
    """For learners that recommend: right or wrong, and how many people it took."""
    from sottovoce.lab.study.page import who

    title = f"{study.learner}: best of {study.arms} arms, at most {study.rounds:,} people, {study.seeds} seeds"
    table = table_of(title, "who", "epsilon", "delta", "samples", "right", "interval", "stopped")
    for world in study.worlds:
        table.add_row(f"[bold]{world}[/]")
        for curve in (curve for curve in curves if curve.cell.world == world and curve.correct is not None):
            share, low, high = curve.right()
            table.add_row(
                f"  {who(curve)}",
                f"{curve.cell.task.epsilon:g}" if curve.cell.private else "-",
                f"{curve.cell.task.delta:g}" if curve.cell.private else "-",
                f"{curve.samples.mean():,.0f}",
                f"{share:.0%}",
                f"{low:.0%} to {high:.0%}",
                f"{curve.stopped.mean():.0%}",
                style="bold green" if curve.cell.role == "chosen" else None,
            )
        table.add_section()
    return table


def refuse_options(context: typer.Context) -> None:
    """A study file says everything about the study; an option beside it would be silently lost."""
    beside = {"file", "out", "fresh", "parquet", "json"}
    typed = [name for name in context.params if _typed(context, name) and name not in beside]
    if typed:
        options = ", ".join("--" + name.replace("_", "-") for name in typed)
        raise ConfigurationError(f"{options} cannot be combined with a study file; change the file")


def _typed(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def number_of(pair: str) -> tuple[str, float | str]:
    name, equals, value = pair.partition("=")
    if not equals:
        raise ConfigurationError(f"expected NAME=VALUE, got {pair!r}")
    try:
        return name, float(value)
    except ValueError:
        return name, value


def _name(study: "Study") -> str:
    import hashlib

    import msgspec

    digest = hashlib.sha256(msgspec.json.encode(study)).hexdigest()[:6]
    return "-".join([study.learner, study.preset, *study.worlds, digest])
