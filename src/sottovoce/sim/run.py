"""The loop: offer, private report, learn. `lax.scan` over rounds, `vmap` over seeds and over a grid of cases.

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
from jax import lax
from numpy.typing import NDArray

from sottovoce.core.errors import ConfigurationError
from sottovoce.learners.base import Learner
from sottovoce.privacy.mechanisms import Mechanism
from sottovoce.sim.noise import channel_of
from sottovoce.sim.pytrees import join, split, stack
from sottovoce.sim.random import simulation_key
from sottovoce.sim.worlds.base import World
from sottovoce.users import LocalUser

Progress = Callable[[int], None]
"""Called with the number of rounds just played."""


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


class Case(NamedTuple):
    """One cell of a grid: a learner and the mechanism its reports go through (None: no noise, in simulation only)."""

    learner: Learner
    mechanism: Mechanism | None


class Setting(NamedTuple):
    """What is fixed while a loop runs; part of the key of the compiled loop."""

    user: LocalUser
    domain: Any
    delay: int
    lazy: bool
    """True when offers come from a published copy of the state, not from the state itself."""
    cases: int = 1


class Carry(NamedTuple):
    state: Any
    published: Any
    queue: Any
    regret: Any


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

    >>> from sottovoce import calibrate, budget, noise_of, task
    >>> from sottovoce.learners import learner_of
    >>> from sottovoce.users import user_of
    >>> from sottovoce.privacy.contract import mechanism_of
    >>> from sottovoce.sim.worlds import world_of
    >>> contract = task("tsallis-inf", arms=3, rounds=200, epsilon=4.0)
    >>> mechanism = mechanism_of(contract)
    >>> learner = learner_of(contract, noise_of(mechanism))
    >>> trace = simulate(learner, user_of(contract), world_of("arms", arms=3), rounds=200, mechanism=mechanism, seeds=2)
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
        parts = _shared_among_cores(part, seed_keys(seed, seeds))
        regrets, start = [], 0
        with ThreadPoolExecutor(len(parts)) as pool:
            for end in ends:
                steps = (np.arange(start, end), publish[start:end])
                shares = list(pool.map(lambda part, steps=steps: part.advance(*steps), parts))
                regrets.append(np.concatenate(shares, axis=1))
                if progress:
                    progress(int(end - start))
                start = int(end)
        return _traces(ends, np.stack(regrets, axis=-1), [part.carry.state for part in parts])


class _Part:
    """A share of the seeds, carried through the rounds by one thread."""

    def __init__(self, setting: Setting, varying: Any, fixed: Any, world: World, keys: jax.Array) -> None:
        self.setting, self.varying, self.fixed = setting, varying, fixed
        self.world, self.world_fixed = _worlds_for(world, keys)
        self.keys = keys
        self.carry = _begin(setting, fixed, self.world_fixed, varying, self.world, keys)

    def advance(self, rounds: NDArray[np.int64], publish: NDArray[np.bool_]) -> NDArray[np.float64]:
        with jax.enable_x64(True):  # the setting is local to a thread
            self.carry, regret = _advance(*self._arguments(), rounds, publish)
            return np.asarray(regret)

    def calls_library(self) -> bool:
        lowered = _advance.lower(*self._arguments(), np.zeros(1, int), np.ones(1, bool))
        return "stablehlo.custom_call" in lowered.as_text()

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


def _shared_among_cores(part: Callable[[jax.Array], _Part], keys: jax.Array) -> list[_Part]:
    """The seeds in as many parts as there are cores: on a CPU one compiled loop uses one core.

    A loop that calls a library (LAPACK, say) stays whole: such calls wait for XLA's own threads, of which there are as
    many as cores, and loops that wait for each other never end (seen with JAX 0.10).
    """
    cores = (os.cpu_count() or 1) if jax.default_backend() == "cpu" else 1
    first, *others = (keys[share] for share in np.array_split(np.arange(len(keys)), min(cores, len(keys))))
    start = part(first)
    if others and start.calls_library():
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


def _traces(ends: NDArray, regret: NDArray, states: list[Any]) -> list[Trace]:
    state = jax.tree.map(lambda *leaves: np.concatenate(leaves, axis=1), *states)
    finite = [bool(all(np.all(np.isfinite(leaf[i])) for leaf in jax.tree.leaves(state))) for i in range(len(regret))]
    return [
        Trace(ends, regret[i], finite[i], jax.tree.map(lambda leaf, i=i: leaf[i], state)) for i in range(len(regret))
    ]


# --- the compiled loop: axes are (cases, seeds) ----------------------------------------------------------------------


@functools.partial(jax.jit, static_argnums=(0, 1, 2))
def _begin(setting: Setting, fixed: Any, world_fixed: Any, varying: Any, world: Any, keys: jax.Array) -> Carry:
    def one(varying: Any, world: Any, key: jax.Array) -> Carry:
        learner, channel = join(varying, fixed)
        return begin(setting, learner, channel, join(world, world_fixed), key)

    return _over_grid(setting, one)(varying, world, keys)


@functools.partial(jax.jit, static_argnums=(0, 1, 2))
def _advance(
    setting: Setting, fixed: Any, world_fixed: Any, varying: Any, world: Any, keys: jax.Array, carry: Carry,
    rounds: jax.Array, publish: jax.Array,
) -> tuple[Carry, jax.Array]:  # fmt: skip
    def play(varying: Any, world: Any, key: jax.Array, carry: Carry, round: jax.Array) -> Carry:
        learner, channel = join(varying, fixed)
        return play_round(setting, learner, channel, join(world, world_fixed), key, carry, round)

    def publish_all(carry: Carry) -> Carry:
        one = lambda varying, state: publish_state(join(varying, fixed)[0], state)  # noqa: E731
        state = jax.vmap(jax.vmap(one, (None, 0)), (0, 0), axis_size=setting.cases)(varying, carry.state)
        return carry._replace(state=state, published=state)

    def step(carry: Carry, now: tuple[jax.Array, jax.Array]) -> tuple[Carry, None]:
        round, due = now
        carry = _over_grid(setting, functools.partial(play, round=round), carry=True)(varying, world, keys, carry)
        if setting.lazy:
            carry = lax.cond(due, publish_all, lambda same: same, carry)
        return carry, None

    carry, _ = lax.scan(step, carry, (rounds, publish))
    regret = carry.regret
    return carry, jnp.max(regret, axis=-1) if regret.ndim > 2 else regret


def _over_grid(setting: Setting, function: Callable[..., Carry], *, carry: bool = False) -> Callable[..., Carry]:
    """Cases are the outer axis, seeds the inner one."""
    extra = (0,) if carry else ()
    over_seeds = jax.vmap(function, (None, 0, 0, *extra))
    return jax.vmap(over_seeds, (0, None, None, *extra), axis_size=setting.cases)


# --- one round, as on the wire ---------------------------------------------------------------------------------------


def begin(setting: Setting, learner: Any, channel: Any, world: Any, key: jax.Array) -> Carry:
    """The state before the first round."""
    state = learner.init()
    if hasattr(learner, "refresh") and getattr(learner, "growth", 1.0) <= 1:
        state = learner.refresh(state)
    carry = Carry(state, state if setting.lazy else (), (), jnp.zeros(()))
    report, regret = jax.eval_shape(lambda: whisper(setting, learner, channel, world, key, carry, jnp.zeros((), int)))
    queue = jax.tree.map(lambda leaf: jnp.zeros((setting.delay, *leaf.shape), leaf.dtype), report)
    return carry._replace(queue=queue if setting.delay else (), regret=jnp.zeros(regret.shape, regret.dtype))


def whisper(
    setting: Setting, learner: Any, channel: Any, world: Any, key: jax.Array, carry: Carry, round: jax.Array
) -> tuple[tuple[Any, Any], jax.Array]:
    """Offer, choice, outcome, private report: (memo, estimate), and the regret of the choice."""
    ask, come, choose, happen, whisper = jax.random.split(jax.random.fold_in(key, round), 5)
    offer = learner.ask(carry.published if setting.lazy else carry.state, ask)
    context = world.visit(round, come)
    action = setting.user.act(offer.public, context, jax.random.uniform(choose))
    outcome = world.outcome(context, action, happen)
    message = setting.user.message(offer.public, context, action, outcome)
    heard = channel.draw(message, whisper)
    estimate = heard if setting.domain is None else setting.domain.extract(heard)
    return (offer.memo, estimate), world.regret(context, action)


def play_round(
    setting: Setting, learner: Any, channel: Any, world: Any, key: jax.Array, carry: Carry, round: jax.Array
) -> Carry:
    """One person comes, and the report that is due now is told."""
    report, regret = whisper(setting, learner, channel, world, key, carry, round)
    carry = carry._replace(regret=carry.regret + regret)
    if not setting.delay:
        return carry._replace(state=learner.tell(carry.state, *report))
    slot = round % setting.delay
    due = jax.tree.map(lambda queue: queue[slot], carry.queue)
    told = learner.tell(carry.state, *due)
    arrived = round >= setting.delay
    state = jax.tree.map(lambda new, old: jnp.where(arrived, new, old), told, carry.state)
    queue = jax.tree.map(lambda queue, leaf: queue.at[slot].set(leaf), carry.queue, report)
    return carry._replace(state=state, queue=queue)


def publish_state(learner: Any, state: Any) -> Any:
    """The state that offers are made from now on."""
    return learner.refresh(state) if hasattr(learner, "refresh") else state
