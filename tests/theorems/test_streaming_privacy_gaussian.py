"""Theorem 1 of the paper in its (epsilon, delta) form, and for a learner whose actions are points of a convex set.

The paper states and proves the theorem for pure epsilon; its algorithms are (epsilon, delta). The proof that covers
both: given all earlier reports, the rest of the transcript is a random function of the changed person's report, the
same one in both sequences; so P(S) = E f(report) for an f with values in [0, 1], and E f <= e^epsilon E' f + delta.

Two sequences of people that differ in the first one. Learners and noise are those of the presets `paper`. The attacker
sees the actions of all rounds and nothing else. He chooses an event on one half of the runs; the bounds are counted on
the other half: each raises a false alarm with probability at most 1e-6, and keys are fixed. The same learner is caught
when its reports have too little noise.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sottovoce.catalogue.task import task
from sottovoce.lab.audit.attack import choose, count
from sottovoce.lab.audit.bounds import Counts, epsilon_bound
from sottovoce.lab.audit.clues import Clues
from sottovoce.learners.base import Key, configuration, pick
from sottovoce.privacy.mechanisms import Mechanism, calibrate
from sottovoce.protocol.budget import Budget
from sottovoce.report.confidence import clopper_pearson
from sottovoce.sim.halves import Halves, halves
from sottovoce.sim.run import simulate

ROUNDS = 3
RUNS = 40_000
SURE = 1 - 1e-6
CAUTION = 4.9
"""Standard deviations that SURE stands for."""
PROMISE = Budget(1.0, 1e-5)


@configuration("points")
class GivenPeople:
    """These people, in this order. Noted as "regret" is the action: the arm, or the first of two points on a line.

    With arms a person is the reward of each arm, with points the slope of the reward.
    """

    people: Any
    points: bool

    def visit(self, round: jax.Array, key: Key) -> jax.Array:
        return self.people[round]

    def outcome(self, context: jax.Array, action: jax.Array, key: Key) -> jax.Array:
        return action @ context if self.points else pick(context, action)

    def regret(self, context: jax.Array, action: jax.Array) -> jax.Array:
        return action[0, 0] if self.points else action.astype(float)


class Scene(NamedTuple):
    """A learner and its people, and what an attacker reads from the actions: a row for each run."""

    parts: Halves
    points: bool
    people: np.ndarray
    neighbour: np.ndarray
    """The first person in the neighbouring sequence."""
    clues: Callable[[np.ndarray], Clues]


def arms(preset: str, budget: Budget) -> Scene:
    parts = halves(task("kl-ucb", preset, arms=2, rounds=ROUNDS, epsilon=budget.epsilon, delta=budget.delta))
    people = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    return Scene(parts, False, people, 1 - people[0], lambda actions: {"sequence": actions @ 2.0 ** np.arange(ROUNDS)})


def points(preset: str, budget: Budget) -> Scene:
    """Two points on a line. The horizon is longer than the run, so that steps stay inside the interval.

    The first pair lies around the middle, the second where the first report sent it.
    """
    parts = halves(task("two-point", preset, dimension=1, rounds=1000, epsilon=budget.epsilon, delta=budget.delta))
    people = np.array([[1.0], [-1.0], [1.0]])
    return Scene(parts, True, people, -people[0], lambda actions: {"second": actions[:, 1]})


def watched(scene: Scene, mechanism: Mechanism) -> list[Clues]:
    """What the attacker reads in many runs, of the sequence as it is and of its neighbour."""
    clues = []
    for seed, first in enumerate((scene.people[0], scene.neighbour)):
        world = GivenPeople(people=jnp.asarray([first, *scene.people[1:]]), points=scene.points)
        shape = {"rounds": ROUNDS, "seeds": RUNS, "seed": seed, "checkpoints": ROUNDS}
        trace = simulate(scene.parts.learner, scene.parts.user, world, mechanism=mechanism, **shape)
        clues.append(scene.clues(np.diff(trace.regret, axis=1, prepend=0.0)))
    return clues


def attacked(sides: list[Clues], promised: Budget) -> Counts:
    """The event that promises most in the even runs, counted in the odd ones."""
    training, fresh = ([{name: clue[half::2] for name, clue in side.items()} for side in sides] for half in (0, 1))
    return count(choose(*training, promised, CAUTION), *fresh)


def epsilon_found(sides: list[Clues], promised: Budget) -> float:
    """What the true epsilon is at least. With a delta, the noise is taken for Gaussian: rare events are not counted."""
    return epsilon_bound(attacked(sides, promised), promised, SURE)


def delta_found(sides: list[Clues], epsilon: float) -> float:
    """What the true delta at this epsilon is at least, whatever the noise is: P(S) - e^epsilon P'(S) for one event."""
    counts, error = attacked(sides, Budget(epsilon)), (1 - SURE) / 2
    here, _ = clopper_pearson(counts.hits, counts.of, error)
    _, there = clopper_pearson(counts.alarms, counts.of, error)
    return here - math.exp(epsilon) * there


@pytest.mark.parametrize(
    ("scene_of", "sharpness", "times"),
    [(arms, 0.15, 12), (points, 0.35, 4)],  # an arm tells less of a report than a point: the noise must be smaller
    ids=["arms", "points"],
)
def test_gaussian_reports_make_the_actions_private_and_too_little_noise_is_caught(
    scene_of: Callable[[str, Budget], Scene], sharpness: float, times: float
):
    scene = scene_of("paper", PROMISE)
    mechanism = scene.parts.mechanism
    assert mechanism
    honest = watched(scene, mechanism)
    assert delta_found(honest, PROMISE.epsilon) <= PROMISE.delta
    assert sharpness * PROMISE.epsilon < epsilon_found(honest, PROMISE) <= PROMISE.epsilon
    louder = Budget(times * PROMISE.epsilon, PROMISE.delta)
    broken = watched(scene, calibrate("gaussian", mechanism.domain, louder, "classical"))
    assert delta_found(broken, PROMISE.epsilon) > PROMISE.delta
    assert epsilon_found(broken, PROMISE) > PROMISE.epsilon


def test_pure_reports_make_the_points_private_and_an_understated_epsilon_is_seen():
    """The second pair of points tells all of the first report, so nearly all of epsilon is found."""
    promise = Budget(1.0)
    scene = points("practical", promise)
    mechanism = scene.parts.mechanism
    assert mechanism
    assert 0.8 < epsilon_found(watched(scene, mechanism), promise) <= promise.epsilon
    louder = calibrate("levels", mechanism.domain, Budget(1.5))
    assert promise.epsilon < epsilon_found(watched(scene, louder), promise) <= 1.5
