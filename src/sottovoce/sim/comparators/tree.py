"""Sums that are published after every round, by a curator who is told everything: the binary tree mechanism.

Dwork, Naor, Pitassi and Rothblum, "Differential privacy under continual observation" (STOC 2010); Chan, Shi and Song,
"Private and continual release of statistics" (ICALP 2010). With the lowest set bit of t being bit i, a node closes at
time t that covers the last 2^i values; the sum after t rounds is the sum of the nodes at the set bits of t.

*Promise.* A value lies in one node per level, so in at most `levels` nodes (`levels_for`: the bits of the horizon), and
all that is ever published is a function of the noisy nodes. If replacing one person moves her value by at most Delta,
it moves the vector of all nodes by at most sqrt(levels) Delta in L2, and the sum of the L2 (or L1) norms of its parts
by levels * Delta. Node noise N(0, levels Delta^2 kappa(epsilon, delta)^2) gives (epsilon, delta)-DP (`normal_scale`),
noise of density ~ exp(-epsilon ||z||/(levels Delta)) gives epsilon-DP (`radial`). Later values may depend on earlier
releases: given these, the next node is one more Gaussian (or radial) step of the same size, and adaptive composition of
such steps costs no more than all at once.

Neighbours differ in one person's record (replaced). Only the noise of open nodes is kept: their exact parts add up to
the running total. Past the capacity of 2^levels - 1 values nothing more is added, because nothing could hide it.
"""

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp

from sottovoce.learners.base import Key, choose
from sottovoce.learners.convex.regions import on_sphere
from sottovoce.privacy.grid.delta import gaussian_scale


class Tree(NamedTuple):
    total: jax.Array
    noise: jax.Array
    """A row per level: the noise of the node that is open there, or zero."""
    values: jax.Array
    """How many have been added."""


def levels_for(rounds: int) -> int:
    """How many nodes one value can be in.

    >>> [levels_for(rounds) for rounds in (1, 2, 3, 4, 1000)]
    [1, 2, 2, 3, 10]
    """
    return rounds.bit_length()


def sprout(levels: int, size: int) -> Tree:
    """A tree without values."""
    return Tree(jnp.zeros(size), jnp.zeros((levels, size)), jnp.zeros((), int))


def add(tree: Tree, value: jax.Array, noise: jax.Array) -> Tree:
    """One more value; `noise` is that of the node it closes."""
    levels = len(tree.noise)
    count = tree.values + 1
    level = jnp.arange(levels)
    closing = jnp.sum(jnp.where(count % 2 ** (level + 1) == 0, 1, 0))
    above = jnp.where((level > closing)[:, None], tree.noise, 0.0)
    after = Tree(tree.total + value, above + jnp.where((level == closing)[:, None], noise, 0.0), count)
    return choose(tree.values >= 2**levels - 1, tree, after)


def released(tree: Tree) -> jax.Array:
    """The sum that everybody may see."""
    return tree.total + jnp.sum(tree.noise, axis=0)


def open_nodes(tree: Tree) -> jax.Array:
    """How many noises the released sum carries: the set bits of the count."""
    bits = jnp.arange(len(tree.noise))
    return jnp.sum((tree.values >> bits) & 1)


def normal_scale(sensitivity: float, levels: int, epsilon: float, delta: float) -> float:
    """The deviation of a node's normal noise in every coordinate; `sensitivity` is in L2.

    >>> round(normal_scale(1.0, 9, 1.0, 1e-5) / normal_scale(1.0, 1, 1.0, 1e-5), 6)
    3.0
    """
    return math.sqrt(levels) * sensitivity * gaussian_scale(epsilon, delta)


def radial_scale(sensitivity: float, levels: int, epsilon: float) -> float:
    """The scale of a node's radial noise; `sensitivity` is in L2.

    >>> radial_scale(1.0, 9, 1.0)
    9.0
    """
    return levels * sensitivity / epsilon


def radial(key: Key, size: int) -> jax.Array:
    """Noise of density ~ exp(-||z||): a uniform direction, and a length with the Gamma(size) law."""
    way, far = jax.random.split(key)
    length = -jnp.sum(jnp.log1p(-jax.random.uniform(far, (size,))))
    return length * on_sphere(way, size)
