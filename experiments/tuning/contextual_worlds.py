"""The worlds that the constants of the contextual default were chosen in. No benchmark and no real data is among them.

Features are long or short, spread evenly or not, around zero or not, of the action alone or of the action times the
person; rewards are exact, noisy, or yes and no, with means in the middle or near an end. In every seed all features and
theta* are turned by one random rotation, so nothing can be gained from the coordinates.
"""

import dataclasses
import math
from typing import Any

import jax
import jax.numpy as jnp

from sottovoce.learners.base import Key, configuration
from sottovoce.sim.worlds.base import Drawn

CONSTANT = 0.45
"""The feature that is the same for all, where rewards have a base."""
SPREAD = 7919
"""A prime number: sets take turns, and not in the rhythm of anything else."""


@configuration("dimension", "arms", "sets")
class Everyday:
    """One such world; flags are 0 or 1."""

    dimension: int
    arms: int
    length: float = 1.0
    """Of a feature: exactly where `unit`, else about; never above 1."""
    unit: float = 0.0
    products: float = 0.0
    """Are features those of the action times those of the person, entry by entry?"""
    fixed: float = 0.0
    """Does everybody see the same actions?"""
    sets: int = 1
    """Or one of so many sets of actions, each as often as the others?"""
    spread: float = 1.0
    """Deviations of the coordinates fall from 1 to this."""
    centre: float = 0.0
    """How far from zero the middle of the features is, in deviations."""
    base: float = 0.0
    """What an average action is worth; a constant feature carries it."""
    size: float = 1.0
    """The length of theta*, without the base."""
    noise: float = -1.0
    """Deviation of the reward; -1 for rewards of plus or minus one."""
    theta: Drawn = None
    rotation: Drawn = None
    middle: Drawn = None
    actions: Drawn = None

    def sample(self, key: Key) -> "Everyday":
        d, keys = self.dimension, jax.random.split(key, 4)
        theta = self.size * _unit(jax.random.normal(keys[0], (d,)))
        has_base = self.base != 0
        theta = jnp.where(has_base, theta.at[-1].set(self.base / CONSTANT), theta)
        rotation = jnp.linalg.qr(jax.random.normal(keys[1], (d, d)))[0]
        middle = self.centre * jax.random.normal(keys[2], (d,))
        actions = jax.random.normal(keys[3], (self.sets, self.arms, d))
        return dataclasses.replace(self, theta=theta @ rotation, rotation=rotation, middle=middle, actions=actions)

    def visit(self, round: jax.Array, key: Key) -> jax.Array:
        d, (first, second) = self.dimension, jax.random.split(key)
        shown = self.actions[round * SPREAD % self.sets]
        drawn = jnp.where(self.fixed > 0, shown, jax.random.normal(first, (self.arms, d)))
        features = jnp.where(self.products > 0, drawn * jax.random.normal(second, (d,)), drawn)
        features = features * self.spread ** jnp.linspace(0.0, 1.0, d) + self.middle
        features = self.length * jnp.where(self.unit > 0, _unit(features), features / math.sqrt(d))
        rest = math.sqrt(1 - CONSTANT**2)
        with_base = _cut(rest * features.at[:, -1].set(0.0), rest).at[:, -1].set(CONSTANT)
        return jnp.where(self.base != 0, with_base, _cut(features, 1.0)) @ self.rotation

    def means(self, context: jax.Array) -> jax.Array:
        return jnp.clip(context @ self.theta, -1.0, 1.0)

    def outcome(self, context: jax.Array, action: jax.Array, key: Key) -> jax.Array:
        mean, (first, second) = self.means(context)[action], jax.random.split(key)
        sign = jnp.where(jax.random.uniform(first) < (1 + mean) / 2, 1.0, -1.0)
        number = jnp.clip(mean + jnp.maximum(self.noise, 0.0) * jax.random.normal(second), -1.0, 1.0)
        return jnp.where(self.noise < 0, sign, number)

    def regret(self, context: jax.Array, action: jax.Array) -> jax.Array:
        means = self.means(context)
        return jnp.max(means) - means[action]


@configuration("dimension", "arms", "persons", "kinds")
class MadeUpRatings:
    """Persons who rate few items or many, with stars that follow their tastes; not rated is the worst reward.

    Features are the products of the factors of the matrix of ratings, so rewards follow exactly from them. Who rates
    much has long features, and few do.
    """

    dimension: int
    arms: int
    persons: int = 900
    kinds: int = 3
    """Of taste."""
    rated: float = 0.1
    """The share of items that a typical person rates."""
    uneven: float = 2.0
    """How much that differs, in the logarithm of the odds: between persons, and between items."""
    features: Drawn = None
    theta: Drawn = None

    def sample(self, key: Key) -> "MadeUpRatings":
        d, keys = self.dimension, jax.random.split(key, 6)
        tastes = jax.random.normal(keys[0], (self.persons, self.kinds))
        items = jax.random.normal(keys[1], (self.arms, self.kinds))
        liked = 3.3 + 0.5 * tastes @ items.T + 0.5 * jax.random.normal(keys[2], (self.persons, self.arms))
        popular, busy = jax.random.normal(keys[3], (self.arms,)), jax.random.normal(keys[4], (self.persons, 1))
        chance = jax.nn.sigmoid(jnp.log(self.rated / (1 - self.rated)) + self.uneven * (popular + busy))
        seen = jax.random.uniform(keys[5], chance.shape) < chance
        rewards = jnp.where(seen, 0.4 * (jnp.clip(jnp.round(liked), 1.0, 5.0) - 2.5), -1.0)
        left, values, right = jnp.linalg.svd(rewards, full_matrices=False)
        rotation = jnp.linalg.qr(jax.random.normal(key, (d, d)))[0]
        features = left[:, None, :d] * right.T[None, :, :d]
        return dataclasses.replace(self, features=features @ rotation, theta=values[:d] @ rotation)

    def visit(self, round: jax.Array, key: Key) -> jax.Array:
        return self.features[jax.random.randint(key, (), 0, self.persons)]

    def outcome(self, context: jax.Array, action: jax.Array, key: Key) -> jax.Array:
        return context[action] @ self.theta

    def regret(self, context: jax.Array, action: jax.Array) -> jax.Array:
        means = context @ self.theta
        return jnp.max(means) - means[action]


