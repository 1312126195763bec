"""What must be known of a log before it can be replayed: how likely each logged action was.

With a column of probabilities they are taken from it. Without one, actions are taken as drawn with their overall share,
whoever the person was. That is an assumption, and a table can show that it is wrong: then it is refused, because replay
would count rewards of people who are unlike the others.

The test, for each field: if actions do not depend on it, rows * trace((Y'Y)^-1 Y'X (X'X)^-1 X'Y) of the centred columns
is about chi-squared (Pillai's trace), where X are the coordinates of the field and Y says which action it was. By
Wilson and Hilferty (1931) its cube root is about normal. A log of independent actions is refused with a chance of 1e-6,
shared among its fields. Only dependence that is linear in the coordinates of one field is seen. What is not seen in one
field alone is looked for with a rule that was learned from the rest of the log (`wrong_shares`).
"""

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from sottovoce.privacy.special import normal_quantile
from sottovoce.protocol.errors import ConfigurationError
from sottovoce.protocol.fields import Field
from sottovoce.sim.tables import Answers, Columns, encoded
from sottovoce.users.cells import numbers_of

FALSE_ALARM = 1e-6
ENOUGH = 5
"""Rows for each coordinate, in units of the variance of their agreement, before agreement is about normal."""
LEAST = 0.001
"""Smaller probabilities are refused: one row in a thousand would count."""


def given_propensities(columns: Columns, name: str) -> NDArray[np.float64]:
    """The column that says with what probability each logged action was chosen."""
    found = np.array(numbers_of(name, columns[name]))
    if found.min() <= 0 or found.max() > 1:
        raise ConfigurationError(
            f"column {name!r} must hold probabilities above 0 and up to 1, got {found.min():g} to {found.max():g}"
        )
    if found.min() < LEAST:
        raise ConfigurationError(
            f"the smallest probability in column {name!r} is {found.min():g}; below {LEAST:g} too few rows would count"
        )
    return found


def overall_shares(fields: Mapping[str, Field], columns: Columns, actions: Answers) -> NDArray[np.float64]:
    """The share of each row's action among all rows; refused where actions clearly depend on a field."""
    farthest = -normal_quantile(FALSE_ALARM / len(fields))
    found = [
        name for name, field in fields.items() if surprise(encoded({name: field}, columns)[:, 1:], actions) > farthest
    ]
    if found:
        raise ConfigurationError(
            f"in this log the action depends on {', '.join(map(repr, found))}, so its overall share is not its "
            f"probability. Leave out with --ignore what is only known after the action; else name the column that "
            f"holds the probabilities with --propensity, or replay a log in which actions were random"
        )
    return (np.bincount(actions.places) / len(actions.places))[actions.places]


def surprise(coordinates: NDArray[np.float64], actions: Answers) -> float:
    """How many deviations these coordinates and the actions are from independence."""
    x, y = (_whitened(part) for part in (coordinates, np.eye(len(actions.names))[actions.places]))
    freedom = x.shape[1] * y.shape[1]
    if not freedom:
        return 0.0
    return _deviations(len(x) * float(np.sum((x.T @ y) ** 2)), freedom)


def wrong_shares(people: NDArray[np.float64], actions: Answers, chosen: NDArray[np.int64]) -> tuple[str, ...]:
    """A doubt, where a rule agrees with the log more often for some people than the overall shares allow.

    The rule chose for each row without looking at the row itself. If the shares are right, it agrees with the share of
    what it chose, whatever the fields are. So dependence of the actions on many fields together is found, where it pays
    the rule. The test is the score test of a regression of agreement on the fields; with few rows nothing is said.
    """
    shares = (np.bincount(actions.places, minlength=len(actions.names)) / len(people))[chosen]
    if np.sum(shares * (1 - shares)) < ENOUGH * people.shape[1]:
        return ()
    told = people.T @ ((chosen == actions.places) - shares)
    spread = (people * (shares * (1 - shares))[:, None]).T @ people
    statistic = float(told @ np.linalg.pinv(spread, hermitian=True) @ told)
    if _deviations(statistic, int(np.linalg.matrix_rank(spread, hermitian=True))) <= -normal_quantile(FALSE_ALARM):
        return ()
    return (WRONG,)


WRONG = """\
Replay is not right here: given the fields, the actions were not drawn with their overall shares. These results may be
wrong. Leave out what is only known after the action (--ignore), or name the probabilities (--propensity)."""


def _deviations(statistic: float, freedom: int) -> float:
    """How many deviations of a normal number this statistic is above the mean, if it is chi-squared."""
    spread = 2 / (9 * freedom)
    return ((statistic / freedom) ** (1 / 3) - (1 - spread)) / math.sqrt(spread)


def _whitened(columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Orthonormal columns that span the centred ones."""
    left, lengths, _ = np.linalg.svd(columns - columns.mean(axis=0), full_matrices=False)
    return left[:, lengths > 1e-9 * max(lengths.max(initial=0.0), 1e-300)]
