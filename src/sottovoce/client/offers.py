"""What a server sends to choose by, checked: the action of a ticket, and what a task recommends."""

from typing import Any

from sottovoce.protocol.contract import ByTicket
from sottovoce.protocol.errors import WireError
from sottovoce.protocol.offers import array_from


def action_from(sent: Any, offers: ByTicket, numbers: int) -> Any:
    """The server's choice: the number of an arm, a point, or the points to try for a message of so many numbers.

    >>> action_from([[0.5, 0.0], [-0.5, 0.0]], ByTicket(dimension=2, slopes=True), 1).shape
    (2, 2)
    """
    if offers.actions:
        if isinstance(sent, int) and 0 <= sent < len(offers.actions):
            return int(sent)
        raise WireError(f"not one of {len(offers.actions)} arms")
    return array_from(sent, (2 * numbers, offers.dimension) if offers.slopes else (offers.dimension,))


def recommendation_from(sent: Any, offers: ByTicket) -> Any:
    """An arm, the numbers of several arms, or a point.

    >>> recommendation_from([0, 2], ByTicket(actions=("a", "b", "c")))
    (0, 2)
    """
    if not offers.actions:
        return array_from(sent, (offers.dimension,))
    if isinstance(sent, list):
        return tuple(action_from(one, offers, 0) for one in sent)
    return action_from(sent, offers, 0)
