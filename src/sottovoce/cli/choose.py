"""`sottovoce choose`: the smallest epsilon that is enough, and the learner to take there."""

from typing import TYPE_CHECKING, Annotated

import msgspec
import typer
from rich.table import Table

from sottovoce.cli.output import JsonFile, progress_bar, say, table_of, words, write_rows
from sottovoce.cli.study_options import Device, Learners, with_study
from sottovoce.privacy.mechanisms import LARGEST_EPSILON
from sottovoce.protocol.errors import ConfigurationError

if TYPE_CHECKING:
    from sottovoce.lab.choosing.choose import Choice, Wish
    from sottovoce.lab.study.file import StudyInWorlds

REGRETS = "Regret in % of uniform play's, ± half of its 95 % interval"
PEOPLE = "People asked (and right answers if not all; -: no answer in some runs)"
NOT_YOURS = "These are simulated people, not yours: `sottovoce try` runs a table of your own."


@with_study(tasks=True, without=("learner", "preset", "epsilon", "seeds", "tune"))
def choose(
    asked: "StudyInWorlds",
    learner: Learners = None,
    regret: Annotated[
        str | None,
        typer.Option(metavar="SHARE", help="Wanted: at most this share of uniform play's regret (default 10%)."),
    ] = None,
    people: Annotated[int | None, typer.Option(help="Wanted: the best action, from at most so many people.")] = None,
    epsilon: Annotated[
        list[float] | None, typer.Option(help="A budget to consider; may be repeated (default 0.5, 1, 2, 4, 8).")
    ] = None,
    device: Device = None,
    json: JsonFile = None,
) -> None:
    """Recommend a learner, a preset and the smallest epsilon for a wanted regret, from short runs of all that fit."""
    from sottovoce.catalogue.algorithms import advised
    from sottovoce.lab.choosing.candidates import comparison_of
    from sottovoce.lab.choosing.choose import choose as chosen
    from sottovoce.lab.choosing.words import limits_of, rows_of

    if people and asked.file is None and asked.study.learner == advised("arms"):
        asked = asked._replace(study=msgspec.structs.replace(asked.study, learner=advised("arms", answer=True)))
    compared = comparison_of(asked, learner or ())
    wish = _wish(asked, compared.answers, regret, people)
    ladder = ladder_of(asked, epsilon)
    if ladder[-1] > LARGEST_EPSILON:
        raise ConfigurationError(f"devices refuse a report above epsilon {LARGEST_EPSILON:g}, got {ladder[-1]:g}")
    choice = chosen(compared, wish, ladder, progress_bar)
    say(_table(choice))
    say()
    _explain(choice, asked)
    say()
    for note in (_runs(choice), limits_of(choice.taken), asked.note, *compared.left_out, NOT_YOURS):
        say(note, "dim") if note else None
    write_rows(json, rows_of(choice))
    if not choice.reached:
        raise typer.Exit(1)


def _runs(choice: "Choice") -> str:
    """How often everybody was run, and how far."""
    few, many = (pick(choice.scores.values(), key=lambda one: one.runs) for pick in (min, max))
    all_of_them, best = (f"{one.runs} runs of {one.result.rounds[-1]:,} people" for one in (few, many))
    return f"{all_of_them}; with *: {best}." if many.runs > few.runs else f"{all_of_them}."


def ladder_of(asked: "StudyInWorlds", epsilon: list[float] | None, usual: tuple[float, ...] = ()) -> list[float]:
    """The budgets to consider: as typed, as in a study of several, or the usual ones."""
    from sottovoce.lab.choosing.choose import LADDER

    several = asked.study.epsilon if len(asked.study.epsilon) > 1 else None
    return sorted(set(epsilon or several or usual or LADDER))


def _wish(asked: "StudyInWorlds", answers: bool, regret: str | None, people: int | None) -> "Wish":
    from sottovoce.lab.choosing.choose import Wish

    name = asked.study.learner
    if answers and regret is not None:
        raise ConfigurationError(f"{name} looks for an answer, not for little regret; say --people instead of --regret")
    if not answers and people is not None:
        raise ConfigurationError(f"{name} never stops with an answer; say --regret, or take top-two as the learner")
    if people is not None and people < 1:
        raise ConfigurationError(f"people must be at least 1, got {people}")
    return Wish(people=people or asked.study.rounds) if answers else Wish(regret=share_of(regret or "10%"))


def share_of(text: str) -> float:
    """A share, as in 10% or 0.1.

    >>> share_of("12.5%"), share_of("0.1")
    (0.125, 0.1)
    """
    try:
        share = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        share = 0.0
    if not 0 < share < 1:
        raise ConfigurationError(f"regret is a share of uniform play's, as in 10% or 0.1; got {text!r}")
    return share


def _table(choice: "Choice") -> Table:
    """Who did how at which epsilon, the best at the one that is recommended first."""
    from sottovoce.lab.choosing.choose import FIRST_RUNS, rank
    from sottovoce.lab.choosing.words import figures_of, name_of

    taken, scores = choice.taken, choice.scores
    more = lambda one: "*" if one.runs > FIRST_RUNS else ""  # noqa: E731
    what = REGRETS if taken.result.correct is None else PEOPLE
    budgets = sorted({epsilon for *_, epsilon in scores})
    columns = (f"{epsilon:g}" for epsilon in budgets)
    table = table_of(f"{what}, by epsilon", words("who", wraps=True), *columns)
    for one in sorted((one for one in scores.values() if one.epsilon == taken.epsilon), key=rank):
        row = [scores[one.study.learner, one.study.preset, epsilon] for epsilon in budgets]
        style = "bold green" if choice.reached and one is taken else None
        table.add_row(name_of(one.study), *(figures_of(each) + more(each) for each in row), style=style)
    return table


def _explain(choice: "Choice", asked: "StudyInWorlds") -> None:
    from sottovoce.lab.choosing import words as spoken

    say(f"wanted: {spoken.wanted(choice.taken.wish)}")
    if not choice.reached:
        say("Nothing reaches this.", "bold red")
        say(spoken.shortfall(choice.taken))
        return
    say(f"recommended: {spoken.recommendation(choice)}", "bold")
    say()
    for reason in spoken.reasons(choice):
        say(reason)
    say(f"Expected: {spoken.prediction(choice.taken)}")
    say()
    lines = spoken.lines_of(choice.taken, asked.file)
    say("In the task file:" if lines else "The task file says so already.")
    for line in lines:
        say(f"  {line}" if line else "")
    if asked.file is not None and (refused := spoken.also_to_change(choice.taken, asked.file)):
        say(f"Change also: {refused}", "yellow")
