"""`sottovoce shuffle`: what a trusted shuffler adds to the promise of each device."""

from typing import Annotated

import typer

from sottovoce.cli.output import JsonFile, say, table_of, write_rows
from sottovoce.lab.shuffling import DELTA, closed_form, shuffled_epsilon


def shuffle(
    epsilon: Annotated[list[float], typer.Option(help="Local budget of one report; may be repeated.")],
    people: Annotated[list[int], typer.Option(help="Reports that are mixed, one a person; may be repeated.")],
    delta: Annotated[float, typer.Option(help="Of the promise for all reports together.")] = DELTA,
    json: JsonFile = None,
) -> None:
    """Compute the epsilon of many pure reports that a trusted shuffler mixes before anybody reads them."""
    rows = [
        {
            "epsilon": local,
            "people": number,
            "delta": delta,
            "closed_form": closed_form(local, number, delta),
            "shuffled": shuffled_epsilon(local, number, delta),
            "shuffled_bits": shuffled_epsilon(local, number, delta, bits=True),
        }
        for local in epsilon
        for number in people
    ]
    table = table_of(f"Epsilon after shuffling, at delta {delta:g}", "local", "people", "theorem", "any report", "bits")
    for row in rows:
        shuffled = (f"{row[name]:.4g}" for name in ("closed_form", "shuffled", "shuffled_bits"))
        table.add_row(f"{row['epsilon']:g}", f"{row['people']:,}", *shuffled)
    say(table)
    say()
    say("theorem: closed form. any report: every pure mechanism. bits: one bit a report.", "dim")
    say("Before the shuffler, and for who knows who came when, local is what counts.", "dim")
    write_rows(json, rows)
