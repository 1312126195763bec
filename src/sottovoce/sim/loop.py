"""The loop itself: one round as on the wire, and that round compiled for a grid of cases and seeds."""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from sottovoce.engine.complete import Complete
from sottovoce.engine.pytrees import join
from sottovoce.engine.step import Answer, learn, start
from sottovoce.learners.base import choose
from sottovoce.sim.gates import Gates
from sottovoce.sim.random import round_keys
from sottovoce.sim.worlds.base import meet, shown_of
from sottovoce.users import LocalUser


class Setting(NamedTuple):
    """What is fixed while a loop runs; part of the key of the compiled loop."""

    user: LocalUser
    domain: Any
    delay: int
    lazy: bool
    """True when offers come from a published copy of the state, not from the state itself."""
    cases: int = 1
    forgers: Any = None
    """`forgers.Forgers`, where some reports are forged."""


class Worlds(NamedTuple):
    """The numbers of the worlds of all seeds, each under its place in a world."""

    shared: Any
    """Alike in all worlds, so they are there once: a table of ratings has megabytes."""
    own: Any
    """A row per seed."""

    def join(self, fixed: Any) -> Any:
        """The world of one seed."""
        numbers = self.shared | self.own
        return join([numbers[place] for place in range(len(numbers))], fixed)


SEEDS = Worlds(None, 0)
"""Which axis of the worlds' numbers are the seeds, as `vmap` wants it."""


class Carry(NamedTuple):
    state: Any
    published: Any
    queue: Any
    regret: Any
    samples: Any
    """How many people have answered; fewer than the rounds once a learner has stopped."""


@functools.partial(jax.jit, static_argnums=(0, 1, 2))
def begin_all(setting: Setting, fixed: Any, world_fixed: Any, varying: Any, world: Worlds, keys: jax.Array) -> Carry:
    def one(varying: Any, world: Worlds, key: jax.Array) -> Carry:
        learner, gates = join(varying, fixed)
        return begin(setting, learner, gates, world.join(world_fixed), key)

    return _over_grid(setting, one)(varying, world, keys)


WIDEST = {"xla_cpu_prefer_vector_width": 512}
"""Bits of a vector, where a CPU has such: LLVM would take half of them. The numbers are the same."""


@functools.partial(jax.jit, static_argnums=(0, 1, 2), compiler_options=WIDEST)
def advance_all(
    setting: Setting, fixed: Any, world_fixed: Any, varying: Any, world: Worlds, keys: jax.Array, carry: Carry,
    rounds: jax.Array, publish: jax.Array,
) -> tuple[Carry, jax.Array]:  # fmt: skip
    def play(varying: Any, world: Worlds, key: jax.Array, carry: Carry, round: jax.Array) -> Carry:
        learner, gates = join(varying, fixed)
        return play_round(setting, learner, gates, world.join(world_fixed), key, carry, round)

    def publish_all(carry: Carry) -> Carry:
        one = lambda varying, carry: publish_carry(join(varying, fixed)[0], carry)  # noqa: E731
        return jax.vmap(jax.vmap(one, (None, 0)), (0, 0), axis_size=setting.cases)(varying, carry)

    def step(carry: Carry, now: tuple[jax.Array, jax.Array]) -> tuple[Carry, None]:
        round, due = now
        carry = _over_grid(setting, functools.partial(play, round=round), carry=True)(varying, world, keys, carry)
        if setting.lazy:
            carry = lax.cond(due, publish_all, lambda same: same, carry)
        return carry, None

    carry, _ = lax.scan(step, carry, (rounds, publish))
    return carry, worst_of(carry.regret)


def worst_of(regret: jax.Array) -> jax.Array:
    """The regret of every case and seed; where there are several comparators, against the best of them."""
    return jnp.max(regret, axis=-1) if regret.ndim > 2 else regret


def _over_grid(setting: Setting, function: Callable[..., Carry], *, carry: bool = False) -> Callable[..., Carry]:
    """Cases are the outer axis, seeds the inner one."""
    extra = (0,) if carry else ()
    over_seeds = jax.vmap(function, (None, SEEDS, 0, *extra))
    return jax.vmap(over_seeds, (0, None, None, *extra), axis_size=setting.cases)


def begin(setting: Setting, learner: Complete, gates: Gates, world: Any, key: jax.Array) -> Carry:
    """What there is before the first round."""
    state = start(learner)
    carry = Carry(state, state if setting.lazy else (), (), jnp.zeros(()), jnp.zeros(()))
    report, regret = jax.eval_shape(lambda: answer(setting, learner, gates, world, key, carry, jnp.zeros((), int)))
    queue = jax.tree.map(lambda leaf: jnp.zeros((setting.delay, *leaf.shape), leaf.dtype), report)
    return carry._replace(queue=queue if setting.delay else (), regret=jnp.zeros(regret.shape, regret.dtype))


def answer(
    setting: Setting, learner: Complete, gates: Gates, world: Any, key: jax.Array, carry: Carry, round: jax.Array
) -> tuple[Answer, jax.Array]:
    """Offer, choice, outcome, private report: what the server is told of it, and the regret of the choice."""
    keys = round_keys(key, round)
    offer = learner.ask(carry.published if setting.lazy else carry.state, keys.ask)
    act = lambda shown, key: setting.user.act(offer.public, shown, jax.random.uniform(key))  # noqa: E731
    context, action = meet(world, round, keys.visit, keys.act, act)
    shown = shown_of(world, context)
    outcome = world.outcome(context, action, keys.outcome)
    message = setting.user.message(offer.public, shown, action, outcome)
    estimate, weight = gates.draw(message, keys.report)
    if setting.forgers is not None:
        estimate = setting.forgers.instead_of(estimate, world, offer, keys.report)
    estimate = estimate if setting.domain is None else setting.domain.extract(estimate)
    return Answer(offer.memo, estimate, weight), world.regret(context, action)


def play_round(
    setting: Setting, learner: Complete, gates: Gates, world: Any, key: jax.Array, carry: Carry, round: jax.Array
) -> Carry:
    """One person comes, and the report that is due now is told; nothing happens after a learner has stopped."""
    report, regret = answer(setting, learner, gates, world, key, carry, round)
    queue, due, arrived = _post(setting.delay, carry.queue, report, round)
    state, _ = learn(learner, carry.state, due, arrived)
    published = learner.pretend(carry.published, report.memo) if setting.lazy else ()
    after = Carry(state, published, queue, carry.regret + regret, carry.samples + 1)
    return choose(learner.done(carry.state), carry, after) if learner.stops else after


def _post(delay: int, queue: Any, report: Answer, round: jax.Array) -> tuple[Any, Answer, Any]:
    """The queue with this report in it, the report that leaves it, and whether there is one: none in the beginning."""
    if not delay:
        return queue, report, True
    slot = round % delay
    due = jax.tree.map(lambda queue: queue[slot], queue)
    return jax.tree.map(lambda queue, leaf: queue.at[slot].set(leaf), queue, report), due, round >= delay


def publish_carry(learner: Complete, carry: Carry) -> Carry:
    """From now on offers are made from the state as it is now."""
    state = learner.refresh(carry.state)
    return carry._replace(state=state, published=state)
