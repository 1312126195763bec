"""The same loop in plain Python, one person at a time: for breakpoints, and to check the compiled one."""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from sottovoce.learners.base import Learner
from sottovoce.privacy.mechanisms import Mechanism
from sottovoce.sim.gates import Quieter
from sottovoce.sim.loop import begin, play_round, publish_carry
from sottovoce.sim.run import Case, Run, parts_of, setting_of
from sottovoce.sim.trace import Trace, trace_of
from sottovoce.sim.worlds.base import World, gaps_of, world_for
from sottovoce.users import LocalUser


def simulate_on_host(
    learner: Learner,
    user: LocalUser,
    world: World,
    *,
    mechanism: Mechanism | None,
    quieter: Sequence[Quieter] = (),
    watch: Callable[[int, Any], None] = lambda round, state: None,
    **numbers: int,
) -> Trace:
    """What `simulate` does, round by round; `watch(round, state)` is called after each.

    The other numbers are those of `simulate`, for one seed unless said otherwise.

    >>> from sottovoce.learners.uniform import UniformArms
    >>> from sottovoce.sim.worlds import world_of
    >>> from sottovoce.users import ScalarUser
    >>> learner, world = UniformArms(arms=3), world_of("arms", arms=3)
    >>> simulate_on_host(learner, ScalarUser(), world, rounds=5, mechanism=None).rounds.tolist()
    [1, 2, 3, 4, 5]
    """
    run, case = Run(**({"seeds": 1} | numbers)), Case(learner, mechanism, quieter)
    with jax.enable_x64(True):
        setting, (whole, gates) = setting_of(case, user, run), parts_of(case)
        ends, publish = run.ends(), run.publish(whole)
        found = []
        for key in run.seed_keys():
            here = world_for(world, key)
            carry, regret = begin(setting, whole, gates, here, key), []
            for round in range(run.rounds):
                carry = play_round(setting, whole, gates, here, key, carry, jnp.asarray(round))
                if setting.lazy and publish[round]:
                    carry = publish_carry(whole, carry)
                watch(round, carry.state)
                regret.append(float(jnp.max(carry.regret)))
            found.append((np.array(regret)[ends - 1], carry.state, carry.samples, gaps_of(here)))
        return trace_of(whole, ends, *jax.tree.map(lambda *leaves: np.stack(leaves), *found))
