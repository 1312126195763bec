"""What every world is: people come, act, and something happens to them."""

from typing import Annotated, Any, Protocol

import jax

from sottovoce.learners.base import Key

Drawn = Annotated[Any, "drawn by `sample`, or known from the name of the world"]
"""The type of a field that is not an option of a study."""


class World(Protocol):
    """The environment of a simulation; written like a learner, one round at a time.

    A world may also have any of these; the functions below fill in the others:

    - `sample(key) -> World`: a fresh instance for each seed. It fills the fields of type `Drawn`.
    - `shown(context)`: what of the context the device knows before it acts, where that is not all of it.
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


def gaps_of(world: World) -> jax.Array | None:
    """How much worse every arm is than the best, where the world says so."""
    return getattr(world, "gaps", None)


def notice_of(world: World) -> str:
    """Whose data the world is made of, and on what terms; empty where it is made up."""
    return getattr(world, "notice", "")
