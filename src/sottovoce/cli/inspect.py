"""`sottovoce inspect`: what has left a device, what will, and what it cost."""

from pathlib import Path
from typing import Annotated, Any

import typer

from sottovoce.cli.output import JsonFile, table_of, words, write_rows


def inspect(
    device: Annotated[Path, typer.Option(help="The folder of the device.", file_okay=False)],
    json: JsonFile = None,
) -> None:
    """List the tasks that a device has joined, its ledger, and every report that waits in its outbox."""
    from rich.console import Console

    from sottovoce.client.inspection import inspection

    rows = inspection(device)
    console = Console()
    for table in (_tasks(rows), _ledger(rows), _outbox(rows)):
        console.print(table)
        console.print()
    if rows:
        strictest = min(rows, key=lambda row: row["lifetime_of_all"])
        spent, limit = _number(strictest["spent_by_all"]), strictest["lifetime_of_all"]
        console.print(f"All tasks together: epsilon {spent} of the owner's {limit:g}.", style="dim")
    write_rows(json, rows)


def _tasks(rows: list[dict[str, Any]]) -> Any:
    table = table_of("Tasks", words("task"), words("server"), words("promise"), "spent", "left")
    for row in rows:
        promise = f"{row['mechanism']}, epsilon {row['epsilon']:g}" + (f", delta {row['delta']:g}" * (row["delta"] > 0))
        spent = row["spent"]
        left = (
            "opted out"
            if row["opted_out"]
            else _number(max(0.0, row["lifetime"] - spent) if spent is not None else 0.0)
        )
        table.add_row(row["task"], row["server"], promise, _number(spent), left)
    return table


def _ledger(rows: list[dict[str, Any]]) -> Any:
    table = table_of("Ledger", words("task"), words("fate"), "reports", "epsilon each")
    for row in rows:
        for fate, number in row["fates"].items():
            each = sorted({report["epsilon"] for report in row["reports"] if report["fate"] == fate})
            table.add_row(row["task"], fate, f"{number:,}", ", ".join(f"{epsilon:g}" for epsilon in each))
    return table


def _outbox(rows: list[dict[str, Any]]) -> Any:
    table = table_of("Outbox", words("task"), "due", "epsilon", words("report", wraps=True))
    for row in rows:
        for waiting in row["outbox"]:
            said = " ".join(f"{name}={value}" for name, value in waiting["report"].items())
            table.add_row(row["task"], waiting["due"][:16].replace("T", " "), f"{waiting['epsilon']:g}", said)
    return table


def _number(epsilon: float | None) -> str:
    return "without bound" if epsilon is None else f"{epsilon:g}"
