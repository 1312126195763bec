"""The regret bounds of Zheng et al. 2020 with every constant written out, and the lower bound for private arms.

The theorems hide constants and logarithms behind O~. Their proofs do not: they put the noisy range of the losses (or
their noisy slope) into the bound of the black box. So the constants here are those of the boxes, at preset `paper`:

    sigma   the deviation of the noise, as in the algorithm box
    C       B + sigma sqrt(2 ln 2T^2): within it every noisy loss lies, but with probability 1/T (proof of theorem 3)
    2 B     what that event costs

Where the printed proof leaves a constant open, the docstring says what stands here instead.
"""

import math
from typing import cast

import jax.numpy as jnp

from sottovoce.catalogue.task import Task
from sottovoce.learners.contextual.glm import ConfidentGlm
from sottovoce.protocol.links import link_of
from sottovoce.sim.halves import halves

HALF = 0.5
"""B: losses in [0, 1] lie within B of their middle."""


def classical_sigma(task: Task, sensitivity: float) -> float:
    """The Gaussian mechanism of the paper's preliminaries.

    >>> from sottovoce import task
    >>> asked = task("fkm", "paper", dimension=2, rounds=10, epsilon=2.0, delta=1e-5)
    >>> round(classical_sigma(asked, 1.0), 4)
    2.4224
    """
    return sensitivity * math.sqrt(2 * math.log(1.25 / task.delta)) / task.epsilon


def noisy_range(task: Task) -> float:
    """C of theorem 3."""
    return HALF + classical_sigma(task, 2 * HALF) * math.sqrt(2 * math.log(2 * task.rounds**2))


def flaxman(task: Task) -> float:
    """2 T^(3/4) sqrt(3 R d C (G + C/r)) + 2 B: Flaxman, Kalai and McMahan 2005, theorem 2, on the unit ball."""
    c, steepness = noisy_range(task), float(task.tuning["steepness"])
    return 2 * task.rounds**0.75 * math.sqrt(3 * task.dimension * c * (steepness + c)) + 2 * HALF


def agarwal_dekel_xiao(task: Task) -> float:
    """3/2^(2/3) A^(1/3) (T b)^(2/3) + 2 B with A = d^2 C^2 (1 + ln T)/(2 mu) and b = 3 G + 2 C/r; worked out here."""
    c, t = noisy_range(task), task.rounds
    spread = (task.dimension * c) ** 2 * (1 + math.log(t)) / (2 * float(task.tuning["strength"]))
    bias = 3 * float(task.tuning["steepness"]) + 2 * c
    return 3 / 2 ** (2 / 3) * spread ** (1 / 3) * (t * bias) ** (2 / 3) + 2 * HALF


def saha_tewari(task: Task) -> float:
    """3/2^(2/3) a^(2/3) b^(1/3) + 2 B, a = 2 d C sqrt(2 T ln T), b = T beta D^2/4; worked out here, ball, nu = 1."""
    c, t = noisy_range(task), task.rounds
    spread = 2 * task.dimension * c * math.sqrt(2 * t * math.log(t))
    bias = t * float(task.tuning["smoothness"])
    return 3 / 2 ** (2 / 3) * spread ** (2 / 3) * bias ** (1 / 3) + 2 * HALF


def hazan_levy(task: Task) -> float:
    """4 d C sqrt((nu + 2 beta/mu) T ln T) + 2 C + G D: Hazan and Levy 2014, on the unit ball, nu = 1."""
    c, t, tuning = noisy_range(task), task.rounds, task.tuning
    condition = 1 + 2 * float(tuning["smoothness"]) / float(tuning["strength"])
    return 4 * task.dimension * c * math.sqrt(condition * t * math.log(t)) + 2 * c + 2 * float(tuning["steepness"])


def noisy_slope(task: Task) -> float:
    """G + sigma sqrt d of theorem 6; slopes in [-1, 1]."""
    return 1 + classical_sigma(task, 2.0) * math.sqrt(task.dimension)


def two_point(task: Task) -> float:
    """(R^2 + d^2 G~^2) sqrt(T)/2 + G~ ln T (3 + R/r) + 2 B, on the unit ball, where losses are within B = 1."""
    slope, t = noisy_slope(task), task.rounds
    return (1 + (task.dimension * slope) ** 2) * math.sqrt(t) / 2 + 4 * slope * math.log(t) + 2


