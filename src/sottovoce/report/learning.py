"""Is it learning? What a task's private reports say so far, in one sentence and without promising more than they do."""

from typing import NamedTuple

from sottovoce.catalogue.task import learning_of
from sottovoce.protocol.contract import ByModel, Contract
from sottovoce.protocol.team import Prediction, Summary
from sottovoce.report.describe import ERROR, range_of, recommended

PREFERRED = 0.5
"""An action with this share of the offers is what the learner prefers."""


class Verdict(NamedTuple):
    word: str
    """yes, partly, not yet, no, or not known."""
    sentence: str


def is_learning(contract: Contract, summary: Summary) -> Verdict:
    """The verdict on what was learned; all its ranges hold together, at every time at once, but for ERROR."""
    if summary.done:
        return Verdict("yes", f"It has its answer and recommends {recommended(contract, summary.recommendation)}.")
    if not summary.learned:
        return Verdict("not yet", "No report has been learned from.")
    if summary.gain and summary.gain.low is not None and summary.gain.high is not None:
        return _of_a_gain(summary.gain.low, summary.gain.high)
    if isinstance(contract.offers, ByModel):
        return Verdict("not known", _of_a_model(contract, summary))
    return _of_arms(contract, summary)


def _of_a_gain(low: float, high: float) -> Verdict:
    """Where a holdout measures it, that says more than anything that was learned."""
    if low > 0:
        return Verdict("yes", "People who get the learned choice have a higher mean reward than with the baseline.")
    if high < 0:
        return Verdict("no", "People who get the learned choice have a lower mean reward than with the baseline.")
    return Verdict("not yet", "The reports do not tell the learned choice and the baseline apart yet.")


def _of_a_model(contract: Contract, summary: Summary) -> str:
    every = learning_of(contract).publish_every
    return (
        f"The newest model comes from {summary.published:,} reports and rows; a new one follows after every {every:,}. "
        "A model cannot say how good it is: a holdout measures it, where the task file declares one."
    )


def _of_arms(contract: Contract, summary: Summary) -> Verdict:
    """Which actions may still be best: those whose range reaches the highest lower end."""
    error = ERROR / max(len(summary.estimates), 1)
    ranges = {row.action: range_of(contract, row, error) for row in summary.estimates}
    known = {action: ends for action, ends in ranges.items() if ends}
    if not known:
        return Verdict("not known", "There are no ranges for this task; the share of offers says what is preferred.")
    floor = max(low for low, _ in known.values())
    possible = [action for action, ends in ranges.items() if ends is None or ends[1] >= floor]
    if len(possible) == 1:
        return Verdict("yes", f"The mean reward of “{possible[0]}” is higher than that of every other action.")
    if len(possible) < len(ranges):
        out = len(ranges) - len(possible)
        return Verdict("partly", f"{out} of {len(ranges)} actions cannot be best any more; {_listed(possible)} can.")
    first = max(summary.estimates, key=lambda row: row.share)
    if first.share >= PREFERRED:
        share = f"{100 * first.share:.0f} % of the offers go to “{first.action}”"
        return Verdict("partly", f"{share}; the ranges do not show yet that it is best.")
    return Verdict("not yet", "The reports do not tell the actions apart yet.")


def _listed(names: list[str]) -> str:
    *others, last = (f"“{name}”" for name in names)
    return f"{', '.join(others)} and {last}"


def expected(prediction: Prediction, reports: int) -> str:
    """What was predicted, beside where the task is now.

    >>> expected(Prediction(runs=8, followed=3000, people_needed=1200), 300)
    'predicted: about 1,200 reports until it has cost half as much as uniform play; now: 300'
    """
    if prediction.predicted_samples is not None:
        right = f", right in {100 * (prediction.predicted_right or 0.0):.0f} % of runs"
        said = f"about {prediction.predicted_samples:,.0f} reports until it has its answer{right}"
    elif prediction.people_needed is None:
        said = f"more than {prediction.followed:,} reports until it has cost half as much as uniform play"
    else:
        said = f"about {prediction.people_needed:,} reports until it has cost half as much as uniform play"
    return f"predicted: {said}; now: {reports:,}"
