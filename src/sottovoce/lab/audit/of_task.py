"""The very gates of a live task as subjects of an audit, with the two people whose messages are farthest apart."""

import math
from pathlib import Path

import numpy as np

from sottovoce.catalogue.resolve import contract_of
from sottovoce.catalogue.task_file import load_task_file
from sottovoce.lab.audit.subjects import Raw, Subject
from sottovoce.privacy.domains import Ball, Domain, Gradient, Interval, Moments
from sottovoce.privacy.gates import mechanisms_of
from sottovoce.protocol.contract import contract_from
from sottovoce.protocol.errors import ConfigurationError


def task_subjects(path: Path) -> list[Subject]:
    """A subject for each gate that devices may answer through: the task's own budget, and the quieter ones."""
    mechanisms = mechanisms_of(contract_from(contract_of(load_task_file(path))))
    return [Subject(mechanism=mechanism, people=most_different(mechanism.domain)) for mechanism in mechanisms]


def most_different(domain: Domain) -> tuple[Raw, Raw]:
    """Two people whose messages are as far apart as the domain allows.

    >>> most_different(Interval(1.0, 5.0))
    ((1.0,), (5.0,))
    """
    match domain:
        case Interval(low=low, high=high):
            return (low,), (high,)
        case Ball(dimension=d, bound=bound):  # opposite corners: far apart in L1 too
            corner = np.full(d, bound / math.sqrt(d))
            return (tuple(corner),), (tuple(-corner),)
        case Gradient(dimension=d, bound=bound):
            corner = tuple(np.full(d, 1 / math.sqrt(d)))
            return (corner, bound), (corner, -bound)
        case Moments(dimension=d, reward_bound=bound, weight=weight):  # features at the angle of `Moments.l2`
            cosine = min(weight**2 / 2, 1.0) if d > 1 else 1.0
            first, second = np.zeros(d), np.zeros(d)
            first[0], second[: min(d, 2)] = 1.0, (cosine, math.sqrt(1 - cosine**2))[: min(d, 2)]
            return (tuple(first), bound), (tuple(second), -bound)
        case _:
            raise ConfigurationError(f"no two people are known for {domain}")
