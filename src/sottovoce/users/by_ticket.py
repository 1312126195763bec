"""The users of tasks with tickets: they play what the server chose, and report a reward or how it changes."""

from dataclasses import dataclass
from typing import Any

from sottovoce.privacy.domains import Ball, Interval

UNIT = Interval(0.0, 1.0)


@dataclass(frozen=True)
class ScalarUser:
    """Algorithm 1 of the paper, on the person's side.

    >>> ScalarUser().message(2, None, 2, 0.75)
    array([0.5])
    """

    domain: Interval = UNIT

    def act(self, public: Any, context: Any, entropy: Any) -> Any:
        """The server chose; context-free offers carry the action."""
        return public

    def message(self, public: Any, context: Any, action: Any, reward: Any) -> Any:
        return self.domain.embed(reward)


@dataclass(frozen=True)
class SlopeUser:
    """Algorithm 2 of the paper, on the person's side. The offer's points are pairs: its first half and its second half.

    What is made private is the slope of the reward, (f(a) - f(b)) / ||a - b||, one number a pair, clipped to the
    declared steepness; never the two rewards by themselves. Noise that both rewards share would cancel in the slope and
    protect nothing: docs/errata.md describes the designs that this replaces.

    >>> import numpy as np
    >>> points = np.array([[0.5, 0.0], [-0.5, 0.0]])
    >>> SlopeUser(Interval(-1.0, 1.0)).message(points, None, points, np.array([0.75, 0.25]))
    array([0.5])
    """

    domain: Interval | Ball

    def act(self, public: Any, context: Any, entropy: Any) -> Any:
        """The server chose the points; the person tries them all."""
        return public

    def message(self, public: Any, context: Any, action: Any, reward: Any) -> Any:
        xp = action.__array_namespace__()
        pairs = action.shape[0] // 2
        apart = action[:pairs] - action[pairs:]
        distance = xp.sqrt(xp.sum(apart * apart, axis=1))
        slopes = (reward[:pairs] - reward[pairs:]) / xp.maximum(distance, 1e-300)
        return self.domain.embed(slopes[0] if isinstance(self.domain, Interval) else slopes)
