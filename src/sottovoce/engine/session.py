"""A learner in a loop of one's own, without knowing JAX: ask for an offer, act, tell what came of it."""

import functools
from typing import Any

import jax
import numpy as np

from sottovoce.engine import step
from sottovoce.engine.complete import Complete, complete
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
        self._pretends = self._lazy and whole.pretends
        self._numbers, self._fixed = split(whole)
        self._seed, self._asked, self._last = seed, 0, 0
        self.reports = 0
        """How many were told."""
        self.state = self._run(step.start)
        self._published = self.state

    def ask(self) -> Offer:
        """The next offer: `public` is for the person, `arm` is the arm where actions are arms."""
        self._asked += 1
        offer = self._run(_ask, self._published if self._lazy else self.state, np.uint32(self._seed), self._asked)
        if self._pretends:
            self._published = self._run(Complete.pretend, self._published, offer.memo)
        return offer

    def tell(self, offer: Offer, estimate: Any, weight: float = 1.0) -> None:
        """What came of an offer; in any order, late or never. Nothing changes once the learner is done."""
        estimate = jax.tree.map(lambda number: np.asarray(number, float), estimate)
        self.state, told = self._run(_tell, self.state, offer.memo, estimate, float(weight))
        self.reports += int(told)
        if self._lazy and self._schedule.due(self.reports, self._last):
            self.state = self._published = self._run(Complete.refresh, self.state)
            self._last = self.reports

    @property
    def done(self) -> bool:
        """Does the learner know enough? False for one that never stops."""
        return bool(self._run(Complete.done, self.state))

    @property
    def recommendation(self) -> Any:
        """The arm, or the mask of arms, that the learner recommends by now; None where it recommends nothing."""
        return self._run(Complete.recommend, self.state)

    def _run(self, method: Any, *arguments: Any) -> Any:
        with jax.enable_x64(True):
            return jax.tree.map(np.asarray, _compiled(method, self._fixed, self._numbers, *arguments))


@functools.partial(jax.jit, static_argnums=(0, 1))
def _compiled(method: Any, fixed: Any, numbers: Any, *arguments: Any) -> Any:
    """A method of the learner that has this fixed part and these numbers: learners of one shape share the code."""
    return method(join(numbers, fixed), *arguments)


def _ask(learner: Complete, state: Any, seed: Any, turn: Any) -> Offer:
    return learner.ask(state, jax.random.fold_in(jax.random.key(seed), turn))


def _tell(learner: Complete, state: Any, memo: Any, estimate: Any, weight: Any) -> tuple[Any, Any]:
    return step.learn(learner, state, step.Answer(memo, estimate, weight))
