"""`sottovoce plan`: what a task would give, before anybody deploys it."""

from typing import TYPE_CHECKING

from rich.table import Table

from sottovoce.cli.output import JsonFile, progress_bar, say, table_of, words, write_rows
from sottovoce.cli.study_options import with_study

if TYPE_CHECKING:
    from sottovoce.lab.plan import Plan
    from sottovoce.lab.study.file import StudyInWorlds

COMPARE = """\
compare: people who must answer, spread evenly, to tell two arms apart (95 %)
sure: until their ranges in `task show` lie apart, however often one looks"""
PEOPLE = "people: until the regret is half of uniform play's. Interval: 9 runs in 10."
ANSWERS = "samples: people asked until the answer. right: share of runs with the right one."


@with_study(tasks=True, without=("seeds",))
def plan(asked: "StudyInWorlds", json: JsonFile = None) -> None:
    """Say what noise, regret and how many people to expect, from a few short runs of the real learner."""
    from sottovoce.lab.plan import plans_of, shortened

    runs = shortened(asked.study)
    with progress_bar("rounds", runs.rounds * (len(runs.epsilon) + 1) * len(runs.worlds)) as advance:
        plans = list(plans_of(asked.study, asked.worlds, advance))
    answers = plans[0].predicted_samples is not None
    for table in (_reports(plans), _answers(plans) if answers else _regrets(plans)):
        say(table)
        say()
    for note in filter(None, [asked.note, *dict.fromkeys(row.note for row in plans)]):
        say(note, "yellow")
    if plans[0].people_to_compare is not None:
        say(COMPARE, "dim")
    say(ANSWERS if answers else PEOPLE, "dim")
    write_rows(json, [row._asdict() for row in plans])


def _reports(plans: "list[Plan]") -> Table:
    first = plans[0]
    title = f"{first.learner} ({first.preset}): one report by {first.mechanism}, {first.rounds:,} of them"
    table = table_of(title, words("world"), "epsilon", "delta", "bytes", "noise", "error at the end", "compare", "sure")
    for row in plans:
        numbers = f"{row.epsilon:g}", f"{row.delta:g}", f"{row.bytes}", f"{row.noise:.3g}", f"{row.error:.3g}"
        table.add_row(row.world, *numbers, _count(row.people_to_compare), _count(row.people_to_be_sure))
    return table


def _regrets(plans: "list[Plan]") -> Table:
    table = table_of(_expect(plans[0]), words("world"), "epsilon", "regret", "interval", "of uniform", "people")
    for row in plans:
        regret, interval = f"{row.predicted_regret:,.0f}", f"{row.regret_low:,.0f} to {row.regret_high:,.0f}"
        share = (
            f"{row.predicted_regret / row.uniform_regret:.1%}" if row.predicted_regret and row.uniform_regret else "-"
        )
        people = f"> {row.followed:,}" if row.people_needed is None else f"{row.people_needed:,}"
        table.add_row(row.world, f"{row.epsilon:g}", regret, interval, share, people)
    return table


def _answers(plans: "list[Plan]") -> Table:
    table = table_of(_expect(plans[0]), words("world"), "epsilon", "samples", "right")
    for row in plans:
        table.add_row(row.world, f"{row.epsilon:g}", _count(row.predicted_samples), f"{row.predicted_right:.0%}")
    return table


def _expect(row: "Plan") -> str:
    return f"What to expect: {row.runs} simulated runs of {row.followed:,} people"


def _count(people: float | None) -> str:
    return "-" if people is None else f"{people:,.0f}"
