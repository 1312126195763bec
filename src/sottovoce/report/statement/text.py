"""The sections of a statement, in the order in which they are read: the verdict first."""

from collections.abc import Iterator

from sottovoce.privacy.mechanisms import LARGEST_EPSILON
from sottovoce.protocol.budget import Budget
from sottovoce.protocol.contract import ByModel
from sottovoce.protocol.wire import ModelReport, TicketReport
from sottovoce.report import odds
from sottovoce.report.page import whole_page
from sottovoce.report.statement import blocks, mixed, words
from sottovoce.report.statement.blocks import Block, Points, Section, Table, Terms
from sottovoce.report.statement.facts import Allowance, Facts
from sottovoce.report.terms import choices, size, spelled, values

STYLE = """<style>
p.verdict { margin: .8rem 0; padding: .2rem 1rem; background: none; font-size: 1.1rem; font-weight: 600; }
dt { font-weight: 600; margin-top: .5rem; } dd { margin: 0 0 0 1rem; } p, li, dd { max-width: 46rem; }
</style>"""
"""What this page needs besides the style of all pages."""


def as_markdown(facts: Facts) -> str:
    """The statement for a terminal, or for a folder of documents."""
    return blocks.markdown(title(facts), verdict(facts), list(sections(facts)))


def as_page(facts: Facts) -> str:
    """The statement as one page that needs nothing else."""
    body = blocks.page_body(title(facts), verdict(facts), list(sections(facts)))
    return whole_page(title(facts), STYLE + body)


def title(facts: Facts) -> str:
    return f"Privacy statement: {facts.name}"


def verdict(facts: Facts) -> list[str]:
    """What a reader should know who reads no further; the first sentence most of all."""
    if not facts.answerable:
        return [
            "No device will answer this task.",
            f"One report ({facts.promise}) does not fit the task's own limits ({facts.window.limit} in "
            f"{facts.contract.limit.window_days} days).",
        ]
    ever = facts.lifetime
    reports = "the one report" if ever.reports == 1 else f"all {ever.reports:,} reports"
    lead = (
        "Data is made private on the device before it leaves, so neither the server nor who runs it has to be trusted. "
        f"From {reports} that a device may ever send together ({ever.limit}), {odds.in_words(ever.limit)}."
    )
    noiseless = f" The {facts.warm:,} rows that the task started from have no such protection." if facts.warm else ""
    return [f"From one report ({facts.promise}), {odds.in_words(facts.promise)}.", lead + noiseless]


def sections(facts: Facts) -> Iterator[Section]:
    yield Section("What is promised", list(_promised(facts)))
    yield Section("What leaves a device", list(_leaving(facts)))
    yield Section("What can be linked", [Points(list(_links(facts)))])
    yield Section("How long", [Terms(list(_times(facts)))])
    yield mixed.section(facts)
    yield Section("Data without noise", [_warm(facts)])
    yield Section("What is not covered", [Terms(list(_not_covered(facts)))])
    yield Section("For an impact assessment", list(_assessment(facts)))
    yield Section("Check it yourself", list(_checks(facts)))


def _promised(facts: Facts) -> Iterator[Block]:
    contract = facts.contract
    yield (
        f"Mechanism `{contract.mechanism}`: {words.MECHANISMS[contract.mechanism]} Take any two data that a person may "
        "have, within the ranges below, and any report: its chances under the two differ by a factor of at most "
        "e^epsilon" + (f", but for a probability of delta, {facts.promise.delta:g}." if facts.promise.delta else ".")
    )
    every = [("one report", Allowance(facts.promise, 1))]
    every += [("one, quieter", Allowance(mechanism.budget, 1)) for mechanism in facts.mechanisms[1:]]
    every += [(f"in {contract.limit.window_days} days", facts.window), ("ever", facts.lifetime)]
    delta = ["delta"] * any(spent.delta for _, (spent, _) in every)
    yield Table(
        ["of one device", "reports", "epsilon", *delta, "odds", "even guess", "1 in 100"],
        [
            [name, f"{reports:,}", f"{spent.epsilon:g}", *(f"{spent.delta:g}" for _ in delta), *_odds(spent)]
            for name, (spent, reports) in every
        ],
    )
    yield Terms(words.COLUMNS)
    if odds.factor(facts.lifetime.limit) == odds.UNBOUNDED:
        yield (
            f"Above epsilon {LARGEST_EPSILON:g} the bound is too large to protect anybody. What stands against "
            "somebody who puts all reports of a device together is then not this proof, but that reports have no name "
            "on them."
        )


