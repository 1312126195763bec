"""The smallest budget at which some learner reaches what is wanted, and the learner to take there.

First every candidate is run a few times at every budget. Then the best few are run as often as `sottovoce plan` runs a
learner, at the smallest budget that looked good enough; then at the next smaller one if that was right, else at the
next larger one. It is assumed that a larger budget does not make learning worse.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import NamedTuple

import msgspec

from sottovoce.catalogue.algorithms import GUIDE, algorithm_of
from sottovoce.lab.choosing.candidates import Comparison
from sottovoce.lab.plan import shortened
from sottovoce.lab.study.cells import Cell, CellResult, cells_of, half_interval, run_cells
from sottovoce.lab.study.file import Study
from sottovoce.sim.run import Progress

LADDER = (0.5, 1.0, 2.0, 4.0, 8.0)
"""Budgets that are tried where nobody says which."""

FIRST_PEOPLE, FIRST_RUNS = 20_000, 4
"""How far and how often everybody is run first."""

BEST = 3
"""How many are then run more often, at each budget in question."""

FARTHEST, SLOWEST = 10.0, 0.9
"""A longer run is foretold up to so many times as many people, if the regret grows with at most this exponent."""

Bar = Callable[[str, int], AbstractContextManager[Progress]]
"""Shows how far a part of the work has come: its name, and its number of rounds."""


class Wish(NamedTuple):
    """What is wanted: at most this share of uniform play's regret; or an answer from at most so many people."""

    regret: float = 0.1
    people: int = 0


class Score(NamedTuple):
    """How one candidate did at one budget: the share of uniform play's regret, or the people asked until the answer."""

    study: Study
    result: CellResult
    uniform: CellResult
    wish: Wish
    mean: float
    low: float
    """Of the 95 % interval of the mean."""
    high: float

    @property
    def epsilon(self) -> float:
        return self.result.cell.task.epsilon

    @property
    def runs(self) -> int:
        return len(self.result.regret)

    @property
    def answered(self) -> bool:
        """Every run ended with an answer, and no more were wrong than may be."""
        if self.result.correct is None:
            return True
        failure = float(self.result.cell.task.tuning.get("failure", 0.05))
        return bool(self.result.stopped.all()) and self.result.right()[0] >= 1 - failure

    @property
    def reaches(self) -> bool:
        """The whole interval is within what is wanted."""
        return self.answered and self.high <= (self.wish.people or self.wish.regret)


class Choice(NamedTuple):
    """What came out: every score by learner, preset and epsilon, and what to take."""

    scores: dict[tuple[str, str, float], Score]
    taken: Score
    """What is recommended; where nothing reaches the wish, the best at the largest budget."""

    @property
    def reached(self) -> bool:
        return self.taken.reaches


def choose(
    compared: Comparison,
    wish: Wish,
    ladder: Sequence[float] = LADDER,
    bar: Bar = lambda *_: nullcontext(lambda _: None),
) -> Choice:
    """Compare the candidates at these budgets, and recommend.

    >>> from sottovoce.lab.choosing.candidates import comparison_of
    >>> from sottovoce.lab.study.file import StudyInWorlds
    >>> asked = StudyInWorlds(Study(learner="ucb", arms=2, epsilon=[1.0], rounds=500, options={"gap": 0.5}))
    >>> choose(comparison_of(asked, ["ucb"]), Wish(regret=0.9), [4.0, 8.0]).taken.epsilon
    4.0
    """
    ladder = sorted(set(ladder))
    candidates = [_within(one, wish) for one in compared.candidates]
    whole = max(candidates, key=lambda one: one.rounds)
    first = msgspec.structs.replace(whole, rounds=min(whole.rounds, FIRST_PEOPLE), seeds=FIRST_RUNS)
    scores: dict[tuple[str, str, float], Score] = {}

    def run(title: str, chosen: Sequence[Study], epsilons: Sequence[float], runs: Study) -> list[Score]:
        with bar(title, (len(chosen) * len(epsilons) + 1) * runs.rounds) as progress:
            found = list(_scores(compared, wish, chosen, epsilons, runs, progress))
        scores.update({(one.study.learner, one.study.preset, one.epsilon): one for one in found})
        return found

    everybody = run(f"all {len(candidates)}", candidates, ladder, first)
    possible = [epsilon for epsilon in ladder if not _hopeless(_at(everybody, epsilon))] or ladder[-1:]
    good = [epsilon for epsilon in possible if any(_looks_good(one) for one in _at(everybody, epsilon))]
    place, taken = possible.index(good[0] if good else possible[-1]), {}
    while 0 <= place < len(possible) and place not in taken:
        epsilon = possible[place]
        best = [one.study for one in _best(_at(everybody, epsilon))]
        taken[place] = taken_of(run(f"the best, epsilon {epsilon:g}", best, [epsilon], shortened(whole)))
        place += -1 if taken[place].reaches else 1
    reached = [one for one in taken.values() if one.reaches]
    smallest = (
        min(reached, key=lambda one: one.epsilon) if reached else max(taken.values(), key=lambda one: one.epsilon)
    )
    return Choice(scores, smallest)


