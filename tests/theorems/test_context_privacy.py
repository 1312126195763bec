"""What local privacy protects in a contextual task, and what it does not.

The paper, section 4.1: the published estimates are differentially private (post-processing of private reports), the
actions are not, because a device chooses with its own raw context. Both halves of that sentence, audited. Bounds hold
with confidence 1 - 1e-6; keys are fixed.
"""

import math
from dataclasses import replace
from typing import Any, cast

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sottovoce.catalogue.task import task
from sottovoce.lab.audit.attack import choose, count
from sottovoce.lab.audit.bounds import Counts, epsilon_bound
from sottovoce.learners.base import Key, configuration
from sottovoce.privacy.mechanisms import Mechanism
from sottovoce.protocol.budget import Budget
from sottovoce.sim.halves import Halves, halves
from sottovoce.sim.run import simulate
from sottovoce.users import LocalUser

RUNS = 20_000
SURE = 1 - 1e-6
EPSILON = 2.0

OTHERS = np.array([[[0.6, 0.8], [-0.6, -0.8]]])
"""The context of the second person: two opposite actions."""
ALICE = (np.array([[[1.0, 0.0], [1.0, 0.0]]]), 1.0)
BOB = (np.array([[[0.5, 0.75**0.5], [0.5, 0.75**0.5]]]), -1.0)
"""Contexts and rewards of the first person: the two most different messages (see `privacy.domains.Moments`)."""


@configuration()
class GivenPeople:
    """People with these contexts and rewards. The "regret" is the action of the last one."""

    contexts: Any
    rewards: Any
    last: Any

    def visit(self, round: jax.Array, key: Key) -> tuple[jax.Array, jax.Array, jax.Array]:
        return self.contexts[round], self.rewards[round], round == self.last

    def outcome(self, context: tuple, action: jax.Array, key: Key) -> jax.Array:
        return context[1]

    def regret(self, context: tuple, action: jax.Array) -> jax.Array:
        return jnp.where(context[2], action, 0).astype(float)


class RowsUser:
    """A linear user whose context travels with its reward."""

    def __init__(self, user: LocalUser) -> None:
        self.user, self.domain = user, getattr(user, "domain", None)

    def act(self, public: Any, context: tuple, entropy: Any) -> Any:
        return self.user.act(public, context[0], entropy)

    def message(self, public: Any, context: tuple, action: Any, reward: Any) -> Any:
        return self.user.message(public, context[0], action, reward)


def play(parts: Halves, user: RowsUser, people: list, mechanism: Mechanism | None, seed: int, rounds: int = 2):
    """The models published after so many of two people, and the last one's action."""
    world = GivenPeople(
        contexts=jnp.asarray(np.concatenate([context for context, _ in people])),
        rewards=jnp.array([reward for _, reward in people]),
        last=rounds - 1,
    )
    shape = {"rounds": rounds, "seeds": RUNS, "checkpoints": rounds}  # round by round: compiled once
    trace = simulate(parts.learner, user, world, mechanism=mechanism, seed=seed, **shape)
    return trace.state.model, trace.regret[:, -1]


@pytest.fixture(scope="module")
def linucb() -> tuple[Halves, RowsUser]:
    parts = halves(task("linucb", arms=2, dimension=2, rounds=10, epsilon=EPSILON))
    return parts, RowsUser(parts.user)


def audited_estimates(linucb: tuple[Halves, RowsUser], mechanism: Mechanism | None) -> float:
    """Alice or Bob, then another person. The attacker reads both published models and picks the best event."""
    clues = []
    for seed, first in enumerate((ALICE, BOB)):
        people = [first, (OTHERS, 1.0)]
        after_one, _ = play(*linucb, people, mechanism, seed, rounds=1)
        after_two, _ = play(*linucb, people, mechanism, seed, rounds=2)  # the same runs, one person later
        read = {}
        for name, model in (("first", after_one), ("second", after_two)):
            theta = np.asarray(model.theta)
            gram = np.linalg.inv(np.asarray(model.precision))
            read[f"{name}: across"] = theta @ np.array([0.5, -(0.75**0.5)])
            read[f"{name}: along"] = theta @ np.array([0.75**0.5, 0.5])
            read[f"{name}: matrix"] = gram[:, 0, 0] - gram[:, 1, 1] - gram[:, 0, 1]
            read[f"{name}: both"] = 3 * (theta[:, 0] - theta[:, 1]) + gram[:, 0, 0] - gram[:, 1, 1]
        clues.append(read)
    train, test = (
        [{k: v[part] for k, v in read.items()} for read in clues] for part in (slice(0, None, 2), slice(1, None, 2))
    )
    promised = Budget(EPSILON)
    return epsilon_bound(count(choose(*train, promised, 4.9), *test), promised, SURE)


def test_the_published_estimates_are_private_and_without_noise_they_are_not(linucb: tuple[Halves, RowsUser]):
    assert 0.2 * EPSILON < audited_estimates(linucb, linucb[0].mechanism) <= EPSILON
    assert audited_estimates(linucb, None) > 3 * EPSILON


def test_the_action_of_a_person_is_not_private_towards_those_who_see_it():
    """The published algorithm. The last person's two actions change places: so does what is played, always.

    The bound on epsilon is as large as so many runs can show: with n runs, about ln(n / 14).
    """
    parts = halves(task("linucb", "paper", arms=2, dimension=2, rounds=10, epsilon=EPSILON))
    user = RowsUser(parts.user)
    rows = np.array([[[0.8, 0.6], [0.0, 0.0]]])
    here, there = (
        play(parts, user, [ALICE, (context, 1.0)], parts.mechanism, seed)[1]
        for seed, context in enumerate((rows, rows[:, ::-1]))
    )
    assert np.all(here == 0)
    assert np.all(there == 1)
    bounds = [epsilon_bound(Counts(hits=n, alarms=0, of=n), Budget(EPSILON), SURE) for n in (RUNS // 100, RUNS)]
    assert bounds[0] > EPSILON / 2
    assert bounds[1] == pytest.approx(bounds[0] + math.log(100), abs=0.2)  # and so on without end


def test_the_action_of_a_person_is_private_as_far_as_earlier_people_are_concerned(linucb: tuple[Halves, RowsUser]):
    """What the second person plays says of the first no more than the first report does."""
    parts, user = linucb
    greedy = parts._replace(learner=replace(cast(Any, parts.learner), warm=0.0))
    for mechanism, private in ((parts.mechanism, True), (None, False)):
        here, there = (
            play(greedy, user, [first, (OTHERS, 1.0)], mechanism, seed)[1] for seed, first in enumerate((ALICE, BOB))
        )
        bounds = [
            epsilon_bound(Counts(int(np.sum(a == arm)), int(np.sum(b == arm)), RUNS), Budget(EPSILON), SURE)
            for arm in (0, 1)
            for a, b in ((here, there), (there, here))
        ]
        assert (max(bounds) <= EPSILON) == private
