"""Run a learner with a user in a world: many rounds, many seeds, a grid of cases, all at once."""

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from sottovoce.engine.complete import Complete, complete
from sottovoce.engine.pytrees import stack
from sottovoce.engine.schedule import Schedule
from sottovoce.engine.step import can_weigh
from sottovoce.learners.base import Learner
from sottovoce.privacy.mechanisms import Mechanism
from sottovoce.protocol.errors import ConfigurationError
from sottovoce.sim import device
from sottovoce.sim.batch import Playing, Progress, Standing, traced
from sottovoce.sim.forgers import Forgers
from sottovoce.sim.gates import Gates, Quieter, gates_of
from sottovoce.sim.loop import Setting
from sottovoce.sim.random import seed_keys
from sottovoce.sim.trace import Trace, joined, trace_of
from sottovoce.sim.worlds.base import World
from sottovoce.users import LocalUser


class Case(NamedTuple):
    """One cell of a grid: a learner and the mechanism its reports go through (None: no noise, in simulation only)."""

    learner: Learner
    mechanism: Mechanism | None
    quieter: Sequence[Quieter] = ()


@dataclass(frozen=True, kw_only=True)
class Run:
    """The numbers of a run; those that make none are refused."""

    rounds: int
    seeds: int = 8
    seed: int = 0
    first: int = 0
    """The first of these seeds: seeds 0 to 7 may be run at once, or 0 to 3 and then, with first 4, the others."""
    publish_every: int = 1
    delay: int = 0
    checkpoints: int = 100

    def __post_init__(self) -> None:
        least = {"rounds": 1, "seeds": 1, "first": 0, "publish_every": 1, "delay": 0, "checkpoints": 1}
        for name, wanted in least.items():
            if (value := vars(self)[name]) < wanted:
                raise ConfigurationError(f"{name} must be at least {wanted}, got {value}")

    def ends(self) -> NDArray[np.int64]:
        """After how many rounds the regret is noted."""
        return np.unique(np.ceil(np.linspace(0, self.rounds, self.checkpoints + 1))[1:].astype(int))

    def seed_keys(self) -> jax.Array:
        """One random key per seed."""
        return seed_keys(self.seed, self.seeds, self.first)

    def in_parts(self, seeds: int) -> Iterator["Run"]:
        """The same run, so many seeds at a time."""
        for first in range(0, self.seeds, seeds):
            yield replace(self, first=self.first + first, seeds=min(seeds, self.seeds - first))

    def publish(self, learner: Complete) -> NDArray[np.bool_]:
        """After which rounds a model is published."""
        return Schedule(self.publish_every, learner.growth).marks(self.rounds)


def simulate(
    learner: Learner,
    user: LocalUser,
    world: World,
    *,
    rounds: int,
    mechanism: Mechanism | None,
    quieter: Sequence[Quieter] = (),
    seeds: int = 8,
    seed: int = 0,
    publish_every: int = 1,
    delay: int = 0,
    checkpoints: int = 100,
    forgers: Forgers | None = None,
    progress: Progress | None = None,
) -> Trace:
    """Run one learner with one user in one world, many seeds at once.

    `mechanism` is what the reports go through; None is the non-private limit and exists in simulation only. Some people
    may use `quieter` ones: their reports weigh less. Models are published every `publish_every` rounds, and a report
    arrives `delay` rounds after its offer. `forgers` say who forges a share of the reports, and to what end.

    >>> from sottovoce import halves, task
    >>> from sottovoce.sim.worlds import world_of
    >>> learner, user, mechanism = halves(task("tsallis-inf", arms=3, rounds=200, epsilon=4.0))
    >>> trace = simulate(learner, user, world_of("arms", arms=3), rounds=200, mechanism=mechanism, seeds=2)
    >>> trace.regret.shape
    (2, 100)
    """
    numbers = {"rounds": rounds, "seeds": seeds, "seed": seed}
    numbers |= {"publish_every": publish_every, "delay": delay, "checkpoints": checkpoints}
    case = Case(learner, mechanism, quieter)
    return simulate_grid([case], user, world, forgers=forgers, progress=progress, **numbers)[0]


