"""An app's reward in its own units, on the scale that messages speak of. Larger is better on both."""

from typing import Any

import numpy as np

from sottovoce.protocol.contract import RewardTerms


def to_unit(terms: RewardTerms, reward: Any) -> Any:
    """The reward, clipped to its declared range, on the scale of messages.

    >>> stars = RewardTerms(low=1.0, high=5.0, default=1.0, wait=60, unit_low=0.0, unit_high=1.0)
    >>> float(to_unit(stars, 4.0)), float(to_unit(stars, 7.0))
    (0.75, 1.0)
    """
    share = (np.clip(reward, terms.low, terms.high) - terms.low) / (terms.high - terms.low)
    return terms.unit_low + share * (terms.unit_high - terms.unit_low)


def from_unit(terms: RewardTerms, value: Any) -> Any:
    """The inverse, for what people are shown.

    >>> from_unit(RewardTerms(low=1.0, high=5.0, default=1.0, wait=60, unit_low=0.0, unit_high=1.0), 0.75)
    4.0
    """
    share = (value - terms.unit_low) / (terms.unit_high - terms.unit_low)
    return terms.low + share * (terms.high - terms.low)
