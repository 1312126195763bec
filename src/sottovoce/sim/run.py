"""Run a learner with a user in a world: many rounds, many seeds, a grid of cases, all at once.

Everything that differs between two runs of one shape (noise, learner's numbers, worlds) is an argument of the compiled
loop, so a new epsilon does not compile again. Memory does not depend on the horizon: only checkpoints are kept.
"""

import functools
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from sottovoce.learners.base import Learner
from sottovoce.privacy.mechanisms import Mechanism
from sottovoce.protocol.errors import ConfigurationError
from sottovoce.sim.channels import channel_of
from sottovoce.sim.loop import Setting, advance_all, begin_all
from sottovoce.sim.pytrees import join, split, stack
from sottovoce.sim.random import simulation_key
from sottovoce.sim.worlds.base import World
from sottovoce.users import LocalUser

Progress = Callable[[int], None]
"""Called with the number of rounds just played."""

Steps = tuple[NDArray[np.int64], NDArray[np.bool_]]
"""Some rounds in a row, and after which of them a model is published."""

TIE = 1e-9
"""Mean losses this close are equally good."""


class Trace(NamedTuple):
    """What a simulation returns."""

    rounds: NDArray[np.int64]
    """The checkpoints: after how many rounds."""
    regret: NDArray[np.float64]
    """Cumulated regret, a row per seed, a column per checkpoint."""
    finite: bool
    """False if any state ceased to be a number; JAX itself does not raise."""
    state: Any
    """The learners' final states, leaves with a leading axis of seeds."""
    samples: NDArray[np.float64]
    """How many people answered, for each seed: fewer than the rounds where a learner stopped."""
    stopped: NDArray[np.bool_]
    """Whether each seed's learner was done in the end; never, if it is not one that stops."""
    recommended: NDArray | None = None
    """What each seed's learner recommends, if it is one that stops: an arm, or a mask of arms."""
    correct: NDArray[np.bool_] | None = None
    """Whether nothing is better, by the world's `gaps`."""

    def table(self) -> dict[str, NDArray]:
        """The regret as a long table, a row for each seed and checkpoint: `pandas.DataFrame(trace.table())`."""
        seeds, checkpoints = self.regret.shape
        return {
            "seed": np.repeat(np.arange(seeds), checkpoints),
            "rounds": np.tile(self.rounds, seeds),
            "regret": self.regret.ravel(),
        }


class Case(NamedTuple):
    """One cell of a grid: a learner and the mechanism its reports go through (None: no noise, in simulation only)."""

    learner: Learner
    mechanism: Mechanism | None


def simulate(
    learner: Learner,
    user: LocalUser,
    world: World,
    *,
    rounds: int,
    mechanism: Mechanism | None,
    seeds: int = 8,
    seed: int = 0,
    publish_every: int = 1,
    delay: int = 0,
    checkpoints: int = 100,
    progress: Progress | None = None,
) -> Trace:
    """Run one learner with one user in one world, many seeds at once.

    `mechanism` is what the reports go through; None is the non-private limit and exists in simulation only. Models are
    published every `publish_every` rounds, and a report arrives `delay` rounds after its offer.

    >>> from sottovoce import halves, task
    >>> from sottovoce.sim.worlds import world_of
    >>> learner, user, mechanism = halves(task("tsallis-inf", arms=3, rounds=200, epsilon=4.0))
    >>> trace = simulate(learner, user, world_of("arms", arms=3), rounds=200, mechanism=mechanism, seeds=2)
    >>> trace.regret.shape
    (2, 100)
    """
    (trace,) = simulate_grid(
        [Case(learner, mechanism)],
        user,
        world,
        rounds=rounds,
        seeds=seeds,
        seed=seed,
        publish_every=publish_every,
        delay=delay,
        checkpoints=checkpoints,
        progress=progress,
    )
    return trace


