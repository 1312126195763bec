"""`sottovoce sweep`: a study in shards, on the cores of this machine or on Ray; it goes on where it was interrupted."""

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sottovoce.cli.output import JsonFile, progress_bar, say
from sottovoce.cli.simulate import folder_of, show
from sottovoce.cli.study_options import with_study
from sottovoce.protocol.errors import ConfigurationError

if TYPE_CHECKING:
    from sottovoce.lab.study.file import StudyInWorlds
    from sottovoce.lab.sweep.messages import Workers

HERE = "local"


@with_study()
def sweep(
    asked: "StudyInWorlds",
    on: Annotated[
        str,
        typer.Option(metavar="PLACE", help="local, ray (started on this machine), or the address of a Ray cluster."),
    ] = HERE,
    workers: Annotated[int | None, typer.Option(min=1, help="How many at once (default: one for each core).")] = None,
    shard: Annotated[int, typer.Option(min=1, help="Seeds that one worker plays at once.")] = 64,
    out: Annotated[Path | None, typer.Option(help="Folder of results (default: results/NAME).")] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Run again what the folder already holds.")] = False,
    json: JsonFile = None,
) -> None:
    """What `simulate` does, in shards of seeds on many workers; what is interrupted goes on where it was."""
    import pyarrow.parquet  # noqa: F401  (refused here, before anything is computed)

    from sottovoce.lab.study.cells import cells_of
    from sottovoce.lab.sweep import lead
    from sottovoce.lab.sweep.shards import Shards, shards_of

    study, cells = asked.study, cells_of(asked.study)
    place = folder_of(study, out)
    shards, kept = shards_of(study, len(cells), shard), Shards(place.path, study, cells)
    if fresh:
        kept.forget()
    pairs = len(cells) * study.seeds
    say(f"{pairs:,} pairs of seed and setting in {len(shards):,} shards", "dim")
    with progress_bar("rounds", pairs * study.rounds) as advance, closing(workers_of(on, workers)) as staff:
        results = lead.sweep(study, cells, shards, kept, staff, advance)
    show(place, study, results, parquet=True, json=json)


def workers_of(on: str, count: int | None) -> "Workers":
    """Processes of this machine, or a Ray."""
    if on == HERE:
        from sottovoce.lab.sweep.local import LocalWorkers

        return LocalWorkers(count)
    from sottovoce.lab.sweep.cluster import RayWorkers

    try:
        return RayWorkers(on, count)
    except (ConnectionError, ValueError) as error:
        raise ConfigurationError(f"cannot reach a Ray cluster at {on!r}: {error}") from error
