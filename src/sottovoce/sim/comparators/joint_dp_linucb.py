"""LinUCB run by a curator with joint differential privacy. The curator is told every x and y.

Shariff and Sheffet, "Differentially private contextual linear bandits" (NeurIPS 2018), Algorithm 1 with Gaussian noise:

    M~_t -> the released tree sum of (x x', y x)    m -> levels    sigma_noise -> entry (deviation of a matrix entry)
    L~^2 = L^2 + B^2 = 2 (rewards are divided by their bound B)    Upsilon -> spectral    beta_t -> the model's width

*Promise.* (epsilon, delta)-joint DP for neighbours that differ in one person's context and reward (replaced): what all
the others see, together, hardly changes. Her own action is shown to her alone and is not protected: protecting it
costs linear regret. *Proof.* One person's message is a point of the domain `Moments`, whose L2 diameter Delta is proved
there (sqrt 2 L~^2 = 2 sqrt 2 for the weight sqrt 2). The models are functions of the tree's noisy nodes, which are
(epsilon, delta)-DP (see `tree`). Every other person's action is a function of a model and her own data, so joint DP
follows (the billboard lemma). In the half-vectorisation (off-diagonal entries times sqrt 2) the published noise
(Z + Z')/sqrt 2 with Z ~ N(0, entry^2) is isotropic with deviation sqrt 2 * entry.

Rule "published" has the constants of the paper: entry^2 = 16 m L~^4 ln(4/delta)^2/epsilon^2 with m = 1 + ceil(log2 T).
Rule "practical" is what a fair comparison should use: the exact Gaussian calibration of the joint message over the
tree's nodes (14 times less noise at epsilon 1, delta 1e-5, 2^14 rounds), and the ridge, width and warm start of the
practical local LinUCB with the noise of the open nodes in place of that of all reports.
Departures: y^2, the last entry of the paper's matrix, is never used and not summed; where noise leaves the published
matrix indefinite (which happens with probability alpha at most) the last model stays.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp

from sottovoce.catalogue.task import Task
from sottovoce.learners.base import Key, Offer, configuration
from sottovoce.learners.contextual.linucb import definite_model, first_model, practical_model
from sottovoce.privacy.domains import Moments, domain_from
from sottovoce.protocol.offers import LinearModel
from sottovoce.sim.comparators.raw import RawAnswer
from sottovoce.sim.comparators.tree import Tree, add, levels_for, normal_scale, open_nodes, released, sprout
from sottovoce.sim.random import normals, sealed, unsealed


class State(NamedTuple):
    tree: Tree
    model: LinearModel


@dataclass(frozen=True, kw_only=True)
class Curator:
    """What both rules share: one noisy tree, fed with raw data."""

    domain: Moments
    levels: int
    growth: float
    scale: float

    def init(self) -> State:
        return State(sprout(self.levels, sum(self.domain.blocks)), first_model(self.domain.dimension))

    def ask(self, state: State, key: Key) -> Offer:
        return Offer(state.model, sealed(key))

    def tell(self, state: State, memo: jax.Array, estimate: RawAnswer) -> State:
        message = self.domain.embed(estimate.features, estimate.reward)
        noise = self.scale * normals(unsealed(memo), message.shape)
        return state._replace(tree=add(state.tree, message, noise))


@configuration("domain", "levels", "growth")
class PublishedJointLinUcb(Curator):
    """The algorithm box, constants included."""

    rounds: float
    alpha: float
    spread: float
    """R: how sub-Gaussian a reward is around its mean."""
    length: float
    """S: the largest norm of theta*."""

    def refresh(self, state: State) -> State:
        d, m, entry = self.domain.dimension, self.levels, self.scale / math.sqrt(2)
        far = jnp.log(2 * self.rounds / self.alpha)
        spectral = entry * math.sqrt(2 * m) * (4 * math.sqrt(d) + 2 * far)
        drift = entry * jnp.sqrt(m / spectral) * (math.sqrt(d) + jnp.sqrt(2 * far))
        grown = jnp.log(3 + state.tree.values / (d * spectral))
        luck = self.spread * jnp.sqrt(2 * jnp.log(2 / self.alpha) + d * grown)
        width = luck + self.length * jnp.sqrt(3 * spectral) + drift
        sums = self.domain.extract(released(state.tree))
        return state._replace(model=definite_model(sums, 2 * spectral, width, state.model))


@configuration("domain", "levels", "growth")
class PracticalJointLinUcb(Curator):
    """The rule for fair comparisons."""

    ridge: float
    bonus: float
    warm: float

    def refresh(self, state: State) -> State:
        ridge = 1 + self.ridge * self.scale * jnp.sqrt(2.0 * self.domain.dimension * open_nodes(state.tree))
        sums = self.domain.extract(released(state.tree))
        return state._replace(model=practical_model(sums, ridge, state.tree.values, self.bonus, self.warm))


def published_entry(levels: int, epsilon: float, delta: float) -> float:
    """sigma_noise of the paper, for ||x|| <= 1 and |y| <= 1.

    >>> round(published_entry(15, 1.0, 1e-5) * math.sqrt(2))
    565
    """
    return math.sqrt(16 * levels) * 2 * math.log(4 / delta) / epsilon


def build(task: Task) -> PublishedJointLinUcb | PracticalJointLinUcb:
    domain = domain_from(task.domain)
    assert isinstance(domain, Moments)
    tuning = dict(task.tuning)
    published = tuning.pop("rule") == "published"
    numbers = {name: float(value) for name, value in tuning.items()}
    if published:
        levels = 1 + math.ceil(math.log2(task.rounds))
        scale = math.sqrt(2) * published_entry(levels, task.epsilon, task.delta)
        numbers |= {"growth": 1.0, "scale": scale, "rounds": float(task.rounds)}
        return PublishedJointLinUcb(domain=domain, levels=levels, **numbers)
    levels = levels_for(task.rounds)
    scale = normal_scale(domain.l2((1.0, 1.0, 1.0)), levels, task.epsilon, task.delta)
    return PracticalJointLinUcb(domain=domain, levels=levels, scale=scale, **numbers)
