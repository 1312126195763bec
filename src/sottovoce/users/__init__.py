"""The device half, the only place with raw data. NumPy on a device, traced by JAX in the simulator, the same text."""

from typing import Any, Protocol

from sottovoce.privacy.domains import Domain
from sottovoce.protocol.errors import look_up
from sottovoce.protocol.links import Link
from sottovoce.users.by_model import DirectedUser, GeneralizedUser, LinearUser
from sottovoce.users.by_ticket import ScalarUser, SlopeUser

USERS: dict[str, type] = {
    "scalar": ScalarUser,
    "linear": LinearUser,
    "generalized": GeneralizedUser,
    "directed": DirectedUser,
    "slope": SlopeUser,
}


class LocalUser(Protocol):
    """One person with a device.

    - `act`: the action, chosen locally; `entropy` is a uniform number in [0, 1).
    - `message`: what is reported of a reward (larger is better), before noise; bounded by a domain's `embed`.
    """

    def act(self, public: Any, context: Any, entropy: Any) -> Any: ...
    def message(self, public: Any, context: Any, action: Any, reward: Any) -> Any: ...


def user_of(kind: str, domain: Domain, link: Link | None = None) -> LocalUser:
    """The user of this kind, with messages of this domain.

    >>> from sottovoce import Interval
    >>> user_of("scalar", Interval(0.0, 1.0))
    ScalarUser(domain=Interval(low=0.0, high=1.0))
    """
    user = look_up("user", kind, USERS)
    return user(domain) if link is None else user(domain, link)
