"""Arms whose rewards change: a learner that starts again when a change is proved (sudden), or forgets (slow).

**Sudden.** For every arm and every mark (`marks.py`) the mean since the mark is compared with the mean before it. With
n1 reports before and n2 since, c the variance `proxy` of an estimate, and a = n^2 / (2 c (n + r)) for either side:

    alarm, if  a1 a2 / (a1 + a2) (mean1 - mean2)^2  >=  ln(K S T / (2^s delta)) + ln(1 + n1/r1) / 2 + ln(1 + n2/r2) / 2

    K -> arms    S -> scales    T -> horizon    delta -> false_alarm    r1 = 2^s, r2 = 2^s / 16

*In a world that stays as it is, the chance of any alarm in the first T reports is at most delta.* Proof. Let m be the
mean reward of an arm. Estimates are sub-Gaussian; so with X the sum of n of them, exp(l (X - n m) - l^2 n c / 2) is a
supermartingale for every l, and its mean over a normal l of variance 1 / (c r) is one too: sqrt(r / (n + r)) exp((X -
n m)^2 / (2 c (n + r))). Take the one that runs until the k-th mark of the arm at scale s and stays as it is then, times
one that starts there. Marks are set by what is known at the time, so the product is a supermartingale that begins with
1, and by Ville's inequality it ever reaches 1/p with chance at most p. Its logarithm is a1 (mean1 - m)^2 + a2 (mean2 -
m)^2, less the two logarithms on the right above; and whatever m is, these squares make at least the left side. Two
marks of an arm at a scale are 2^s reports apart, so there are at most T / 2^s of them. With p = 2^s delta / (K S T) for
each, all p together are at most delta. Who is asked may depend on everything heard before; quieter reports, late ones
and models that are published rarely are covered.

An arm that is hardly played shows no change. So a few people are offered another arm than the learner would choose, as
Besson, Kaufmann, Maillard and Seznec have it ("Efficient change-point detection for tackling piecewise-stationary
bandits", JMLR 2022), but not all arms equally often: arm a with chance `explore` / sqrt(K T) exp(evidence / 2), where
the evidence is the left side above if the mean rose, else 0. If the arm did rise, its evidence grows with every report,
and it is offered more and more until there is a proof. If not, exp(evidence / 2) has a small mean. No false alarm
comes from that, since the proof above allows any choice.

**Slow.** All that was heard loses a share of 1 / `memory` with every report: discounting (Garivier and Moulines, "On
upper-confidence bound policies for switching bandit problems", ALT 2011). For learners whose state is a sum.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from sottovoce.catalogue.task import Task
from sottovoce.learners.base import Key, Learner, Offer, choose, configuration
from sottovoce.learners.drift.marks import Marks, added, closed, lengths, means, no_marks
from sottovoce.privacy.noise import Noise

FALSE_ALARM = 0.05
"""The chance of any alarm in the whole horizon where nothing changes."""
EXPLORE = 1.0
MEMORY = 2.0
"""Of a slow world, in units of the horizon to the power 2/3. See docs/drift.md for both."""
MOST = 0.5
"""At most this share of people is offered an arm that the learner did not choose."""


class State(NamedTuple):
    inner: Any
    marks: Marks
    fresh: jax.Array
    """Of each arm: reports since the last model, and their sum."""
    tries: jax.Array
    """How likely each arm is offered whatever the learner would choose."""
    alarms: jax.Array
    """How often it started again."""


@configuration("arms", "horizon")
class RestartingArms:
    """A learner that averages arm by arm, and starts again when an arm has changed."""

    inner: Any
    arms: int
    horizon: int
    proxy: float
    false_alarm: float
    explore: float

    def init(self) -> State:
        marks = no_marks((self.arms,), len(lengths(self.horizon)), 2)
        zero = jnp.zeros((self.arms, 2))
        return State(self.inner.init(), marks, zero, self._tries(jnp.zeros(self.arms)), jnp.zeros(()))

    def ask(self, state: State, key: Key) -> Offer:
        whether, which = jax.random.split(key)
        below = jnp.cumsum(state.tries) <= jax.random.uniform(whether, dtype=state.tries.dtype)
        arm = jnp.where(below[-1], self.inner.ask(state.inner, which).arm, jnp.sum(below))
        return Offer(arm, memo=arm, arm=arm)

    def memo_of(self, arm: jax.Array) -> jax.Array:
        return arm

    def tell(self, state: State, memo: jax.Array, estimate: jax.Array) -> State:
        report = jnp.stack([jnp.ones_like(estimate), estimate])
        inner = self.inner.tell(state.inner, memo, estimate)
        return state._replace(inner=inner, fresh=state.fresh.at[memo].add(report))

    def changes(self, state: State) -> jax.Array:
        return state.alarms

    def refresh(self, state: State) -> State:
        """Look for changes in all that was told since the last model; the same state where that is nothing."""
        marks = added(state.marks, state.fresh)
        evidence, rose = self._evidence(marks)
        suspicion = jnp.max(jnp.where(rose, evidence, 0.0), axis=-1)
        marks_after = closed(marks, lengths(self.horizon))
        after = State(state.inner, marks_after, jnp.zeros_like(state.fresh), self._tries(suspicion), state.alarms)
        again = self.init()._replace(alarms=state.alarms + 1)
        alarm = jnp.any(evidence >= self._needed(marks))
        return choose(jnp.any(state.fresh[:, 0] > 0), choose(alarm, again, after), state)

    def _evidence(self, marks: Marks) -> tuple[jax.Array, jax.Array]:
        """For each arm and mark: the left side of the rule, and whether the mean is higher than before."""
        before, recent = (
            sums[..., 0] ** 2 / (2 * self.proxy * (sums[..., 0] + prior))
            for sums, prior in zip((marks.before, marks.recent), self._priors(), strict=True)
        )
        apart = (means(marks.recent) - means(marks.before))[..., 0]
        return before * recent / jnp.maximum(before + recent, 1e-300) * apart**2, apart > 0

    def _needed(self, marks: Marks) -> jax.Array:
        """The right side of the rule."""
        length = lengths(self.horizon)
        union = jnp.log(self.arms * len(length) * self.horizon / (length * self.false_alarm))
        both = zip((marks.before, marks.recent), self._priors(), strict=True)
        return union + sum(jnp.log1p(sums[..., 0] / prior) / 2 for sums, prior in both)

    def _priors(self) -> tuple[jax.Array, jax.Array]:
        """r1 and r2: a proof is shortest where the reports before are about as many as a block, or more."""
        return lengths(self.horizon), lengths(self.horizon) / 16

    def _tries(self, suspicion: jax.Array) -> jax.Array:
        tries = self.explore / jnp.sqrt(self.arms * self.horizon) * jnp.exp(jnp.minimum(suspicion, 50.0) / 2)
        return tries * jnp.minimum(1.0, MOST / jnp.maximum(jnp.sum(tries), 1e-300))


@configuration()
class ForgettingArms:
    """A learner whose state is a sum over reports, of which the older ones fade."""

    inner: Any
    memory: float
    """Reports after which a report counts for 1/e of a new one."""

    def init(self) -> Any:
        return self.inner.init()

    def ask(self, state: Any, key: Key) -> Offer:
        return self.inner.ask(state, key)

    def memo_of(self, arm: jax.Array) -> jax.Array:
        return arm

    def tell(self, state: Any, memo: jax.Array, estimate: jax.Array) -> Any:
        faded = jax.tree.map(lambda sum: sum * (1 - 1 / self.memory), state)
        return self.inner.tell(faded, memo, estimate)


def restarting(learner: Learner, task: Task, noise: Noise) -> RestartingArms:
    return RestartingArms(
        inner=learner,
        arms=task.arms,
        horizon=task.rounds,
        proxy=noise.proxy,
        false_alarm=FALSE_ALARM,
        explore=EXPLORE,
    )


def forgetting(learner: Learner, task: Task, noise: Noise) -> ForgettingArms:
    return ForgettingArms(inner=learner, memory=max(2.0, MEMORY * task.rounds ** (2 / 3)))
