"""`sottovoce algorithms`: the catalogue."""

from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from sottovoce.catalogue import algorithms as catalogue
from sottovoce.catalogue.algorithms import GUIDE
from sottovoce.cli.output import JsonFile, say, table_of, words, write_rows
from sottovoce.protocol.errors import ConfigurationError

FACTS = ("setting", "paper", "algorithm", "bound", "presets", "departures", "trust")
TRUST = ["local", "central", "none"]
SIMULATED = {"central": "a curator sees raw data: simulation only", "none": "nobody is protected: simulation only"}


def algorithms(
    setting: Annotated[
        str, typer.Option(metavar="WORD", help="Only those with this word in their setting, as in: convex.")
    ] = "",
    json: JsonFile = None,
) -> None:
    """List every algorithm: setting, source, bound and presets; and say which one to use."""
    table = Table(title="Algorithms", show_header=False, box=None, padding=(0, 2, 1, 0))
    table.add_column(style="bold green", no_wrap=True)
    rows = []
    for name, algorithm in _found(setting):
        row = {fact: getattr(algorithm, fact) for fact in FACTS}
        row |= {"presets": list(algorithm.presets), "departures": list(algorithm.departures)}
        rows.append({"name": name, **row})
        said = row | {"presets": ", ".join(algorithm.presets), "departures": " ".join(algorithm.departures)}
        said["trust"] = SIMULATED.get(algorithm.trust, "")
        lines = (Text.assemble((f"{fact[:9]:<9}", "dim"), f" {said[fact]}") for fact in FACTS if said[fact])
        table.add_row(name, Text("\n").join([Text(algorithm.title, "bold"), *lines]))
    say(table)
    advice = [(advice.situation, Text(advice.learner, "green"), advice.why) for advice in GUIDE]
    columns = (words("you have", wraps=True), words("take"), words("why", wraps=True))
    say(table_of("Which one should I use?", *columns, rows=advice))
    write_rows(json, rows)


def _found(word: str) -> list[tuple[str, catalogue.Algorithm]]:
    every = sorted(catalogue.algorithms().items(), key=lambda pair: TRUST.index(pair[1].trust))
    found = [(name, algorithm) for name, algorithm in every if word.lower() in algorithm.setting.lower()]
    if not found:
        settings = "; ".join(sorted({algorithm.setting for _, algorithm in every}))
        raise ConfigurationError(f"no setting contains {word!r}; the settings are: {settings}")
    return found
