"""A self-contained page in our style: nothing is loaded from elsewhere."""

import html
import platform
import shlex
import sys
from collections.abc import Iterable, Sequence
from importlib import metadata, resources
from pathlib import Path
from string import Template
from typing import Any


def whole_page(heading: str, body: str) -> str:
    """The page; `body` is HTML, `heading` is plain text.

    >>> "<title>a &lt; b</title>" in whole_page("a < b", "")
    True
    """
    shell = resources.files("sottovoce.report").joinpath("page.html").read_text("utf-8")
    return Template(shell).substitute(heading=html.escape(heading), body=body)


def verdict(sentences: Iterable[str]) -> str:
    """What the page says, before anything else."""
    return f"<ul class='verdict'>{''.join(f'<li>{html.escape(sentence)}</li>' for sentence in sentences)}</ul>"


def table(
    headings: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    words: int = 1,
    chosen: Sequence[int] = (),
    note: str = "",
) -> str:
    """A table of plain texts: `words` columns stand left, the numbers after them right; `chosen` rows are shaded.

    `note` says what the numbers are. On a phone each row is a card, and every number has its heading beside it.

    >>> "<td data-of='regret' class='n'>&lt; 3</td>" in table(["who", "regret"], [["ucb", "< 3"]])
    True
    """
    sides = ["" if place < words else " class='n'" for place in range(len(headings))]
    marks = [f" data-of='{html.escape(one)}'{side}" for one, side in zip(headings, sides, strict=True)]
    head = "".join(f"<th scope='col'{side}>{html.escape(one)}</th>" for one, side in zip(headings, sides, strict=True))
    caption = f"<caption>{html.escape(' '.join(note.split()))}</caption>" if note else ""
    body = (
        f"<tr{' class=chosen' * (place in chosen)}>"
        + "".join(f"<td{mark}>{html.escape(text)}</td>" for mark, text in zip(marks, row, strict=True))
        + "</tr>"
        for place, row in enumerate(rows)
    )
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"


def lift_in_words(lift: float) -> str:
    """What a person got against uniform play, in units of the reward.

    >>> lift_in_words(0.1414), lift_in_words(-0.02)
    ('0.141 more reward than under uniform play', '0.0200 less reward than under uniform play')
    """
    return f"{abs(lift):#.3g} {'more' if lift >= 0 else 'less'} reward than under uniform play"


def cell(value: Any) -> str:
    """A value as it stands in a table.

    >>> cell(0.12345), cell(1234.5), cell(None), cell("ucb")
    ('0.123', '1,234', '-', 'ucb')
    """
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3f}"
    return "-" if value is None else str(value)


def footer(*sentences: str) -> str:
    """The last lines: these sentences, the command that made the page, and the versions that made the numbers."""
    made = ", ".join(f"{name} {number}" for name, number in versions().items())
    told = html.escape(" ".join(sentences))
    command = f"<p>Made by <code>{html.escape(typed())}</code></p>" if typed() else ""
    return f"<footer>{command}<p>{told} Versions: {html.escape(made)}.</p></footer>"


def typed() -> str:
    """The command that is running, as it was typed; nothing where Python calls us."""
    program = Path(sys.argv[0])
    ours = program.name == "sottovoce" or program.parts[-2:] == ("sottovoce", "__main__.py")
    return shlex.join(["sottovoce", *sys.argv[1:]]) if ours else ""


def versions() -> dict[str, str]:
    """What the numbers were made with."""
    return {"python": platform.python_version()} | {
        name: metadata.version(name) for name in ("sottovoce", "numpy", "jax", "jaxlib")
    }
