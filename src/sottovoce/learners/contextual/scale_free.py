"""Private descent that finds its own scale: no length of features, no radius of theta, no step and no clip is declared.

What a person reports is a direction, times the residual in units of the clip, cut at 1; and whether the clip cut it
(`privacy.domains.Direction`). The direction is that of the features of the choice, in which what all candidates share
and what lies along theta is made quieter (`users.by_model.contrasted`); where actions have names it is that of the
features as they are. Two things are found from these reports alone:

- The clip C follows the residuals: log C rises while more than `cut` of them are beyond it, and falls while fewer are.
  Where rewards nearly follow from the features the residuals shrink as the learner learns, and the same noise then
  covers a smaller residual. The rate is 1 / sqrt t, and lower where the coordinate is noisy; C at most doubles or
  halves with a model. A cut residual turns theta where features are uneven, and a larger clip makes noise louder: where
  candidates have features and there is little noise, fewer are cut.
- The step is distance over gradients (Ivgi, Hinder, Carmon, "DoG is SGD's best friend", ICML 2023), of gradients in
  units of C: with u_k the mean direction reported to model k,

      theta_{k+1} = theta_k + R_k u_k / sqrt(|u_1|^2 + ... + |u_k|^2),
      R_k = max(first, |average_1|, ..., |average_k|).

  A step is at most R_k long, and R at most doubles with a model: theta of any length is reached soon, and stale reports
  cannot carry it far beyond. R is taken from the published averages, because noise carries the iterates away. And
  because u does not shrink with C, later steps stay long enough to profit from it. From about `steady` reports on theta
  is found but for the noise, and steps are shorter by (1 + t / `steady`)^(1/2). This comes later where noise is louder,
  and not at all where theta may change or actions have names.

What is published is an average of the iterates in which recent ones weigh more, (t/T)^`recency`; gradients are taken at
the last iterate, the `anchor`. Reports only add up between models, so the order in which they come does not matter.
Until about `SOON` d reports theta is far away, and recent iterates weigh more still (`early`), the more the less noise
there is; not where steps never become shorter.

Choice is greedy, but for a few: with probability `trial` / sqrt t, at most 1 (twice that where all of a few named
actions must be tried), a person tries something else.

- Candidates with features of their own: what the anchor thinks best. Noise carries the anchor away where nobody's
  features reach, and little where they do, so these people try what is not known yet.
- Actions with names (`named`), each with its own block of coefficients, more than one of which may be good: any
  action. There also the prediction starts from the base 1, for the identity link the best reward of all: an action of
  which nothing is known looks as good as can be. Otherwise the first one that is better than nothing would be played
  for ever. Where only one is right for a person and the others give nothing, no such help is needed.

Where candidates are the same few for everybody this is not enough: the first one that is better than nothing is played
for ever. Then nearly all people report along one line, and where noise is not loud this can be seen (`lines.py`). From
then on the clip cuts the share `FEW_CUT`, which is small: where rewards are yes or no, a clip that cuts many makes all
candidates look alike that are good more often than not. And the next `FEW_TRIED` (1 + v d) people play any candidate, v
the variance of the noise of a coordinate, and at most `AT_MOST` of the horizon; after n people one does with
probability (that / n)^2.

Preset `rare` is for named actions where nearly all people give the lowest reward. From the prediction of the best
reward theta would have to go far down, and where it has gone far its steps are long and noisy. So the link is the
logistic one (rewards 0 to 1), the prediction starts at the base -3, a reward of 0.05, and the clip stays above `least`.

Such directions w are consistent for a model that is right: E[(y - g(<x, theta>)) w] = 0 at its theta, whatever w is
computed from the features and what is public. No regret rate is proved here for the adaptive clip.
`docs/tuning.md` says where the constants come from.
"""

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp

from sottovoce.catalogue.task import Task
from sottovoce.learners.base import Key, Offer, choose, configuration
from sottovoce.learners.contextual.lines import LOUDEST, Products, along_one_line, no_products, with_products
from sottovoce.privacy.domains import DirectionEstimate
from sottovoce.privacy.noise import Noise
from sottovoce.protocol.links import link_of
from sottovoce.protocol.offers import DirectedModel

LEAST_CLIP = 0.003
"""Of half the range of rewards."""
STEADY = 10_000.0
"""`steady` in units of v d, the mean square of the noise of a report, where v is its variance in one coordinate."""
LEAST_NOISE = 0.05
"""v counts as at least this, about what it is at epsilon 10: residuals vary without noise too."""
SOON = 50.0
"""Of so many reports for each coordinate recent iterates weigh more."""
LEAST_CUT, LOUD = 0.33, 30.0
"""Of candidates the clip cuts at most the share LEAST_CUT + v d / LOUD, which is below `cut` where noise is low."""
FEW_CUT, FEW_TRIED, AT_MOST = 0.1, 200.0, 1 / 40
"""Where all people choose among the same few candidates; AT_MOST is of the horizon."""
WIDEST = 20
"""With more coordinates it is not looked for: their products would slow simulations down."""


class State(NamedTuple):
    iterate: jax.Array
    average: jax.Array
    farthest: jax.Array
    squares: jax.Array
    log_clip: jax.Array
    reports: jax.Array
    """Those that the iterate knows of."""
    sum: DirectionEstimate
    """Of the reports since the last model."""
    waiting: jax.Array
    """How many these are."""
    products: Products
    found: jax.Array
    """After how many reports it was seen that all people choose among the same few candidates; 0 before that."""


