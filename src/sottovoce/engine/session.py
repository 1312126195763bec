"""A learner in a loop of one's own, without knowing JAX: ask for an offer, act, tell what came of it."""

import functools
from typing import Any

import jax
import numpy as np

from sottovoce.engine import step
from sottovoce.engine.complete import complete
from sottovoce.engine.pytrees import join, split
from sottovoce.engine.schedule import Schedule
from sottovoce.learners.base import Learner, Offer


class Session:
    """A learner and its state, moved on by `ask` and `tell`.

    Estimates are of rewards: larger is better. `seed` decides what a learner that samples will offer. Models are
    published (the expensive part of learning, `refresh`) after every `publish_every` reports, or less often if the
    learner says so.

    >>> import numpy as np, sottovoce as sv
    >>> learner, user, _ = sv.halves(sv.task("linucb", arms=2, dimension=2, rounds=100, epsilon=1.0), private=False)
    >>> session, features, draw = Session(learner, seed=1), np.eye(2), np.random.default_rng(1)
    >>> for _ in range(100):
    ...     offer = session.ask()
    ...     arm = user.act(offer.public, features, draw.uniform())
    ...     message = user.message(offer.public, features, arm, (0.1, 0.9)[arm])  # a device would privatise it
    ...     session.tell(offer, user.domain.extract(message))
    >>> session.ask().public.theta.round(1).tolist()
    [0.1, 0.9]

    A learner that samples among arms is told a number:

    >>> learner, _, mechanism = sv.halves(sv.task("thompson", arms=3, rounds=300, epsilon=4.0))
    >>> session, plays = Session(learner, seed=1), np.zeros(3, int)
    >>> for _ in range(300):
    ...     offer = session.ask()
    ...     report = sv.privatise(mechanism, mechanism.domain.embed((0.1, 0.5, 0.9)[int(offer.arm)]))
    ...     session.tell(offer, sv.decode(mechanism, report))
    ...     plays[offer.arm] += 1
    >>> int(plays.argmax()), session.done, session.reports
    (2, False, 300)
    """

    def __init__(self, learner: Learner, *, seed: int, publish_every: int = 1) -> None:
        whole = complete(learner)
        self._schedule, self._lazy = Schedule(publish_every, whole.growth), publish_every > 1 or whole.refreshes
        self._numbers, self._fixed = split(whole)
        self._seed, self._asked, self._last = seed, 0, 0
        self.reports = 0
        """How many were told."""
        self.state = self._run(_start)
        self._published = self.state

    def ask(self) -> Offer:
        """The next offer: `public` is for the person, `arm` is the arm where actions are arms."""
        self._asked += 1
        return self._run(_ask, self._published if self._lazy else self.state, np.uint32(self._seed), self._asked)

    def tell(self, offer: Offer, estimate: Any, weight: float = 1.0) -> None:
        """What came of an offer; in any order, late or never. Nothing changes once the learner is done."""
        estimate = jax.tree.map(lambda number: np.asarray(number, float), estimate)
        self.state, heard = self._run(_tell, self.state, offer.memo, estimate, float(weight))
        self.reports += int(heard)
        if self._lazy and self._schedule.due(self.reports, self._last):
            self.state = self._published = self._run(_refresh, self.state)
            self._last = self.reports

    @property
    def done(self) -> bool:
        """Does the learner know enough? False for one that never stops."""
        return bool(self._run(_done, self.state))

    @property
    def recommendation(self) -> Any:
        """The arm, or the mask of arms, that the learner recommends by now; None where it recommends nothing."""
        return self._run(_recommend, self.state)

    def _run(self, compiled: Any, *arguments: Any) -> Any:
        with jax.enable_x64(True):
            return jax.tree.map(np.asarray, compiled(self._fixed, self._numbers, *arguments))


_compiled = functools.partial(jax.jit, static_argnums=0)
"""Functions of a learner's fixed part and its numbers, so that learners of one shape share what was compiled."""


@_compiled
def _start(fixed: Any, numbers: Any) -> Any:
    return step.start(join(numbers, fixed))


@_compiled
def _ask(fixed: Any, numbers: Any, state: Any, seed: Any, turn: Any) -> Offer:
    return join(numbers, fixed).ask(state, jax.random.fold_in(jax.random.key(seed), turn))


@_compiled
def _tell(fixed: Any, numbers: Any, state: Any, memo: Any, estimate: Any, weight: Any) -> tuple[Any, Any]:
    return step.learn(join(numbers, fixed), state, step.Report(memo, estimate, weight))


@_compiled
def _refresh(fixed: Any, numbers: Any, state: Any) -> Any:
    return join(numbers, fixed).refresh(state)


@_compiled
def _done(fixed: Any, numbers: Any, state: Any) -> jax.Array:
    return join(numbers, fixed).done(state)


@_compiled
def _recommend(fixed: Any, numbers: Any, state: Any) -> jax.Array | None:
    return join(numbers, fixed).recommend(state)
