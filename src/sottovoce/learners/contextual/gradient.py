"""Private gradient descent on a generalised linear loss: one vector of length d from each person, O(d) work a report.

Han, Liang, Wang, Zhang, "Generalized linear bandits with local differential privacy", NeurIPS 2021, LDP-SGD: greedy
play and theta <- theta - (c/t) * private gradient, for people who come independently of each other. Symbols:

    theta_t -> state.iterate    eta_t -> the step    Psi_epsilon -> the sphere mechanism

Preset `paper`: c/t with c = d / (least slope of the link), the last iterate, no exploration. Departures: the iterate
stays in the ball of the declared radius, and our sphere mechanism replaces theirs (same promise, less noise).

Preset `practical` (what we recommend):
- The step is the gain of a Kalman filter. Let the curvature be 1/c in all directions, one coordinate of a report have
  the deviation s, and theta have the variance radius^2/d a priori. After t reports the gain is c / (t + start) with
  start = c^2 s^2 d / radius^2: the number of reports that weigh as much as the prior. Strong noise means small steps.
  (`prior` multiplies start; without a prior, 0, the steps are c/t.)
  c = step * d / (least slope): a person's features have the second moment 1/d in a direction, if they are spread.
- What is published is an average of the iterates in which recent ones weigh more, (t/T)^`recency` of them (Shamir and
  Zhang 2013); the gradient is taken at the last iterate, which the device is told as `anchor`.
- A random action with probability explore * start / t: until the reports outweigh the prior the model knows
  little, and where everybody sees the same actions greedy play alone would never try the others.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from sottovoce.catalogue.task import Task
from sottovoce.learners.base import Key, Offer, configuration
from sottovoce.privacy.domains import shorten
from sottovoce.privacy.noise import Noise
from sottovoce.protocol.links import link_of
from sottovoce.protocol.offers import GeneralizedModel


class State(NamedTuple):
    iterate: jax.Array
    average: jax.Array
    reports: jax.Array


@configuration("dimension")
class PrivateGradient:
    """Descent with steps of c / (t + start); what is published is an average of the iterates."""

    dimension: int
    c: float
    start: float
    radius: float
    recency: float
    explore: float

    def init(self) -> State:
        return State(jnp.zeros(self.dimension), jnp.zeros(self.dimension), jnp.zeros(()))

    def ask(self, state: State, key: Key) -> Offer:
        explore = jnp.minimum(self.explore * self.start / jnp.maximum(state.reports, 1.0), 1.0)
        greedy = (jnp.eye(self.dimension), jnp.zeros(()))
        return Offer(GeneralizedModel(state.average, *greedy, explore, state.iterate))

    def tell(self, state: State, memo: tuple, estimate: jax.Array) -> State:
        time = state.reports + 1
        iterate = shorten(jnp, state.iterate - self.c / (time + self.start) * estimate, self.radius)
        share = (1 + self.recency) / (time + self.recency)
        return State(iterate, state.average + share * (iterate - state.average), time)


def build(task: Task, noise: Noise) -> PrivateGradient:
    link, d = link_of(task.tuning), task.dimension
    number = {name: float(value) for name, value in task.tuning.items() if not isinstance(value, str)}
    c = number["step"] * d / link.least_slope
    own = link.deviation**2 / d  # what the reward's own noise adds to a coordinate of the gradient
    start = number["prior"] * c**2 * (noise.variance + own) * d / link.radius**2
    return PrivateGradient(
        dimension=d, c=c, start=start, radius=link.radius, recency=number["recency"], explore=number["explore"]
    )