@configuration("dimension", "looks")
class ScaleFree:
    """Descent on directions; what is published is an average of the iterates."""

    dimension: int
    half: float
    """Half the range of rewards."""
    rate: float
    """How fast the clip follows."""
    cut: float
    first: float
    recency: float
    trial: float
    named: float
    """1 where all of a few named actions must be tried, else 0."""
    contrast: float
    """1 where candidates have features of their own, else 0."""
    steady: float = math.inf
    """Reports from which on steps are shorter."""
    early: float = 0.0
    """What is added to `recency` at first."""
    base: float = 0.0
    """What is added to <anchor, x> before the reward is predicted; `named`, unless the preset says another."""
    least: float = LEAST_CLIP
    """The smallest clip, of half the range of rewards."""
    variance: float = 0.0
    """Of the noise of a reported coordinate."""
    tried: float = 0.0
    """How many people play any candidate where all choose among the same few."""
    looks: bool = False
    """Does it look whether all people choose among the same few candidates?"""

    def init(self) -> State:
        zero, none = jnp.zeros(()), jnp.zeros(self.dimension)
        return State(
            iterate=none,
            average=none,
            farthest=jnp.asarray(self.first, float),
            squares=zero,
            log_clip=jnp.log(jnp.asarray(self.half, float)),
            reports=zero,
            sum=DirectionEstimate(none, zero),
            waiting=zero,
            products=no_products(self.dimension if self.looks else 0),
            found=zero,
        )

    def ask(self, state: State, key: Key) -> Offer:
        often = self.trial * (1 + self.named)
        tries = jnp.minimum(1.0, often / jnp.sqrt(jnp.maximum(state.reports, 1.0)))
        model = DirectedModel(
            theta=state.average,
            explore=jnp.maximum(tries * self.named, self._any(state)),
            anchor=state.iterate,
            clip=jnp.exp(state.log_clip),
            by_anchor=tries * (1 - self.named),
            base=jnp.asarray(self.base, float),
            contrast=jnp.asarray(self.contrast, float),
        )
        return Offer(model)

    def tell(self, state: State, memo: tuple, estimate: DirectionEstimate) -> State:
        told = DirectionEstimate(*estimate)
        both, products = jax.tree.map(jnp.add, state.sum, told), with_products(state.products, told.direction)
        return state._replace(sum=both, waiting=state.waiting + 1, products=products)

    def refresh(self, state: State) -> State:
        """One step for all that was told since the last model; the same state where that is nothing."""
        mean = jax.tree.map(lambda sum: sum / jnp.maximum(state.waiting, 1e-300), state.sum)
        time, squares = state.reports + state.waiting, state.squares + jnp.sum(mean.direction**2)
        step = state.farthest / jnp.sqrt(jnp.maximum(squares, 1e-300) * (1 + time / self.steady))
        iterate = state.iterate + step * mean.direction
        recency = self.recency + self.early / (1 + time / (SOON * self.dimension))
        now = along_one_line(state.products, self.variance) * state.products.reports
        found = jnp.where(state.found > 0, state.found, now)
        share = 1 - (state.reports / jnp.maximum(time, 1e-300)) ** (recency + 1)
        average = state.average + share * (iterate - state.average)
        after = State(
            iterate=iterate,
            average=average,
            farthest=jnp.clip(jnp.sqrt(jnp.sum(average**2)), state.farthest, 2 * state.farthest),
            squares=squares,
            log_clip=self._followed(state, mean.cut, time),
            reports=time,
            sum=jax.tree.map(jnp.zeros_like, state.sum),
            waiting=jnp.zeros_like(state.waiting),
            products=state.products,
            found=found,
        )
        return choose(state.waiting > 0, after, state)

    def _any(self, state: State) -> jax.Array:
        """The probability that any candidate is played, because all people choose among the same few."""
        since = jnp.maximum(state.products.reports - state.found, 1.0)
        return jnp.where(state.found > 0, jnp.minimum(1.0, (self.tried / since) ** 2), 0.0)

    def _followed(self, state: State, cut: jax.Array, time: jax.Array) -> jax.Array:
        """The clip, moved towards where it cuts as many of the residuals as it should."""
        wanted = jnp.where(state.found > 0, FEW_CUT, self.cut)
        move = self.rate * state.waiting / jnp.sqrt(jnp.maximum(time, 1e-300)) * (cut - wanted)
        moved = state.log_clip + jnp.clip(move, -math.log(2), math.log(2))
        return jnp.clip(moved, jnp.log(self.least * self.half), jnp.log(2 * self.half))


def build(task: Task, noise: Noise) -> ScaleFree:
    link = link_of(task.tuning)
    number = {name: float(task.tuning[name]) for name in ("cut", "first", "recency", "trial", "named", "contrast")}
    d, (deviation, of_cut) = task.dimension, noise.per_block
    candidates = number["contrast"] > 0
    if candidates:
        number["cut"] = min(number["cut"], LEAST_CUT + deviation**2 * d / LOUD)
    stays = task.tuning.get("drift", "none") == "none" and candidates
    steady = STEADY * max(deviation**2, LEAST_NOISE) * d if stays else math.inf
    base = float(task.tuning.get("base", number["named"]))
    number["early"] = float(task.tuning.get("early", 0.0)) / (1 + deviation**2) if stays else 0.0
    number["base"] = max(base, link.low) if link.name == "identity" else base  # not below all rewards
    number["least"] = float(task.tuning.get("least", LEAST_CLIP))
    number |= {"half": link.deviation, "rate": 1 / max(of_cut, 1.0), "steady": steady, "variance": deviation**2}
    number["tried"] = min(FEW_TRIED * (1 + deviation**2 * d), AT_MOST * task.rounds)
    looks = stays and 1 < d <= WIDEST and deviation**2 <= LOUDEST
    return ScaleFree(dimension=d, looks=looks, **number)
