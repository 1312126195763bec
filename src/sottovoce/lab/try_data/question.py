"""From a table and a few names of columns to a task, a world, and what is known without running anything."""

import datetime
import re
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from sottovoce.catalogue.algorithms import algorithm_of
from sottovoce.catalogue.resolve import contract_of
from sottovoce.catalogue.task_file import Privacy, Reward, TaskFile, load_task_file
from sottovoce.lab.try_data.logs import given_propensities, overall_shares, wrong_shares
from sottovoce.lab.try_data.notes import empty_cells, left_out, other_words, tells_answer, tells_reward
from sottovoce.lab.try_data.unseen import Unseen
from sottovoce.lab.try_data.world import Known, labelled, logged
from sottovoce.protocol.contract import Contract, contract_from
from sottovoce.protocol.errors import ConfigurationError, UnknownName
from sottovoce.protocol.fields import Number
from sottovoce.sim.guesses import guesses, usual_rewards
from sottovoce.sim.tables import EXAMPLES, Answers, Columns, answers_of, columns_of, encoded
from sottovoce.sim.worlds import World
from sottovoce.sim.worlds.logged import Logged
from sottovoce.users.cells import numbers_of

MOST_ROWS = 100_000
"""Of a longer table so many rows are taken at random."""
FEW_ROWS = 100
"""A share that is estimated from fewer may be off by a tenth."""
MANY = 10
"""With more actions than this the replay of a log takes minutes."""
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


class Question(NamedTuple):
    """A table as a task with a world."""

    name: str
    rows: int
    file: TaskFile
    contract: Contract
    world: World
    known: Known
    unseen: Unseen
    doubts: tuple[str, ...]
    """Why a verdict may be worth nothing."""
    notes: tuple[str, ...]

    @property
    def slow(self) -> bool:
        """Must replay look at many rows for one that counts, and at many actions in each?"""
        return isinstance(self.world, Logged) and self.world.arms > MANY


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
    rewards = np.array(numbers_of(asked.reward, columns[asked.reward])) if asked.reward else np.zeros(0)
    file, notes = (given, []) if given else _guessed(asked, columns, answers, rewards)
    file = msgspec.structs.replace(file, horizon=asked.people or file.horizon)
    if algorithm_of(file.learner).actions != "features" or file.candidates:
        raise ConfigurationError(
            f"{file.learner}: a table is tried with named actions and a learner that takes fields, such as {LEARNER}"
        )
    contract, fields = contract_from(contract_of(file)), file.fields
    people = encoded(fields, columns)
    if empty := empty_cells(fields, columns):
        notes.append(f"Cells without a value count as not known: {', '.join(empty)}.")
    if others := other_words(fields, columns):
        notes.append(f"Cells with a word that is no value of its category count as none of them: {', '.join(others)}.")
    if len(answers.places) < rows:
        notes.append(f"Of {rows:,} rows {MOST_ROWS:,} were taken at random.")
    if asked.label:
        world, known, carried = labelled(people, answers, contract.reward)
        doubts = tells_answer(fields, columns, answers)
        name = f"{Path(asked.path).stem}, which {asked.label}"
    else:
        p = given_propensities(columns, asked.propensity) if asked.propensity else None
        p = overall_shares(fields, columns, answers) if p is None else p
        low, high = contract.reward.low, contract.reward.high
        clipped = np.clip(rewards, low, high)
        world, known, carried = logged(people, answers, clipped, p, contract.reward)
        doubts = tells_reward(fields, columns, clipped)
        doubts += () if asked.propensity else wrong_shares(people, answers, carried.chosen)
        assumed = "" if asked.propensity else "; actions are taken as drawn with their overall share"
        if changed := np.count_nonzero(clipped != rewards):
            notes.append(f"Rewards outside {low:g} to {high:g} were clipped, as a device does: {changed:,} of them.")
        counts = dict(zip(answers.names, np.bincount(answers.places, minlength=len(answers.names)), strict=True))
        if few := [f"{action} ({count:,})" for action, count in counts.items() if count < FEW_ROWS]:
            notes.append(f"So few rows have these actions that their mean rewards are uncertain: {', '.join(few)}.")
        notes.append(f"Replay: about one row in {1 / p.min():.3g} counts{assumed}.")
        name = f"{Path(asked.path).stem}, {asked.reward} by {asked.action}"
    return Question(name, rows, file, contract, world, known, carried, doubts, tuple(notes))


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


def _no_fields(answers: Answers, rewards: NDArray[np.float64], reward: Reward) -> str:
    """What to do with a table that has only actions and rewards."""
    arms, counts = len(answers.names), np.bincount(answers.places)
    if len(rewards):
        low, high = reward.low, reward.high
        means = np.bincount(answers.places, (np.clip(rewards, low, high) - low) / (high - low)) / counts
    else:
        means = counts / len(answers.places)
    shown = ",".join(f"{mean:.3g}" for mean in means)
    return (
        f"no column is left that says anything about a person. For people who are all alike, "
        f"`sottovoce choose --arms {arms} --option rewards={shown}` compares learners with these mean rewards."
    )


def _reward(asked: Asked, rewards: NDArray[np.float64]) -> Reward:
    """The range of the reward: 0 and 1 for a right answer, else as said, else where most of them lie."""
    if asked.label:
        return Reward()
    low, high = asked.reward_range or usual_rewards(rewards)
    if low >= high:
        wrong = f"--reward-range {low:g} {high:g} is empty" if asked.reward_range else f"the reward is always {low:g}"
        raise ConfigurationError(f"{wrong}; there must be a smaller and a larger reward")
    return Reward(low=low, high=high, default=low)


def _guessed(asked: Asked, columns: Columns, answers: Answers, rewards: NDArray) -> tuple[TaskFile, list[str]]:
    """The task of a table, and what was guessed."""
    guessed = guesses(columns, {asked.label, asked.action, asked.reward, asked.propensity, *asked.ignore})
    fields = {name: guess for name, guess in guessed.items() if not isinstance(guess, str)}
    unused, reward = left_out(guessed), _reward(asked, rewards)
    if not fields:
        raise ConfigurationError(" ".join([_no_fields(answers, rewards, reward), *unused]))
    notes = [RANGES] if any(isinstance(field, Number) for field in fields.values()) else []
    if asked.reward and not asked.reward_range:
        notes.append(f"The range of the reward, {reward.low:g} to {reward.high:g}, was taken from the table as well.")
    learner, preset = asked.learner or LEARNER, "practical"
    if learner == LEARNER and asked.reward:
        lowest = float(np.mean(rewards <= reward.low))
        if lowest >= RARE:
            preset = "rare"
            notes.append(f'Only {1 - lowest:.2%} of the rewards are not the lowest, so the task says preset = "rare".')
    named = re.sub(r"[^a-z0-9]+", "-", Path(asked.path).stem.lower()).strip("-")[:60] or "table"
    file = TaskFile(
        id=named,
        title=f"Which {asked.label or asked.action} to choose",
        learner=learner,
        preset=preset,
        actions=answers.names,
        one_right=bool(asked.label),
        fields=fields,
        horizon=asked.people or 100_000,
        privacy=Privacy(epsilon=4.0, lifetime=40.0),
        reward=reward,
        expires=datetime.date.today() + datetime.timedelta(days=180),
    )
    return file, notes + unused