def simulate_grid(
    cases: Sequence[Case],
    user: LocalUser,
    world: World,
    *,
    forgers: Forgers | None = None,
    progress: Progress | None = None,
    **numbers: int,
) -> list[Trace]:
    """Run cases of one shape as one batch: one compiled loop, the same worlds and visitors for all of them.

    The numbers are those of `Run`: rounds, seeds, seed, first, publish_every, delay, checkpoints.
    """
    whole = Run(**numbers)
    tell = lambda run, rounds: progress(rounds * run.seeds // whole.seeds) if progress else None  # noqa: E731
    parts = whole.in_parts(_at_once(cases, user, world, whole, forgers))
    found = [_played(Grid(cases, user, world, run, forgers=forgers), functools.partial(tell, run)) for run in parts]
    return [joined(traces) for traces in zip(*found, strict=True)]


def _played(grid: "Grid", progress: Progress) -> list[Trace]:
    while not grid.over:
        progress(grid.advance())
    return grid.traces()


def _at_once(cases: Sequence[Case], user: LocalUser, world: World, run: Run, forgers: Forgers | None) -> int:
    """As many seeds as a GPU holds; all of them on a CPU, whose memory JAX does not count."""
    free = device.room()
    if free is None:
        return run.seeds
    shares = -(-run.seeds * len(cases) // device.AT_ONCE)

    def needed(seeds: int) -> int:
        with jax.enable_x64(True):
            loop = loop_of(cases, user, world, replace(run, seeds=seeds), forgers)
            found = loop.lower().compile().memory_analysis()
        if found is None:  # this kind of device does not say; then nothing is cut
            return 0
        return found.argument_size_in_bytes + found.output_size_in_bytes + found.temp_size_in_bytes

    return device.seeds_that_fit(-(-run.seeds // shares), needed, free)


def loop_of(
    cases: Sequence[Case], user: LocalUser, world: World, run: Run, forgers: Forgers | None = None
) -> jax.stages.Traced:
    """The loop up to the first checkpoint, not yet compiled: to ask what it needs and which devices can run it."""
    setting, learners, stacked = _prepared(cases, user, run, forgers)
    end, keys = int(run.ends()[0]), jax.eval_shape(run.seed_keys)
    return traced(setting, stacked, world, keys, (np.arange(end), run.publish(learners[0])[:end]))


def _prepared(
    cases: Sequence[Case], user: LocalUser, run: Run, forgers: Forgers | None
) -> tuple[Setting, list[Complete], Any]:
    """What is fixed while the loop runs, the completed learners, and the cases side by side."""
    parts = [parts_of(case) for case in cases]
    setting = setting_of(cases[0], user, run)._replace(cases=len(cases), forgers=forgers)
    return setting, [learner for learner, _ in parts], stack(parts)


class Grid:
    """What `simulate_grid` plays, from checkpoint to checkpoint; from a standing that was kept it goes on."""

    def __init__(
        self,
        cases: Sequence[Case],
        user: LocalUser,
        world: World,
        run: Run,
        *,
        forgers: Forgers | None = None,
        left: Standing | None = None,
    ) -> None:
        with jax.enable_x64(True):
            setting, self.learners, stacked = _prepared(cases, user, run, forgers)
            publish = run.publish(self.learners[0])
            self.playing = Playing(setting, stacked, world, run.seed_keys(), run.ends(), publish, left)

    @property
    def over(self) -> bool:
        return self.playing.over

    @property
    def rounds(self) -> int:
        """How many were played."""
        return self.playing.rounds

    def advance(self) -> int:
        """Play until the next checkpoint; returns how many rounds that took."""
        return self.playing.advance()

    def standing(self) -> Standing:
        return self.playing.standing()

    def traces(self) -> list[Trace]:
        """One for each case."""
        with jax.enable_x64(True):
            found, ends = self.playing.batch(), self.playing.ends
            return [
                trace_of(learner, ends, found.regret[i], found.state_of(i), found.samples[i], found.gaps)
                for i, learner in enumerate(self.learners)
            ]


def parts_of(case: Case) -> tuple[Complete, Gates]:
    """The completed learner of a case, and what its reports go through."""
    if case.quieter and not can_weigh(case.learner):
        raise ConfigurationError("this learner has whole numbers in its state and cannot weigh quieter reports")
    return complete(case.learner), jax.tree.map(jnp.asarray, gates_of(case.mechanism, case.quieter))


def setting_of(case: Case, user: LocalUser, run: Run) -> Setting:
    """What is fixed while the loop runs."""
    domain = getattr(user, "domain", None)
    if case.mechanism and domain not in (None, case.mechanism.domain):
        raise ConfigurationError(
            f"the user speaks of {domain}, the mechanism was calibrated for {case.mechanism.domain}"
        )
    domain = case.mechanism.domain if case.mechanism else domain
    return Setting(user, domain, run.delay, run.publish_every > 1 or complete(case.learner).refreshes)