def plans_for_people(study: Study, wish: Wish) -> bool:
    """Does this learner divide a fixed number of people among the arms, instead of stopping when it is sure?"""
    return bool(wish.people) and "failure" not in algorithm_of(study.learner).question


def _within(study: Study, wish: Wish) -> Study:
    """Who plans for a number of people is given as many as may be asked."""
    rounds = min(study.rounds, wish.people) if plans_for_people(study, wish) else study.rounds
    return msgspec.structs.replace(study, rounds=rounds)


def _scores(
    compared: Comparison, wish: Wish, chosen: Sequence[Study], epsilons: Sequence[float], runs: Study, bar: Progress
) -> Iterator[Score]:
    uniform_cell = [cell for cell in _cells(compared, compared.candidates[0], epsilons) if cell.role == "uniform"]
    (uniform,) = run_cells(runs, uniform_cell, bar)
    for study in chosen:
        numbers = msgspec.structs.replace(runs, rounds=min(runs.rounds, study.rounds))
        cells = [cell for cell in _cells(compared, study, epsilons) if cell.role == "chosen"]
        for result in run_cells(numbers, cells, bar):
            yield score_of(study, result, uniform, wish)


def _cells(compared: Comparison, study: Study, epsilons: Sequence[float]) -> list[Cell]:
    return cells_of(msgspec.structs.replace(study, epsilon=list(epsilons)), compared.worlds)


def score_of(study: Study, result: CellResult, uniform: CellResult, wish: Wish) -> Score:
    """The share of uniform play's mean regret, or the people asked where an answer is looked for."""
    lost = uniform.regret[:, -1].mean()
    values = result.regret[:, -1] / lost if result.correct is None else result.samples.astype(float)
    mean, half = float(values.mean()), float(half_interval(values))
    return Score(study, result, uniform, wish, mean, mean - half, mean + half)


def _at(scores: Sequence[Score], epsilon: float) -> list[Score]:
    return [one for one in scores if one.epsilon == epsilon]


def _looks_good(score: Score) -> bool:
    """Would it be enough if the regret went on growing as it did? Only a first guess, which is then tried."""
    if score.wish.people:
        return score.answered and score.mean <= score.wish.people
    growth, times = score.result.growth(), score.study.rounds / score.result.rounds[-1]
    return score.mean * (times ** (growth - 1) if growth < 1 else 1.0) <= score.wish.regret


def _hopeless(scores: Sequence[Score]) -> bool:
    """Is everybody too expensive, even if nobody after those who were followed lost anything?"""
    if scores[0].wish.people:
        return all(one.low > one.wish.people for one in scores)
    return all(one.low * one.result.rounds[-1] / one.study.rounds > one.wish.regret for one in scores)


def _best(scores: Sequence[Score]) -> list[Score]:
    """The best few, and of those that may be as good the first that the guide names."""
    ranked = sorted(scores, key=rank)
    alike = [one for one in ranked if one.low <= ranked[0].high]
    return list({id(one): one for one in [*ranked[:BEST], *_guided(alike)[:1]]}.values())


def rank(score: Score) -> tuple[bool, float, float]:
    """The smaller the better: who answers, then who loses or asks less, then who is right more often."""
    return not score.answered, score.mean, 0.0 if score.result.correct is None else -score.result.right()[0]


def taken_of(scores: Sequence[Score]) -> Score:
    """The one to take: the best, unless the guide names one that may be as good and reaches the wish as well."""
    reached = [one for one in scores if one.reaches]
    if not reached:
        return min(scores, key=rank)
    best = min(reached, key=rank)
    return next(iter(_guided([one for one in sorted(reached, key=rank) if one.low <= best.high])), best)


def _guided(scores: Sequence[Score]) -> list[Score]:
    """Those that the guide names, in its order."""
    return [one for advice in GUIDE for one in scores if one.study.learner == advice.learner]


def people_needed(score: Score) -> int | None:
    """At how many people the wish would be reached if the regret went on growing as it did in the second half.

    None where that would be a guess: the regret grows nearly as fast as uniform play's, or the answer lies far beyond
    what was run.
    """
    growth = score.result.growth()
    if score.result.correct is not None or not growth <= SLOWEST:
        return None
    times = (score.mean / score.wish.regret) ** (1 / (1 - growth))
    return int(times * score.result.rounds[-1]) if times <= FARTHEST else None
