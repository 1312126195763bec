"""`sottovoce reproduce`: published experiments, run again."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from sottovoce.catalogue.task import task
from sottovoce.cli.output import JsonFile, folder, progress_bar, say, table_of, words, write_rows
from sottovoce.cli.study_options import Device
from sottovoce.protocol.errors import look_up

if TYPE_CHECKING:
    from sottovoce.lab.study.cells import Cell
    from sottovoce.lab.study.file import Study
    from sottovoce.lab.table1.measure import Measured
    from sottovoce.sim.worlds.movielens import MovieLens

EXPONENTS = """\
exponents of regret (best arm: samples) with 95 % intervals, through the points
at which at most half of the regret of not learning is left (others in brackets)
says: the exponent of the theorem; grows: slower than, as or faster than it
shown: the interval ends at most 0.05 above it"""

BOUNDS = """\
ratio: the bound over the 95 % quantile; of "11, below", a lower bound for the
worst world, the median over it. A bound above "no learning" says nothing yet.
Theorem 5 promises privacy, not regret: see `sottovoce audit`. Theorem 12 has no
constants: see the row best-arm of Table 1."""

reproduce = typer.Typer(help="Run published experiments again.", no_args_is_help=True)


@reproduce.command()
def table1(
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer people and half the seeds: minutes instead of hours.")
    ] = False,
    out: Annotated[Path, typer.Option(help="Folder of the figures and the page.")] = Path("results/table1"),
    row: Annotated[list[str] | None, typer.Option(metavar="NAME", help="Only this row; may be repeated.")] = None,
    json: JsonFile = None,
) -> None:
    """Measure Table 1 of the paper: exponents in rounds and in epsilon, next to the theorems."""
    from sottovoce.lab.table1.measure import measure
    from sottovoce.lab.table1.page import write_table1
    from sottovoce.lab.table1.rows import ROWS

    place, known = folder(out), {row.name: row for row in ROWS}
    chosen = [look_up("row of Table 1", name, known) for name in row or known]
    rows = [one.quick() for one in chosen] if quick else chosen
    with progress_bar("rows", len(rows)) as advance:
        measured = list(measure(rows, progress=lambda title: advance(1, title)))
    say(_exponents(measured))
    say()
    say(_points(measured))
    say()
    say(EXPONENTS, "dim")
    say(f"report: {write_table1(place, measured, quick=quick)}", wrap=False)
    write_rows(json, [m.as_row() for m in measured])


def _exponents(measured: "list[Measured]") -> Table:
    """A line for each row, preset and quantity; presets beside the first stand below it. Fits 80 columns."""
    columns = (words("row"), words("against"), "says", "exponent", "grows", "shown")
    table = table_of("Table 1, measured", *columns)
    for m in measured:
        first = m.preset == m.row.presets[0]
        style = "dim" if not first else "green" if m.shown else "red"
        name, fitted, shown = m.row.name if first else f"  {m.preset}", str(m.points.fitted or "-"), m.shown
        cells = (name, m.axis.quantity, f"{m.axis.theorem:.2f}", fitted, m.growth, "yes" if shown else "no")
        table.add_row(*cells, style=style)
    return table


def _points(measured: "list[Measured]") -> Table:
    """What is behind the exponents of the presets that rows are judged by."""
    from sottovoce.lab.table1.page import shares_of, slopes_of

    columns = (words("row"), words("against"), "slopes between points", "left, %")
    judged = [m for m in measured if m.preset == m.row.presets[0]]
    rows = [(m.row.name, m.axis.quantity, slopes_of(m.points), shares_of(m.points)) for m in judged]
    return table_of("From point to point", *columns, rows=rows)


@reproduce.command()
def bounds(device: Device = None, json: JsonFile = None) -> None:
    """Measure regret beside the bounds of the theorems, with their constants, and beside a lower bound."""
    from sottovoce.lab.bounds.measure import BOXES, ROUNDS, SEEDS, measure

    with progress_bar("theorems", len(BOXES)) as advance:
        measured = list(measure(progress=lambda title: advance(1, title)))
    columns = (words("theorem"), "epsilon", "median", "95 %", "bound", "ratio", "no learning")
    cells = [
        (b.box.theorem, f"{b.epsilon:g}", *(f"{n:,.0f}" for n in (b.median, b.high, b.bound)),
         f"{b.ratio:,.3g}", f"{b.idle:,.0f}")
        for b in measured
    ]  # fmt: skip
    say(table_of(f"Regret after {ROUNDS:,} people, {SEEDS} seeds", *columns, rows=cells))
    say()
    say(BOUNDS, "dim")
    write_rows(json, [b.as_row() for b in measured])


@reproduce.command()
def movielens(
    movies: Annotated[int, typer.Option(help="The first so many movies are the actions.")] = 20,
    rank: Annotated[int, typer.Option(help="Length of the features.")] = 20,
    rotate: Annotated[int | None, typer.Option(help="Turn all features by a random rotation of this seed.")] = None,
    scale: Annotated[
        str, typer.Option(metavar="NAME", help="authors, or unit: stretched until the longest feature is 1.")
    ] = "authors",
    data: Annotated[Path | None, typer.Option(help="ua.base, u.data or their folder; else recbole's copy.")] = None,
    learner: Annotated[
        str, typer.Option(metavar="NAME", help="Which one is run beside the paper's box, linucb paper.")
    ] = "scale-free",
    epsilon: Annotated[list[float] | None, typer.Option(help="May be repeated; default 1, 2, 4, 8 and 10.")] = None,
    replay: Annotated[bool, typer.Option("--replay", help="Only replay the authors' own run, digit by digit.")] = False,
    apart: Annotated[
        bool, typer.Option("--apart", help="That run changed into the paper's box, step by step.")
    ] = False,
    rounds: Annotated[int, typer.Option(help="The authors ran 1,000,000.")] = 50_000,
    seeds: Annotated[int, typer.Option(help="How many runs; each has people of its own.")] = 8,
    seed: Annotated[int, typer.Option(help="Where the seeds start.")] = 0,
    out: Annotated[Path | None, typer.Option(help="Folder of results (default: results/NAME).")] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Run again what the folder already holds.")] = False,
    device: Device = None,
    json: JsonFile = None,
) -> None:
    """Recommend movies of MovieLens 100K as in the code published with Zheng et al. 2020, at budgets that protect.

    Beside them stands the published epsilon of 800,000, in simulation only: it protects nobody.
    """
    from sottovoce.cli.simulate import run
    from sottovoce.lab.study.cells import cells_of
    from sottovoce.lab.study.file import Study
    from sottovoce.sim.worlds.movielens import movielens_of

    if replay or apart:
        world = movielens_of(dimension=rank, arms=movies, path=str(data or ""))
        (_apart if apart else _replay)(world, rounds, json)
        return
    options = {"scale": scale, "path": str(data) if data else None, "rotate": rotate}
    study = Study(
        title=f"MovieLens: {movies} movies, features of length {rank}",
        learner=learner,
        world=["movielens"],
        arms=movies,
        dimension=rank,
        epsilon=epsilon or [1.0, 2.0, 4.0, 8.0, 10.0],
        rounds=rounds,
        seeds=seeds,
        seed=seed,
        options={name: value for name, value in options.items() if value is not None},
    )
    cells = [cell for cell in cells_of(study) if cell.role != "paper"]
    world: Any = cells[0].world
    run(study, [*cells, *_box(study, world)], out, fresh=fresh, parquet=False, json=json)
    lost = f"{rounds * world.longest_regret():,.0f}"
    say(f"Without any report: always the longest feature loses {lost} in as many rounds.")
    say("The published code is not the paper's box: --replay plays it, --apart goes from one to the other.", "dim")


def _box(study: "Study", world: "MovieLens") -> "list[Cell]":
    """The paper's algorithm at the same budgets and at the published one; the replay is of the published code."""
    from sottovoce.lab.movielens.replay import BUDGET
    from sottovoce.lab.study.cells import Cell

    shape: dict[str, Any] = {"arms": study.arms, "dimension": study.dimension, "rounds": study.rounds}
    budgets = dict.fromkeys(study.epsilon, study.delta) | {BUDGET.epsilon: BUDGET.delta}
    boxes = [task("linucb", "paper", **shape, epsilon=epsilon, delta=delta) for epsilon, delta in budgets.items()]
    return [Cell("paper", "movielens", world, box) for box in boxes]


