"""Many seeds of a grid of cases at once, shared among the cores of a CPU.

Everything that differs between two runs of one shape (noise, learner's numbers, worlds) is an argument of the compiled
loop, so a new epsilon does not compile again. Memory does not depend on the horizon: only checkpoints are kept.
"""

import functools
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from sottovoce.engine.pytrees import join, split
from sottovoce.sim.device import use
from sottovoce.sim.lanes import advance as lanes
from sottovoce.sim.loop import SEEDS, Carry, Setting, Worlds, advance_all, begin_all
from sottovoce.sim.random import unsealed
from sottovoce.sim.worlds.base import World, gaps_of, world_for

Progress = Callable[[int], None]
"""Called with the number of rounds just played."""

ONE_CORE = "SOTTOVOCE_ONE_CORE"
"""Set in the environment of a process that must not share its seeds among cores."""

Steps = tuple[NDArray[np.int64], NDArray[np.bool_]]
"""Some rounds in a row, and after which of them a model is published."""


class Batch(NamedTuple):
    """What the batch gave; axes are (cases, seeds)."""

    regret: NDArray[np.float64]
    """With checkpoints as the last axis."""
    state: Any
    samples: NDArray[np.float64]
    gaps: NDArray | None
    """A row per seed."""

    def state_of(self, case: int) -> Any:
        return jax.tree.map(lambda leaf: leaf[case], self.state)


class Standing(NamedTuple):
    """How a batch stands at a checkpoint. With this, and what the batch was begun with, it goes on as if never left."""

    regrets: NDArray[np.float64]
    """Axes are (checkpoints so far, cases, seeds)."""
    carry: list[NDArray]


class Playing:
    """A batch that is played from checkpoint to checkpoint. `cases` are stacked (learner, gates)."""

    def __init__(
        self,
        setting: Setting,
        cases: Any,
        world: World,
        keys: jax.Array,
        ends: NDArray[np.int64],
        publish: NDArray[np.bool_],
        left: Standing | None = None,
    ) -> None:
        whole = _begun(setting, cases, world, keys)
        self.ends, self.publish, self.regrets = ends, publish, []
        if left is not None:
            whole.carry = jax.tree.unflatten(jax.tree.structure(whole.carry), left.carry)
            self.regrets = list(left.regrets)
        self.parts = _shared_among_cores(whole, self._steps(0, int(ends[0])))

    @property
    def rounds(self) -> int:
        """How many were played."""
        return int(self.ends[len(self.regrets) - 1]) if self.regrets else 0

    @property
    def over(self) -> bool:
        """True at the last checkpoint, or when every learner has stopped."""
        played = self.rounds
        return len(self.regrets) == len(self.ends) or (played > 0 and all(part.stopped(played) for part in self.parts))

    def advance(self) -> int:
        """Play until the next checkpoint; returns how many rounds that took."""
        start, end = self.rounds, int(self.ends[len(self.regrets)])
        now = self._steps(start, end)
        self.regrets.append(np.concatenate(self._advance_all(now), axis=1))
        return end - start

    def _advance_all(self, now: Steps) -> list[NDArray[np.float64]]:
        if len(self.parts) == 1:  # to start a thread and wait for it would cost more than a short chunk
            return [self.parts[0].advance(now)]
        with ThreadPoolExecutor(len(self.parts)) as pool:
            return list(pool.map(lambda part: part.advance(now), self.parts))

    def standing(self) -> Standing:
        carry = _gathered([part.carry for part in self.parts], axis=1)
        return Standing(np.stack(self.regrets), jax.tree.leaves(carry))

    def batch(self) -> Batch:
        """What it gave; a batch in which every learner has stopped stays as it is until the last checkpoint."""
        regrets = self.regrets + self.regrets[-1:] * (len(self.ends) - len(self.regrets))
        state, samples = _gathered([(part.carry.state, part.carry.samples) for part in self.parts], axis=1)
        gaps = _gathered([part.gaps() for part in self.parts], axis=0)
        return Batch(np.stack(regrets, axis=-1), state, samples, gaps)

    def _steps(self, start: int, end: int) -> Steps:
        return np.arange(start, end), self.publish[start:end]