def two_point_strong(task: Task) -> float:
    """d^2 G~^2 (1 + ln T)/(2 mu) + G~ ln T (3 + R/r) + 2 B, likewise."""
    slope, logarithm = noisy_slope(task), math.log(task.rounds)
    first = (task.dimension * slope) ** 2 * (1 + logarithm) / (2 * float(task.tuning["strength"]))
    return first + 4 * slope * logarithm + 2


def linucb(task: Task) -> float:
    """2 + 2 beta_T sqrt(2 d T ln(1 + T/(d Upsilon_1))): the width of the box, and the sum of the widths of actions.

    The paper refers to Shariff and Sheffet 2018 for the second factor; this is the usual argument, with the smallest
    regularisation that the box ever has.
    """
    d, t, alpha = task.dimension, task.rounds, float(task.tuning["alpha"])
    sigma = 6 * math.sqrt(2 * math.log(2.5 / task.delta)) / task.epsilon
    first = sigma * (4 * math.sqrt(d) + 2 * math.log(2 * t / alpha))
    last = first * math.sqrt(t)
    bias = math.sqrt(3 * last) + sigma * math.sqrt(d * t / last)
    width = 2 * sigma * math.sqrt(d * math.log(t)) + bias * d * math.log(t)
    return 2 + 2 * width * math.sqrt(2 * d * t * math.log1p(t / (d * first)))


def glm(task: Task) -> float:
    """The same with the width of preset `explicit`, times the steepness of the link: theorem 10 hides beta's constant.

    The squared lengths of the noisy gradients, which the width is made of, are taken at their mean.
    """
    learner, link = cast(ConfidentGlm, halves(task).learner), link_of(task.tuning)
    d, t = task.dimension, task.rounds
    squares = t * (link.residual**2 + d * learner.gradient_noise**2)
    spectral = learner.spread * math.sqrt(t)
    state = learner.init()._replace(reports=jnp.asarray(float(t)), squares=jnp.asarray(squares))
    width = float(learner.width(state, jnp.asarray(2 * spectral), jnp.asarray(spectral)))
    return 2 + 2 * STEEPEST[link.name] * width * math.sqrt(2 * d * t * math.log1p(t / (d * learner.spread)))


STEEPEST = {"logistic": 0.25}
"""The largest slope of a link, G of theorem 10."""


def tsallis_adversarial(task: Task) -> float:
    """2 C (4 sqrt(K T) + 1) + 2 B: Zimmert and Seldin 2021, importance weighting, on losses stretched by 2 C."""
    return 2 * noisy_range(task) * (4 * math.sqrt(task.arms * task.rounds) + 1) + 2 * HALF


def tsallis_stochastic(task: Task, gap: float) -> float:
    """4 C^2 (K - 1)(4 ln T + 12)/gap + 2 B: the leading term of the same paper's stochastic bound, likewise."""
    leading = (task.arms - 1) * (4 * math.log(task.rounds) + 12) / gap
    return 4 * noisy_range(task) ** 2 * leading + 2 * HALF


def private_arms_at_least(task: Task) -> float:
    """What every epsilon-locally private learner loses in some world of K arms: sqrt((K - 1) T/c)/37.3.

    The form is that of Basu, Dimitrakakis and Tossou 2019 (arXiv 1905.12298), c = min(4, e^(2 epsilon))
    (e^epsilon - 1)^2; the constant is worked out here. One arm is better by g, and in a second world the arm that is
    played least is better by 2 g. Reports of rewards whose laws differ by 2 g in total variation have a divergence of
    at most c (2 g)^2 (Duchi, Jordan and Wainwright 2018), and that arm is played at most T/(K - 1) times. With
    g^2 = (K - 1)/(8 c T) all reports together have a divergence of at most 1/2, and by Bretagnolle and Huber one of
    the two worlds costs at least T g/8 e^(-1/2). Private reports tell no more than the rewards, so c is at most 4,
    that of chances near 1/2.
    """
    noise = min(4.0, min(4.0, math.exp(2 * task.epsilon)) * math.expm1(task.epsilon) ** 2)
    gap = math.sqrt((task.arms - 1) / (8 * noise * task.rounds))
    return task.rounds * gap / 8 * math.exp(-0.5)
