"""Rounds of all cases and seeds in which every number of a seed is a vector of its own, with a lane for each seed.

What it computes is what `loop.advance_all` computes, with the same random numbers; sums are taken in another order. XLA
makes very few kernels of such a round, one for `tsallis-inf`: a thread of a GPU plays a seed's whole round in
registers, while elsewhere arrays of all seeds go to memory and back between many kernels.
"""

import functools
import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend import core

from sottovoce.engine.pytrees import join
from sottovoce.sim.lanes.evaluate import Evaluation, NotInLanes, Table, Values, array_of, as_objects
from sottovoce.sim.lanes.rules import RULES
from sottovoce.sim.loop import Carry, Setting, Worlds, play_round, publish_carry, worst_of
from sottovoce.sim.random import unsealed

FEWEST = 65_536
"""Lanes that a GPU needs to be busy when each is a thread."""

LARGE = 512
"""An array with more numbers that seeds share is looked up in, not taken apart."""


class Leaf(NamedTuple):
    """One array of what goes in or out."""

    shape: tuple[int, ...]
    """Of one seed and case."""
    dtype: Any
    of_case: bool
    of_seed: bool

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    def apart(self, array: jax.Array, lanes: tuple[int, int]) -> Values | Table:
        """Its numbers, each a vector with axes (cases, seeds), or one number where all cases and seeds share it."""
        if self.size > LARGE and not self.of_seed:
            first = self.size * np.arange(lanes[0])[:, None] if self.of_case else 0
            return Table(lambda places: array.reshape(-1)[first + places], self.shape, self.dtype)
        if not self.of_case and not self.of_seed:
            return array_of(list(array.reshape(-1)), self.shape)
        array = array if self.of_case else array[None]
        array = array if self.of_seed else array[:, None]
        wide = jnp.broadcast_to(array.reshape(*array.shape[:2], self.size), (*lanes, self.size))
        return array_of(list(jnp.moveaxis(wide, -1, 0)), self.shape)

    def joined(self, numbers: list[jax.Array]) -> jax.Array:
        """The inverse, for an array that every case and seed has of its own."""
        return jnp.stack(numbers, axis=-1).reshape(*numbers[0].shape, *self.shape)


class Round(NamedTuple):
    """What JAX traced of a round of one seed: it gets the number of the round, what stays, and the carry."""

    played: core.ClosedJaxpr
    published: core.ClosedJaxpr | None
    stay: list[Leaf]
    carry: list[Leaf]


def round_of(
    setting: Setting, fixed: Any, world_fixed: Any, varying: Any, world: Worlds, keys: Any, carry: Any
) -> Round:
    """From the arguments of `advance_all`."""
    stay = varying, world.shared, world.own, jax.eval_shape(jax.random.key_data, keys)
    kinds = [(True, False), (False, False), (False, True), (False, True)]
    leaves = [_leaf(leaf, *kind) for tree, kind in zip(stay, kinds, strict=True) for leaf in jax.tree.leaves(tree)]
    carried, shape = jax.tree.flatten(carry)
    of_carry = [_leaf(leaf, True, True) for leaf in carried]

    def parts(numbers: tuple[Any, ...]) -> tuple[Any, Any, Any, Carry]:
        own = jax.tree.unflatten(jax.tree.structure(stay), numbers[: len(leaves)])
        there = Worlds(own[1], own[2]).join(world_fixed)
        return join(own[0], fixed), there, own[3], jax.tree.unflatten(shape, numbers[len(leaves) :])

    def play(round: Any, *numbers: Any) -> list[Any]:
        (learner, gates), there, words, before = parts(numbers)
        return jax.tree.leaves(play_round(setting, learner, gates, there, unsealed(words), before, round))

    def publish(*numbers: Any) -> list[Any]:
        (learner, _), _, _, before = parts(numbers)
        return jax.tree.leaves(publish_carry(learner, before))

    given = [jax.ShapeDtypeStruct(leaf.shape, leaf.dtype) for leaf in (*leaves, *of_carry)]
    played = jax.make_jaxpr(play)(jax.ShapeDtypeStruct((), np.int64), *given)
    return Round(played, jax.make_jaxpr(publish)(*given) if setting.lazy else None, leaves, of_carry)


