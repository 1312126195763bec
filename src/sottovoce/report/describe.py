"""A task in words: what it promises, what it costs a person, how far it is, and what is wrong with it."""

from collections.abc import Iterator
from typing import Any

from sottovoce.catalogue.task import learning_of
from sottovoce.protocol.budget import Budget
from sottovoce.protocol.contract import ByModel, Contract
from sottovoce.protocol.fields import Category
from sottovoce.protocol.holdout import holdout_of
from sottovoce.protocol.team import ArmEstimate, Gain, SnapshotList, Summary
from sottovoce.protocol.wire import TaskStatus
from sottovoce.report.confidence import half_width
from sottovoce.report.odds import in_words
from sottovoce.report.page import cell
from sottovoce.report.terms import choices, duration, many, size, values

ERROR = 0.05
"""How often a range of mean rewards may be wrong."""


def state_of(status: TaskStatus) -> str:
    """One word or two: a task that is open is live, or an apprentice."""
    return status.mode if status.state == "open" else status.state


def facts(contract: Contract, status: TaskStatus, summary: Summary) -> Iterator[tuple[str, str]]:
    """Pairs of a name and a sentence."""
    limit, reward, gates, learning = contract.limit, contract.reward, contract.gates, learning_of(contract)
    delta = f", delta {gates[0].delta:g}" if gates[0].delta else ", no delta"
    yield "task", f"{contract.id}, {state_of(status)}, until {contract.expires.isoformat()}"
    yield "learner", f"{learning.learner} ({learning.preset})"
    yield "chooses", choices(contract)
    if isinstance(contract.offers, ByModel):
        fields = sorted(contract.offers.fields.items())
        yield "fields", ", ".join(f"{name} ({values(field)})" for name, field in fields)
    default = f"{reward.default:g} if none comes within {duration(reward.wait)}"
    yield "reward", f"{reward.low:g} to {reward.high:g}; {default}"
    yield "promise", f"epsilon {gates[0].epsilon:g}{delta} a report, by {contract.mechanism}"
    if measured := held_out(contract):
        yield "holdout", measured
    if mixed := mixed_by(contract):
        yield "shuffler", mixed
    if len(gates) > 1:
        yield "quieter", "epsilon " + " or ".join(f"{gate.epsilon:g}" for gate in gates[1:])
    yield "budget", f"epsilon {limit.window:g} in {limit.window_days} days, {limit.lifetime:g} ever, for one device"
    length, delay, kept = size(summary.bytes_per_report), duration(contract.delay), duration(contract.retention)
    yield "report", f"{length}, sent within {delay}, kept {kept}"
    learned = max(0, summary.learned - summary.warm - (summary.gain.aside if summary.gain else 0))
    yield "progress", f"{many(summary.reports, 'report')} of about {learning.horizon:,}, {learned:,} learned from"
    if summary.warm:
        yield "started", f"from {summary.warm:,} public or consented answers, without noise"
    if summary.left_out:
        yield "rolled back", f"{summary.left_out:,} reports and rows, which are learned from no more"
    yield "published", f"after {summary.published:,}; every {learning.publish_every:,} reports"
    if summary.changes:
        times = "once" if summary.changes == 1 else f"{summary.changes:,} times"
        yield "changed", f"the learner found a change {times} and started again"
    yield from alarms(summary)
    if summary.refused:
        yield "refused", ", ".join(f"{count:,} {verdict}" for verdict, count in sorted(summary.refused.items()))
    if summary.done:
        yield "done", f"recommends {recommended(contract, summary.recommendation)}"
    yield "digest", status.digest


def alarms(summary: Summary) -> Iterator[tuple[str, str]]:
    """What somebody should look at: pairs of a name and a sentence."""
    if summary.unread:
        yield "unread", f"{summary.unread:,} entries of the journal could not be read; it is learned without them"
    if summary.suspicious:
        yield "suspicious", "the newest reports cannot come from honest people alone; see docs/forgers.md"
    if summary.discarding:
        clients = "one client was" if summary.discarding == 1 else f"{summary.discarding:,} clients were"
        yield "discarding", f"{clients} given far more tickets or permits than used; see docs/forgers.md"
    if summary.set_aside:
        yield "set aside", "its learner fails: reports are kept, nothing is learned; the server's log says where"


