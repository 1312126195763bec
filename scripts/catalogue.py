"""Write docs/algorithms.md and the departures of docs/paper.md from the catalogue, so that they cannot lag behind it.

python scripts/catalogue.py            write the pages
python scripts/catalogue.py --check    exit 1 if a page is not what would be written
"""

import argparse
import re
import sys
import unicodedata
from pathlib import Path
from typing import Any

from sottovoce.catalogue.algorithms import GUIDE, Algorithm, algorithms
from sottovoce.catalogue.task import task
from sottovoce.privacy.domains import domain_from

DOCS = Path(__file__).resolve().parent.parent / "docs"
WRITTEN = re.compile(r"(<!-- Between these two lines: .*? -->\n).*?(<!-- End of what is written. -->)", re.DOTALL)

OPENING = """\
# Algorithms

<!-- Written by scripts/catalogue.py from src/sottovoce/catalogue/presets. Change those files, then run `make docs`. -->

Every algorithm here is the same loop: the server makes an offer, the user answers with a private report, the server
learns. What differs is what the offer says and what the server makes of the reports. The same list in a terminal:

```console
$ sottovoce algorithms
$ sottovoce algorithms --setting convex
```

Every one of them runs by its name, beside its published form, no privacy and uniform play; learners of points and of
features are told a dimension:

```console
$ sottovoce simulate --learner kl-moss --epsilon 2
$ sottovoce simulate --learner linucb --dimension 5 --epsilon 2
```

`practical` is the preset that we recommend and that every command takes unless told otherwise. `paper` is the algorithm
box of Zheng et al. 2020, constants included, so that a theorem can be checked; where it departs from what is printed,
the algorithm says so below. What that paper does not contain has no preset `paper`: there the printed form is named
after its authors (`published` where it is run without local privacy). All other presets are ours.
"""

GUIDANCE = "## Which one should I use?\n\n"
EVERY = "## All of them\n\n"

LAPLACE = """

## Pure epsilon with Laplace noise

The paper says that all its results extend to epsilon alone with Laplace noise. Its messages, how far two of them can be
apart in L1 (five dimensions, logistic where there is a link), which is the scale of the noise on the number or on x x'
at epsilon 1, and what is offered:

"""

SETS = """
## Sets of arms

The paper calls it promising to carry Algorithm 1 over to pure exploration in combinatorial bandits, and cites Huang,
Ok, Li and Chen, "Combinatorial pure exploration with continuous and separable reward functions and its applications",
IJCAI 2018. That algorithm is not here. It looks for the best of a collection of decisions, whose value is a continuous,
separable function of the mean rewards of all arms. Collection and function belong to the application, and so does the
method that finds the best decision for given means; a task file would have to carry all three. What is here is
[`clucb`](#clucb), of Chen et al. 2014, where the value is a sum and the decisions are the best m arms, or the best m of
each block.
"""

CLOSING = """
The papers:

- Zheng et al. 2020: Kai Zheng, Tianle Cai, Weiran Huang, Zhenguo Li, Liwei Wang, "Locally differentially private
  (contextual) bandits learning", NeurIPS 2020. Its numbers of algorithms are the ones given above.
- The others are cited with their titles in the first lines of each learner, in `src/sottovoce/learners`.
"""


