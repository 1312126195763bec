"""`sottovoce reproduce`: published experiments, run again."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sottovoce.core.budget import Budget

if TYPE_CHECKING:
    from sottovoce.sim.study import Cell, Study

PUBLISHED = Budget(epsilon=800_000.0, delta=0.1)
"""What the authors' published code runs MovieLens with. It protects nobody; a device refuses it."""

reproduce = typer.Typer(help="Run published experiments again.", no_args_is_help=True)


@reproduce.callback()
def _published() -> None:
    """Run published experiments again."""


@reproduce.command()
def movielens(
    movies: Annotated[int, typer.Option(help="The first so many movies are the actions.")] = 20,
    rank: Annotated[int, typer.Option(help="Length of the features.")] = 20,
    rotate: Annotated[int | None, typer.Option(help="Turn all features by a random rotation of this seed.")] = None,
    scale: Annotated[str, typer.Option(help="authors, or unit: stretched until the longest feature is 1.")] = "authors",
    data: Annotated[Path | None, typer.Option(help="ua.base, u.data or their folder; else recbole's copy.")] = None,
    epsilon: Annotated[list[float] | None, typer.Option(help="May be repeated; default 1, 2, 4, 8 and 10.")] = None,
    published: Annotated[bool, typer.Option(help="Add the published epsilon of 800,000, in simulation only.")] = True,
    rounds: Annotated[int, typer.Option(help="The authors ran 1,000,000.")] = 100_000,
    seeds: Annotated[int, typer.Option()] = 4,
    seed: Annotated[int, typer.Option(help="Where the seeds start.")] = 0,
    out: Annotated[Path | None, typer.Option(help="Folder of results (default: results/NAME).")] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Run again what the folder already holds.")] = False,
    json: Annotated[Path | None, typer.Option(help="Write the rows to this file.", dir_okay=False)] = None,
) -> None:
    """Recommend movies of MovieLens 100K as in the code published with Zheng et al. 2020, at budgets that protect."""
    from rich.console import Console

    from sottovoce.cli.simulate import run
    from sottovoce.sim.study import Study
    from sottovoce.sim.worlds.movielens import MovieLens

    options = {"scale": scale, "path": str(data) if data else None, "rotate": rotate}
    study = Study(
        title=f"MovieLens: {movies} movies, features of length {rank}",
        learner="linucb",
        world=["movielens"],
        arms=movies,
        dimension=rank,
        epsilon=epsilon or [1.0, 2.0, 4.0, 8.0, 10.0],
        rounds=rounds,
        seeds=seeds,
        seed=seed,
        options={name: value for name, value in options.items() if value is not None},
    )
    run(study, out, beside=_as_published(study) if published else [], fresh=fresh, parquet=False, json=json)
    deaf = rounds * MovieLens(dimension=rank, arms=movies, path=str(data or "")).deaf_regret()
    console = Console()
    console.print(f"Hearing nobody: always the longest feature loses {deaf:,.0f} in as many rounds.", highlight=False)
    if published:
        console.print(f"Epsilon {PUBLISHED.epsilon:g} is simulation only: it protects nobody.", highlight=False)


def _as_published(study: "Study") -> "list[Cell]":
    from sottovoce.core.task import task
    from sottovoce.sim.study import Cell

    shape = {"arms": study.arms, "dimension": study.dimension, "rounds": study.rounds}
    contract = task("linucb", "paper", epsilon=PUBLISHED.epsilon, delta=PUBLISHED.delta, **shape)
    return [Cell("paper", world, contract) for world in study.worlds]
