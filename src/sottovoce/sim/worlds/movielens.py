"""The world of the authors' published experiment: recommend one of the first movies of MovieLens 100K.

The construction is that of the code published with Zheng et al. 2020 (huang-research-group/LDPbandit2020):

    R = 0.4 (stars - 2.5), persons with at least one rating x the first `arms` movies        R = U diag(s) V'
    feature of (person i, movie j) = u_i * v_j, entry by entry, the first `dimension` entries
    theta* = s, so that <feature, theta*> is the low-rank reconstruction of R at (i, j)

In each round a person is drawn uniformly. The reward is the reconstruction itself, without noise, and regret is against
that person's best movie; with as many dimensions as movies the reconstruction is R.

What to know about it (figures for 20 movies and 20 dimensions); we keep it as it is:
- A movie that a person did not rate counts as 0 stars, so 78 % of the entries have the reward -1, worse than one star.
- Features are made from the ratings that are to be learned, and their length tells a part of these: a learner that is
  told nothing and always takes the longest feature has 47 % of the regret of uniform play (`longest_regret`).
  Optimistic learners do so from their first round, so this has to be beaten, not uniform play.
- Features are short and theta* is long: features have length 0.03 on average and 0.32 at most, and ||theta*|| = 112.
  The analysis wants both at most 1. Noise is made for features of length 1; the published run makes it tiny with
  epsilon = 800,000. With `scale = "unit"` all features are multiplied by one public number so that the longest has
  length 1, and theta* is divided by it: the same problem, nearer to what the noise is made for.
- A reconstruction of low rank may leave [-1, 1]; the device clips it to the reward bound of the contract, the regret
  does not.

`rotate` turns all features and theta* by one random orthogonal matrix, drawn from that seed. Rewards and lengths stay.
Only a learner that profits from the coordinates (theta* is positive and sorted, features are uncorrelated) does worse.
"""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from sottovoce.learners.base import Key, configuration
from sottovoce.protocol.errors import ConfigurationError
from sottovoce.sim.ratings import LICENCE, Ratings, ratings_of


@configuration("dimension", "arms", "source")
class MovieLens:
    """`arms` movies, features of length `dimension`; `movielens_of` loads them."""

    dimension: int
    arms: int
    features: Any
    theta: Any
    source: str

    @property
    def notice(self) -> str:
        """Whose data this is, and on what terms."""
        return f"Data: {self.source}. {LICENCE}"

    def longest_regret(self) -> float:
        """The mean regret of a round if nothing is told and always the longest feature is taken."""
        longest = np.argmax(np.linalg.norm(self.features, axis=2), axis=1)
        rewards = self.features @ self.theta
        return float(np.mean(rewards.max(axis=1) - rewards[np.arange(len(rewards)), longest]))

    def visit(self, round: jax.Array, key: Key) -> jax.Array:
        return jnp.asarray(self.features)[jax.random.randint(key, (), 0, len(self.features))]

    def outcome(self, context: jax.Array, action: jax.Array, key: Key) -> jax.Array:
        return context[action] @ self.theta

    def regret(self, context: jax.Array, action: jax.Array) -> jax.Array:
        rewards = context @ self.theta
        return jnp.max(rewards) - rewards[action]


def movielens_of(
    *, dimension: int, arms: int, path: str = "", rotate: float | None = None, scale: str = "authors"
) -> MovieLens:
    """The world of these movies; `path` is a file or folder of one's own, without it recbole's is taken."""
    features, theta, source = _loaded(path, arms, dimension)
    if scale == "unit":
        longest = np.linalg.norm(features, axis=2).max()
        features, theta = features / longest, theta * longest
    if rotate is not None:
        turn = rotation(dimension, int(rotate))
        features, theta = features @ turn, theta @ turn
    return MovieLens(dimension=dimension, arms=arms, features=features, theta=theta, source=source)


@functools.lru_cache(maxsize=4)
def _loaded(path: str, arms: int, dimension: int) -> tuple[NDArray[np.float64], NDArray[np.float64], str]:
    """Features, theta* and where they come from. A study builds its world several times."""
    ratings = ratings_of(path)
    return *factors(rewards_of(ratings, arms), dimension), ratings.source


def rewards_of(ratings: Ratings, movies: int) -> NDArray[np.float64]:
    """Rewards in [-1, 1], a row for each person who rated one of the first movies; not rated is -1.

    >>> rewards_of(Ratings(np.array([1, 3]), np.array([2, 1]), np.array([5.0, 3.0]), "made up"), 2).round(1).tolist()
    [[-1.0, 1.0], [0.2, -1.0]]
    """
    known = int(ratings.movies.max(initial=0))
    if movies > known:
        raise ConfigurationError(f"world movielens has {known} movies, got {movies}")
    stars = np.zeros((int(ratings.users.max()), known))
    stars[ratings.users - 1, ratings.movies - 1] = ratings.stars
    first = stars[:, :movies]
    return 0.4 * (first[first.sum(axis=1) > 0] - 2.5)


def factors(rewards: NDArray[np.float64], rank: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Features (persons, movies, rank) and theta* with <feature, theta*> = the reconstruction of this rank.

    >>> features, theta = factors(np.array([[3.0, 0.0], [0.0, 1.0], [0.0, 0.0]]), 2)
    >>> (features @ theta).round(9).tolist()
    [[3.0, 0.0], [0.0, 1.0], [0.0, 0.0]]
    """
    if rank > min(rewards.shape):
        persons, movies = rewards.shape
        raise ConfigurationError(f"{persons} persons and {movies} movies have no features of length {rank}")
    left, values, right = np.linalg.svd(rewards, full_matrices=False)
    return left[:, None, :rank] * right.T[None, :, :rank], values[:rank]


def rotation(dimension: int, seed: int) -> NDArray[np.float64]:
    """A random orthogonal matrix, uniform: QR of a Gaussian matrix with the signs of R taken out."""
    orthogonal, triangle = np.linalg.qr(np.random.default_rng(seed).normal(size=(dimension, dimension)))
    return orthogonal * np.sign(np.diag(triangle))