def _leaf(array: Any, of_case: bool, of_seed: bool) -> Leaf:
    return Leaf(tuple(array.shape[of_case + of_seed :]), np.dtype(array.dtype), of_case, of_seed)


@functools.partial(jax.jit, static_argnums=(0, 1, 2))
def advance_all(
    setting: Setting, fixed: Any, world_fixed: Any, varying: Any, world: Worlds, keys: jax.Array, carry: Carry,
    rounds: jax.Array, publish: jax.Array,
) -> tuple[Carry, jax.Array]:  # fmt: skip
    """As in `loop`."""
    round = round_of(setting, fixed, world_fixed, varying, world, keys, carry)
    lanes = setting.cases, len(keys)
    apart = lambda leaves, arrays: [leaf.apart(array, lanes) for leaf, array in zip(leaves, arrays, strict=True)]  # noqa: E731
    stay = apart(round.stay, jax.tree.leaves((varying, world.shared, world.own, jax.random.key_data(keys))))
    flat, back = functools.partial(_flat, round.carry, lanes), functools.partial(_back, round.carry)

    def step(numbers: list[jax.Array], now: tuple[jax.Array, jax.Array]) -> tuple[list[jax.Array], None]:
        time, due = now
        evaluation = Evaluation(RULES)
        numbers = flat(evaluation.run(round.played, [array_of([time], ()), *stay, *back(numbers)]))
        if (published := round.published) is not None:
            again = lambda numbers: flat(evaluation.run(published, [*stay, *back(numbers)]))  # noqa: E731
            numbers = lax.cond(due, again, lambda same: same, numbers)
        return numbers, None

    numbers, _ = lax.scan(step, flat(apart(round.carry, jax.tree.leaves(carry))), (rounds, publish))
    joined = [leaf.joined(list(array.ravel())) for leaf, array in zip(round.carry, back(numbers), strict=True)]
    after = jax.tree.unflatten(jax.tree.structure(carry), joined)
    return after, worst_of(after.regret)


def _flat(leaves: list[Leaf], lanes: tuple[int, int], arrays: list[Any]) -> list[jax.Array]:
    """All numbers in a row, each a vector of its type."""
    return [
        jnp.broadcast_to(jnp.asarray(number, leaf.dtype), lanes)
        for leaf, array in zip(leaves, arrays, strict=True)
        for number in as_objects(array).ravel()
    ]


def _back(leaves: list[Leaf], numbers: list[jax.Array]) -> list[Values]:
    """The inverse."""
    left = iter(numbers)
    return [array_of([next(left) for _ in range(leaf.size)], leaf.shape) for leaf in leaves]


def refusal(
    setting: Setting, fixed: Any, world_fixed: Any, varying: Any, world: Worlds, keys: jax.Array, carry: Carry
) -> str:
    """Why `advance_all` should not play these, or nothing."""
    if (lanes := setting.cases * len(keys)) < FEWEST:
        return f"{lanes:,} lanes, and a GPU needs {FEWEST:,}"
    leaves, tree = jax.tree.flatten(jax.eval_shape(lambda *arrays: arrays, varying, world, keys, carry))
    return _refusal((setting, fixed, world_fixed), tree, tuple(leaves))


@functools.lru_cache(maxsize=256)
def _refusal(fixed: tuple[Any, ...], tree: Any, shapes: tuple[jax.ShapeDtypeStruct, ...]) -> str:
    """To find out means to trace a round: that takes a second, so the answer is kept."""
    one_round = jax.ShapeDtypeStruct((1,), np.int64), jax.ShapeDtypeStruct((1,), np.bool_)
    try:
        jax.eval_shape(functools.partial(advance_all, *fixed), *jax.tree.unflatten(tree, shapes), *one_round)
    except NotInLanes as reason:
        return str(reason)
    return ""