def _replay(world: "MovieLens", rounds: int, json: Path | None) -> None:
    from sottovoce.lab.movielens.replay import BUDGET, HORIZON, PRINTED_REGRET, replay

    with progress_bar("rounds", rounds) as advance:
        regret, distance = replay(world.features, world.theta, rounds, advance)
    shown = sorted({*range(min(5, rounds)), *(10**k - 1 for k in range(1, 9) if 10**k <= rounds), rounds - 1})
    rows = [{"step": i, "distance": float(distance[i]), "regret": float(regret[i])} for i in shown]
    say(f"The published code at {BUDGET}, which protects nobody")
    cells = [(f"{row['step']:,}", f"{row['distance']:.3f}", f"{row['regret']:.3f}") for row in rows]
    say(table_of("", "step", "distance to theta*", "regret", rows=cells))
    say(f"The authors print a regret of {PRINTED_REGRET} after {HORIZON:,} rounds (20 movies, rank 20).")
    say(world.notice, "dim")
    write_rows(json, rows)


def _apart(world: "MovieLens", rounds: int, json: Path | None) -> None:
    """Regret of the published code, and of each step from there to the algorithm box."""
    from sottovoce.lab.movielens.replay import BUDGET, PUBLISHED, apart, replay

    changes = list(apart(rounds))
    with progress_bar("rounds", (1 + 2 * len(changes)) * rounds) as advance:
        played = lambda code: float(replay(world.features, world.theta, rounds, advance, code).regret[-1])  # noqa: E731
        rows: list[dict[str, Any]] = [{"change": "as published", "alone": played(PUBLISHED), "with_those_above": None}]
        rows += [
            {"change": name, "alone": played(one), "with_those_above": played(many)} for name, one, many in changes
        ]
    cells = [
        [row["change"], *(f"{row[x]:,.1f}" if row[x] else "" for x in ("alone", "with_those_above"))] for row in rows
    ]
    say(f"From the published code to the paper's box at {BUDGET}: regret after {rounds:,} rounds")
    say(table_of("", words("change"), "alone", "with those above", rows=cells))
    say(world.notice, "dim")
    write_rows(json, rows)
