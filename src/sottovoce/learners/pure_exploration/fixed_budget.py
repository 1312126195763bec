"""The best arm that a given number of people can find, for `sequential_halving` and `successive_rejects`.

Both are one schedule of phases: every arm still active is pulled until it has its quota, then the worst are dropped.

K -> arms, T -> budget, H = max_i i / gap_i^2 with gaps in rising order. For estimates with variance proxy s^2 the
exponents of the error probabilities are divided by 4 s^2 (rewards in [0, 1] have 1/4): that is the whole price of
privacy. Neither schedule asks more than T people.

Departure, for reports that come late: an active arm is drawn in proportion to the pulls it still lacks, so that offers
made at the same time are spread. Without delay every arm gets exactly its quota, in random order. With delay some get
more; in the end the best of the arms still active is recommended.
"""

import itertools
from typing import NamedTuple

import jax
import jax.numpy as jnp

from sottovoce.learners.base import Key, Offer, categorical, choose, configuration, pick
from sottovoce.learners.tally import ranks


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
    """Pulls by a schedule of phases and drops the worst arms after each."""

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
        after = state._replace(
            pulls=state.pulls.at[memo].add(1.0), total=state.total.at[memo].add(estimate), reports=state.reports + 1
        )
        complete = jnp.all((after.pulls >= self._quota(after)) | ~after.active)
        over = complete & (state.phase < len(self.schedule))
        return choose(over, self._next_phase(after), after)

    def done(self, state: State) -> jax.Array:
        return (state.phase == len(self.schedule)) | (state.reports >= self.budget)

    def recommend(self, state: State) -> jax.Array:
        """The last arm; the best of the active ones where the budget ended first."""
        return jnp.argmax(self._rewards(state))

    def _next_phase(self, state: State) -> State:
        survivors = pick(jnp.array([phase.survivors for phase in self.schedule]), state.phase)
        after = state._replace(active=ranks(-self._rewards(state)) < survivors, phase=state.phase + 1)
        if self.fresh:
            return after._replace(pulls=jnp.zeros_like(state.pulls), total=jnp.zeros_like(state.total))
        return after

    def _quota(self, state: State) -> jax.Array:
        quotas = [phase.quota for phase in self.schedule]
        if self.fresh:
            quotas = [quota - before for before, quota in itertools.pairwise([0, *quotas])]
        return pick(jnp.array(quotas), state.phase)

    def _rewards(self, state: State) -> jax.Array:
        """Mean rewards; below all of them the active arms without a report, and below these the dropped ones."""
        least = jnp.finfo(state.total.dtype).min
        means = jnp.where(state.pulls > 0, state.total / jnp.maximum(state.pulls, 1.0), least)
        return jnp.where(state.active, means, -jnp.inf)
