"""How many candidates, how large a cap, and with which weights."""

from functools import lru_cache

import numpy as np

from sottovoce.privacy.domains import Domain, size
from sottovoce.privacy.sphere.law import sphere_mean
from sottovoce.privacy.sphere.mechanism import Sphere
from sottovoce.privacy.weights import weights
from sottovoce.protocol.budget import Budget


@lru_cache(maxsize=512)
def sphere(domain: Domain, budget: Budget) -> Sphere:
    """The codebook whose cap is the best for this budget and dimension.

    >>> from sottovoce.privacy.domains import Ball
    >>> sphere(Ball(5), Budget(1.0)).candidates
    256
    """
    inside, outside = weights(budget.epsilon)
    candidates = next((n for limit, n in ((4, 256), (8, 1024), (10, 4096)) if budget.epsilon <= limit), 16384)
    dimension = size(domain) + 1
    caps = sorted({max(1, round(candidates * share)) for share in np.geomspace(0.6 / candidates, 0.5, 60)})
    best = max(caps, key=lambda m: sphere_mean(dimension, candidates, m, inside / outside))
    mean = sphere_mean(dimension, candidates, best, inside / outside)
    return Sphere(domain, budget, candidates, best, inside, outside, mean)
