"""The same loop in plain Python, one person at a time: for breakpoints, and as a second opinion on the compiled one."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from sottovoce.learners.base import Learner
from sottovoce.privacy.mechanisms import Mechanism
from sottovoce.sim.channels import channel_of
from sottovoce.sim.loop import begin, play_round, publish_state
from sottovoce.sim.run import (
    Case,
    Trace,
    check_run,
    checkpoints_of,
    publication,
    seed_keys,
    setting_of,
    trace_of,
    world_for,
)
from sottovoce.sim.worlds.base import World
from sottovoce.users import LocalUser


def simulate_on_host(
    learner: Learner,
    user: LocalUser,
    world: World,
    *,
    rounds: int,
    mechanism: Mechanism | None,
    seeds: int = 1,
    seed: int = 0,
    publish_every: int = 1,
    delay: int = 0,
    checkpoints: int = 100,
    watch: Callable[[int, Any], None] | None = None,
) -> Trace:
    """What `simulate` does, round by round; `watch(round, state)` is called after each.

    >>> from sottovoce.learners.uniform import UniformArms
    >>> from sottovoce.sim.worlds import world_of
    >>> from sottovoce.users import ScalarUser
    >>> learner, world = UniformArms(arms=3), world_of("arms", arms=3)
    >>> simulate_on_host(learner, ScalarUser(), world, rounds=5, mechanism=None).rounds.tolist()
    [1, 2, 3, 4, 5]
    """
    check_run(rounds=rounds, seeds=seeds, publish_every=publish_every, delay=delay, checkpoints=checkpoints)
    setting = setting_of(Case(learner, mechanism), user, publish_every, delay)
    ends = checkpoints_of(rounds, checkpoints)
    publish = publication(rounds, publish_every, getattr(learner, "growth", 1.0))
    regrets, states, samples, gaps = [], [], [], []
    with jax.enable_x64(True):
        channel = jax.tree.map(jnp.asarray, channel_of(mechanism))
        for key in seed_keys(seed, seeds):
            here = world_for(world, key)
            carry = begin(setting, learner, channel, here, key)
            regret = []
            for round in range(rounds):
                carry = play_round(setting, learner, channel, here, key, carry, jnp.asarray(round))
                if setting.lazy and publish[round]:
                    state = publish_state(learner, carry.state)
                    carry = carry._replace(state=state, published=state)
                if watch:
                    watch(round, carry.state)
                regret.append(float(jnp.max(carry.regret)))
            regrets.append([regret[end - 1] for end in ends])
            states.append(carry.state)
            samples.append(float(carry.samples))
            gaps.append(getattr(here, "gaps", None))
        state = jax.tree.map(lambda *leaves: np.stack(leaves), *states)
        known = None if gaps[0] is None else np.array(gaps)
        return trace_of(learner, ends, np.array(regrets), state, np.array(samples), known)
