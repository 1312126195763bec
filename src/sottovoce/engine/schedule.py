"""When a model is published: by the count of reports alone, so that the simulator, the server and a replay agree."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Schedule(NamedTuple):
    """After every `every` reports, but not before there are `growth` times as many as at the last publication.

    The first publication is the learner's start, at 0 reports; it is not part of the schedule.
    """

    every: int = 1
    growth: float = 1.0

    def due(self, count: int, last: int) -> bool:
        """Is a model published after so many reports, if the last one came after `last`?

        >>> Schedule(every=5, growth=1.5).due(15, last=10), Schedule(every=5, growth=1.5).due(10, last=10)
        (True, False)
        """
        return count > last and count % self.every == 0 and count >= last * self.growth

    def next(self, last: int) -> int:
        """After how many reports the next model is published."""
        least = max(last + 1, math.ceil(last * self.growth))
        return -(-least // self.every) * self.every

    def marks(self, rounds: int) -> NDArray[np.bool_]:
        """For each of these rounds: is a model published after it?

        >>> Schedule(every=3).marks(10).nonzero()[0].tolist()
        [2, 5, 8]
        """
        if self.growth <= 1:
            return np.arange(1, rounds + 1) % self.every == 0
        marks, count = np.zeros(rounds, bool), self.next(0)
        while count <= rounds:
            marks[count - 1] = True
            count = self.next(count)
        return marks
