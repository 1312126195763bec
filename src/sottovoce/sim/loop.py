"""The loop itself: one round as on the wire, and that round compiled for a grid of cases and seeds."""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from sottovoce.sim.pytrees import join
from sottovoce.users import LocalUser


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
    samples: Any
    """How many people have answered; fewer than the rounds once a learner has stopped."""


# --- the compiled loop: axes are (cases, seeds) ----------------------------------------------------------------------


@functools.partial(jax.jit, static_argnums=(0, 1, 2))
def begin_all(setting: Setting, fixed: Any, world_fixed: Any, varying: Any, world: Any, keys: jax.Array) -> Carry:
    def one(varying: Any, world: Any, key: jax.Array) -> Carry:
        learner, channel = join(varying, fixed)
        return begin(setting, learner, channel, join(world, world_fixed), key)

    return _over_grid(setting, one)(varying, world, keys)


@functools.partial(jax.jit, static_argnums=(0, 1, 2))
def advance_all(
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
    carry = Carry(state, state if setting.lazy else (), (), jnp.zeros(()), jnp.zeros(()))
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
    shown = world.shown(context) if hasattr(world, "shown") else context
    action = setting.user.act(offer.public, shown, jax.random.uniform(choose))
    outcome = world.outcome(context, action, happen)
    message = setting.user.message(offer.public, shown, action, outcome)
    heard = channel.draw(message, whisper)
    estimate = heard if setting.domain is None else setting.domain.extract(heard)
    return (offer.memo, estimate), world.regret(context, action)


def play_round(
    setting: Setting, learner: Any, channel: Any, world: Any, key: jax.Array, carry: Carry, round: jax.Array
) -> Carry:
    """One person comes, and the report that is due now is told; nothing happens after a learner has stopped."""
    after = _play(setting, learner, channel, world, key, carry, round)
    if not hasattr(learner, "done"):
        return after
    done = learner.done(carry.state)
    return jax.tree.map(lambda old, new: jnp.where(done, old, new), carry, after)


def _play(
    setting: Setting, learner: Any, channel: Any, world: Any, key: jax.Array, carry: Carry, round: jax.Array
) -> Carry:
    report, regret = whisper(setting, learner, channel, world, key, carry, round)
    carry = carry._replace(regret=carry.regret + regret, samples=carry.samples + 1)
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
