"""`sottovoce devices`: a fleet of simulated people with real devices against a server; also the load generator."""

from typing import TYPE_CHECKING, Annotated

import typer

from sottovoce.cli.output import JsonFile, progress_bar, table_of, write_rows
from sottovoce.cli.task import HERE, Server, print_learned
from sottovoce.protocol.errors import ConfigurationError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from sottovoce.fleet.people import Band
    from sottovoce.fleet.run import FleetResult
    from sottovoce.protocol.contract import Contract


def devices(
    task: Annotated[str, typer.Option(help="The id of the task.")],
    server: Server = HERE,
    people: Annotated[int, typer.Option(help="How many come.")] = 2000,
    visits: Annotated[int, typer.Option(help="How often each comes.")] = 1,
    seed: Annotated[int, typer.Option(help="Another number, other people in another world.")] = 0,
    epsilon: Annotated[float | None, typer.Option(help="Answer at a quieter gate: the loudest up to this.")] = None,
    rush: Annotated[bool, typer.Option("--rush", help="Wait for nobody: generate load.")] = False,
    connections: Annotated[int, typer.Option(help="So many people are served at once.")] = 4,
    compare: Annotated[bool, typer.Option("--compare", help="Run the simulator beside it.")] = False,
    json: JsonFile = None,
) -> None:
    """Let simulated people with real devices answer a task over HTTP, and say what was learned and what it cost."""
    from rich.console import Console

    from sottovoce.admin.describe import learned
    from sottovoce.admin.remote import Remote
    from sottovoce.fleet.people import band_of
    from sottovoce.fleet.run import run_fleet

    if compare and (rush or epsilon is not None):
        raise ConfigurationError("--compare needs people who wait and the task's own epsilon: no --rush, no --epsilon")
    console, remote = Console(), Remote(server)
    contract, before = remote.contract(task), remote.summary(task).reports
    if compare and before:
        raise ConfigurationError(f"--compare starts with the first report; {task} has {before:,} already")
    with progress_bar(task, people * visits) as advance:
        result = run_fleet(
            server, task, people, visits, seed=seed, lockstep=not rush, connections=connections, epsilon=epsilon,
            progress=advance,
        )  # fmt: skip
    band = band_of(contract, result.world, len(result.curve)) if compare else None
    print_result(console, contract, result, band)
    console.print(f"{result.reports / max(result.sending, 1e-9):,.0f} reports a second while sending", style="dim")
    print_learned(console, *learned(contract, remote))
    write_rows(json, [result.row()])


def print_result(console: "Console", contract: "Contract", result: "FleetResult", band: "Band | None" = None) -> None:
    """The outcome of a run, beside uniform play and (where it was run) the simulator."""
    console.print(result_table(contract, result, band))
    each = result.reports / max(result.people, 1)
    console.print(
        f"epsilon {result.epsilon:g} a report; {each:.2g} reports a person on average", style="dim", highlight=False
    )


def result_table(contract: "Contract", result: "FleetResult", band: "Band | None" = None) -> "Table":
    """One row; fits 80 columns."""
    from sottovoce.catalogue.task import learning_of

    columns = ["people", "reports", "refused", "regret", "uniform", "epsilon", "bytes", "seconds"]
    title = f"{contract.title or contract.id}: {learning_of(contract).learner}"
    table = table_of(title, *columns, *(["simulator"] if band else []))
    cells = [
        f"{result.people:,}",
        f"{result.acknowledged:,}",
        f"{result.refused:,}",
        f"{result.regret:,.1f}",
        f"{result.regret_uniform:,.1f}",
        f"{result.epsilon:g}",
        f"{result.bytes_per_report}",
        f"{result.seconds:.1f}",
    ]
    if band:
        cells.append(f"{band.low[-1]:,.0f} to {band.high[-1]:,.0f}")
    table.add_row(*cells)
    return table
