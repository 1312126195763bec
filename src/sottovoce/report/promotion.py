"""What is known of an apprentice before it chooses, in words.

An apprentice shows the app's own choice. Its reports speak of what was shown and not of what else could have been, so
nobody can tell from them what the learned choice would have brought: docs/holdout.md.
"""

from sottovoce.privacy.gates import measuring_of
from sottovoce.protocol.contract import Contract
from sottovoce.protocol.team import Gain, Summary
from sottovoce.report.confidence import half_width
from sottovoce.report.describe import ERROR
from sottovoce.report.page import cell


def before_promotion(contract: Contract, summary: Summary) -> str:
    """Some sentences for whoever decides whether it chooses from now on."""
    known = [
        "It is not known whether what was learned is better than what the app shows: an apprentice shows the app's own "
        "choice, so no report says what the learned one is worth.",
        f"The newest model comes from {summary.published:,} reports and rows.",
    ]
    if summary.gain is None:
        known.append("The task has no holdout, so what it gains will not be measured later either.")
    else:
        known += [_of_the_baseline(contract, summary.gain), "Once it chooses, the holdout measures what that gains."]
    return " ".join(known)


def _of_the_baseline(contract: Contract, gain: Gain) -> str:
    if gain.baseline is None:
        return "What the app's own choice is worth is not known yet either."
    terms, noise = contract.reward, measuring_of(contract)[0].noise()
    half = terms.scale * half_width(gain.baseline_reports, noise.proxy, ERROR)
    low, high = max(gain.baseline - half, terms.low), min(gain.baseline + half, terms.high)
    sure = f"with confidence {1 - ERROR:.0%} at every time at once".replace("%", " %")
    mean = f"The mean reward of the app's own choice is {cell(gain.baseline)}, between {cell(low)} and {cell(high)}"
    return f"{mean} {sure}, from {gain.baseline_reports:,.0f} reports."
