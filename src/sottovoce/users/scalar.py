"""The user of every context-free task: plays the action of the offer and reports one number, the reward."""

from dataclasses import dataclass
from typing import Any

from sottovoce.privacy.domains import Interval

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
