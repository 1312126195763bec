"""The user of a linear contextual task: chooses on the device, then reports x x' and y x of the choice."""

from dataclasses import dataclass
from typing import Any

from sottovoce.privacy.domains import Moments
from sottovoce.protocol.offers import GeneralizedModel, LinearModel


@dataclass(frozen=True)
class LinearUser:
    """The local user of the paper's appendix algorithm. `context` has one row of features per action.

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


def optimistic_action(model: LinearModel | GeneralizedModel, context: Any, entropy: Any) -> Any:
    """The action of the highest score, or with probability `explore` any; `entropy` is uniform in [0, 1)."""
    xp = context.__array_namespace__()
    unknown = xp.maximum(xp.sum((context @ model.precision) * context, axis=1), 0.0)
    scores = context @ model.theta + model.width * xp.sqrt(unknown)
    actions = context.shape[0]
    explored = xp.minimum(xp.floor(entropy / xp.maximum(model.explore, 1e-300) * actions), actions - 1)
    return xp.where(entropy < model.explore, explored, xp.argmax(scores)).astype(int)
