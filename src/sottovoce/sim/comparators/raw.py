"""The user who tells everything: chooses as a private user of a contextual task, then reports x and y without noise."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from sottovoce.privacy.domains import shorten
from sottovoce.users.by_model import LinearUser


class RawAnswer(NamedTuple):
    """What the curator is told of one person."""

    features: Any
    reward: Any


@dataclass(frozen=True)
class RawUser:
    """Features are cut to the unit ball and rewards to [-reward_bound, reward_bound], as on every device.

    >>> import numpy as np
    >>> RawUser(1.0).message(None, np.array([[3.0, 4.0]]), 0, -7.0)
    RawAnswer(features=array([0.6, 0.8]), reward=np.float64(-1.0))
    """

    reward_bound: float = 1.0

    act = LinearUser.act

    def message(self, public: Any, context: Any, action: Any, reward: Any) -> RawAnswer:
        xp = context.__array_namespace__()
        reward = xp.clip(reward, -self.reward_bound, self.reward_bound)
        return RawAnswer(shorten(xp, context[action], 1.0), reward)