def simulate_grid(
    cases: Sequence[Case],
    user: LocalUser,
    world: World,
    *,
    rounds: int,
    seeds: int = 8,
    seed: int = 0,
    publish_every: int = 1,
    delay: int = 0,
    checkpoints: int = 100,
    progress: Progress | None = None,
) -> list[Trace]:
    """Run cases of one shape as one batch: one compiled loop, the same worlds and visitors for all of them."""
    check_run(rounds=rounds, seeds=seeds, publish_every=publish_every, delay=delay, checkpoints=checkpoints)
    with jax.enable_x64(True):
        setting = setting_of(cases[0], user, publish_every, delay)._replace(cases=len(cases))
        varying, fixed = split(stack([(case.learner, channel_of(case.mechanism)) for case in cases]))
        ends = checkpoints_of(rounds, checkpoints)
        publish = publication(rounds, publish_every, getattr(cases[0].learner, "growth", 1.0))
        part = functools.partial(_Part, setting, varying, fixed, world)
        steps = lambda start, end: (np.arange(start, end), publish[start:end])  # noqa: E731
        parts = _shared_among_cores(part, seed_keys(seed, seeds), steps(0, ends[0]))
        regrets, start = [], 0
        with ThreadPoolExecutor(len(parts)) as pool:
            for end in ends:
                now = steps(start, end)
                shares = list(pool.map(lambda part, now=now: part.advance(now), parts))
                regrets.append(np.concatenate(shares, axis=1))
                if progress:
                    progress(int(end - start))
                start = int(end)
                if all(part.stopped(start) for part in parts):
                    break
        regrets += regrets[-1:] * (len(ends) - len(regrets))
        return _traces([case.learner for case in cases], ends, np.stack(regrets, axis=-1), parts)


class _Part:
    """A share of the seeds, carried through the rounds by one thread."""

    def __init__(self, setting: Setting, varying: Any, fixed: Any, world: World, keys: jax.Array) -> None:
        self.setting, self.varying, self.fixed = setting, varying, fixed
        self.world, self.world_fixed = _worlds_for(world, keys)
        self.keys = keys
        self.carry = begin_all(setting, fixed, self.world_fixed, varying, self.world, keys)

    def advance(self, steps: Steps) -> NDArray[np.float64]:
        with jax.enable_x64(True):  # the setting is local to a thread
            self.carry, regret = advance_all(*self._arguments(), *steps)
            return np.asarray(regret)

    def stopped(self, rounds: int) -> bool:
        """Nobody answered in the last round: every learner here has stopped."""
        return bool(np.max(self.carry.samples) < rounds)

    def gaps(self) -> NDArray | None:
        """How much worse every arm of each seed's world is, where the world says so."""
        if not hasattr(type(join(self.world, self.world_fixed)), "gaps"):
            return None
        return np.asarray(jax.vmap(lambda numbers: join(numbers, self.world_fixed).gaps)(self.world))

    def calls_library(self, steps: Steps) -> bool:
        """Ask with the first steps: then `advance` finds its loop traced and lowered already."""
        return "stablehlo.custom_call" in advance_all.lower(*self._arguments(), *steps).as_text()

    def _arguments(self) -> tuple[Any, ...]:
        fixed = (self.setting, self.fixed, self.world_fixed)
        return (*fixed, self.varying, self.world, self.keys, self.carry)


def check_run(*, rounds: int, seeds: int, publish_every: int, delay: int, checkpoints: int) -> None:
    """Refuse numbers that make no run."""
    numbers = {"rounds": rounds, "seeds": seeds, "publish_every": publish_every, "checkpoints": checkpoints}
    for name, value in numbers.items():
        if value < 1:
            raise ConfigurationError(f"{name} must be at least 1, got {value}")
    if delay < 0:
        raise ConfigurationError(f"delay must be at least 0, got {delay}")


def setting_of(case: Case, user: LocalUser, publish_every: int, delay: int) -> Setting:
    """What is fixed while the loop runs."""
    domain = getattr(user, "domain", None)
    if case.mechanism and domain not in (None, case.mechanism.domain):
        raise ConfigurationError(
            f"the user speaks of {domain}, the mechanism was calibrated for {case.mechanism.domain}"
        )
    domain = case.mechanism.domain if case.mechanism else domain
    return Setting(user, domain, delay, publish_every > 1 or hasattr(case.learner, "refresh"))


def publication(rounds: int, every: int, growth: float) -> NDArray[np.bool_]:
    """After which rounds a model is published: every so many, and not before `growth` times more rounds than last."""
    due = np.arange(1, rounds + 1) % every == 0
    if growth <= 1:
        return due
    step = np.floor(np.log(np.arange(1, rounds + 1)) / np.log(growth))
    return due & (np.diff(step, prepend=-1) > 0) if every == 1 else _thinned(due, growth)


def _thinned(due: NDArray[np.bool_], growth: float) -> NDArray[np.bool_]:
    chosen, last = np.zeros_like(due), 0.0
    for place in np.flatnonzero(due):
        if place + 1 >= last * growth:
            chosen[place], last = True, place + 1
    return chosen


