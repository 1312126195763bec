"""The server half: it sees estimates made from private reports, never raw data."""

from collections.abc import Callable

from sottovoce.catalogue.algorithms import algorithm_of
from sottovoce.catalogue.task import Task
from sottovoce.learners.arms import exp3, kl_ucb, thompson, tsallis_inf, ucb
from sottovoce.learners.base import Learner
from sottovoce.learners.contextual import glm, gradient, linucb, scale_free
from sottovoce.learners.convex import (
    agarwal_dekel_xiao,
    fkm,
    hazan_levy,
    interval_search,
    multi_point,
    newton,
    pyramid,
    saha_tewari,
)
from sottovoce.learners.convex.regions import region_of
from sottovoce.learners.drift import following
from sottovoce.learners.pure_exploration import clucb, lil_ucb, sequential_halving, successive_rejects, top_two
from sottovoce.learners.uniform import UniformArms, UniformContext, UniformPoints
from sottovoce.privacy.noise import Noise
from sottovoce.protocol.errors import UnknownName

LEARNERS: dict[str, Callable[[Task, Noise], Learner]] = {
    "tsallis-inf": tsallis_inf.build,
    "exp3": exp3.build,
    "ucb": ucb.build,
    "kl-ucb": kl_ucb.build,
    "kl-ucb-plus-plus": kl_ucb.build,
    "kl-moss": kl_ucb.build,
    "thompson": thompson.build,
    "lil-ucb": lil_ucb.build,
    "top-two": top_two.build,
    "sequential-halving": sequential_halving.build,
    "successive-rejects": successive_rejects.build,
    "clucb": clucb.build,
    "linucb": linucb.build,
    "glm": glm.build,
    "gradient": gradient.build,
    "scale-free": scale_free.build,
    "fkm": fkm.build,
    "agarwal-dekel-xiao": agarwal_dekel_xiao.build,
    "saha-tewari": saha_tewari.build,
    "hazan-levy": hazan_levy.build,
    "newton": newton.build,
    "interval-search": interval_search.build,
    "pyramid": pyramid.build,
    "two-point": multi_point.build,
    "two-point-strong": multi_point.build,
    "k-point": multi_point.build,
    "d-plus-one-point": multi_point.build,
}


def learner_of(task: Task, noise: Noise) -> Learner:
    """The learner that a task declares, told what the noise is like.

    >>> from sottovoce import noise_of, task
    >>> from sottovoce.catalogue.resolve import mechanism_of
    >>> contract = task("kl-ucb", arms=3, rounds=10, epsilon=1.0)
    >>> learner_of(contract, noise_of(mechanism_of(contract))).arms
    3
    """
    if task.learner not in LEARNERS:
        raise UnknownName("learner", task.learner, LEARNERS)
    return following(LEARNERS[task.learner](task, noise), task, noise)


def uniform_of(task: Task) -> Learner:
    """Uniform play in the setting of a task."""
    match algorithm_of(task.learner).actions:
        case "features":
            return UniformContext(dimension=task.dimension)
        case "points":
            region = region_of(task.region, task.dimension)
            pairs = int(task.domain.get("dimension", 1)) if task.user == "slope" else 0
            return UniformPoints(region=region, copies=2 * pairs)
        case _:
            return UniformArms(arms=task.arms)
