"""A learner with all of its optional methods. This is the only place that looks whether a learner has one."""

from typing import Any

import jax
import jax.numpy as jnp

from sottovoce.learners.base import Key, Learner, Offer, configuration
from sottovoce.protocol.errors import ConfigurationError


@configuration()
class Complete:
    """A learner whose optional methods can be called whether its class has them or not."""

    learner: Any

    def init(self) -> Any:
        return self.learner.init()

    def ask(self, state: Any, key: Key) -> Offer:
        offer = self.learner.ask(state, key)
        if not isinstance(offer, Offer):
            raise ConfigurationError(f"{self._name}.ask must return an Offer, got {type(offer).__name__}")
        return offer

    def tell(self, state: Any, memo: Any, estimate: Any) -> Any:
        after = self.learner.tell(state, memo, estimate)
        (before, kind), (found, other) = _numbers(state), _numbers(after)
        if kind != other:
            raise ConfigurationError(
                f"{self._name}.tell must return a state like that of init, got {type(after).__name__}"
            )
        if changed := [
            f"{name} was {before[name]} and is {found[name]}" for name in before if before[name] != found[name]
        ]:
            raise ConfigurationError(f"{self._name}.tell must keep the shapes and types of init: {'; '.join(changed)}")
        return after

    @property
    def _name(self) -> str:
        return type(self.learner).__name__

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


def _numbers(state: Any) -> tuple[dict[str, str], Any]:
    """Type and shape of each array of a state, by its place, and how they are put together."""
    leaves, kind = jax.tree_util.tree_flatten_with_path(state)
    return {
        jax.tree_util.keystr(at).lstrip("."): f"{jnp.result_type(one)}{list(jnp.shape(one))}" for at, one in leaves
    }, kind


def complete(learner: Learner) -> Complete:
    """The learner with all of its optional methods.

    >>> from sottovoce.learners.uniform import UniformArms
    >>> uniform = complete(UniformArms(arms=3))
    >>> uniform.growth, uniform.stops, bool(uniform.done(uniform.init()))
    (1.0, False, False)
    """
    return learner if isinstance(learner, Complete) else Complete(learner=learner)
