"""The user of a generalised linear task: chooses on the device, then reports one gradient.

Zheng et al. 2020, Algorithm 3, on the person's side. The gradient is that of the link's own loss, m(z) - y z with
m' = g, at z = <x, anchor>: it is (g(z) - y) x, where y is the reward. The domain decides what travels and clips it:

- `Moments`: one joint report of (x x', gradient). The paper's third message, z x, is x x' times the public anchor, so
  the server computes it and nobody sends it.
- `Gradient`: the gradient alone.
"""

from dataclasses import dataclass
from typing import Any

from sottovoce.privacy.domains import Gradient, Moments, shorten
from sottovoce.protocol.links import Link
from sottovoce.protocol.offers import GeneralizedModel
from sottovoce.users.linear import optimistic_action


@dataclass(frozen=True)
class GeneralizedUser:
    """`context` has one row of features per action.

    >>> import numpy as np
    >>> model = GeneralizedModel(np.ones(2), np.zeros((2, 2)), 0.0, 0.0, np.zeros(2))
    >>> user = GeneralizedUser(Gradient(2, 0.75), Link("logistic"))
    >>> user.message(model, np.array([[0.0, 1.0], [0.6, 0.8]]), 1, 0.0)   # half a reward was expected, none came
    array([0.3, 0.4])
    """

    domain: Moments | Gradient
    link: Link

    def act(self, public: GeneralizedModel, context: Any, entropy: Any) -> Any:
        return optimistic_action(public, context, entropy)

    def message(self, public: GeneralizedModel, context: Any, action: Any, reward: Any) -> Any:
        xp, features = context.__array_namespace__(), context[action]
        expected = self.link.mean(xp, shorten(xp, features, 1.0) @ public.anchor)
        return self.domain.embed(features, expected - reward)
