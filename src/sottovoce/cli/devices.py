"""`sottovoce devices`: a fleet of simulated people with real devices against a server; also the load generator."""

from typing import TYPE_CHECKING, Annotated

import typer

from sottovoce.admin.learned import learned
from sottovoce.admin.remote import Remote
from sottovoce.catalogue.task import holds_out, learning_of
from sottovoce.cli.output import JsonFile, progress_bar, say, table_of, write_rows
from sottovoce.cli.task import HERE, Server, print_learned
from sottovoce.protocol.contract import Contract
from sottovoce.protocol.errors import ConfigurationError

if TYPE_CHECKING:
    from sottovoce.fleet.people import Band
    from sottovoce.fleet.run import FleetResult


def devices(
    task: Annotated[str, typer.Option(metavar="ID", help="The id of the task.")],
    server: Server = HERE,
    people: Annotated[int, typer.Option(help="How many come.")] = 2000,
    visits: Annotated[int, typer.Option(help="How often each comes.")] = 1,
    seed: Annotated[int, typer.Option(help="Another number, other people in another world.")] = 0,
    epsilon: Annotated[
        float | None, typer.Option(help="Report with less epsilon: the most that the task declares, up to this.")
    ] = None,
    rush: Annotated[bool, typer.Option("--rush", help="Send as fast as possible, to load the server.")] = False,
    connections: Annotated[int, typer.Option(help="How many people are served at once.")] = 4,
    compare: Annotated[bool, typer.Option("--compare", help="Run the simulator too, and compare.")] = False,
    json: JsonFile = None,
) -> None:
    """Let simulated people with real devices answer a task over HTTP, and say what was learned and what it cost."""
    from sottovoce.fleet.people import band_of
    from sottovoce.fleet.run import run_fleet

    if compare and (rush or epsilon is not None):
        raise ConfigurationError("--compare needs people who wait and the task's own epsilon: no --rush, no --epsilon")
    remote = Remote(server)
    contract, before = remote.contract(task), remote.summary(task).reports
    if compare and holds_out(contract):
        raise ConfigurationError(f"--compare: the simulator has no holdout, and {task} has one")
    if compare and before:
        raise ConfigurationError(f"--compare starts with the first report; {task} has {before:,} already")
    with progress_bar(task, people * visits) as advance:
        result = run_fleet(
            server, task, people, visits, seed=seed, lockstep=not rush, connections=connections, epsilon=epsilon,
            progress=advance,
        )  # fmt: skip
    band = band_of(contract, result.world, len(result.curve)) if compare else None
    print_result(contract, result, band)
    say(f"{result.reports / max(result.sending, 1e-9):,.0f} reports a second while sending", "dim")
    print_learned(*learned(contract, remote))
    write_rows(json, [result.row()])


def print_result(contract: Contract, result: "FleetResult", band: "Band | None" = None) -> None:
    """The outcome of a run, beside uniform play and (where it was run) the simulator; fits 80 columns."""
    cells = {
        "people": f"{result.people:,}",
        "reports": f"{result.acknowledged:,}",
        "refused": f"{result.refused:,}",
        "regret": f"{result.regret:,.1f}",
        "uniform": f"{result.regret_uniform:,.1f}",
        "epsilon": f"{result.epsilon:g}",
        "bytes": f"{result.bytes_per_report}",
        "seconds": f"{result.seconds:.1f}",
    }
    if band:
        cells["simulator"] = f"{band.low[-1]:,.0f} to {band.high[-1]:,.0f}"
    say(table_of(f"{contract.title or contract.id}: {learning_of(contract).learner}", *cells, rows=[[*cells.values()]]))
    each = result.reports / max(result.people, 1)
    say(f"epsilon {result.epsilon:g} a report; reports: {each:.2g} a person on average", "dim")
