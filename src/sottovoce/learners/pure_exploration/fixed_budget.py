"""Sequential Halving and Successive Rejects: the best arm that a given number of people can find.

Both are one schedule of phases: every arm still active is pulled until it has its quota, then the worst are dropped.

- Sequential Halving (Karnin, Koren and Somekh, "Almost optimal exploration in multi-armed bandits", ICML 2013): there
  are L = ceil(log2 K) phases. A phase with S arms pulls each floor(T / (S L)) times and keeps the better half. The
  theorem compares arms by the pulls of the phase alone (samples "fresh"); in practice old pulls count too ("all").
  Wrong with probability at most 3 log2 K exp(-T / (8 H log2 K)) for rewards in [0, 1].
- Successive Rejects (Audibert, Bubeck and Munos, "Best arm identification in multi-armed bandits", COLT 2010): there
  are K - 1 phases. After phase k every active arm has n_k = ceil((T - K) / (lg (K + 1 - k))) pulls with
  lg = 1/2 + sum_{i=2..K} 1/i, and the worst is dropped. Wrong with probability at most
  K(K - 1)/2 exp(-(T - K) / (lg H)).

K -> arms, T -> budget, H = max_i i / gap_i^2 with gaps in rising order. For estimates with variance proxy s^2 the
exponents are divided by 4 s^2 (rewards in [0, 1] have 1/4): that is the whole price of privacy. Neither schedule asks
more than T people.

Departure, for reports that come late: an active arm is drawn in proportion to the pulls it still lacks, so that offers
made at the same time are spread. Without delay every arm gets exactly its quota, in random order. With delay some get
more; in the end the best of the arms still active is recommended.
"""

import itertools
import math
from typing import NamedTuple

import jax
import jax.numpy as jnp

from sottovoce.catalogue.task import Task
from sottovoce.learners.base import Key, Offer, categorical, configuration, pick
from sottovoce.learners.pure_exploration.ranking import ranks
from sottovoce.privacy.noise import Noise
from sottovoce.protocol.errors import ConfigurationError, UnknownName


class Phase(NamedTuple):
    quota: int
    """Pulls that an active arm has at the end, those of earlier phases included."""
    survivors: int
    """How many arms stay."""


class State(NamedTuple):
    active: jax.Array
    pulls: jax.Array
    total: jax.Array
    phase: jax.Array
    reports: jax.Array


@configuration("arms", "schedule", "fresh")
class FixedBudget:
    """See the module's first lines."""

    arms: int
    budget: int
    schedule: tuple[Phase, ...]
    fresh: bool
    """Forget the pulls of earlier phases?"""

    def init(self) -> State:
        nothing = jnp.zeros(self.arms)
        return State(jnp.ones(self.arms, bool), nothing, nothing, jnp.zeros((), int), jnp.zeros(()))

    def ask(self, state: State, key: Key) -> Offer:
        missing = jnp.where(state.active, jnp.maximum(self._quota(state) - state.pulls, 0.0), 0.0)
        wanted = jnp.where(jnp.any(missing > 0), missing, state.active)
        arm = categorical(key, wanted / jnp.sum(wanted))
        return Offer(arm, memo=arm, arm=arm)

    def memo_of(self, arm: jax.Array) -> jax.Array:
        return arm

    def tell(self, state: State, memo: jax.Array, estimate: jax.Array) -> State:
        heard = state._replace(
            pulls=state.pulls.at[memo].add(1.0),
            total=state.total.at[memo].add(estimate),
            reports=state.reports + 1,
        )
        complete = jnp.all((heard.pulls >= self._quota(heard)) | ~heard.active)
        over = complete & (state.phase < len(self.schedule))
        return jax.tree.map(lambda new, old: jnp.where(over, new, old), self._next_phase(heard), heard)

    def done(self, state: State) -> jax.Array:
        return (state.phase == len(self.schedule)) | (state.reports >= self.budget)

    def recommend(self, state: State) -> jax.Array:
        """The last arm; the best of the active ones where the budget ended first."""
        return jnp.argmin(self._losses(state))

    def _next_phase(self, state: State) -> State:
        survivors = pick(jnp.array([phase.survivors for phase in self.schedule]), state.phase)
        after = state._replace(active=ranks(self._losses(state)) < survivors, phase=state.phase + 1)
        if self.fresh:
            return after._replace(pulls=jnp.zeros_like(state.pulls), total=jnp.zeros_like(state.total))
        return after

    def _quota(self, state: State) -> jax.Array:
        quotas = [phase.quota for phase in self.schedule]
        if self.fresh:
            quotas = [quota - before for before, quota in itertools.pairwise([0, *quotas])]
        return pick(jnp.array(quotas), state.phase)

    def _losses(self, state: State) -> jax.Array:
        """Mean losses; above all of them the active arms without a report, and above these the dropped ones."""
        unheard = jnp.finfo(state.total.dtype).max
        means = jnp.where(state.pulls > 0, state.total / jnp.maximum(state.pulls, 1.0), unheard)
        return jnp.where(state.active, means, jnp.inf)


def build_halving(task: Task, noise: Noise) -> FixedBudget:
    """Sequential Halving for this task."""
    samples = str(task.tuning["samples"])
    if samples not in ("fresh", "all"):
        raise UnknownName("samples of sequential-halving", samples, ["fresh", "all"])
    schedule = halving(task.arms, task.rounds)
    return FixedBudget(arms=task.arms, budget=task.rounds, schedule=schedule, fresh=samples == "fresh")


def build_rejects(task: Task, noise: Noise) -> FixedBudget:
    """Successive Rejects for this task."""
    schedule = rejects(task.arms, task.rounds)
    return FixedBudget(arms=task.arms, budget=task.rounds, schedule=schedule, fresh=False)


def halving(arms: int, budget: int) -> tuple[Phase, ...]:
    """The phases of Sequential Halving.

    >>> halving(5, 150)
    (Phase(quota=10, survivors=3), Phase(quota=26, survivors=2), Phase(quota=51, survivors=1))
    """
    count = (arms - 1).bit_length()
    if budget < arms * count:
        raise ConfigurationError(f"sequential-halving of {arms} arms needs {arms * count} rounds, got {budget}")
    phases, quota, active = [], 0, arms
    for _ in range(count):
        quota += budget // (active * count)
        active = (active + 1) // 2
        phases.append(Phase(quota, active))
    return tuple(phases)


def rejects(arms: int, budget: int) -> tuple[Phase, ...]:
    """The phases of Successive Rejects; those that add no pulls are one with the phase before.

    >>> rejects(4, 100)
    (Phase(quota=16, survivors=3), Phase(quota=21, survivors=2), Phase(quota=31, survivors=1))
    """
    if budget <= arms:
        raise ConfigurationError(f"successive-rejects of {arms} arms needs {arms + 1} rounds, got {budget}")
    logarithm = 0.5 + sum(1 / i for i in range(2, arms + 1))
    phases = [Phase(math.ceil((budget - arms) / (logarithm * active)), active - 1) for active in range(arms, 1, -1)]
    together = itertools.groupby(phases, key=lambda phase: phase.quota)
    return tuple(list(group)[-1] for _, group in together)
