"""What a message may be. A domain clips the raw pieces, forms the message and so *decides* the sensitivity.

No mechanism takes a sensitivity as an argument: it asks the domain it was calibrated for. `base.py` says what every
domain has.
"""

from collections.abc import Mapping
from typing import Any

from sottovoce.privacy.domains.ball import Ball, Gradient, Interval
from sottovoce.privacy.domains.base import ROUNDING, Domain, shorten, size, unit
from sottovoce.privacy.domains.direction import Direction, DirectionEstimate
from sottovoce.privacy.domains.moments import MomentEstimate, Moments
from sottovoce.privacy.domains.relabelled import Relabelled, RelabelledEstimate
from sottovoce.protocol.errors import ConfigurationError, look_up

__all__ = [
    "ROUNDING",
    "Ball",
    "Direction",
    "DirectionEstimate",
    "Domain",
    "Gradient",
    "Interval",
    "MomentEstimate",
    "Moments",
    "Relabelled",
    "RelabelledEstimate",
    "shorten",
    "size",
    "unit",
]

DOMAINS: dict[str, type[Any]] = {
    "interval": Interval,
    "ball": Ball,
    "moments": Moments,
    "relabelled": Relabelled,
    "gradient": Gradient,
    "direction": Direction,
}


def domain_from(numbers: Mapping[str, Any]) -> Domain:
    """The domain that these numbers and their `kind` describe.

    >>> domain_from({"kind": "ball", "dimension": 3, "bound": 2.0})
    Ball(dimension=3, bound=2.0)
    """
    own = dict(numbers)
    kind = str(own.pop("kind", None))
    domain = look_up("domain", kind, DOMAINS)
    try:
        return domain(**own)
    except TypeError as error:
        raise ConfigurationError(f"these numbers do not describe a domain of kind {kind}: {own}") from error
