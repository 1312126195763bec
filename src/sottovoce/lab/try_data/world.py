"""The world of a table, and what is known of it without running anything."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sottovoce.lab.try_data.unseen import Unseen, unseen
from sottovoce.protocol.contract import RewardTerms
from sottovoce.sim.tables import Answers
from sottovoce.sim.worlds import World
from sottovoce.sim.worlds.logged import Logged
from sottovoce.sim.worlds.table import Table

LONGEST = 24
"""Letters of an action's name that a table and a sentence have room for."""
PATIENCE = 40
"""Rows that are drawn for one that counts, in units of the expected number: the chance to need more is e^-40."""


class Known(NamedTuple):
    """Mean rewards that follow from the table alone."""

    uniform: float
    best: float
    """Of the best action, if everybody got it."""
    best_action: str

    @property
    def always(self) -> str:
        """The best fixed action in words; the beginning of a long name is enough."""
        name = self.best_action
        return f"always {name if len(name) <= LONGEST else name[: LONGEST - 1] + '…'!r}"


def labelled(people: NDArray[np.float64], answers: Answers, terms: RewardTerms) -> tuple[World, Known, Unseen]:
    """Of a table of right answers."""
    arms, low, high = len(answers.names), float(terms.to_unit(0.0)), float(terms.to_unit(1.0))
    shape: dict[str, Any] = {"arms": arms, "dimension": people.shape[1] * arms}
    world = Table(**shape, people=people, answers=answers.places, low=low, high=high)
    shares = np.bincount(answers.places, minlength=arms) / len(people)
    known = Known(1 / arms, float(shares.max()), answers.names[int(shares.argmax())])
    return world, known, unseen(people, np.eye(arms)[answers.places])


def logged(
    people: NDArray[np.float64], actions: Answers, rewards: NDArray, p: NDArray, terms: RewardTerms
) -> tuple[World, Known, Unseen]:
    """Of a log. The means are those that replay would give: a row weighs 1/p."""
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
    best, mean = int(means.argmax()), float(np.sum(rewards / p) / np.sum(1 / p))
    known = Known(mean, float(means[best]), actions.names[best])
    more = unseen(people, np.eye(arms)[actions.places] * ((rewards - mean) / p)[:, None])
    return world, known, more._replace(mean=mean + more.mean)
