"""A self-contained page in our style: nothing is loaded from elsewhere."""

import html
import platform
from collections.abc import Iterable, Sequence
from importlib import metadata, resources
from string import Template
from typing import Any


def whole_page(heading: str, body: str) -> str:
    """The page; `body` is HTML, `heading` is plain text.

    >>> "<title>a &lt; b</title>" in whole_page("a < b", "")
    True
    """
    shell = resources.files("sottovoce.report").joinpath("page.html").read_text("utf-8")
    return Template(shell).substitute(heading=html.escape(heading), body=body)


def table(headings: Sequence[str], rows: Iterable[Sequence[str]], *, words: int = 1, chosen: Sequence[int] = ()) -> str:
    """A table of plain texts: `words` columns stand left, the numbers after them right; `chosen` rows are shaded.

    >>> "<tr><td>ucb</td><td class='n'>&lt; 3</td></tr>" in table(["who", "regret"], [["ucb", "< 3"]])
    True
    """
    head = _row("th", headings, words, "")
    body = (_row("td", row, words, " class='chosen'" * (place in chosen)) for place, row in enumerate(rows))
    return f"<div class='scroll'><table><thead>{head}</thead><tbody>{''.join(body)}</tbody></table></div>"


def _row(kind: str, cells: Sequence[str], words: int, mark: str) -> str:
    sides = [""] * words + [" class='n'"] * (len(cells) - words)
    texts = (f"<{kind}{side}>{html.escape(cell)}</{kind}>" for side, cell in zip(sides, cells, strict=True))
    return f"<tr{mark}>{''.join(texts)}</tr>"


def cell(value: Any) -> str:
    """A value as it stands in a table.

    >>> cell(0.12345), cell(1234.5), cell(None), cell("ucb")
    ('0.123', '1,234', '-', 'ucb')
    """
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3f}"
    return "-" if value is None else str(value)


def footer(*sentences: str) -> str:
    """The last lines: these sentences, and the versions that made the numbers."""
    made = ", ".join(f"{name} {number}" for name, number in versions().items())
    return f"<footer>{html.escape(' '.join([*sentences, f'Made with {made}.']))}</footer>"


def versions() -> dict[str, str]:
    """What the numbers were made with."""
    return {"python": platform.python_version()} | {
        name: metadata.version(name) for name in ("sottovoce", "numpy", "jax", "jaxlib")
    }
