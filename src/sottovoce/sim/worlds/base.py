"""What every world is: people come, act, and something happens to them."""

from typing import Annotated, Any, Protocol

import jax

from sottovoce.learners.base import Key

Drawn = Annotated[Any, "drawn by `sample`, or known from the name of the world"]
"""The type of a field that is not an option of a study."""


class World(Protocol):
    """The environment of a simulation; written like a learner, one round at a time.

    A world may also have `sample(key) -> World`: a fresh instance for each seed. Worlds of the registry say in `drawn`
    which of their fields that fills; the others are options that a study may set. A world with a best arm may have
    `gaps`, how much worse every arm is: recommendations are judged by it. It may have `shown(context)`: what of the
    context the device knows before it acts, where that is not all of it. And a world made of somebody's data has a
    `notice`: whose it is, and on what terms.
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
