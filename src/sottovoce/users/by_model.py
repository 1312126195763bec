"""The users of tasks with a model: they choose on the device, and report statistics or a gradient of the choice."""

from dataclasses import dataclass
from typing import Any

from sottovoce.privacy.domains import Gradient, Moments, shorten
from sottovoce.protocol.links import Link
from sottovoce.protocol.offers import GeneralizedModel, LinearModel


@dataclass(frozen=True)
class LinearUser:
    """The local user of the paper's appendix algorithm: reports x x' and y x of the choice.

    `context` has one row of features per action.

    >>> import numpy as np
    >>> model = LinearModel(np.array([1.0, 0.0]), np.zeros((2, 2)), 0.0, 0.0)
    >>> int(LinearUser(Moments(2)).act(model, np.array([[0.0, 1.0], [0.6, 0.8]]), 0.5))
    1
    """

    domain: Moments

    def act(self, public: LinearModel, context: Any, entropy: Any) -> Any:
        return optimistic_action(public, context, entropy)

    def message(self, public: LinearModel, context: Any, action: Any, reward: Any) -> Any:
        return self.domain.embed(context[action], reward)


@dataclass(frozen=True)
class GeneralizedUser:
    """The local user of a generalised linear task (Zheng et al. 2020, Algorithm 3): reports one gradient.

    The gradient is that of the link's own loss, m(z) - y z with m' = g, at z = <x, anchor>: it is (g(z) - y) x, where y
    is the reward. The domain decides what travels and clips it: with `Moments` one joint report of (x x', gradient),
    with `Gradient` the gradient alone. The paper's third message, z x, is x x' times the public anchor, so the server
    computes it and nobody sends it. `context` has one row of features per action.

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


def optimistic_action(model: LinearModel | GeneralizedModel, context: Any, entropy: Any) -> Any:
    """The action of the highest score, or with probability `explore` any; `entropy` is uniform in [0, 1)."""
    xp = context.__array_namespace__()
    unknown = xp.maximum(xp.sum((context @ model.precision) * context, axis=1), 0.0)
    scores = context @ model.theta + model.width * xp.sqrt(unknown)
    actions = context.shape[0]
    explored = xp.minimum(xp.floor(entropy / xp.maximum(model.explore, 1e-300) * actions), actions - 1)
    return xp.where(entropy < model.explore, explored, xp.argmax(scores)).astype(int)
