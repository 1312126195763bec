"""A holdout: a declared share of decisions gets the baseline, so that what learning gains is measured, in private.

With tickets the server chose the action anyway, and nothing changes for devices. With a model the coin of a report says
what it is for. It may measure the baseline: the app's own choice is shown. It may measure the choice: the learned
one is shown, as always. Both report the reward alone. All others teach the learner. Device and server read it in the
coin, which neither of them chose and which was tossed before the decision, so no report has to say what it is for.
"""

from typing import Literal

import msgspec

from sottovoce.protocol.contract import ByModel, Contract
from sottovoce.protocol.errors import WireError
from sottovoce.protocol.strict import Strict

MOST = 0.25
"""The largest share: with a model as many again measure the choice, and half of all reports still teach."""
PLACE = slice(12, 18)
"""The bytes of a coin that are read here; those before them are the codebook's."""

Purpose = Literal["learning", "baseline", "choice"]


class Holdout(Strict, frozen=True, kw_only=True):
    """The extension `holdout` of a contract with a model."""

    share: float
    """Of the decisions: so many measure the baseline, and as many the choice."""
    gates: tuple[dict[str, int], ...]
    """For each gate the numbers of the `levels` by which a reward alone is reported, at the gate's epsilon."""


def holdout_of(contract: Contract) -> Holdout | None:
    """What a contract with a model declares for devices; None where it declares nothing."""
    if (found := contract.extensions.get("holdout")) is None:
        return None
    try:
        holdout = msgspec.convert(found, Holdout, strict=False)
    except msgspec.ValidationError as error:
        raise WireError(f"not a holdout: {error}") from error
    pure = all(gate.delta == 0 for gate in contract.gates)
    fits = isinstance(contract.offers, ByModel) and len(holdout.gates) == len(contract.gates)
    if not (fits and pure and 0 < holdout.share <= MOST):
        raise WireError(f"a holdout is for a model and gates without delta, with a share up to {MOST:g}")
    return holdout


def purpose_of(coin: bytes, share: float) -> Purpose:
    """What the report with this coin is for.

    >>> [purpose_of(bytes(12) + bytes([first]) + bytes(19), 0.1) for first in (0x00, 0x1A, 0x34)]
    ['baseline', 'choice', 'learning']
    """
    place = int.from_bytes(coin[PLACE], "big") / 2**48
    return "baseline" if place < share else "choice" if place < 2 * share else "learning"