def checkpoints_of(rounds: int, checkpoints: int) -> NDArray[np.int64]:
    """After how many rounds the regret is noted."""
    return np.unique(np.ceil(np.linspace(0, rounds, checkpoints + 1))[1:].astype(int))


@functools.partial(jax.jit, static_argnums=1)
def seed_keys(seed: int, seeds: int) -> jax.Array:
    """One random key per seed."""
    return jax.vmap(lambda i: jax.random.fold_in(simulation_key(seed), i))(jnp.arange(seeds))


def world_for(world: World, key: jax.Array) -> World:
    """The world of one seed: a fresh sample, or the same for all where the world does not sample."""
    sample = getattr(world, "sample", None)
    return sample(jax.random.fold_in(key, 2**31)) if sample else world


def _shared_among_cores(part: Callable[[jax.Array], _Part], keys: jax.Array, steps: Steps) -> list[_Part]:
    """The seeds in as many parts as there are cores: on a CPU one compiled loop uses one core.

    A loop that calls a library (LAPACK, say) stays whole: such calls wait for XLA's own threads, of which there are as
    many as cores, and loops that wait for each other never end (seen with JAX 0.10).
    """
    cores = (os.cpu_count() or 1) if jax.default_backend() == "cpu" else 1
    first, *others = (keys[share] for share in np.array_split(np.arange(len(keys)), min(cores, len(keys))))
    start = part(first)
    if others and start.calls_library(steps):
        return [part(keys)]
    return [start, *(part(share) for share in others)]


def _worlds_for(world: World, keys: jax.Array) -> tuple[list[Any], Any]:
    """One world per seed, split into its numbers and the rest."""
    numbers, rest = split(world)
    sample, shapes = _sampler(rest)
    return sample(numbers, keys), shapes[0]


@functools.lru_cache(maxsize=64)
def _sampler(rest: Any) -> tuple[Callable[[list[Any], jax.Array], list[Any]], list[Any]]:
    """Samples the numbers of worlds of one kind, and notes (when traced) what the rest of a sample is."""
    shapes: list[Any] = []

    def one(numbers: list[Any], key: jax.Array) -> list[Any]:
        sampled, shape = split(world_for(join(numbers, rest), key))
        shapes.append(shape)
        return [jnp.asarray(number) for number in sampled]

    return jax.jit(jax.vmap(one, (None, 0))), shapes


def _traces(learners: list[Any], ends: NDArray, regret: NDArray, parts: list[_Part]) -> list[Trace]:
    state = _gathered([part.carry.state for part in parts])
    samples = _gathered([part.carry.samples for part in parts])
    shares = [share for part in parts if (share := part.gaps()) is not None]
    gaps = np.concatenate(shares) if shares else None
    return [
        trace_of(learner, ends, regret[i], jax.tree.map(lambda leaf, i=i: leaf[i], state), samples[i], gaps)
        for i, learner in enumerate(learners)
    ]


def _gathered(shares: list[Any]) -> Any:
    """The parts' seeds side by side again; axes are (cases, seeds)."""
    return jax.tree.map(lambda *leaves: np.concatenate(leaves, axis=1), *shares)


def trace_of(learner: Any, ends: NDArray, regret: NDArray, state: Any, samples: NDArray, gaps: NDArray | None) -> Trace:
    """One case's seeds, with what they recommend and whether that is right."""
    finite = bool(all(np.all(np.isfinite(leaf)) for leaf in jax.tree.leaves(state)))
    if not hasattr(learner, "recommend"):
        return Trace(ends, regret, finite, state, samples, np.zeros(len(samples), bool))
    stopped, recommended = (np.asarray(jax.vmap(what)(state)) for what in (learner.done, learner.recommend))
    correct = None if gaps is None else _is_best(learner, recommended, gaps)
    return Trace(ends, regret, finite, state, samples, stopped, recommended, correct)


def _is_best(learner: Any, recommended: NDArray, gaps: NDArray) -> NDArray[np.bool_]:
    """Is no arm better than the one recommended, or no set than the set? Ties are right; rows are seeds."""
    if recommended.ndim == 1:
        return np.take_along_axis(gaps, recommended[:, None], axis=1)[:, 0] <= TIE
    best = np.asarray(jax.vmap(learner.best_set)(-gaps))
    return np.sum(gaps * recommended, axis=1) <= np.sum(gaps * best, axis=1) + TIE
