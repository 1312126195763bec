"""Write docs/algorithms.md from the catalogue in catalogue/presets, so that the manual cannot lag behind the code.

python scripts/catalogue.py            write the page
python scripts/catalogue.py --check    exit 1 if the page is not what would be written
"""

import argparse
import sys
from pathlib import Path
from typing import Any

from sottovoce.catalogue.algorithms import GUIDE, Algorithm, algorithms

PAGE = Path(__file__).resolve().parent.parent / "docs" / "algorithms.md"

OPENING = """\
# Algorithms

<!-- Written by scripts/catalogue.py from src/sottovoce/catalogue/presets. Change those files, then run `make docs`. -->

Every algorithm here is the same loop: the server makes an offer, the user answers with a private report, the server
learns. What differs is what the offer says and what the server makes of the reports. The same list in a terminal:

```console
$ sottovoce algorithms
$ sottovoce algorithms --setting convex
```

Each algorithm has at least two presets. `paper` is the algorithm box of the paper, constants included, so that a
theorem can be checked. `practical` is what we recommend and what every command takes unless told otherwise.
"""

GUIDANCE = "## Which one should I use?\n\n"
EVERY = "## All of them\n\n"

CLOSING = """
The papers:

- Zheng et al. 2020: Kai Zheng, Tianle Cai, Weiran Huang, Zhenguo Li, Liwei Wang, "Locally differentially private
  (contextual) bandits learning", NeurIPS 2020. Its numbers of algorithms are the ones given above.
- The others are cited with their titles in the first lines of each learner, in `src/sottovoce/learners`.
"""


def main() -> int:
    """Write the page, or compare it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if the page is stale")
    text = page(algorithms())
    if not parser.parse_args().check:
        PAGE.write_text(text, encoding="utf-8")
        return 0
    if PAGE.exists() and PAGE.read_text(encoding="utf-8") == text:
        return 0
    sys.stderr.write("docs/algorithms.md is stale; run `make docs`\n")
    return 1


def page(catalogue: dict[str, Algorithm]) -> str:
    """The whole page: a table, then a section for each algorithm."""
    names = sorted(catalogue, key=lambda name: (catalogue[name].setting, name))
    table = _table(
        ("name", "setting", "bound on the regret", "presets"),
        [(f"[`{name}`](#{name})", a.setting, a.bound, _codes(a.presets)) for name, a in _items(catalogue, names)],
    )
    advice = _table(
        ("you have", "take", "why"), [(a.situation, f"[`{a.learner}`](#{a.learner})", a.why) for a in GUIDE]
    )
    sections = [_section(name, algorithm) for name, algorithm in _items(catalogue, names)]
    return "\n".join([OPENING, GUIDANCE + advice, EVERY + table.rstrip(), *sections, CLOSING])


def _items(catalogue: dict[str, Algorithm], names: list[str]) -> list[tuple[str, Algorithm]]:
    return [(name, catalogue[name]) for name in names]


def _section(name: str, algorithm: Algorithm) -> str:
    rows = [
        (f"`{preset}`", *_gate(numbers["gate"]), _numbers(numbers.get("tuning", {})))
        for preset, numbers in algorithm.presets.items()
    ]
    habit = "chooses on the device" if algorithm.actions == "features" else "plays the action of the offer"
    shape = "" if algorithm.actions == "arms" else " --dimension 5"
    lines = [
        f"\n## {name}\n",
        f"**{algorithm.title}.** {_sentence(algorithm.setting)}\n",
        f"- Source: {algorithm.paper}",
        f"- Algorithm: {algorithm.algorithm}",
        f"- Bound on the regret: {algorithm.bound}",
        f"- User: `{algorithm.user}`, who {habit}\n",
        _table(("preset", "mechanism", "domain", "tuning"), rows),
        "```console",
        f"$ sottovoce simulate --learner {name}{shape} --epsilon 2",
        "```",
    ]
    return "\n".join(lines)


def _gate(gate: dict[str, Any]) -> tuple[str, str]:
    formula = f", formula {gate['formula']}" if "formula" in gate else ""
    domain = dict(gate["domain"])
    return f"`{gate['mechanism']}`{formula}", f"`{domain.pop('kind')}`, {_numbers(domain)}"


def _numbers(numbers: dict[str, Any]) -> str:
    return ", ".join(f"{name} {_short(value)}" for name, value in numbers.items()) or "none"


def _short(value: float | str) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:] + "."


def _codes(names: Any) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _table(heading: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [heading, ("---",) * len(heading), *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)


if __name__ == "__main__":
    sys.exit(main())
