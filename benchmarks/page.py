"""Tables and figures of docs/performance.md, from what the benchmarks kept in results/benchmarks.

    python benchmarks/page.py

Everything between two marks of the page, `<!-- NAME -->` and `<!-- end -->`, is written anew; the rest is by hand.
"""

import re
from pathlib import Path

from comparison import Row, comparisons, factor
from drawing import both, growth, ratios
from found import found
from powers import Power

PAGE = Path(__file__).resolve().parents[1] / "docs" / "performance.md"


def table(heading: list[str], rows: list[list[str]], words: int = 1) -> str:
    """In Markdown; the first columns are words, and numbers stand to the right.

    >>> print(table(["what", "seconds"], [["import", "1"]]))
    | what | seconds |
    | --- | ---: |
    | import | 1 |
    """
    lines = [heading, ["---"] * words + ["---:"] * (len(heading) - words), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def compared(rows: list[Row]) -> str:
    """All comparisons, under the names of their sections."""
    lines, before = [], ""
    for row in rows:
        if row.section != before:
            lines.append([f"**{row.section}**", "", "", "", "", "", ""])
            before = row.section
        about = "about " if row.about else ""
        time = about + factor(row.time) if row.time else ""
        lines.append([row.work, row.beside, row.ours, row.theirs, factor(row.ratio), factor(row.memory), time])
    heading = ["what", "beside", "ours", "theirs", "ratio", "memory", "time to 5 %"]
    return table(heading, lines, words=2)


Curves = list[tuple[str, str, list[float], list[float], Power]]


def curves() -> Curves:
    """Everything that grows: title, what is drawn, sizes, costs, law."""
    listed: Curves = []
    for what, one in found("costs").items():
        if what == "memory":
            sizes, law = [row["rounds"] for row in one["rows"]], Power(*one["law"])
            listed.append(("rounds", "megabytes", sizes, [row["megabytes"] for row in one["rows"]], law))
        else:
            listed.append((what, "seconds", one["sizes"], one["costs"], Power(*one["law"])))
    for what, one in found("serving_costs").items():
        name, sizes = one["fitted"], [row["size"] for row in one["rows"]]
        costs, law = [row[name] for row in one["rows"]], Power(*one["laws"][name])
        listed.append(("reports in the journal" if what == "journal" else what, name, sizes, costs, law))
    return listed


def grown(listed: Curves) -> str:
    rows = [
        [f"{unit}, in {title}", f"{sizes[0]:,}: {plain(costs[0])}", f"{sizes[-1]:,}: {plain(costs[-1])}", str(law)]
        for title, unit, sizes, costs, law in listed
    ]
    return table(["cost", "from", "to", "exponent, 95 %"], rows)


def plain(cost: float) -> str:
    """Three digits, never as a power of ten.

    >>> plain(112360.2), plain(0.0442)
    ('112,000', '0.0442')
    """
    return f"{float(f'{cost:.3g}'):,.0f}" if cost >= 1000 else f"{cost:.3g}"


def horizons() -> str:
    rows = found("costs")["memory"]["rows"]
    lines = [[f"{row['rounds']:,}", f"{row['microseconds']:.2f}", f"{row['megabytes']:,.0f}"] for row in rows]
    return table(["rounds", "microseconds a round", "MB"], lines)


def first() -> str:
    rows = found("first_result")["rows"]
    lines = [
        [f"`{row['command']}`", *(f"{row[name]:.1f}" for name in ("first", "table", "end", "imports"))] for row in rows
    ]
    return table(["`sottovoce simulate`", "first time", "warm: the table", "warm: the end", "of it imports"], lines)


def rated() -> str:
    whole = found("ratings")["rows"]
    lines = [[row["who"], f"{row['microseconds']:.2f}", factor(row["ratio"])] for row in whole["rows"]]
    return table(["who", "microseconds a round", "times the loop"], lines)


def versions() -> str:
    listed = [f"{name} {version}" for name, version in found("learning")["versions"].items() if name != "cores"]
    return f"Measured with {', '.join(listed)}, on {found('learning')['versions']['cores']} shared cores."


def filled(text: str, parts: dict[str, str]) -> str:
    r"""The page with what is between its marks written anew.

    >>> filled("<!-- a -->old<!-- end -->", {"a": "new"})
    '<!-- a -->\n\nnew\n\n<!-- end -->'
    """
    for name, part in parts.items():
        mark = re.compile(rf"(<!-- {name} -->).*?(<!-- end -->)", re.DOTALL)
        text = mark.sub(lambda match, part=part: f"{match[1]}\n\n{part}\n\n{match[2]}", text)
    return text


def main() -> None:
    rows, listed = comparisons(), curves()
    both("peers", lambda colours: ratios(rows, colours))
    both("growth", lambda colours: growth(listed, colours))
    parts = {
        "compared": compared(rows),
        "grown": grown(listed),
        "horizons": horizons(),
        "first": first(),
        "rated": rated(),
        "versions": versions(),
    }
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), parts), encoding="utf-8")
    print(f"{PAGE}: {len(rows)} comparisons, {len(listed)} curves")


if __name__ == "__main__":
    main()
