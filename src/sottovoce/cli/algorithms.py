"""`sottovoce algorithms`: the catalogue."""

from typing import Annotated

import typer

from sottovoce.catalogue import algorithms as catalogue
from sottovoce.catalogue.algorithms import GUIDE
from sottovoce.cli.output import JsonFile, table_of, words, write_rows
from sottovoce.protocol.errors import ConfigurationError

TRUST = ["local", "central", "none"]
HEARD = {"central": "a curator hears raw data: simulation only", "none": "nobody is protected: simulation only"}


def algorithms(
    setting: Annotated[str, typer.Option(help="Only those with this word in their setting, as in: convex.")] = "",
    json: JsonFile = None,
) -> None:
    """List every algorithm: setting, source, bound and presets; and say which one to use."""
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
        for name, algorithm in _found(setting)
    ]
    table = Table(title="Algorithms", show_header=False, box=None, padding=(0, 2, 1, 0))
    table.add_column(style="bold green", no_wrap=True)
    table.add_column()
    for row in rows:
        facts = [f"[bold]{catalogue.algorithm_of(row['name']).title}[/]"]
        shown = ("setting", "paper", "algorithm", "bound", "presets", *(["trust"] if row["trust"] != "local" else []))
        facts += [f"[dim]{fact:<9}[/] {_text(row[fact])}" for fact in shown]
        table.add_row(row["name"], "\n".join(facts))
    console = Console()
    console.print(table)
    guide = table_of("Which one should I use?", words("you have", wraps=True), words("take"), words("why", wraps=True))
    for advice in GUIDE:
        guide.add_row(advice.situation, f"[green]{advice.learner}[/]", advice.why)
    console.print(guide)
    write_rows(json, rows)


def _found(word: str) -> list[tuple[str, catalogue.Algorithm]]:
    every = sorted(catalogue.algorithms().items(), key=lambda pair: TRUST.index(pair[1].trust))
    found = [(name, algorithm) for name, algorithm in every if word.lower() in algorithm.setting.lower()]
    if not found:
        settings = "; ".join(sorted({algorithm.setting for _, algorithm in every}))
        raise ConfigurationError(f"no setting contains {word!r}; the settings are: {settings}")
    return found


def _text(value: str | list[str]) -> str:
    return ", ".join(value) if isinstance(value, list) else HEARD.get(value, value)
