"""Top-two sampling: find the best arm with few samples, at a confidence that is proved.

Russo, "Simple Bayesian algorithms for best arm identification", COLT 2016; Jourdan, Degenne, Baudry, de Heide and
Kaufmann, "Top two algorithms revisited", NeurIPS 2022; on privatised bits: Azize, Jourdan, Al Marjani and Basu,
"Differentially private best-arm identification", arXiv 2406.06408. The leader a is the arm with the largest mean. The
challenger b is drawn with probability in proportion to min(1, 1/E_b), the p-value of "b is a best arm" by the evidence
E_b below (the papers: by a posterior, or the smallest likelihood ratio). Of the two, the leader is played with
probability N_b / (N_a + N_b) (You, Qin, Wang and Yang, "Information-directed selection for top-two algorithms", COLT
2023, for Gaussian arms), N -> pulls. All is drawn, so people who are asked between two publications are spread over
the arms.

**When it stops.** For each arm b, evidence is collected against "b is a best arm". A report z -> (estimate - middle) /
sqrt(proxy) is sub-Gaussian with proxy 1, and its mean lies in [-h, h], h -> half / sqrt(proxy). A report of the leader
counts for b with a weight c >= 0, one of b with -c, any other not at all; c depends on earlier reports only.

    G_b = sum c z -> evidence      D_b = sum c -> surplus      Q_b = sum c^2 -> squares
    E_b = mean over g in GAPS of exp( l (G_b - h |D_b|) - l^2 Q_b / 2 ),   l = g h

*Proof.* Let arms keep their means. If b is a best arm, the others have means of at most b's, m; so the means of the
reports, weighted, add up to at most D_b m <= h |D_b|. Hence E_b is at most the mean over g of the products of
exp(l c (z - E z) - l^2 c^2 / 2): a supermartingale that starts at 1, because z is sub-Gaussian. By Ville's inequality
E_b ever reaches 1/failure with probability at most `failure`. The learner stops when E_b >= 1/failure for every arm but
the leader, so it is wrong only if this happened to a best arm. No union over arms or over times is needed. Nothing is
assumed of who is asked, how late reports come and which are lost, as long as that does not depend on what they say.

*Quieter reports.* One with weight w has proxy 1/w in these units; the sums grow by w c z, w c and w c^2, and
E exp(l w c (z - E z)) <= exp(l^2 w c^2 / 2): the proof holds as it is.

- Departure from the papers: they stop by the likelihood ratio of two arms. A proved threshold for that pays for not
  knowing either mean, about ln N for a mixture; here only the difference counts, and costs at most ln 8, whatever N.
- GAPS are the gaps (as shares of the range of rewards) on which a bet is placed; l is the best bet on g when the two
  arms are heard equally often. Arms that are closer than half the last one are never told apart.
- The weights are c = 2 N_b / (N_a + N_b) for the leader and 2 N_a / (N_a + N_b) for b, each number one larger, so
  that both sides weigh the same in total, times 1 - D_b / steer for the leader and 1 + D_b / steer for b, between
  0 and 2: that keeps D_b near zero, and h |D_b| with it. `steer` was chosen in experiments/tuning/top_two.py.
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


class State(NamedTuple):
    """For each arm; every number is a sum over reports."""

    pulls: jax.Array
    total: jax.Array
    evidence: jax.Array
    """That the arm is not the best: the leaders' reports less its own, weighted."""
    surplus: jax.Array
    """The leaders' weights less its own."""
    squares: jax.Array
    """The squares of these weights."""

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

    def init(self) -> State:
        return State(*(jnp.zeros(self.arms) for _ in State._fields))

    def ask(self, state: State, key: Key) -> Offer:
        unheard = state.pulls <= 0
        first = unheard / jnp.maximum(jnp.sum(unheard), 1.0)
        arm = categorical(key, jnp.where(jnp.any(unheard), first, self._shares(state)))
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
        )

    def done(self, state: State) -> jax.Array:
        ruled_out = self.log_evidence(state) >= -jnp.log(self.failure)
        return jnp.all(state.pulls > 0) & jnp.all(ruled_out | self._leads(state))

    def recommend(self, state: State) -> jax.Array:
        return jnp.argmax(state.means)

    def log_evidence(self, state: State) -> jax.Array:
        """The logarithm of E_b for each arm b: from ln(1/failure) on, the arm is ruled out."""
        bets = self.reach * jnp.asarray(GAPS)[:, None]
        sure = state.evidence - self.reach * jnp.abs(state.surplus)
        return jax.nn.logsumexp(bets * sure - bets**2 * state.squares / 2, axis=0) - math.log(len(GAPS))

    def _leads(self, state: State) -> jax.Array:
        return jnp.arange(self.arms) == jnp.argmax(state.means)

    def _shares(self, state: State) -> jax.Array:
        """The probability of each arm, once all have been heard."""
        leads, pulls = self._leads(state), state.pulls
        most = jnp.sum(jnp.where(leads, pulls, 0.0))
        challenger = jax.nn.softmax(jnp.where(leads, -jnp.inf, -jnp.maximum(self.log_evidence(state), 0.0)))
        itself = challenger * most / (most + pulls)
        return jnp.where(leads, 1 - jnp.sum(itself), itself)

    def _weights(self, state: State, heard: jax.Array) -> jax.Array:
        """What a report of the arm that was heard counts in the evidence against each arm."""
        leads, pulls = self._leads(state), state.pulls + 1
        most = jnp.sum(jnp.where(leads, pulls, 0.0))
        tilt = state.surplus / self.steer
        leaders = 2 * pulls / (most + pulls) * jnp.clip(1 - tilt, 0.0, 2.0)
        own = 2 * most / (most + pulls) * jnp.clip(1 + tilt, 0.0, 2.0)
        return jnp.where(leads, 0.0, jnp.where(jnp.any(leads & heard), leaders, jnp.where(heard, -own, 0.0)))


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
