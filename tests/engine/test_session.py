"""A loop of one's own: any learner, also a reader's class with three methods, without a word of JAX."""

from typing import Any

import jax.numpy as jnp
import numpy as np

import sottovoce as sv
from catalogue import ready
from sottovoce.engine.schedule import Schedule


class Counter:
    """The three methods that a learner must have, and no other."""

    def init(self) -> Any:
        return jnp.zeros(())

    def ask(self, state: Any, key: Any) -> sv.Offer:
        return sv.Offer(state)

    def tell(self, state: Any, memo: Any, estimate: Any) -> Any:
        return state + estimate


def test_a_class_with_three_methods_is_enough():
    session = sv.Session(Counter(), seed=0, publish_every=3)
    offered = []
    for _ in range(7):
        offer = session.ask()
        offered.append(float(offer.public))
        session.tell(offer, 1)
    assert offered == [0, 0, 0, 3, 3, 3, 6]
    assert (session.done, session.recommendation, session.reports) == (False, None, 7)
    session.tell(session.ask(), 1, weight=0.25)
    assert float(session.state) == 7.25
    assert session.state.dtype == np.float64


def test_models_are_refreshed_when_the_schedule_says_so():
    each = ready("linucb")
    session, models = sv.Session(each.learner, seed=0, publish_every=2), []
    for _ in range(30):
        offer = session.ask()
        models.append(offer.public.theta.tobytes())
        session.tell(offer, each.user.domain.extract(each.user.domain.embed(np.array([0.6, 0.0, 0.0]), 0.5)))
    changes = [place for place in range(1, 30) if models[place] != models[place - 1]]
    assert changes == (np.flatnonzero(Schedule(2, each.learner.growth).marks(29)) + 1).tolist()


def test_a_learner_that_knows_enough_hears_nothing_more():
    each = ready("sequential-halving", rounds=40)
    session = sv.Session(each.learner, seed=0)
    for _ in range(60):
        offer = session.ask()
        session.tell(offer, float(offer.arm == 2))
    assert session.done
    assert session.reports <= 40
    assert session.recommendation in range(4)


def test_between_two_models_a_learner_that_plays_the_largest_index_spreads_its_offers():
    """Every offer counts as a report until the next model; without that the first arm would be offered eight times."""
    session = sv.Session(ready("ucb").learner, seed=0, publish_every=8)
    assert sorted(int(session.ask().arm) for _ in range(8)) == [0, 0, 1, 1, 2, 2, 3, 3]