def costs(contract: Contract) -> Iterator[tuple[str, str]]:
    """What one person spends at most: pairs of a name and a sentence, with what it means in odds."""
    gate, limit = contract.gates[0], contract.limit
    every = {
        "one report": Budget(gate.epsilon, gate.delta),
        f"in {limit.window_days} days": Budget(limit.window, limit.lifetime_delta),
        "ever": Budget(limit.lifetime, limit.lifetime_delta),
    }
    for name, spent in every.items():
        yield name, f"epsilon {spent.epsilon:g} at most: {in_words(spent)}"


def gain_words(gain: Gain) -> str:
    """What the learned choice is worth beside the baseline, in a sentence.

    >>> known = {"baseline_reports": 900.0, "choice_reports": 910.5, "confidence": 0.95, "aside": 1811}
    >>> said = gain_words(Gain(baseline=0.55, choice=0.62, difference=0.07, low=0.02, high=0.12, **known))
    >>> said.split("; ")[:2]
    ['people who got the learned choice: 0.620', 'the baseline: 0.550']
    """
    if gain.difference is None:
        return "the gain over the baseline is not known yet: no reports of both have been learned from"
    means = f"people who got the learned choice: {cell(gain.choice)}; the baseline: {cell(gain.baseline)}"
    found = f"gain {cell(gain.difference)} on average so far"
    if gain.low is not None:
        sure = f"confidence {gain.confidence:.0%}".replace("%", " %")
        found += f", between {cell(gain.low)} and {cell(gain.high)} with {sure} at every time at once"
    return f"{means}; {found}; from {gain.choice_reports:,.0f} and {gain.baseline_reports:,.0f} reports"


def read_again(possible: SnapshotList, to: int) -> str:
    """What a rollback to this count takes, where no snapshot of it was kept; empty where one was.

    >>> from sottovoce.protocol.team import KeptSnapshot
    >>> kept = [KeptSnapshot(learned=learned, day="") for learned in (9000, 5000, 0)]
    >>> read_again(SnapshotList(first=0, last=9999, snapshots=kept), 5020)
    'no snapshot was kept after 5,020 reports, so 20 are read again; at once it would go to 5,000 or 9,000'
    """
    counts = [one.learned for one in possible.snapshots]
    if to in counts or not possible.first <= to <= possible.last:
        return ""
    before = max((count for count in counts if count < to), default=possible.first)
    near = [*(count for count in [before] if count in counts), *sorted(count for count in counts if count > to)[:1]]
    at_once = f"; at once it would go to {' or '.join(f'{count:,}' for count in near)}" if near else ""
    return f"no snapshot was kept after {to:,} reports, so {to - before:,} are read again{at_once}"


def range_of(contract: Contract, row: ArmEstimate, error: float = ERROR) -> tuple[float, float] | None:
    """Where the mean reward of an action lies, at every time at once but for `error`.

    None where nothing was heard, for Laplace noise, which is not sub-Gaussian, and where means change with time.
    """
    drifts = learning_of(contract).tuning.get("drift", "none") != "none"
    if row.reward is None or not row.error or contract.mechanism == "laplace" or drifts:
        return None
    half = half_width(row.reports, row.error**2 * row.reports, error)
    low, high = (min(max(e, contract.reward.low), contract.reward.high) for e in (row.reward - half, row.reward + half))
    return low, high


def coefficients(offers: ByModel) -> list[str]:
    """The names of the coefficients: those of the fields, and of the action they belong to."""
    own = ["(constant)"]
    for name, field in sorted(offers.fields.items()):
        own += [f"{name} {value}" for value in field.values] if isinstance(field, Category) else [name]
    return [f"{action}: {name}" for action in offers.actions for name in own] if offers.actions else own


def held_out(contract: Contract) -> str:
    """Who gets the baseline; empty where nobody does."""
    tickets, devices = learning_of(contract).holdout, holdout_of(contract)
    if tickets:
        return f"{float(tickets.share):.3g} of people get the baseline, {contract.offers.actions[tickets.baseline]}"
    if devices:
        return f"{devices.share:.3g} of decisions show the app's own choice; as many only measure the learned one"
    return ""


def mixed_by(contract: Contract) -> str:
    """How many reports a shuffler mixes; empty where there is none."""
    shuffler = learning_of(contract).shuffler
    return f"mixes at least {shuffler.batch:,} reports, which answer one model through one gate" if shuffler else ""


def recommended(contract: Contract, recommendation: Any) -> str:
    """The actions that a learner recommends, by name."""
    names = contract.offers.actions
    arms = recommendation if isinstance(recommendation, list) else [recommendation]
    return ", ".join(names[arm] if names else f"{arm}" for arm in arms)
