"""Simulated people: who comes, what they see, and what happens to them when their devices have chosen.

Everything is drawn for a whole cohort at once, with the keys of the simulator; the devices are not simulated at all.
The same run in the simulator, many times, says where a single run of the fleet should end.
"""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from sottovoce.catalogue.task import learning_of, task_of
from sottovoce.learners import uniform_of
from sottovoce.learners.base import configuration
from sottovoce.protocol.contract import ByModel, Contract
from sottovoce.sim.halves import halves
from sottovoce.sim.random import round_keys, seed_keys
from sottovoce.sim.run import simulate
from sottovoce.sim.worlds import world_of_task
from sottovoce.sim.worlds.base import world_for
from sottovoce.sim.worlds.people import People, people_of
from sottovoce.users.fields import to_word

ROUNDING = 1e-6
"""Regrets that are equal but for the order in which they were summed differ by less."""
UNIFORM_POINTS = 32
"""Where the actions are points, uniform play is judged by so many for every visitor."""


class Crowd:
    """The people of a task, in cohorts of `size`; `seed` says who they are and in which world they live."""

    def __init__(self, contract: Contract, *, seed: int, size: int) -> None:
        self.size = size
        self._task, offers = task_of(contract), contract.offers
        with jax.enable_x64(True):
            (self._key,) = seed_keys(seed, 1)
            world = people_of(offers) if isinstance(offers, ByModel) else world_of_task(self._task)
            self.world: Any = _sampled(world, self._key)

    def come(self, first: int) -> tuple[list[Any], Any]:
        """(fields of each person, contexts) of the cohort that begins with this round: what devices and world know.

        The fields are those of the person or of each candidate; None where a task has no fields.
        """
        with jax.enable_x64(True):
            values, contexts = _come(self.world, self._key, first + np.arange(self.size))
        if not isinstance(self.world, People):
            return [None] * self.size, contexts
        return _raw(self.world, {name: np.asarray(value) for name, value in values.items()}), contexts

    def happen(self, first: int, contexts: Any, actions: NDArray) -> tuple[NDArray, NDArray, NDArray]:
        """(outcomes, regret, expected regret of uniform play) of the cohort that began with this round."""
        rounds = first + np.arange(self.size)
        uniform = uniform_of(self._task)
        with jax.enable_x64(True):
            found = _happen(self._task.arms, self.world, uniform, self._key, rounds, contexts, actions)
        outcomes, regret, played_uniformly = map(np.asarray, found)
        return outcomes, regret, played_uniformly


_sampled = jax.jit(world_for)


@jax.jit
def _come(world: Any, key: jax.Array, rounds: jax.Array) -> tuple[dict[str, jax.Array], Any]:
    """(values of the fields, contexts) of those who come in these rounds."""

    def one(round: jax.Array) -> tuple[dict[str, jax.Array], Any]:
        come = round_keys(key, round).visit
        if not isinstance(world, People):
            return {}, world.visit(round, come)
        values = world.values(come)
        return values, world.encoded(values)

    return jax.vmap(one)(rounds)


@functools.partial(jax.jit, static_argnums=0)
def _happen(
    arms: int, world: Any, uniform: Any, key: jax.Array, rounds: jax.Array, contexts: Any, actions: jax.Array
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """(outcomes, regret, regret of uniform play); without arms uniform play is sampled."""

    def one(round: jax.Array, context: Any, action: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
        keys = round_keys(key, round)
        draw = lambda key: uniform.ask(uniform.init(), key).public  # noqa: E731
        others = jnp.arange(arms) if arms else jax.vmap(draw)(jax.random.split(keys.ask, UNIFORM_POINTS))
        regrets = jax.vmap(lambda other: world.regret(context, other))(others)
        return world.outcome(context, action, keys.outcome), world.regret(context, action), jnp.mean(regrets)

    return jax.vmap(one)(rounds, contexts, actions)


def _raw(world: People, values: dict[str, NDArray]) -> list[Any]:
    """The values in the words of the app, a mapping per person or a list of mappings."""
    fields = dict(world.fields)
    words = {name: [to_word(fields[name], value) for value in column.ravel()] for name, column in values.items()}
    flat = [dict(zip(words, row, strict=True)) for row in zip(*words.values(), strict=True)]
    return flat if world.named else [flat[i : i + world.arms] for i in range(0, len(flat), world.arms)]


# --- the same run in the simulator -----------------------------------------------------------------------------------


@configuration()
class Settled:
    """One world as it is: the simulator must not draw another for every seed."""

    world: Any

    def visit(self, round: jax.Array, key: jax.Array) -> Any:
        return self.world.visit(round, key)

    def outcome(self, context: Any, action: Any, key: jax.Array) -> jax.Array:
        return self.world.outcome(context, action, key)

    def regret(self, context: Any, action: Any) -> jax.Array:
        return self.world.regret(context, action)


class Band(NamedTuple):
    """Between which regrets single simulated runs are, after so many rounds each."""

    rounds: NDArray[np.int64]
    low: NDArray[np.float64]
    mean: NDArray[np.float64]
    high: NDArray[np.float64]

    def holds(self, regret: float) -> bool:
        """Does a run that ended with this regret end within the band?"""
        return bool(self.low[-1] - ROUNDING <= regret <= self.high[-1] + ROUNDING)


def band_of(
    contract: Contract, world: Any, people: int, *, seeds: int = 256, seed: int = 1, central: float = 0.99
) -> Band:
    """The central part of runs of so many people in this world, with models published as the server does, no delay."""
    learner, user, mechanism = halves(task_of(contract))
    here, every = Settled(world=world), learning_of(contract).publish_every
    trace = simulate(
        learner, user, here, rounds=people, mechanism=mechanism, seeds=seeds, seed=seed, publish_every=every
    )
    low, high = np.quantile(trace.regret, [(1 - central) / 2, (1 + central) / 2], axis=0)
    return Band(trace.rounds, low, trace.regret.mean(axis=0), high)
