"""The users of tasks with a model: they choose on the device, and report statistics or a gradient of the choice."""

import math
from dataclasses import dataclass
from typing import Any

from sottovoce.privacy.domains import Direction, Gradient, Moments, Relabelled, shorten, unit
from sottovoce.protocol.links import Link
from sottovoce.protocol.offers import DirectedModel, GeneralizedModel, LinearModel


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
    is the reward. The domain decides what travels and clips it: with `Relabelled` the paper's three messages x x', z x
    and the gradient; with `Moments` x x' and the gradient, as the server can multiply x x' by the public anchor itself;
    with `Gradient` the gradient alone. `context` has one row of features per action.

    >>> import numpy as np
    >>> model = GeneralizedModel(np.ones(2), np.zeros((2, 2)), 0.0, 0.0, np.zeros(2))
    >>> user = GeneralizedUser(Gradient(2, 0.75), Link("logistic"))
    >>> user.message(model, np.array([[0.0, 1.0], [0.6, 0.8]]), 1, 0.0)   # half a reward was expected, none came
    array([0.3, 0.4])
    """

    domain: Relabelled | Moments | Gradient
    link: Link

    def act(self, public: GeneralizedModel, context: Any, entropy: Any) -> Any:
        return optimistic_action(public, context, entropy)

    def message(self, public: GeneralizedModel, context: Any, action: Any, reward: Any) -> Any:
        xp, features = context.__array_namespace__(), context[action]
        predicted = shorten(xp, features, 1.0) @ public.anchor
        residual = self.link.mean(xp, predicted) - reward
        if isinstance(self.domain, Relabelled):
            return self.domain.embed(features, residual, predicted)
        return self.domain.embed(features, residual)


@dataclass(frozen=True)
class DirectedUser:
    """The local user of a scale-free task: reports the direction of the features and how wrong the anchor was.

    No length is declared for features: only their direction is reported, so short ones are heard as well as long ones.
    `context` has one row of features per action.

    >>> import numpy as np
    >>> model = DirectedModel(np.ones(2), 0.0, np.array([0.0, 2.0]), 0.5, 0.0, 0.0, 0.0)
    >>> user = DirectedUser(Direction(2), Link("identity"))
    >>> rows = np.array([[0.0, 0.2], [0.1, 0.0]])
    >>> user.message(model, rows, 0, 0.6)   # 0.4 was expected: 0.2 more came, which is 0.4 of the clip
    array([ 0. ,  0.4, -0.2])
    """

    domain: Direction
    link: Link

    def act(self, public: DirectedModel, context: Any, entropy: Any) -> Any:
        xp = context.__array_namespace__()
        chosen_by = xp.where(entropy < public.explore + public.by_anchor, public.anchor, public.theta)
        return explored(context @ chosen_by, public.explore, entropy)

    def message(self, public: DirectedModel, context: Any, action: Any, reward: Any) -> Any:
        xp, features = context.__array_namespace__(), context[action]
        mean = self.link.mean(xp, public.base + features @ public.anchor)
        most = self.link.high + 2 * xp.maximum(public.base, 0.0)  # what looks better than the best is set right in full
        expected = xp.clip(mean, self.link.low, most)
        contrast = contrasted(context, action, public.theta, public.clip / self.link.deviation)
        reported = xp.where(public.contrast > 0, contrast, features)
        return self.domain.embed(reported, reward - expected, public.clip)


LEAST = 0.1
"""What is left at least of a part that `contrasted` makes quieter."""
SMALL = 0.6
"""Below this a clip is small, in units of half the range of rewards."""


def contrasted(context: Any, action: Any, theta: Any, clip: Any) -> Any:
    """The features of the choice, with two parts quieter that say little about which action is best.

    What all candidates have in common is the same whichever is chosen. And what is chosen lies along theta, so that its
    other coordinates, by which theta has to be turned, are short. Neither part may be longer than the rest is, on
    average, in one of its directions. The second part is left as it is where the clip (in units of half the range of
    rewards) is small: rewards nearly follow from the features there, and theta's length matters as its direction does.

    In any direction w that is computed from the features and what is public, the mean of (reward - predicted reward) w
    is 0 where the prediction is right. So the learner looks for the same theta with all of them.

    >>> import numpy as np
    >>> np.round(contrasted(np.array([[0.9, 0.1], [0.9, -0.1]]), 0, np.zeros(2), 1.0), 3)
    array([0.111, 0.111])
    """
    xp = context.__array_namespace__()
    rows = context / xp.maximum(xp.max(xp.abs(context)), 1e-300)
    common = xp.mean(rows, axis=0)
    features = _beside(xp, rows[action] - common, common, LEAST)
    towards = unit(xp, theta)
    along = (features @ towards) * towards
    return _beside(xp, features - along, along, xp.clip(1 - clip / SMALL, LEAST, 1.0))


def _beside(xp: Any, rest: Any, part: Any, least: Any) -> Any:
    """The rest and the part, which is no longer than the rest is in one of its directions; `least` of it is left."""
    length = xp.sqrt(xp.sum(rest * rest)) / math.sqrt(max(rest.shape[0] - 1, 1))
    share = length / xp.maximum(xp.sqrt(xp.sum(part * part)), 1e-300)
    return rest + part * xp.clip(share, least, 1.0)


def optimistic_action(model: LinearModel | GeneralizedModel, context: Any, entropy: Any) -> Any:
    """The action of the highest score, where little is known of it a little higher."""
    xp = context.__array_namespace__()
    unknown = xp.maximum(xp.sum((context @ model.precision) * context, axis=1), 0.0)
    return explored(context @ model.theta + model.width * xp.sqrt(unknown), model.explore, entropy)


def explored(scores: Any, explore: Any, entropy: Any) -> Any:
    """The action of the highest score, or with probability `explore` any; `entropy` is uniform in [0, 1)."""
    xp, actions = scores.__array_namespace__(), scores.shape[0]
    any_action = xp.minimum(xp.floor(entropy / xp.maximum(explore, 1e-300) * actions), actions - 1)
    return xp.where(entropy < explore, any_action, xp.argmax(scores)).astype(int)