def _odds(spent: Budget) -> tuple[str, str, str]:
    return odds.factor(spent), odds.even_guess(spent), odds.rare_guess(spent)


def _leaving(facts: Facts) -> Iterator[Block]:
    contract, reward = facts.contract, facts.contract.reward
    yield (
        f"What stays on the device: {processed(facts)}. What lies outside these ranges is cut to them. "
        + (
            "The device chooses, and the action never leaves it."
            if facts.contextual
            else "The server chooses the action."
        )
        + f" A reward that does not come within {spelled(reward.wait)} counts as {reward.default:g}, so that a report "
        "is sent in any case. One report is:"
    )
    length = size(facts.mechanisms[0].report_size)
    said = words.WIRE | (words.MIXED_WIRE if facts.batch else {})
    yield Terms([(f"`{name}`", said[name].format(size=length)) for name in report_fields(facts)])
    yield "Around it the shuffler sees, and the server does not:" if facts.batch else "Around it the server sees:"
    around = dict(words.CONNECTION) | (words.MIXED_CONNECTION if facts.batch else {})
    seen = [(name, text.format(delay=spelled(contract.delay))) for name, text in around.items()]
    yield Terms(seen + [(f"`{name}`", words.EXTENSIONS[name]) for name in sorted(contract.extensions)])
    if facts.batch:
        yield "The server sees:"
        yield Terms([(name, text.format(batch=facts.batch)) for name, text in words.BATCH])


def _links(facts: Facts) -> Iterator[str]:
    yield words.MIXED if facts.batch else words.PERMITS if facts.contextual else words.TICKETS
    yield words.ADDRESSES.format(who="shuffler" if facts.batch else "server")


def report_fields(facts: Facts) -> tuple[str, ...]:
    """The names in one report, as it travels."""
    return (ModelReport if facts.contextual else TicketReport).__struct_fields__


def processed(facts: Facts) -> str:
    """What is made private."""
    offers, reward = facts.contract.offers, facts.contract.reward
    told = f"the reward ({reward.low:g} to {reward.high:g})"
    if not isinstance(offers, ByModel):
        return told
    fields = ", ".join(f"`{name}` ({values(field)})" for name, field in sorted(offers.fields.items()))
    return f"{fields} and {told}"


def _times(facts: Facts) -> Iterator[tuple[str, str]]:
    contract = facts.contract
    yield "a report waits", f"{spelled(contract.reward.wait)} for its reward, then up to {spelled(contract.delay)} more"
    yield "single reports are kept", spelled(contract.retention)
    yield "the task ends", contract.expires.isoformat()


def _warm(facts: Facts) -> str:
    if facts.warm is None:
        return (
            "The contract does not say whether the task starts from data without noise (`sottovoce task create "
            "--warm-start`). With `--server` this statement says how many such rows there are."
        )
    if facts.warm == 0:
        return "None. All that the task has learned comes from private reports."
    return (
        f"{facts.warm:,} rows, public or given with consent, were put in when the task was created, as they are. "
        "Nothing in this statement protects them."
    )


def _not_covered(facts: Facts) -> Iterator[tuple[str, str]]:
    if not facts.contextual:
        yield words.OFFERED
    for name, text in words.NOT_COVERED:
        yield name, text.format(retention=spelled(facts.contract.retention))
    if facts.batch:
        yield words.SHUFFLER
    if facts.contract.mechanism in ("gaussian", "laplace"):
        yield words.TIMING


def _assessment(facts: Facts) -> Iterator[Block]:
    yield (
        f"{words.ARTICLE} names what a data protection impact assessment has to contain. This is what the statement "
        "says to each of the four questions, and what only you can add. Whether an assessment is needed, and whether a "
        "private report is personal data, is for you to judge."
    )
    given = {
        "processed": processed(facts),
        "choices": choices(facts.contract),
        "warm": ", and 'Data without noise'" if facts.warm else "",
        "retention": spelled(facts.contract.retention),
        "shuffler": ", who the shuffler, and what the two have agreed on" if facts.batch else "",
    }
    for question, here, yours in words.ASSESSMENT:
        yield Terms([(question, here.format(**given)), ("You add", yours.format(**given))])


def _checks(facts: Facts) -> Iterator[Block]:
    yield Points([
        f"The contract has the digest `{facts.digest}`. A device pins it and refuses another one.",
        f"`sottovoce audit --mechanism {facts.contract.mechanism}` plays the attacker on real reports.",
        "The proofs are in docs/privacy.md, the bytes in docs/protocol.md.",
        "Every number here was computed from the contract by `sottovoce statement`.",
    ])  # fmt: skip
