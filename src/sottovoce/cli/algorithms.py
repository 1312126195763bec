"""`sottovoce algorithms`: the catalogue."""

from pathlib import Path
from typing import Annotated

import typer

from sottovoce.catalogue import task
from sottovoce.cli.output import write_rows

TRUST = ["local", "central", "none"]
HEARD = {"central": "a curator hears raw data: simulation only", "none": "nobody is protected: simulation only"}


def algorithms(
    json: Annotated[Path | None, typer.Option(help="Write the rows to this file.", dir_okay=False)] = None,
) -> None:
    """List every algorithm: setting, source, bound and presets."""
    from rich.console import Console
    from rich.table import Table

    rows = [
        {
            "name": name,
            "setting": algorithm.setting,
            "paper": algorithm.paper,
            "algorithm": algorithm.algorithm,
            "bound": algorithm.bound,
            "presets": list(algorithm.presets),
            "trust": algorithm.trust,
        }
        for name, algorithm in sorted(task.algorithms().items(), key=lambda pair: TRUST.index(pair[1].trust))
    ]
    table = Table(title="Algorithms", show_header=False, box=None, padding=(0, 2, 1, 0))
    table.add_column(style="bold green", no_wrap=True)
    table.add_column()
    for row in rows:
        facts = [f"[bold]{task.algorithm_of(row['name']).title}[/]"]
        shown = ("setting", "paper", "algorithm", "bound", "presets", *(["trust"] if row["trust"] != "local" else []))
        facts += [f"[dim]{fact:<9}[/] {_text(row[fact])}" for fact in shown]
        table.add_row(row["name"], "\n".join(facts))
    Console().print(table)
    write_rows(json, rows)


def _text(value: str | list[str]) -> str:
    return ", ".join(value) if isinstance(value, list) else HEARD.get(value, value)
