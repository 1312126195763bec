"""A learner with all of its optional methods. This is the only place that looks whether a learner has one."""

from typing import Any

import jax
import jax.numpy as jnp

from sottovoce.learners.base import Key, Learner, Offer, configuration


@configuration()
class Complete:
    """A learner whose optional methods can be called whether its class has them or not."""

    learner: Any

    def init(self) -> Any:
        return self.learner.init()

    def ask(self, state: Any, key: Key) -> Offer:
        return self.learner.ask(state, key)

    def tell(self, state: Any, memo: Any, estimate: Any) -> Any:
        return self.learner.tell(state, memo, estimate)

    @property
    def refreshes(self) -> bool:
        return hasattr(self.learner, "refresh")

    def refresh(self, state: Any) -> Any:
        return self.learner.refresh(state) if self.refreshes else state

    @property
    def growth(self) -> float:
        return getattr(self.learner, "growth", 1.0)

    @property
    def pretends(self) -> bool:
        return hasattr(self.learner, "pretend")

    def pretend(self, state: Any, memo: Any) -> Any:
        return self.learner.pretend(state, memo) if self.pretends else state

    @property
    def stops(self) -> bool:
        return hasattr(self.learner, "done")

    def done(self, state: Any) -> jax.Array:
        return self.learner.done(state) if self.stops else jnp.zeros((), bool)

    def recommend(self, state: Any) -> jax.Array | None:
        return self.learner.recommend(state) if hasattr(self.learner, "recommend") else None

    def best_set(self, rewards: jax.Array) -> jax.Array:
        """The set to recommend if these were the mean rewards; the best arm alone where the learner has no other."""
        if hasattr(self.learner, "best_set"):
            return self.learner.best_set(rewards)
        return jnp.arange(len(rewards)) == jnp.argmax(rewards)

    def changes(self, state: Any) -> int:
        """How often it found that the world has changed."""
        return int(self.learner.changes(state)) if hasattr(self.learner, "changes") else 0

    def memo_of(self, arm: Any) -> Any | None:
        return self.learner.memo_of(arm) if hasattr(self.learner, "memo_of") else None


def complete(learner: Learner) -> Complete:
    """The learner with all of its optional methods.

    >>> from sottovoce.learners.uniform import UniformArms
    >>> uniform = complete(UniformArms(arms=3))
    >>> uniform.growth, uniform.stops, bool(uniform.done(uniform.init()))
    (1.0, False, False)
    """
    return learner if isinstance(learner, Complete) else Complete(learner=learner)