def main() -> int:
    """Write the pages, or compare them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a page is stale")
    paper = (DOCS / "paper.md").read_text(encoding="utf-8")
    pages = {"algorithms.md": page(algorithms()), "paper.md": WRITTEN.sub(rf"\1\n{_departures()}\n\2", paper)}
    if not parser.parse_args().check:
        for name, text in pages.items():
            (DOCS / name).write_text(text, encoding="utf-8")
        return 0
    stale = [name for name, text in pages.items() if (DOCS / name).read_text(encoding="utf-8") != text]
    for name in stale:
        sys.stderr.write(f"docs/{name} is stale; run `make docs`\n")
    return 1 if stale else 0


CODE = re.compile(r"(`[^`]*`)")
POWER = re.compile(r"\^(?:\(([^()]*)\)|(-?\d+(?:\.\d+)?|\w+))")
INDEX = re.compile(r"(?<=[\w\u0303])_(?:\(([^()]*)\)|(\w)(?!\w))")


def formula(text: str) -> str:
    """A formula in plain text as Markdown shows it: powers and indices raised and lowered, a tilde over its letter.

    >>> formula("(d T)^(3/4)/epsilon^2, O~(V~_0), `a^b`")
    '(d T)<sup>3/4</sup>/epsilon<sup>2</sup>, Õ(Ṽ<sub>0</sub>), `a^b`'
    """

    def shown(prose: str) -> str:
        accented = unicodedata.normalize("NFC", prose.replace("~", "\u0303"))
        raised = POWER.sub(lambda found: f"<sup>{found[1] or found[2]}</sup>", accented)
        return INDEX.sub(lambda found: f"<sub>{found[1] or found[2]}</sub>", raised)

    return "".join(part if part.startswith("`") else shown(part) for part in CODE.split(text))


def _departures() -> str:
    """A line for each preset `paper`: which box it is, and where it is not what is printed."""
    every = algorithms()
    rows = [
        (
            f"[`{name}`](algorithms.md#{name})",
            every[name].algorithm,
            formula(" ".join(every[name].departures)) or "nowhere",
        )
        for name in sorted(every)
        if "paper" in every[name].presets
    ]
    return _table(("preset `paper` of", "algorithm", "departs"), rows)


def page(catalogue: dict[str, Algorithm]) -> str:
    """The whole page: a table, then a section for each algorithm."""
    names = sorted(catalogue, key=lambda name: (catalogue[name].setting, name))
    table = _table(
        ("name", "setting", "bound on the regret", "presets"),
        [
            (f"[`{name}`](#{name})", a.setting, formula(a.bound), _codes(a.presets))
            for name, a in _items(catalogue, names)
        ],
    )
    advice = _table(
        ("you have", "take", "why"), [(a.situation, f"[`{a.learner}`](#{a.learner})", a.why) for a in GUIDE]
    )
    sections = [_section(name, algorithm) for name, algorithm in _items(catalogue, names)]
    return "\n".join(
        [OPENING, GUIDANCE + advice, EVERY + table.rstrip(), *sections, LAPLACE + _laplace(), SETS, CLOSING]
    )


MESSAGES = {"interval": "one number", "moments": "x x' and y x", "relabelled": "x x', z x and the gradient"}


def _laplace() -> str:
    """A line for each algorithm of the paper: offered, or why not."""
    rows = []
    for name, algorithm in algorithms().items():
        if "paper" in algorithm.presets:
            shape = {"arms": {"arms": 2}, "features": {"arms": 2, "dimension": 5}, "points": {"dimension": 5}}
            domain = domain_from(task(name, "paper", rounds=2, epsilon=1.0, **shape[algorithm.actions]).domain)
            kind = algorithm.presets["paper"]["gate"]["domain"]["kind"]
            what = "slope of two points" if algorithm.user == "slope" else MESSAGES[kind]
            apart = domain.natural((domain.l1(),) * len(domain.blocks))[0]
            offered = "`laplace`" if "laplace" in algorithm.presets else "no"
            rows.append((f"[`{name}`](#{name})", what, f"{apart:.3g}", offered, algorithm.laplace))
    return _table(("algorithm", "message", "apart", "preset", "why"), rows)


def _items(catalogue: dict[str, Algorithm], names: list[str]) -> list[tuple[str, Algorithm]]:
    return [(name, catalogue[name]) for name in names]


def _section(name: str, algorithm: Algorithm) -> str:
    rows = [
        (f"`{preset}`", *_gate(numbers["gate"]), _numbers(numbers.get("tuning", {})))
        for preset, numbers in algorithm.presets.items()
    ]
    habit = "chooses on the device" if algorithm.actions == "features" else "plays the action of the offer"
    lines = [
        f"\n## {name}\n",
        f"**{algorithm.title}.** {_sentence(algorithm.setting)}\n",
        f"- Source: {algorithm.paper}",
        f"- Algorithm: {algorithm.algorithm}",
        f"- Bound on the regret: {formula(algorithm.bound)}",
        f"- User: `{algorithm.user}`, who {habit}",
        *(f"- `paper` departs: {formula(line)}" for line in algorithm.departures),
        "",
        _table(("preset", "mechanism", "domain", "tuning"), rows).rstrip(),
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
