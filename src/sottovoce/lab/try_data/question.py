"""From a table and a few names of columns to a task, a world, and what is known without running anything."""

import datetime
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from sottovoce.catalogue.algorithms import algorithm_of
from sottovoce.catalogue.resolve import contract_of
from sottovoce.catalogue.task_file import Privacy, Reward, TaskFile, load_task_file
from sottovoce.lab.try_data.logs import given_propensities, overall_shares
from sottovoce.protocol.contract import Contract, RewardTerms, contract_from
from sottovoce.protocol.errors import ConfigurationError, UnknownName
from sottovoce.protocol.fields import Field, Number
from sottovoce.sim.tables import (
    EXAMPLES,
    MOST_WORDS,
    Answers,
    Columns,
    answers_of,
    columns_of,
    encoded,
    guessed_fields,
    numbers_of,
    says_nothing,
)
from sottovoce.sim.worlds import World
from sottovoce.sim.worlds.logged import Logged
from sottovoce.sim.worlds.table import Table

MOST_ROWS = 100_000
"""Of a longer table so many rows are taken at random."""
PATIENCE = 40
"""Rows that are drawn for one that counts, in units of the expected number: the chance to need more is e^-40."""
RANGES = """\
Ranges of number fields (where nine of ten values lie), their middles (the medians) and words of categories were taken
from the table. In a private deployment nobody sees a table first: they are declared before anybody answers (correct the
task file)."""


class Asked(NamedTuple):
    """The columns that a person names, and what is to be tried."""

    path: str
    label: str = ""
    action: str = ""
    reward: str = ""
    propensity: str = ""
    ignore: tuple[str, ...] = ()
    reward_range: tuple[float, float] | None = None
    task: Path | None = None
    learner: str = ""
    people: int | None = None


class Known(NamedTuple):
    """Mean rewards that follow from the table alone."""

    uniform: float
    best: float
    """Of the best action, if everybody got it."""
    best_action: str


class Question(NamedTuple):
    """A table as a task with a world."""

    name: str
    rows: int
    file: TaskFile
    contract: Contract
    world: World
    known: Known
    notes: tuple[str, ...]


LEARNER = "scale-free"
"""For a few named actions and people with fields: see experiments/tuning/tables.py."""
RARE = 0.9
"""The preset is `rare` where at least this share of the rewards in a log is the lowest: experiments/tuning/rare.py."""


def question_of(asked: Asked) -> Question:
    """Reads the table and refuses what cannot be tried; nothing is run."""
    columns, rows = _thinned(columns_of(asked.path))
    asked = _completed(asked, columns)
    given = load_task_file(asked.task) if asked.task else None
    answers = answers_of(columns, asked.label or asked.action, given.actions if given else ())
    used = {asked.label, asked.action, asked.reward, asked.propensity, *asked.ignore}
    fields = given.fields if given else guessed_fields(columns, without=used)
    reward = given.reward if given else _reward(asked, columns)
    file, notes = (given, []) if given else _guessed(asked, columns, answers, fields, reward)
    file = msgspec.structs.replace(file, horizon=asked.people or file.horizon)
    if algorithm_of(file.learner).actions != "features" or file.candidates:
        raise ConfigurationError(f"{file.id}: a table is tried with named actions and a learner that takes fields")
    contract = contract_from(contract_of(file))
    if not given:
        notes += _left_out(columns, sorted(columns.keys() - fields.keys() - used))
    if empty := _empty(fields, columns):
        notes.append(f"Cells without a value count as not known: {', '.join(empty)}.")
    if len(answers.places) < rows:
        notes.append(f"Of {rows:,} rows {MOST_ROWS:,} were taken at random.")
    people = encoded(fields, columns)
    if len(people) < 10 * people.shape[1]:
        notes.append("There are few rows for so many fields: rows come again and again and may be learned by heart.")
    if asked.label:
        world, known = _labelled(people, answers, contract.reward)
        name = f"{Path(asked.path).stem}, which {asked.label}"
    else:
        p = given_propensities(columns, asked.propensity) if asked.propensity else None
        p = overall_shares(fields, columns, answers) if p is None else p
        world, known = _logged(people, answers, _checked(columns, asked.reward, reward), p, contract.reward)
        assumed = "" if asked.propensity else "; actions are taken as drawn with their overall share"
        notes.append(f"Replay: about one row in {1 / p.min():.3g} counts{assumed}.")
        name = f"{Path(asked.path).stem}, {asked.reward} by {asked.action}"
    return Question(name, rows, file, contract, world, known, tuple(notes))


def _completed(asked: Asked, columns: Columns) -> Asked:
    """With the label of an example filled in; refuses names that do not go together."""
    if asked.path in EXAMPLES and not (asked.label or asked.action):
        asked = asked._replace(label="target")
    log = asked.action or asked.reward or asked.propensity or asked.reward_range
    if asked.label and log:
        raise ConfigurationError("--label is for a table of right answers, --action and --reward for a log; not both")
    if not asked.label and not (asked.action and asked.reward):
        shown = ", ".join(columns)
        raise ConfigurationError(
            f"name the column of right answers with --label, or for a log --action and --reward; columns: {shown}"
        )
    if asked.task and (asked.learner or asked.ignore or asked.reward_range):
        raise ConfigurationError("--learner, --ignore and --reward-range are said in the task file; change the file")
    for name in (asked.label, asked.action, asked.reward, asked.propensity, *asked.ignore):
        if name and name not in columns:
            raise UnknownName("column", name, columns)
    if asked.people is not None and asked.people < 100:
        raise ConfigurationError(f"people must be at least 100, got {asked.people}")
    return asked