def _unit(vectors: jax.Array) -> jax.Array:
    return vectors / jnp.linalg.norm(vectors, axis=-1, keepdims=True)


def _cut(vectors: jax.Array, bound: float) -> jax.Array:
    return vectors / jnp.maximum(1.0, jnp.linalg.norm(vectors, axis=-1, keepdims=True) / bound)


SHAPES: dict[int, dict[str, int]] = {d: {"dimension": d, "arms": arms} for d, arms in ((5, 10), (10, 10), (20, 20))}
NUMBERS: dict[str, tuple[int, dict[str, Any]]] = {
    "isotropic": (5, {"unit": 1}),
    "short": (5, {"unit": 1, "length": 0.1, "size": 8, "noise": 0}),
    "skewed": (5, {"length": 0.7, "spread": 0.2, "centre": 1}),
    "faint": (5, {"unit": 1, "size": 0.4}),
    "faint, skewed": (5, {"length": 0.7, "spread": 0.2, "centre": 1, "size": 0.4}),
    "rare": (5, {"length": 1.1, "spread": 0.5, "base": -0.85, "size": 0.3}),
    "ill-conditioned": (10, {"length": 3, "spread": 0.01}),
    "products": (10, {"products": 1, "length": 0.3, "size": 2, "noise": 0}),
    "products, noisy": (10, {"products": 1, "length": 0.3, "size": 2, "noise": 0.3}),
    "common": (10, {"length": 1.6, "spread": 0.2, "base": 0.7, "size": 0.5}),
    "skewed 10": (10, {"length": 0.6, "spread": 0.1, "centre": 1}),
    "isotropic 20": (20, {"unit": 1}),
    "products 20": (20, {"products": 1, "length": 0.2, "spread": 0.2, "size": 3, "noise": 0}),
    "products 20, noisy": (20, {"products": 1, "length": 0.2, "spread": 0.2, "size": 3, "noise": 0.3}),
    "rare 20": (20, {"products": 1, "length": 2.2, "spread": 0.3, "base": -0.8, "size": 0.5}),
    "skewed 20": (20, {"products": 1, "length": 0.45, "spread": 0.1, "centre": 0.5, "size": 2}),
    "exact": (5, {"unit": 1, "noise": 0}),
    "skewed, exact": (5, {"length": 0.7, "spread": 0.2, "centre": 1, "noise": 0}),
    "products 20, large rewards": (20, {"products": 1, "length": 0.2, "spread": 0.3, "size": 9, "noise": 0}),
    "catalogue, large rewards": (
        20,
        {"products": 1, "fixed": 1, "length": 0.2, "spread": 0.1, "centre": 0.3, "size": 9, "noise": 0},
    ),
    "fixed": (5, {"unit": 1, "fixed": 1}),
    "fixed 10": (10, {"unit": 1, "fixed": 1}),
    "fixed, noisy": (10, {"fixed": 1, "length": 0.3, "size": 2, "noise": 0.3}),
    "fixed 20": (20, {"unit": 1, "fixed": 1}),
}
RETURNING: dict[str, tuple[int, dict[str, Any]]] = {
    "two sets": (5, {"unit": 1, "fixed": 1, "sets": 2}),
    "four sets, short": (10, {"fixed": 1, "sets": 4, "length": 0.3, "size": 2, "noise": 0.3}),
    "six sets, skewed": (10, {"fixed": 1, "sets": 6, "length": 0.6, "spread": 0.1, "centre": 1}),
    "three sets, faint": (5, {"unit": 1, "fixed": 1, "sets": 3, "size": 0.4}),
    "twelve sets": (20, {"unit": 1, "fixed": 1, "sets": 12}),
} | {name: numbers for name, numbers in NUMBERS.items() if name.startswith("fixed")}
"""Worlds in which a few sets of candidates come again and again."""
WORLDS: dict[str, Everyday | MadeUpRatings] = {
    name: Everyday(**SHAPES[d], **numbers) for name, (d, numbers) in NUMBERS.items()
}
WORLDS |= {
    "ratings": MadeUpRatings(**SHAPES[20]),
    "ratings, dense": MadeUpRatings(**SHAPES[20], rated=0.25, uneven=1.2),
    "ratings, uneven": MadeUpRatings(**SHAPES[20], rated=0.15, uneven=3.0),
    "ratings 12": MadeUpRatings(dimension=12, arms=20, rated=0.15, uneven=1.5),
    "ratings, many kinds": MadeUpRatings(**SHAPES[20], kinds=8, rated=0.2, uneven=1.5),
}
