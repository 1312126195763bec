"""What travels between the two halves, besides reports (which are bytes: see `privacy.drawing`)."""

from typing import Any, NamedTuple


class LinearModel(NamedTuple):
    """The offer of a linear learner: the same for everyone, so it can be cached and the action never travels.

    The score of features x is <theta, x> + width * sqrt(x' precision x): what is expected, and how little is known.
    """

    theta: Any
    precision: Any
    width: Any
    explore: Any
    """The probability of a uniformly random action."""


class GeneralizedModel(NamedTuple):
    """The offer of a generalised linear learner: a `LinearModel` to choose by, and where to take the gradient."""

    theta: Any
    precision: Any
    width: Any
    explore: Any
    anchor: Any
    """The device reports (mean reward predicted by the anchor, minus reward) times x."""