def _thinned(columns: Columns) -> tuple[Columns, int]:
    rows = len(next(iter(columns.values())))
    if rows <= MOST_ROWS:
        return columns, rows
    chosen = np.sort(np.random.default_rng(0).choice(rows, MOST_ROWS, replace=False)).tolist()
    return {name: [cells[row] for row in chosen] for name, cells in columns.items()}, rows


def _left_out(columns: Columns, names: list[str]) -> Iterator[str]:
    """Why no field was guessed for these columns."""
    wordy = [name for name in names if len(set(columns[name])) > MOST_WORDS]
    if same := [name for name in names if name not in wordy]:
        yield f"The same in every row, so left out: {', '.join(same)}."
    if wordy:
        yield f"More than {MOST_WORDS} different words, so left out (group them to use them): {', '.join(wordy)}."


def _empty(fields: Mapping[str, Field], columns: Columns) -> list[str]:
    """How many cells of each field have no value, where there are any."""
    counts = {name: sum(map(says_nothing, columns[name])) for name in fields}
    return [f"{count:,} of {len(columns[name]):,} in {name}" for name, count in counts.items() if count]


def _reward(asked: Asked, columns: Columns) -> Reward:
    """The range of the reward: 0 and 1 for a right answer, else as said, else from the smallest to the largest."""
    if asked.label:
        return Reward()
    found = numbers_of(columns, asked.reward)
    low, high = asked.reward_range or (float(found.min()), float(found.max()))
    if low >= high:
        wrong = f"--reward-range {low:g} {high:g} is empty" if asked.reward_range else f"the reward is always {low:g}"
        raise ConfigurationError(f"{wrong}; there must be a smaller and a larger reward")
    return Reward(low=low, high=high, default=low)


def _checked(columns: Columns, name: str, reward: Reward) -> NDArray[np.float64]:
    found = numbers_of(columns, name)
    if outside := np.flatnonzero((found < reward.low) | (found > reward.high)).tolist():
        raise ConfigurationError(
            f"row {outside[0] + 1}: the reward {found[outside[0]]:g} is outside {reward.low:g} to {reward.high:g} "
            f"({len(outside):,} such rows); say --reward-range {found.min():g} {found.max():g}, or correct the rows"
        )
    return found


def _guessed(
    asked: Asked, columns: Columns, answers: Answers, fields: Mapping[str, Field], reward: Reward
) -> tuple[TaskFile, list[str]]:
    """The task of a table, and what was guessed."""
    notes = [RANGES] if any(isinstance(field, Number) for field in fields.values()) else []
    if asked.reward and not asked.reward_range:
        notes.append(f"The range of the reward, {reward.low:g} to {reward.high:g}, was taken from the table as well.")
    learner, preset = asked.learner or LEARNER, "practical"
    if learner == LEARNER and asked.reward:
        lowest = float(np.mean(numbers_of(columns, asked.reward) <= reward.low))
        if lowest >= RARE:
            preset = "rare"
            notes.append(f'Of the rewards {lowest:.0%} are the lowest, so the task says preset = "rare".')
    named = re.sub(r"[^a-z0-9]+", "-", Path(asked.path).stem.lower()).strip("-")[:60] or "table"
    file = TaskFile(
        id=named,
        title=f"Which {asked.label or asked.action} to choose",
        learner=learner,
        preset=preset,
        actions=answers.names,
        one_right=bool(asked.label),
        fields=dict(fields),
        horizon=asked.people or 100_000,
        privacy=Privacy(epsilon=4.0, lifetime=40.0),
        reward=reward,
        expires=datetime.date.today() + datetime.timedelta(days=180),
    )
    return file, notes


def _labelled(people: NDArray[np.float64], answers: Answers, terms: RewardTerms) -> tuple[World, Known]:
    arms, low, high = len(answers.names), float(terms.to_unit(0.0)), float(terms.to_unit(1.0))
    shape: dict[str, Any] = {"arms": arms, "dimension": people.shape[1] * arms}
    world = Table(**shape, people=people, answers=answers.places, low=low, high=high)
    shares = np.bincount(answers.places, minlength=arms) / len(people)
    return world, Known(1 / arms, float(shares.max()), answers.names[int(shares.argmax())])


def _logged(
    people: NDArray[np.float64], actions: Answers, rewards: NDArray, p: NDArray, terms: RewardTerms
) -> tuple[World, Known]:
    """The means are those that replay would give: a row weighs 1/p."""
    arms, least = len(actions.names), float(p.min())
    world = Logged(
        arms=arms,
        dimension=people.shape[1] * arms,
        people=people,
        actions=actions.places,
        rewards=terms.to_unit(rewards),
        keep=least / p,
        high=terms.unit_high,
        patience=int(PATIENCE / least),
    )
    weights = np.bincount(actions.places, 1 / p, arms)
    means = np.bincount(actions.places, rewards / p, arms) / np.maximum(weights, 1e-300)
    means = np.where(weights > 0, means, -np.inf)
    best = int(means.argmax())
    return world, Known(float(np.sum(rewards / p) / np.sum(1 / p)), float(means[best]), actions.names[best])
