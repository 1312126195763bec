"""What the learned choice is worth beside the baseline of a holdout, in the units of the task."""

from collections.abc import Iterator

from sottovoce.privacy.gates import measuring_of, mechanisms_of
from sottovoce.protocol.contract import Contract
from sottovoce.protocol.team import Gain
from sottovoce.report.confidence import difference_half_width
from sottovoce.server.store.base import Published

ERROR = 0.05
"""How often the range may be wrong at any time at all."""


def gain_of(contract: Contract, published: Published) -> Gain | None:
    """The two means, their difference and its range; None where nothing is held out."""
    if not published.measured:
        return None
    terms, (baseline, choice) = contract.reward, published.measured
    difference = low = high = None
    if baseline.mean is not None and choice.mean is not None:
        difference, most = terms.scale * (choice.mean - baseline.mean), terms.high - terms.low
        noise = (measuring_of(contract) or mechanisms_of(contract))[0].noise()
        if not noise.tail:
            half = terms.scale * difference_half_width(baseline.reports, choice.reports, noise.proxy, ERROR)
            low, high = (min(max(end, -most), most) for end in (difference - half, difference + half))
    return Gain(
        baseline=None if baseline.mean is None else terms.from_unit(baseline.mean),
        choice=None if choice.mean is None else terms.from_unit(choice.mean),
        difference=difference,
        low=low,
        high=high,
        baseline_reports=baseline.reports,
        choice_reports=choice.reports,
        confidence=1 - ERROR,
        aside=published.aside,
    )


def watched(gain: Gain | None) -> Iterator[tuple[str, float]]:
    """The numbers to watch, by name: the difference and the ends of its range, as far as they are known."""
    for name in ("difference", "low", "high"):
        if gain and (value := getattr(gain, name)) is not None:
            yield name, value
