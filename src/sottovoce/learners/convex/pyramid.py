"""Stochastic convex optimisation in d dimensions: climb with small pyramids, then cut off what lies behind the apex.

Agarwal, Foster, Hsu, Kakade and Rakhlin, "Stochastic convex optimization with bandit feedback", SIAM J. Optim. 2013,
Algorithm 2 with its cone cut and hat raising; the black box of the paper's corollary on stochastic convex bandits.

Read this first. The margin of every test is more than 6 c1 d^4/c2^2 = 3.9e5 d^4 times gamma with the published c1 = 64
and c2 = 1/32. The means of losses in [0, 1] differ by 1 at most, so no test can fire before gamma < 2.6e-6/d^4, which
takes 3e11 d^8 s^2 ln T answers at every point with the published n = 2 s^2 ln T/gamma^2 (4 times that with the
intervals of preset `paper`). Until then only a tiny simplex and tiny pyramids on it are sampled, and the regret is
linear. Preset `practical` has constants under which it moves, slowly. That is a heuristic; no theorem covers it. Its
c2 = 0.4 is for two dimensions; in more, 0.4/(d - 1) keeps the cuts as deep.

    Ball(R_tau) -> the ellipsoid centre + shape @ (unit ball)    r_tau/R_tau = 1/(c1 d) -> radius
    cos(phi/2) = c2/d -> lean    gamma_i, gamma-hat -> state.level, state.fine    s^2 -> proxy
    Delta, Delta-bar -> slack + 3, slack + 5 times gamma-hat, slack = 6 c1 d^4/c2^2 as published and 0 in `practical`

Points below are in the ellipsoid's own coordinates, where it is the unit ball. An epoch samples the corners of a small
regular simplex and puts the apex y of a flat pyramid on the highest. The d edges of the pyramid lean from its axis y by
phi/2 and end where they touch the sphere around the centre: z_i is perpendicular to z_i - y. Then
- a base corner well above the apex becomes the apex of the next pyramid (case 1a);
- else, if the corners differ, the minimum is not in the cone that continues the edges beyond the apex: cut (1b);
- if the middle of the pyramid is far below all corners, the same holds for the apex raised by y - z_0: cut (2b);
- else nothing is seen: gamma-hat is halved, and below gamma_i the simplex is sampled again with gamma_i/2 (2a).

The cut has a closed form, with its proof in `cones.py`.

Departures:
- Only the ellipsoid is kept, not the intersection of all. Where the region pushes its centre to the edge, it is cut by
  the tangent plane of the region, which costs no answers; a pyramid that would stick out is shrunk about the centre.
- `reach` (1 as published) makes the sampled edges longer. Convexity gives the cone for any length of the edges.
- gamma is in units of the range of losses; answers are kept while gamma-hat falls; late answers to an earlier set of
  points are dropped; intervals are +- gamma/2 with n = care s^2 ln T/gamma^2 answers, as in `interval_search`.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from sottovoce.catalogue.task import Task
from sottovoce.learners.base import Key, Offer, choose, configuration, loss_of
from sottovoce.learners.convex.cones import corners_of, enclosing, heights_of, regular_simplex, rim
from sottovoce.learners.convex.interval_search import Search, numbers_of
from sottovoce.learners.convex.regions import norm
from sottovoce.privacy.noise import Noise
from sottovoce.protocol.errors import ConfigurationError


class State(NamedTuple):
    centre: jax.Array
    shape: jax.Array
    """The ellipsoid is centre + shape @ (unit ball)."""
    cuts: jax.Array
    """Cone cuts so far."""
    stage: jax.Array
    """Which set of points is being sampled."""
    climbing: jax.Array
    """The points are a pyramid; else the simplex."""
    level: jax.Array
    """gamma_i"""
    fine: jax.Array
    """gamma-hat"""
    apex: jax.Array
    """y, in the ellipsoid's coordinates."""
    counts: jax.Array
    sums: jax.Array


class Memo(NamedTuple):
    place: jax.Array
    """Which of the points: d + 1 corners (the apex first), then the middle of a pyramid."""
    stage: jax.Array


