"""A text of headings, paragraphs, lists and tables, as Markdown for a terminal and as HTML for a page.

Words between backticks are names, as in Markdown, and e^x is a power; nothing else is markup.
"""

import html
import re
import textwrap
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sottovoce.report.page import table

WIDTH = 80
"""Columns of a terminal."""


class Points(NamedTuple):
    """A list of sentences."""

    items: Sequence[str]


class Terms(NamedTuple):
    """Names, and what each is."""

    pairs: Sequence[tuple[str, str]]


class Table(NamedTuple):
    """Short cells; the first column has words, the others numbers."""

    headings: Sequence[str]
    rows: Sequence[Sequence[str]]


Block = str | Points | Terms | Table


class Section(NamedTuple):
    title: str
    blocks: Sequence[Block]


def markdown(title: str, verdict: Sequence[str], sections: Sequence[Section]) -> str:
    """The whole text, no line longer than a terminal is wide. The first paragraph of the verdict is the most important.

    >>> why = Section("Why", [Points(["It is."]), Terms([("`gate`", "A number.")])])
    >>> print(markdown("A task", ["All is well.", "So far."], [why]))
    # A task
    <BLANKLINE>
    **All is well.**
    <BLANKLINE>
    So far.
    <BLANKLINE>
    ## Why
    <BLANKLINE>
    - It is.
    <BLANKLINE>
    - `gate`: A number.
    <BLANKLINE>
    """
    first, *others = verdict
    parts = [f"# {title}", _filled(f"**{first}**"), *map(_filled, others)]
    for section in sections:
        parts += [f"## {section.title}", *map(_markdown, section.blocks)]
    return "\n\n".join(parts) + "\n"


def page_body(title: str, verdict: Sequence[str], sections: Sequence[Section]) -> str:
    """The same as HTML, for `page.whole_page`."""
    first, *others = verdict
    parts = [f"<h1>{_inline(title)}</h1><p class='verdict'>{_inline(first)}</p>", *map(_html, others)]
    for section in sections:
        parts += [f"<h2>{_inline(section.title)}</h2>", *map(_html, section.blocks)]
    return "\n".join(parts)


def _markdown(block: Block) -> str:
    match block:
        case Points(items):
            return "\n".join(_filled(item, "- ") for item in items)
        case Terms(pairs):
            return "\n".join(_filled(f"{name}: {text}", "- ") for name, text in pairs)
        case Table(headings, rows):
            return "\n".join(_aligned([headings, *rows]))
        case _:
            return _filled(block)


def _filled(text: str, mark: str = "") -> str:
    indent = " " * len(mark)
    return textwrap.fill(text, WIDTH, initial_indent=mark, subsequent_indent=indent, break_on_hyphens=False)


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for number, row in enumerate(rows):
        first, *others = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        numbers = (cell.strip().rjust(len(cell)) for cell in others)
        yield "| " + " | ".join([first, *numbers]) + " |"
        if number == 0:
            yield "|" + "|".join(["-" * (widths[0] + 2), *("-" * (width + 1) + ":" for width in widths[1:])]) + "|"


def _html(block: Block) -> str:
    match block:
        case Points(items):
            return "<ul>" + "".join(f"<li>{_inline(item)}</li>" for item in items) + "</ul>"
        case Terms(pairs):
            return (
                "<dl>" + "".join(f"<dt>{_inline(name)}</dt><dd>{_inline(text)}</dd>" for name, text in pairs) + "</dl>"
            )
        case Table(headings, rows):
            return table(headings, rows)
        case _:
            return f"<p>{_inline(block)}</p>"


def _inline(text: str) -> str:
    named = re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text))
    return re.sub(r"\be\^(\w+)", r"e<sup>\1</sup>", named)
