"""All comparisons as rows of one kind: what was done, beside whom, both numbers, and their ratio.

In every ratio more than 1 is in our favour. Both numbers of a ratio are from one run of one script.
"""

from typing import Any, NamedTuple

from found import found

GROUPS = {
    ("arms", False): "10 arms, no privacy",
    ("arms", True): "10 arms, epsilon 1",
    ("people", False): "4 arms, people with 5 features, no privacy",
    ("features", False): "20 candidates, 20 features, no privacy",
    ("features", True): "20 candidates, 20 features, epsilon 1",
}
"""Worlds of benchmarks/peers/worlds.py."""
NAMES = {
    "mabwiser": "MABWiser",
    "vowpalwabbit": "Vowpal Wabbit",
    "opendp": "OpenDP",
    "obp": "Open Bandit Pipeline (obp)",
}
"""Of packages, as their authors write them."""
SERVER = {
    "batches of 100": ("reports a second in requests of 100", "bare SQLite"),
    "single": ("single reports a second", "a POST that does nothing"),
    "model": ("reads of the model a second", "a GET that does nothing"),
}


class Row(NamedTuple):
    """One comparison; memory and time are those of the learners."""

    section: str
    work: str
    beside: str
    ours: str
    theirs: str
    ratio: float | None
    """None with a reason in the place of their number."""
    memory: float | None = None
    time: float | None = None
    about: bool = False
    """Their time was computed, not waited for."""


def learners() -> list[Row]:
    """Rounds a second in three worlds; beside each the memory, and the time until the mean regret is known."""
    rows: list[Row] = []
    for (world, private), work in GROUPS.items():
        every = [row for row in found("learning").get(world, []) if row["private"] is private]
        rows += [learner_row(work, every[0], row) for row in every[1:] if row["who"] != "Sottovoce"]
    return rows


def learner_row(work: str, ours: dict[str, Any], theirs: dict[str, Any]) -> Row:
    """One of them beside one of ours.

    >>> mine = {"rounds_per_second": 600.0, "megabytes": 300.0, "seconds_to_interval": 1.0, "algorithm": "ucb"}
    >>> other = {"who": "Peer", "version": "1.0 2.4", "algorithm": "UCB", "rounds_per_second": 20.0, "megabytes": 150.0}
    >>> row = learner_row("arms", mine, other | {"seconds_to_interval": 5.0, "computed": True})
    >>> row.beside, row.ratio, row.memory, row.time, row.about
    ('Peer 1.0, UCB', 30.0, 0.5, 5.0, True)
    """
    name = f"{theirs['who']} {theirs['version'].partition(' ')[0]}".strip() + f", {theirs['algorithm']}"
    speed = f"{ours['rounds_per_second']:,.0f}"
    if "reason" in theirs:
        return Row("Rounds a second", work, name, speed, theirs["reason"], None)
    memory = theirs["megabytes"] / ours["megabytes"] if theirs["megabytes"] else None
    ratio = ours["rounds_per_second"] / theirs["rounds_per_second"]
    time = theirs["seconds_to_interval"] / ours["seconds_to_interval"]
    other = f"{theirs['rounds_per_second']:,.0f}"
    return Row("Rounds a second", work, name, speed, other, ratio, memory, time, theirs["computed"])


def devices() -> list[Row]:
    """Microseconds of one private report."""
    rows = found("devices").get("rows", [])
    mine = {row["what"]: row["microseconds"] for row in rows if row["who"] == "Sottovoce"}
    return [
        timed("A private report, microseconds", row["what"], row["who"], mine[row["what"]], row, "microseconds", ",.1f")
        for row in rows
        if row["who"] != "Sottovoce"
    ]


def timed(section: str, work: str, who: str, ours: float, theirs: dict[str, Any], unit: str, form: str) -> Row:
    """A comparison where less is better.

    >>> timed("s", "w", "Peer", 2.0, {"seconds": 8.0}, "seconds", ".1f")[3:6]
    ('2.0', '8.0', 4.0)
    """
    if "reason" in theirs:
        return Row(section, work, who, format(ours, form), theirs["reason"], None)
    return Row(section, work, who, format(ours, form), format(theirs[unit], form), theirs[unit] / ours)


def server() -> list[Row]:
    """What a server does in a second, beside what it stands on."""
    rows = [
        Row(
            "The live server, beside what it stands on",
            *SERVER[one["what"]],
            f"{one['per_second']:,.0f}",
            f"{one['against']:,.0f}",
            one["ratio"],
        )
        for one in found("service").get("rows", [])
        if one["what"] in SERVER
    ]
    for one in found("serving_costs").get("processes", {}).get("rows", [])[:1]:
        ours, what = one["reports a second"], "reports a second in requests of 100"
        theirs = f"{ours / one['of a COPY']:,.0f}"
        rows.append(
            Row(
                "The live server, beside what it stands on",
                what,
                "COPY into bare PostgreSQL",
                f"{ours:,.0f}",
                theirs,
                one["of a COPY"],
            )
        )
    return rows


def footprint() -> list[Row]:
    """Importing and installing: a device beside OpenDP, the simulator beside the learners of others."""
    rows = {row["who"]: row for row in found("footprint").get("rows", [])}
    if not rows:
        return []
    ours, compared = {"opendp": rows["Sottovoce, a device"]}, []
    for section, unit, form in (("Seconds to import", "seconds", ".2f"), ("Megabytes installed", "megabytes", ",.0f")):
        for who, row in rows.items():
            if not who.startswith("Sottovoce"):
                mine = ours.get(who, rows["Sottovoce, the simulator"])
                name = f"{NAMES.get(who, who)} {row['version'].partition(' ')[0]}".strip()
                compared.append(timed(section, mine["who"].partition(", ")[2], name, mine[unit], row, unit, form))
    return compared


def factor(ratio: float | None) -> str:
    """A ratio with the digits that it deserves.

    >>> factor(859.6), factor(12.71), factor(3.0), factor(0.0516), factor(None)
    ('860', '13', '3.0', '0.052', '')
    """
    return "" if ratio is None else f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:#.2g}"


def comparisons() -> list[Row]:
    return [*learners(), *devices(), *server(), *footprint()]
