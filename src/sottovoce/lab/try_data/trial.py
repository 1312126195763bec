"""The runs of a question, what each gave in mean reward, and the verdict in a sentence."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from sottovoce.lab.study.cells import Cell, CellResult, cells_of, notices_of, run_cells
from sottovoce.lab.study.file import study_of
from sottovoce.lab.try_data.question import Question
from sottovoce.protocol.errors import ConfigurationError
from sottovoce.sim.batch import Progress
from sottovoce.sim.worlds.logged import Logged

ENOUGH = 0.5
"""It worked if at least this share of the gain without privacy was left, and it was better than the best fixed action:
in every run, and on average by more than chance."""
BY_HEART = 0.2
"""Rows were learned by heart where a linear model lacks this share of the gain without privacy in rows not seen, and
two standard errors."""
LITTLE = 0.001
"""Where all rewards are alike they are shown as if they differed by this share of their range."""
WINDOWS = 50
"""Points of a curve: each is the mean reward of so large a part of the people."""


class Range(NamedTuple):
    """A number of each run: the mean, the lowest and the highest."""

    mean: float
    low: float
    high: float


class Outcome(NamedTuple):
    """One learner, in mean reward of a person."""

    cell: Cell
    people: NDArray[np.int64]
    """The end of each window."""
    windows: NDArray[np.float64]
    """A row per seed, a column per window."""
    last: Range
    """In the last tenth."""
    overall: Range
    learned: float
    """The share of the way from the best fixed action to the same learner without privacy, in the last tenth."""

    @property
    def who(self) -> str:
        return f"epsilon {self.cell.task.epsilon:g}" if self.cell.private else "no privacy"


class Trial(NamedTuple):
    """What was tried, and what came of it: each budget, and the same learner without privacy at the end."""

    question: Question
    seeds: int
    outcomes: list[Outcome]

    @property
    def private(self) -> list[Outcome]:
        return self.outcomes[:-1]

    @property
    def plain(self) -> Outcome:
        return self.outcomes[-1]

    def words(self, reward: float) -> str:
        """A reward with three figures of what rewards differ by here: 0.00512, 0.512 and 5120."""
        known, terms = self.question.known, self.question.contract.reward
        means = [known.best, known.uniform, *(outcome.last.mean for outcome in self.outcomes)]
        differ = max(max(means) - min(means), LITTLE * (terms.high - terms.low))
        return f"{reward:.{max(2 - math.floor(math.log10(differ)), 0)}f}"

    @property
    def clear(self) -> float:
        """What a last tenth must give to be clearly better than the best fixed action, whose rewards vary too.

        Two standard errors above it, for rewards that vary as much as they can with this mean.
        """
        best, terms = self.question.known.best, self.question.contract.reward
        people = self.question.file.horizon / 10 * self.seeds
        return best + 2 * math.sqrt(max((best - terms.low) * (terms.high - best), 0.0) / people)


def cells_for(question: Question, epsilon: Sequence[float], seeds: int) -> tuple[Any, list[Cell]]:
    """The study, and its curves: the learner at every budget, and without privacy."""
    study = study_of(question.file, question.contract, "table")
    study = msgspec.structs.replace(study, epsilon=sorted(set(epsilon)), seeds=seeds)
    cells = cells_of(study, {"table": question.world})
    return study, [cell for cell in cells if cell.role in ("chosen", "non-private")]


def trial_of(question: Question, epsilon: Sequence[float], seeds: int, progress: Progress | None = None) -> Trial:
    """Run them."""
    study, cells = cells_for(question, epsilon, seeds)
    try:
        results = {result.cell.name: result for result in run_cells(study, cells, progress)}
    except ArithmeticError as error:
        if not isinstance(question.world, Logged):
            raise
        raise ConfigurationError(SPARSE) from error
    if any(np.isnan(result.regret).any() for result in results.values()):
        raise ConfigurationError(SPARSE)
    plain = _windows(question, results[cells[-1].name])[:, -WINDOWS // 10 :].mean()
    return Trial(question, seeds, [_outcome(question, results[cell.name], float(plain)) for cell in cells])


SPARSE = """\
the log has too few rows for replay: a learner chose an action for people of whom no row with that action is there"""


def _windows(question: Question, result: CellResult) -> NDArray[np.float64]:
    """Mean reward in each window, on the scale of the table, from the regret against the highest reward."""
    terms = question.contract.reward
    ends = np.linspace(0, len(result.rounds), WINDOWS + 1).astype(int)
    people, regret = np.append(0, result.rounds)[ends], np.pad(result.regret, ((0, 0), (1, 0)))[:, ends]
    return terms.from_unit(terms.unit_high - np.diff(regret) / np.diff(people))


def _outcome(question: Question, result: CellResult, plain: float) -> Outcome:
    windows, best = _windows(question, result), question.known.best
    people = result.rounds[np.linspace(0, len(result.rounds), WINDOWS + 1).astype(int)[1:] - 1]
    last, overall = range_of(windows[:, -WINDOWS // 10 :].mean(axis=1)), range_of(windows.mean(axis=1))
    learned = (last.mean - best) / (plain - best) if plain > best else 0.0
    return Outcome(result.cell, people, windows, last, overall, learned)


def range_of(values: NDArray[np.float64]) -> Range:
    """The mean of one number per run, the lowest and the highest.

    >>> range_of(np.array([1.0, 2.0, 6.0]))
    Range(mean=3.0, low=1.0, high=6.0)
    """
    return Range(float(values.mean()), float(values.min()), float(values.max()))


def worked(outcome: Outcome, trial: Trial) -> bool:
    """Clearly better than the best fixed action, and in every run; half of the gain without privacy; for new people."""
    return helped(trial) and _better(outcome, trial) and outcome.learned >= ENOUGH


def helped(trial: Trial) -> bool:
    """Do the fields help this learner without privacy, and a linear model whose people are in rows it has not seen?"""
    return _better(trial.plain, trial) and trial.question.unseen.clear


def _better(outcome: Outcome, trial: Trial) -> bool:
    return outcome.last.mean > trial.clear and outcome.last.low > trial.question.known.best


def verdicts(trial: Trial) -> list[str]:
    """What casts doubt on the table, and what came of it."""
    return [*trial.question.doubts, *_answers(trial)]


def _answers(trial: Trial) -> list[str]:
    """A plain sentence for each budget; one for all where the fields help nobody, or nobody but these rows."""
    if helped(trial):
        return [_verdict(outcome, trial) for outcome in trial.private]
    known, unseen = trial.question.known, trial.question.unseen
    without = f"the learner reaches {trial.words(trial.plain.last.mean)} without any privacy"
    always = f"{known.always} gives {trial.words(known.best)}"
    others = trial.words(unseen.mean)
    if _better(trial.plain, trial):
        return [
            f"The rows are too few to say that it would have worked. From rows that come again and again {without}, "
            f"and {always}. But a linear model fitted to four fifths of the rows is not clearly better for people in "
            f"the others: it gives them {others}. Bring more rows, or fewer columns."
        ]
    start = f"The fields do not clearly help {_people(trial)} here: {without}, and {always}."
    if unseen.clear:
        return [
            f"{start} But a linear model fitted to four fifths of the rows gives {others} to people in the "
            f"others, so more people (--people) or another learner (--learner) may help."
        ]
    return [f"{start} Try other columns, more people, or a learner without fields."]


def _people(trial: Trial) -> str:
    return f"{trial.question.file.horizon:,} people"


def _verdict(outcome: Outcome, trial: Trial) -> str:
    known = trial.question.known
    reward, best = f"{trial.words(outcome.last.mean)} a person at the end", trial.words(known.best)
    instead = f"{reward} instead of {best} ({known.always})"
    if worked(outcome, trial):
        return f"At {outcome.who} it would have worked: {instead}, {outcome.learned:.0%} of the gain without privacy."
    if outcome.last.mean > trial.clear:
        return (
            f"At {outcome.who} it would have helped a little: {instead}. With more than {_people(trial)} it may work."
        )
    than = "less than" if outcome.last.mean < known.best else "not clearly more than"
    return f"At {outcome.who} it would not have worked: {reward} with {_people(trial)}, {than} {best} ({known.always})."


def rows_of(trial: Trial) -> list[dict[str, Any]]:
    """One row of the stable JSON contract for each learner, for the best fixed action and for uniform play."""
    known, file = trial.question.known, trial.question.file
    shared = {"task": file.id, "learner": file.learner, "people": file.horizon, "seeds": trial.seeds}
    rows = []
    for outcome in trial.outcomes:
        epsilon = outcome.cell.task.epsilon if outcome.cell.private else None
        numbers = {"last": outcome.last.mean, "last_low": outcome.last.low, "last_high": outcome.last.high}
        numbers |= {"overall": outcome.overall.mean, "learned": outcome.learned, "worked": worked(outcome, trial)}
        rows.append(shared | {"who": outcome.who, "epsilon": epsilon} | numbers)
    for who, reward in (("best fixed action", known.best), ("uniform play", known.uniform)):
        rows.append(shared | {"who": who, "epsilon": None, "last": reward, "overall": reward})
    return rows


def remarks(trial: Trial) -> list[str]:
    """What else must be said of the numbers."""
    unseen = trial.question.unseen
    carried = (
        f"Rows not seen: a linear model without privacy, fitted to four fifths of the rows, gives "
        f"{trial.words(unseen.mean)} to people in the others."
    )
    last = trial.plain.last.mean
    if last - unseen.mean > max(BY_HEART * (last - trial.question.known.best), 2 * unseen.error):
        carried += " Part of what the runs learned holds for these rows only: their rewards are too high."
    said = [carried, *trial.question.notes, *notices_of([outcome.cell for outcome in trial.outcomes])]
    if helped(trial) and max(outcome.learned for outcome in trial.private) > 1.02:
        said.append("More than 100 %: noise makes this learner try more actions than it does without.")
    return said
