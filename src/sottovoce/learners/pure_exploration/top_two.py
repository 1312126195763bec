"""Top-two sampling: find the best arm with few samples, at a confidence that is proved.

Russo, "Simple Bayesian algorithms for best arm identification", COLT 2016; Jourdan, Degenne, Baudry, de Heide and
Kaufmann, "Top two algorithms revisited", NeurIPS 2022; on privatised bits: Azize, Jourdan, Al Marjani and Basu,
"Differentially private best-arm identification", arXiv 2406.06408. The leader a is the arm with the largest mean of
those that are not ruled out. The challenger b is drawn from the others, with probability in proportion to 1/E_b by the
evidence E_b below (the papers: by a posterior, or the smallest likelihood ratio). Of the two, the leader is played with
probability N_b / (N_a + N_b) (You, Qin, Wang and Yang, "Information-directed selection for top-two algorithms", COLT
2023, for Gaussian arms), N -> pulls. All is drawn, so people who are asked between two publications are spread over
the arms.

**When it stops.** For each arm b, evidence is collected against "b is a best arm". A report z -> (estimate - middle) /
sqrt(proxy) is sub-Gaussian with proxy 1, and its mean lies in [-h, h], h -> half / sqrt(proxy). The rival of b is the
leader; that of the leader is the second. For each g in GAPS, a report of the rival counts for b with a weight c >= 0,
one of b with -c, any other not at all; rival and c depend on earlier reports only.

    G_bg = sum c z -> evidence     D_bg = sum c -> surplus     Q_bg = sum c^2 -> squares
    E_b = mean over g in GAPS, weighed by ODDS, of exp( l (G_bg - h |D_bg|) - l^2 Q_bg / 2 ),   l = g h

*Proof.* Let arms keep their means. If b is a best arm, the others have means of at most b's, m; so the means of the
reports, weighted, add up to at most D_bg m <= h |D_bg|. Hence E_b is at most the mean over g of the products of
exp(l c (z - E z) - l^2 c^2 / 2): a supermartingale that starts at 1, because z is sub-Gaussian. By Ville's inequality
E_b ever reaches 1/failure with probability at most `failure`. An arm whose E_b has once reached it is ruled out for
good, and is not played again. The learner stops when one arm is left, so it is wrong only if a best arm was ruled out.
No union over arms or over times is needed. Nothing is assumed of who is asked, how late reports come and which are
lost, as long as that does not depend on what they say.

*Quieter reports.* One with weight w has proxy 1/w in these units; the sums grow by w c z, w c and w c^2, and
E exp(l w c (z - E z)) <= exp(l^2 w c^2 / 2): the proof holds as it is.

- Departure from the papers: they stop by the likelihood ratio of two arms. A proved threshold for that pays for not
  knowing either mean, about ln N for a mixture; here only the difference counts, and what it costs does not grow with
  N: at most ln(37/8) = 1.5 at gaps of 1/8, 1/16 and 1/32, and ln 37 = 3.6 at 1/256.
- GAPS are the gaps (as shares of the range of rewards) on which a bet is placed, ODDS how much on each; l is the best
  bet on g, whatever the pulls. Arms that are closer than half the last one are never told apart.
- The weights are c = 2 q_b / (q_a + q_b) for the rival a and 2 q_a / (q_a + q_b) for b, where q is how likely an arm is
  asked now: both sides weigh the same on average, also where the shares of arms change. Times 1 - D_bg / steer for
  the rival and 1 + D_bg / steer for b, between 0 and 2: that keeps D_bg near zero, and h |D_bg| with it.
- While more than two arms are left, the first reports count for less: the weights are multiplied by v / (v + START /
  l^2), v = N_a N_b / (N_a + N_b). Before so many reports it is not known which arm is a rival worth a bet on g; a bet
  with a rival that is worse than b loses. ODDS, `steer` and START were chosen in experiments/tuning/top_two.py.
"""

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp

from sottovoce.catalogue.task import Task
from sottovoce.learners.base import Key, Offer, categorical, check_sub_gaussian, configuration
from sottovoce.privacy.noise import Noise
from sottovoce.protocol.errors import ConfigurationError

GAPS = tuple(0.5**power for power in range(1, 9))
ODDS = (2.0, 4.0, 8.0, 8.0, 8.0, 4.0, 2.0, 1.0)
START = 0.05
TINY = 1e-6
"""Added to shares, so that two that are zero are alike, and in place of a divisor that is zero."""


class State(NamedTuple):
    """For each arm, or for each gap and arm; every number but the last is a sum over reports."""

    pulls: jax.Array
    total: jax.Array
    evidence: jax.Array
    """That the arm is not the best: the rivals' reports less its own, weighted for a bet on the gap."""
    surplus: jax.Array
    """The rivals' weights less its own."""
    squares: jax.Array
    """The squares of these weights."""
    out: jax.Array
    """Above zero for an arm that was ruled out before the last report; a part of 1 where that report was quieter."""

    @property
    def means(self) -> jax.Array:
        """The mean of each arm; minus infinity where there is no report."""
        return jnp.where(self.pulls > 0, self.total / jnp.where(self.pulls > 0, self.pulls, 1.0), -jnp.inf)