@configuration()
class Pyramid(Search):
    """Samples a simplex, then pyramids, and cuts the ellipsoid in which the minimum lies."""

    radius: float
    lean: float
    reach: float
    slack: float

    @property
    def size(self) -> int:
        return self.region.size

    def init(self) -> State:
        d = self.size
        return State(
            centre=jnp.zeros(d),
            shape=1.0 * self.region.outer * jnp.eye(d),
            cuts=jnp.zeros(()),
            stage=jnp.zeros(()),
            climbing=jnp.asarray(False),
            level=jnp.asarray(0.5 * self.range),
            fine=jnp.asarray(0.5 * self.range),
            apex=self.radius * jnp.eye(d)[0],
            counts=jnp.zeros(d + 2),
            sums=jnp.zeros(d + 2),
        )

    def ask(self, state: State, key: Key) -> Offer:
        """The point with the fewest answers; a coin decides between equals, so that people at once are spread."""
        place = jnp.argmin(self._wanted(state) + 0.5 * jax.random.uniform(key, (self.size + 2,)))
        here = jnp.arange(self.size + 2)[:, None] == place
        point = jnp.sum(jnp.where(here, self.points(state), 0.0), axis=0)
        return Offer(self.region.place(point), Memo(place, state.stage))

    def tell(self, state: State, memo: Memo, estimate: jax.Array) -> State:
        told = (jnp.arange(self.size + 2) == memo.place) & (memo.stage == state.stage)
        sums = state.sums + jnp.where(told, loss_of(estimate), 0.0)
        after = state._replace(counts=state.counts + told, sums=sums)
        enough = jnp.min(self._wanted(after)) >= self.answers / jnp.where(state.climbing, state.fine, state.level) ** 2
        moved = choose(state.climbing, self._judge(after), self._start(after))
        return self._trim(choose(enough, moved, after))

    def points(self, state: State) -> jax.Array:
        """The d + 2 points of this stage in the region's free coordinates; the last is of no use before a pyramid."""
        spread = self._spread(state)
        free = state.centre + self._room(state, spread) * spread @ state.shape.T
        return jax.vmap(lambda point: point / jnp.maximum(self.region.gauge(point), 1.0))(free)

    def _wanted(self, state: State) -> jax.Array:
        """The counts of the points that this stage samples."""
        return jnp.where(jnp.arange(self.size + 2) <= self.size + state.climbing, state.counts, jnp.inf)

    def _spread(self, state: State) -> jax.Array:
        corners = jnp.where(
            state.climbing, corners_of(state.apex, self.lean, self.reach), self.radius * regular_simplex(self.size)
        )
        return jnp.vstack([corners, jnp.mean(corners, axis=0)])

    def _room(self, state: State, spread: jax.Array) -> jax.Array:
        """How much these points must shrink about the centre. The gauge is convex: the chord's bound is safe."""
        middle = self.region.gauge(state.centre)
        edge = jnp.max(jax.vmap(self.region.gauge)(state.centre + spread @ state.shape.T))
        return jnp.where(edge > 1, jnp.maximum(1 - middle, 0.0) / jnp.maximum(edge - middle, 1e-12), 1.0)

    def _start(self, state: State) -> State:
        """The simplex has its answers: the highest corner carries the first pyramid."""
        corners = self.radius * regular_simplex(self.size)
        best = jnp.arange(self.size + 1)[:, None] == jnp.argmax(_means(state)[:-1])
        return self._climb(state, jnp.sum(jnp.where(best, corners, 0.0), axis=0))

    def _climb(self, state: State, apex: jax.Array) -> State:
        return _fresh(state)._replace(
            climbing=jnp.ones_like(state.climbing), fine=jnp.asarray(0.5 * self.range), apex=apex
        )

    def _judge(self, state: State) -> State:
        """The pyramid has its answers at gamma-hat: cases 1a, 1b, 2a and 2b."""
        low, high = _means(state) - state.fine / 2, _means(state) + state.fine / 2
        corners, top = corners_of(state.apex, self.lean, 1.0), jnp.argmax(low[:-1])
        differ = jnp.max(low[:-1]) >= jnp.min(high[:-1]) + (self.slack + 3) * state.fine
        uphill = jnp.max(low[:-1]) >= high[0] + state.fine
        hollow = high[-1] < jnp.min(low[:-1]) - (self.slack + 5) * state.fine
        higher = jnp.sum(jnp.where(jnp.arange(self.size + 1)[:, None] == top, corners, 0.0), axis=0)
        cut = self._cut_cone(state, raised=~differ)
        level = choose(hollow, cut, self._look_closer(state))
        return choose(differ, choose(uphill, self._climb(state, higher), cut), level)

    def _cut_cone(self, state: State, raised: jax.Array) -> State:
        """Cases 1b and 2b: off with the cone beyond the apex, or beyond the apex of the raised hat."""
        room = self._room(state, self._spread(state))
        lift = jnp.where(raised, self.size / (self.size + 1), 0.0)
        heights, far = heights_of(self.size, self.lean, self.reach, lift), norm(state.apex)
        height = rim(room * far * heights[0], heights[1])
        return self._cut(state, state.apex / far, height)._replace(cuts=state.cuts + 1)

    def _cut(self, state: State, axis: jax.Array, height: jax.Array) -> State:
        """The least ellipsoid around {x in ball: <axis, x> <= height}, and a new epoch in it."""
        shift, along, across = enclosing(self.size, height)
        stretch = across * jnp.eye(self.size) + (along - across) * jnp.outer(axis, axis)
        return _fresh(state)._replace(
            centre=state.centre - shift * state.shape @ axis,
            shape=state.shape @ stretch,
            climbing=jnp.zeros_like(state.climbing),
            level=jnp.asarray(0.5 * self.range),
        )

    def _look_closer(self, state: State) -> State:
        """Case 2a."""
        fine = state.fine / 2
        again = _fresh(state)._replace(climbing=jnp.zeros_like(state.climbing), level=state.level / 2)
        return choose(fine < state.level, again, state._replace(fine=fine))

    def _trim(self, state: State) -> State:
        """Cut the ellipsoid by the region where the region's edge comes close to the centre.

        With g a subgradient of the gauge at c, the region is in {x: gauge(c) + <g, x - c> <= 1}.
        """
        gauge = self.region.gauge(state.centre)
        near = gauge > 0.5
        where = jnp.where(near, state.centre, self.region.inner * jnp.eye(self.size)[0])
        slope = state.shape.T @ jax.grad(self.region.gauge)(where)
        steep = norm(slope)
        height = (1 - gauge) / steep
        return choose(near & (height < 0.5 / self.size), self._cut(state, slope / steep, height), state)


