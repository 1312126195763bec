"""A self-contained page in our style: nothing is loaded from elsewhere."""

import html
import platform
from collections.abc import Iterable, Sequence
from importlib import metadata
from string import Template
from typing import Any


def whole_page(heading: str, body: str) -> str:
    """The page; `body` is HTML, `heading` is plain text.

    >>> "<title>a &lt; b</title>" in whole_page("a < b", "")
    True
    """
    return Template(SHELL).substitute(heading=html.escape(heading), body=body)


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


SHELL = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>$heading</title><style>
body { font: 16px/1.55 system-ui, sans-serif; color: #22252e; background: #fbfaf7; margin: 0; }
main { max-width: 62rem; margin: 0 auto; padding: 2.5rem 1.5rem 4rem; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .3rem; } h2 { font-size: 1.1rem; margin: 2.2rem 0 .6rem; }
.lead { color: #5a6070; margin: 0 0 1.6rem; } .note { color: #5a6070; font-size: .9rem; }
figure { background: #fff; border: 1px solid #e6e2d8; border-radius: .6rem; margin: 0; padding: 1rem; }
figure svg { width: 100%; height: auto; }
table { border-collapse: collapse; width: 100%; background: #fff; font-size: .92rem; }
td { font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .45rem .7rem; border-bottom: 1px solid #ece8de; white-space: nowrap; }
th { color: #5a6070; font-weight: 600; } .n { text-align: right; }
tr.chosen td { background: #eaf5ef; font-weight: 600; } .scroll { overflow-x: auto; }
li { margin: .3rem 0; } footer { color: #7a8090; font-size: .85rem; margin-top: 2.5rem; }
</style></head><body><main>
$body</main></body></html>
"""
