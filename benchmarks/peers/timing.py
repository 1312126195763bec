"""How long one call takes."""

import statistics
import time
from collections.abc import Callable


def microseconds(call: Callable[[], object], times: int, turns: int = 5) -> float:
    """The median of a few turns, each of many calls."""
    found = []
    for _ in range(turns):
        start = time.perf_counter()
        for _ in range(times):
            call()
        found.append(1e6 * (time.perf_counter() - start) / times)
    return statistics.median(found)