@configuration("arms")
class TopTwo:
    """Plays the best arm so far or a challenger, until every other arm is ruled out."""

    arms: int
    middle: float
    unit: float
    """The root of the proxy: a report is its distance from the middle in these units."""
    reach: float
    """h: no mean is farther from the middle than this, in these units."""
    failure: float
    """The largest probability of a wrong answer."""
    steer: float
    odds: tuple[float, ...] = ODDS
    start: float = START

    def init(self) -> State:
        each, pair = jnp.zeros(self.arms), jnp.zeros((len(GAPS), self.arms))
        return State(each, each, pair, pair, pair, each)

    def ask(self, state: State, key: Key) -> Offer:
        arm = categorical(key, self._shares(state))
        return Offer(arm, memo=arm, arm=arm)

    def memo_of(self, arm: jax.Array) -> jax.Array:
        return arm

    def tell(self, state: State, memo: jax.Array, estimate: jax.Array) -> State:
        """The weights come from the state as it was before this report."""
        heard, report = jnp.arange(self.arms) == memo, (estimate - self.middle) / self.unit
        weight = self._weights(state, heard)
        return State(
            state.pulls + heard,
            state.total + heard * report,
            state.evidence + weight * report,
            state.surplus + weight,
            state.squares + weight**2,
            jnp.where(self.ruled_out(state), 1.0, 0.0),
        )

    def done(self, state: State) -> jax.Array:
        return jnp.all(state.pulls > 0) & jnp.all(self.ruled_out(state) | self._leads(state))

    def recommend(self, state: State) -> jax.Array:
        return jnp.argmax(self._standing(state))

    def ruled_out(self, state: State) -> jax.Array:
        """Has the evidence against each arm ever been enough?"""
        return (state.out > 0) | (self.log_evidence(state) >= -jnp.log(self.failure))

    def log_evidence(self, state: State) -> jax.Array:
        """The logarithm of E_b for each arm b: from ln(1/failure) on, the arm is ruled out."""
        bets, odds = self._bets(), jnp.asarray(self.odds)
        sure = state.evidence - self.reach * jnp.abs(state.surplus)
        share = jnp.log(odds / jnp.sum(odds))[:, None]
        return jax.nn.logsumexp(share + bets * sure - bets**2 * state.squares / 2, axis=0)

    def _bets(self) -> jax.Array:
        """The bet l on each gap."""
        return self.reach * jnp.asarray(GAPS)[:, None]

    def _standing(self, state: State) -> jax.Array:
        """The means of the arms that may still be best; of all arms should none be left."""
        out = self.ruled_out(state)
        return jnp.where(out & ~jnp.all(out), -jnp.inf, state.means)

    def _leads(self, state: State) -> jax.Array:
        return jnp.arange(self.arms) == self.recommend(state)

    def _shares(self, state: State) -> jax.Array:
        """The probability of each arm: of those that have not been heard, if there are any."""
        leads, pulls, unheard = self._leads(state), state.pulls, state.pulls <= 0
        most = jnp.sum(jnp.where(leads, pulls, 0.0))
        nobody = leads | self.ruled_out(state)
        challenger = jax.nn.softmax(jnp.where(nobody, -jnp.inf, -self.log_evidence(state)))
        itself = jnp.where(nobody, 0.0, challenger * most / jnp.maximum(most + pulls, TINY))
        heard = jnp.where(leads, 1 - jnp.sum(itself), itself)
        return jnp.where(jnp.any(unheard), unheard / jnp.maximum(jnp.sum(unheard), 1.0), heard)

    def _weights(self, state: State, heard: jax.Array) -> jax.Array:
        """What a report of the arm that was heard counts in the evidence against each arm, for each gap."""
        leads, shares = self._leads(state), self._shares(state) + TINY
        others = jnp.where(leads, -jnp.inf, jnp.nan_to_num(self._standing(state)))  # an arm is not its own rival
        second = jnp.arange(self.arms) == jnp.argmax(others)
        rivals = lambda each: jnp.where(leads, jnp.sum(each * second), jnp.sum(each * leads))  # noqa: E731
        ours, tilt = shares / (shares + rivals(shares)), state.surplus / self.steer
        plus = 2 * ours * jnp.clip(1 - tilt, 0.0, 2.0)
        minus = 2 * (1 - ours) * jnp.clip(1 + tilt, 0.0, 2.0)
        counts = jnp.where(rivals(heard) > 0, plus, jnp.where(heard, -minus, 0.0))
        return counts * self._started(state, rivals(state.pulls))

    def _started(self, state: State, theirs: jax.Array) -> jax.Array:
        """How much of a bet on each gap is placed, by the reports of each arm and of its rival."""
        both = state.pulls * theirs / jnp.maximum(state.pulls + theirs, TINY) * self._bets() ** 2
        few = jnp.sum(~self.ruled_out(state)) <= 2
        return jnp.where(few, 1.0, both / (both + self.start))


def build(task: Task, noise: Noise) -> TopTwo:
    check_sub_gaussian(task.learner, noise)
    failure, steer = float(task.tuning["failure"]), float(task.tuning["steer"])
    if not 0 < failure < 1:
        raise ConfigurationError(f"failure must be between 0 and 1, got {failure:g}")
    if not steer > 0:
        raise ConfigurationError(f"steer must be positive, got {steer:g}")
    low, high, unit = float(task.domain["low"]), float(task.domain["high"]), math.sqrt(noise.proxy)
    return TopTwo(
        arms=task.arms,
        middle=(low + high) / 2,
        unit=unit,
        reach=(high - low) / 2 / unit,
        failure=failure,
        steer=steer,
    )
