"""What every learner is: `ask` reads, `tell` writes, nothing else happens."""

import dataclasses
import math
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, TypeVar, dataclass_transform

import jax

from sottovoce.privacy.noise import Noise
from sottovoce.protocol.errors import ConfigurationError

Key = jax.Array
"""A JAX random key."""


class Offer(NamedTuple):
    """What the server says first: `public` goes to the person, `memo` comes back with the report."""

    public: Any
    memo: Any = ()
    arm: Any = None
    """The number of the arm that is offered, where actions are arms."""


class Learner(Protocol):
    """The server half. Configuration is the learner itself, frozen; state is a NamedTuple of arrays.

    Every learner has the three methods below. It may also have any of these; `engine.complete` fills in the others:

    - `refresh(state) -> state`: the expensive part of learning (solving for a model). It is run when a new model is
      published, not for every report.
    - `growth`: the next model is published only after that many times more reports (1.01 is one model per percent).
    - `pretend(state, memo) -> state`: the state if the person of this offer answered as is expected. Between two
      publications it is what the next offer is made from, so that learners that always play the largest index do not
      offer the same arm to everybody.
    - `done(state)` and `recommend(state)`: for a learner that knows when it knows enough. After `done` no more offers
      are made and the recommendation is served: an arm, or a mask of arms.
    - `best_set(rewards)`: the mask that it would recommend if it knew the mean rewards.
    - `memo_of(arm)`: the memo of an arm that `ask` did not choose. Learners have it that can use data from elsewhere;
      those that weigh a report by the chance of its offer cannot.
    """

    def init(self) -> Any: ...

    def ask(self, state: Any, key: Key) -> Offer: ...

    def tell(self, state: Any, memo: Any, estimate: Any) -> Any: ...


Class = TypeVar("Class", bound=type)


@dataclass_transform(frozen_default=True, kw_only_default=True)
def configuration(*static: str) -> Callable[[Class], Class]:
    """A frozen, keyword-only value that is a pytree of its numbers; the `static` fields are shapes and names.

    >>> @configuration("arms")
    ... class Walker:
    ...     arms: int
    ...     step: float
    >>> jax.tree.leaves(Walker(arms=3, step=0.5))
    [0.5]
    """

    def decorate(cls: Class) -> Class:
        frozen = dataclasses.dataclass(frozen=True, kw_only=True)(cls)
        numbers = [field.name for field in dataclasses.fields(frozen) if field.name not in static]

        def flatten(value: Any) -> tuple[list[Any], tuple[Any, ...]]:
            # The class is part of the structure: JAX 0.10 calls structures of two registered dataclasses equal when
            # only their fields agree, and would run the compiled loop of one for the other.
            return [getattr(value, name) for name in numbers], (frozen, *(getattr(value, name) for name in static))

        def unflatten(shape: tuple[Any, ...], leaves: Any) -> Any:
            value = object.__new__(frozen)
            value.__dict__.update(zip(numbers, leaves, strict=True))
            value.__dict__.update(zip(static, shape[1:], strict=True))
            return value

        jax.tree_util.register_pytree_node(frozen, flatten, unflatten)
        return frozen

    return decorate


def categorical(key: Key, weights: jax.Array) -> jax.Array:
    """One index with these probabilities, by inversion: one uniform number, much cheaper than Gumbel's trick.

    >>> int(categorical(jax.random.key(0), jax.numpy.array([0.0, 1.0, 0.0])))
    1
    """
    below = jax.numpy.cumsum(weights) <= jax.random.uniform(key, dtype=weights.dtype)
    return jax.numpy.minimum(jax.numpy.sum(below), len(weights) - 1)


def pick(values: jax.Array, index: jax.Array) -> jax.Array:
    """values[index], as a sum: under `vmap` on a CPU, XLA joins it with the steps around it, which a gather prevents.

    >>> float(pick(jax.numpy.array([0.2, 0.8]), 1))
    0.800000011920929
    """
    return jax.numpy.sum(jax.numpy.where(jax.numpy.arange(len(values)) == index, values, 0))


def choose(claim: Any, this: Any, that: Any) -> Any:
    """The first value where the claim is true, else the second, number by number.

    >>> [float(number) for number in choose(False, (1.0, 2.0), (3.0, 4.0))]
    [3.0, 4.0]
    """
    return jax.tree.map(lambda a, b: jax.numpy.where(claim, a, b), this, that)


def loss_of(reward: jax.Array, middle: float = 0.5) -> jax.Array:
    """The reward mirrored at the middle of its range, for papers that speak of losses. Slopes have the middle 0.

    >>> loss_of(0.75)
    0.25
    """
    return 2 * middle - reward


def reach_of(noise: Noise, rounds: int, half: float = 0.5) -> float:
    """How far an estimate gets from the middle of a range of this half width; but for a chance of about 1/rounds."""
    if math.isfinite(noise.bound):
        return noise.bound
    if noise.tail:
        return half + noise.tail * math.log(rounds**2)
    return half + math.sqrt(noise.variance * 2 * math.log(2 * rounds**2))


def check_sub_gaussian(learner: str, noise: Noise) -> None:
    if noise.tail:
        raise ConfigurationError(f"{learner} needs sub-Gaussian estimates: mechanism levels or gaussian, not laplace")
