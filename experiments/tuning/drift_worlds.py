"""The worlds that the constants of `drift` were chosen in. None of them is among those that it is judged by.

Each is run with a change at once (`switching`), with a slow one (`drifting`) and without any (`fixed`). The judged ones
have five arms with a gap of 0.2, or ten isotropic actions in five dimensions, at epsilon 4.
"""

from typing import Any, NamedTuple


class Place(NamedTuple):
    """A world of the registry, and how it is played."""

    shape: dict[str, int]
    epsilon: float
    rounds: int
    options: dict[str, Any]


ARMS = {
    "two, far apart": Place({"arms": 2}, 1.0, 40_000, {"gap": 0.4, "reward": 0.2, "period": 30_000}),
    "two, one rises": Place({"arms": 2}, 1.0, 40_000, {"gap": 0.4, "reward": 0.2, "period": 30_000, "stays": 1.0}),
    "three, late": Place({"arms": 3}, 2.0, 60_000, {"gap": 0.3, "reward": 0.4, "period": 90_000}),
    "three, one rises": Place({"arms": 3}, 2.0, 60_000, {"gap": 0.3, "reward": 0.4, "period": 90_000, "stays": 1.0}),
    "eight": Place({"arms": 8}, 3.0, 60_000, {"gap": 0.25, "reward": 0.2, "period": 40_000}),
    "eight, one rises": Place({"arms": 8}, 3.0, 60_000, {"gap": 0.25, "reward": 0.2, "period": 40_000, "stays": 1.0}),
    "six, close": Place({"arms": 6}, 2.0, 40_000, {"gap": 0.12, "reward": 0.5, "period": 50_000}),
    "six, one rises": Place({"arms": 6}, 2.0, 40_000, {"gap": 0.12, "reward": 0.5, "period": 50_000, "stays": 1.0}),
}
"""Worlds `changing-arms`."""

CONTEXTUAL = {
    "three coordinates": Place({"arms": 5, "dimension": 3}, 2.0, 40_000, {"period": 30_000}),
    "eight coordinates": Place({"arms": 8, "dimension": 8}, 8.0, 40_000, {"period": 50_000}),
    "ten coordinates": Place({"arms": 20, "dimension": 10}, 2.0, 60_000, {"period": 80_000}),
    "four coordinates": Place({"arms": 4, "dimension": 4}, 1.0, 60_000, {"period": 60_000}),
    "uneven": Place({"arms": 10, "dimension": 6}, 8.0, 40_000, {"period": 40_000, "contexts": "ill-conditioned"}),
}
"""Worlds `changing-linear`. What happens where nothing changes is seen in `contextual_worlds.py`, too."""
