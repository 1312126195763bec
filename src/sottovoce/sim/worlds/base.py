"""What every world is: people come, act, and something happens to them."""

from collections.abc import Callable
from typing import Annotated, Any, Protocol

import jax
import jax.numpy as jnp
from jax import lax

from sottovoce.learners.base import Key

Drawn = Annotated[Any, "drawn by `sample`, or known from the name of the world"]
"""The type of a field that is not an option of a study."""


class World(Protocol):
    """The environment of a simulation; written like a learner, one round at a time.

    A world may also have any of these; the functions below fill in the others:

    - `sample(key) -> World`: a fresh instance for each seed. It fills the fields of type `Drawn`.
    - `shown(context)`: what of the context the device knows before it acts, where that is not all of it.
    - `kept(context, action, key)`: whether this visit counts, where a world of logged data knows the outcome of one
      action only. Else another person comes, at most `patience` times, then the action is -1.
    - `gaps`: how much worse every arm is than the best. Recommendations are judged by it.
    - `notice`: whose data the world is made of, and on what terms.
    """

    def visit(self, round: jax.Array, key: Key) -> Any:
        """The context of the person who comes in this round."""
        ...

    def outcome(self, context: Any, action: Any, key: Key) -> jax.Array:
        """The reward of the action for this person; larger is better."""
        ...

    def regret(self, context: Any, action: Any) -> jax.Array:
        """What the action cost in expectation against the best one; in adversarial worlds against each fixed action.

        The simulator sums it and, where it is a vector, takes the largest at each checkpoint: the best in hindsight.
        """
        ...


def world_for(world: World, key: Key) -> World:
    """The world of one seed: a fresh sample, or the same for all where the world does not sample."""
    sample = getattr(world, "sample", None)
    return sample(jax.random.fold_in(key, 2**31)) if sample else world


def shown_of(world: World, context: Any) -> Any:
    """What of the context the device knows before it acts."""
    shown = getattr(world, "shown", None)
    return shown(context) if shown else context


def meet(world: World, round: jax.Array, visit: Key, choice: Key, act: Callable[[Any, Key], Any]) -> tuple[Any, Any]:
    """The person of this round and the action that is chosen; in a world of logged data the first that is kept."""

    def once(visit: Key, choice: Key) -> tuple[Any, Any]:
        context = world.visit(round, visit)
        return context, act(shown_of(world, context), choice)

    kept = getattr(world, "kept", None)
    if kept is None:
        return once(visit, choice)

    def again(before: tuple[jax.Array, jax.Array, Any, Any]) -> tuple[jax.Array, jax.Array, Any, Any]:
        tries = before[0] + 1
        keys = jax.random.split(jax.random.fold_in(visit, tries), 3)
        context, action = once(keys[0], keys[1])
        return tries, kept(context, action, keys[2]), context, action

    nobody = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), jax.eval_shape(once, visit, choice))
    start = (jnp.zeros((), int), jnp.zeros((), bool), *nobody)
    patient = lambda now: ~now[1] & (now[0] < getattr(world, "patience"))  # noqa: B009, E731
    _, found, context, action = lax.while_loop(patient, again, start)
    return context, jnp.where(found, action, -1)


def gaps_of(world: World) -> jax.Array | None:
    """How much worse every arm is than the best, where the world says so."""
    return getattr(world, "gaps", None)


def notice_of(world: World) -> str:
    """Whose data the world is made of, and on what terms; empty where it is made up."""
    return getattr(world, "notice", "")