@dataclass
class _Part:
    """Seeds that one thread carries through the rounds: all of them, or a share."""

    setting: Setting
    fixed: Any
    world_fixed: Any
    varying: Any
    world: Worlds
    keys: jax.Array
    carry: Carry

    def share(self, seeds: slice) -> "_Part":
        """Some of the seeds."""
        words = np.asarray(jax.random.key_data(self.keys))[seeds]
        own = {place: np.asarray(leaf)[seeds] for place, leaf in self.world.own.items()}
        carry = jax.tree.map(lambda leaf: np.asarray(leaf)[:, seeds], self.carry)
        return replace(self, world=Worlds(self.world.shared, own), keys=unsealed(jnp.asarray(words)), carry=carry)

    def advance(self, steps: Steps) -> NDArray[np.float64]:
        with jax.enable_x64(True):  # the setting is local to a thread
            self.carry, regret = self.loop()(*self._arguments(), *steps)
            return np.asarray(regret)

    def loop(self) -> Any:
        """The one that plays these seeds: the loop in lanes where a GPU plays it faster."""
        in_lanes = jax.default_backend() == "gpu" and not lanes.refusal(*self._arguments())
        return lanes.advance_all if in_lanes else advance_all

    def stopped(self, rounds: int) -> bool:
        """Nobody answered in the last round: every learner here has stopped."""
        return bool(np.max(np.asarray(self.carry.samples)) < rounds)

    def gaps(self) -> jax.Array | None:
        """How much worse every arm of each seed's world is, where the world says so."""
        return _gaps_of_all(self.world_fixed, len(self.keys), self.world)

    def calls_library(self, steps: Steps) -> bool:
        """Is there a call of a library in the compiled loop? Its text is the one place where none can hide.

        Asked with the first steps: then `advance` finds its loop traced and lowered already.
        """
        return "stablehlo.custom_call" in advance_all.lower(*self._arguments(), *steps).as_text()

    def _arguments(self) -> tuple[Any, ...]:
        return self.setting, self.fixed, self.world_fixed, self.varying, self.world, self.keys, self.carry


def _begun(setting: Setting, cases: Any, world: World, keys: jax.Array) -> _Part:
    """All seeds before the first round, each in its own world."""
    varying, fixed = split(cases)
    numbers, rest = split(world)
    sample, shapes = _sampler(rest)
    worlds, world_fixed = sample(numbers, keys), shapes[0]
    carry = begin_all(setting, fixed, world_fixed, varying, worlds, keys)
    return _Part(setting, fixed, world_fixed, varying, worlds, keys, carry)


def traced(setting: Setting, cases: Any, world: World, keys: jax.Array, steps: Steps) -> jax.stages.Traced:
    """The loop for keys of which only the shape is known; nothing is computed or compiled."""
    parts: list[_Part] = []

    def begun(keys: jax.Array) -> tuple[Worlds, Carry]:
        parts.append(_begun(setting, cases, world, keys))
        return parts[0].world, parts[0].carry

    worlds, carry = jax.eval_shape(begun, keys)
    part = replace(parts[0], world=worlds, carry=carry, keys=keys)
    return part.loop().trace(*part._arguments(), *steps)


def stay_on_one_core() -> None:
    """From now on this process leaves the other cores alone, and a GPU too. For pools of processes: their threads would
    only wait, and each of them would take a GPU's memory for itself.
    """
    os.environ[ONE_CORE] = "1"
    use("cpu")


def _cores() -> int:
    return 1 if ONE_CORE in os.environ else os.cpu_count() or 1


def _shared_among_cores(whole: _Part, steps: Steps) -> list[_Part]:
    """The seeds in as many parts as there are cores: on a CPU one compiled loop uses one core.

    A loop that calls a library (LAPACK, say) stays whole: such calls wait for XLA's own threads, of which there are as
    many as cores, and loops that wait for each other never end (seen with JAX 0.10).
    """
    cores = _cores() if jax.default_backend() == "cpu" else 1
    shares = np.array_split(np.arange(len(whole.keys)), min(cores, len(whole.keys)))
    if len(shares) == 1:
        return [whole]
    parts = [whole.share(slice(share[0], share[-1] + 1)) for share in shares]
    return [whole] if parts[0].calls_library(steps) else parts


@functools.lru_cache(maxsize=64)
def _sampler(rest: Any) -> tuple[Callable[[list[Any], jax.Array], Worlds], list[Any]]:
    """Samples the numbers of worlds of one kind, and notes (when traced) what the rest of a sample is.

    Numbers that a sample leaves as they are stay one for all seeds.
    """
    shapes: list[Any] = []

    def one(numbers: list[Any], key: jax.Array) -> Worlds:
        sampled, shape = split(world_for(join(numbers, rest), key))
        shapes.append(shape)
        found, given = Worlds({}, {}), set(map(id, numbers))
        for place, number in enumerate(sampled):
            (found.shared if id(number) in given else found.own)[place] = jnp.asarray(number)
        return found

    return jax.jit(jax.vmap(one, (None, 0), SEEDS)), shapes


@functools.partial(jax.jit, static_argnums=(0, 1))
def _gaps_of_all(fixed: Any, seeds: int, worlds: Worlds) -> jax.Array | None:
    return jax.vmap(lambda world: gaps_of(world.join(fixed)), (SEEDS,), axis_size=seeds)(worlds)


def _gathered(shares: list[Any], axis: int) -> Any:
    """The parts' seeds side by side again."""
    return jax.tree.map(lambda *leaves: np.concatenate(leaves, axis=axis), *shares)