def _means(state: State) -> jax.Array:
    return state.sums / jnp.maximum(state.counts, 1.0)


def _fresh(state: State) -> State:
    """A new set of points, with no answers yet."""
    nothing = jnp.zeros_like(state.counts)
    return state._replace(stage=state.stage + 1, counts=nothing, sums=nothing)


def build(task: Task, noise: Noise) -> Pyramid:
    numbers, tuning = numbers_of(task, noise), task.tuning
    d, c1, c2, reach = numbers["region"].size, float(tuning["c1"]), float(tuning["c2"]), float(tuning["reach"])
    if d < 2:
        raise ConfigurationError(f"{task.learner} needs two free coordinates or more; for one take interval-search")
    if not (c1 > 1 and 0 < c2 < 1 and reach > 0):
        raise ConfigurationError(f"{task.learner} needs c1 > 1, 0 < c2 < 1 and reach > 0, got {c1}, {c2} and {reach}")
    radius, lean = 1 / (c1 * d), c2 / d
    if rim(radius, heights_of(d, lean, reach, 0.0)[1]) >= 1 / d:
        enough = (1 - 1 / c1) / (d - 1)
        raise ConfigurationError(
            f"{task.learner} with c1 = {c1} and c2 = {c2} cuts nothing in {d} dimensions: c2 must be below {enough:.2g}"
        )
    slack = float(tuning["slack"]) * c1 * d**4 / c2**2
    return Pyramid(**numbers, radius=radius, lean=lean, reach=reach, slack=slack)
