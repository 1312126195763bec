"""What is different between two contracts, in words: first what it means for people's privacy."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from sottovoce.catalogue.task import learning_of
from sottovoce.protocol.budget import Budget
from sottovoce.protocol.contract import ByModel, Contract, contract_from, digest_of
from sottovoce.report.describe import held_out, mixed_by
from sottovoce.report.odds import even_guess, factor, in_words
from sottovoce.report.terms import choices, spelled, values

Meaning = Callable[[Contract, Contract], str]


class Part(NamedTuple):
    """One thing that a contract says."""

    name: str
    value: Callable[[Contract], str]
    """In words; empty where it says nothing."""
    meaning: Meaning = lambda old, new: ""
    """What a difference means for people."""


def _spent(budget: Callable[[Contract], Budget]) -> Meaning:
    """A larger budget promises people less."""

    def meaning(old: Contract, new: Contract) -> str:
        before, after = budget(old), budget(new)
        word = "weaker" if after.epsilon > before.epsilon or after.delta > before.delta else "stronger"
        return f"a {word} promise: {in_words(after)} (before: {factor(before)}, and {even_guess(before)})"

    return meaning


def _window(old: Contract, new: Contract) -> str:
    """Fewer days with as much to spend promise less."""
    if old.limit.window_days == new.limit.window_days:
        return _spent(in_window)(old, new)
    before, after = (contract.limit.window / contract.limit.window_days for contract in (old, new))
    return f"about epsilon {after:.3g} a day in the long run (before: {before:.3g})"


def one_report(contract: Contract) -> Budget:
    return Budget(contract.gates[0].epsilon, contract.gates[0].delta)


def in_window(contract: Contract) -> Budget:
    return Budget(contract.limit.window, contract.limit.lifetime_delta)


def ever(contract: Contract) -> Budget:
    return Budget(contract.limit.lifetime, contract.limit.lifetime_delta)


def _fields(contract: Contract) -> dict[str, str]:
    offers = contract.offers
    return {name: values(field) for name, field in offers.fields.items()} if isinstance(offers, ByModel) else {}


def _other_fields(old: Contract, new: Contract) -> str:
    before, after = _fields(old), _fields(new)
    changed = {name for name in before.keys() & after.keys() if before[name] != after[name]}
    kinds = {"new": after.keys() - before.keys(), "gone": before.keys() - after.keys(), "changed": changed}
    told = "; ".join(f"{kind}: {', '.join(sorted(names))}" for kind, names in kinds.items() if names)
    return f"{told}; what the device uses of a person, which leaves it only through the private report"


def _chooses(contract: Contract) -> str:
    return "the device, by a model" if isinstance(contract.offers, ByModel) else "the server, by tickets"


def _other_chooser(old: Contract, new: Contract) -> str:
    if isinstance(new.offers, ByModel):
        return "the server learns no more which action a person was shown"
    return "the server knows which action a person is shown, because it chooses it"


def _kept(old: Contract, new: Contract) -> str:
    return f"the server forgets single private reports {'later' if new.retention > old.retention else 'earlier'}"


def _delayed(old: Contract, new: Contract) -> str:
    return f"the time of a report says {'less' if new.delay > old.delay else 'more'} about the time of its decision"


def _other_shuffler(old: Contract, new: Contract) -> str:
    before, after = (learning_of(contract).shuffler for contract in (old, new))
    if after is None:
        return "the server sees each report by itself, with its permit, time and address"
    if before is None:
        return "the server sees reports in batches alone; whoever runs the shuffler sees each with its time and address"
    return f"a report hides among {'fewer' if after.batch < before.batch else 'more'}"


def _admission(contract: Contract) -> str:
    signed = contract.extensions.get("admission") == "signed"
    return "people for whom the app's server signs a token" if signed else "everybody"


def _other_admission(old: Contract, new: Contract) -> str:
    if new.extensions.get("admission") == "signed":
        return "whoever has the logs of both servers can tell which reports came from one person"
    return "anybody may send reports, forged ones too"


def _named(numbers: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in sorted(numbers.items()))


def _epsilons(contract: Contract) -> str:
    return " or ".join(_said(Budget(gate.epsilon, gate.delta)) for gate in contract.gates[1:])


def _said(spent: Budget) -> str:
    return f"epsilon {spent.epsilon:g}" + (f", delta {spent.delta:g}" if spent.delta else "")


PRIVACY = (
    Part("one report spends", lambda c: _said(one_report(c)), _spent(one_report)),
    Part("all reports spend at most", lambda c: _said(ever(c)), _spent(ever)),
    Part("within some days at most", lambda c: f"{_said(in_window(c))} in {c.limit.window_days} days", _window),
    Part("quieter answers that people may choose", _epsilons),
    Part("fields", lambda c: ", ".join(f"{name} ({said})" for name, said in sorted(_fields(c).items())), _other_fields),
    Part("who chooses", _chooses, _other_chooser),
    Part("single reports are kept", lambda c: spelled(c.retention), _kept),
    Part("random delay of a report", lambda c: f"up to {spelled(c.delay)}", _delayed),
    Part("shuffler", mixed_by, _other_shuffler),
    Part("who may take part", _admission, _other_admission),
    Part("mechanism", lambda c: c.mechanism),
)  # fmt: skip
PEOPLE = (
    Part("title", lambda c: c.title),
    Part("chosen from", choices),
    Part("reward", lambda c: f"{c.reward.low:g} to {c.reward.high:g}"),
    Part("reward that counts when none comes", lambda c: f"{c.reward.default:g} after {spelled(c.reward.wait)}"),
    Part("holdout", held_out),
    Part("last day", lambda c: c.expires.isoformat()),
    Part("web pages that may be devices", lambda c: ", ".join(learning_of(c).origins)),
)
SERVER = (
    Part("learner", lambda c: f"{learning_of(c).learner} ({learning_of(c).preset})"),
    Part("expected reports", lambda c: f"{learning_of(c).horizon:,}"),
    Part("reports between two models", lambda c: f"{learning_of(c).publish_every:,}"),
    Part("tuning", lambda c: _named(learning_of(c).tuning)),
    Part("region", lambda c: _named(learning_of(c).region)),
    Part("formula", lambda c: learning_of(c).formula),
    Part("people answer with", lambda c: f"{c.offers.user}, in {c.offers.dimension} dimensions"),
    Part("messages", lambda c: _named(c.domain)),
    Part("scale of rewards in messages", lambda c: f"{c.reward.unit_low:g} to {c.reward.unit_high:g}"),
    Part("numbers of the mechanism", lambda c: "; ".join(_named(gate.numbers) for gate in c.gates)),
    Part("link", lambda c: str(c.offers.link or "")),
    Part("extensions", lambda c: _named({name: said for name, said in c.extensions.items() if name != "admission"})),
)
HEADINGS = {
    "What it means for privacy": PRIVACY,
    "What is different for people and apps": PEOPLE,
    "What the server does with the reports, and numbers": SERVER,
}


def differences(old: bytes, new: bytes) -> Iterator[str]:
    """Line by line, for two contracts as they are served."""
    if digest_of(old) == digest_of(new):
        yield f"nothing is different: both are the contract {digest_of(new)}"
        return
    before, after = contract_from(old), contract_from(new)
    yield f"{after.id}, contract {digest_of(new)[:12]}, beside {before.id}, contract {digest_of(old)[:12]}"
    for heading, parts in HEADINGS.items():
        lines = [line for part in parts for line in _line(part, before, after)]
        if heading == next(iter(HEADINGS)):
            lines.append(_together(before, after))
        if lines:
            yield from ("", heading, *lines)


def _line(part: Part, old: Contract, new: Contract) -> Iterator[str]:
    was, now = part.value(old), part.value(new)
    if was != now:
        yield f"- {part.name}: {now or 'none'} (was {was or 'none'})"
        if meaning := part.meaning(old, new):
            yield f"    {meaning}"


def _together(old: Contract, new: Contract) -> str:
    if old.id == new.id:
        return f"- both are called {new.id}: devices that joined one refuse the other, so the new one needs another id"
    both = ever(old).epsilon + ever(new).epsilon
    return f"- a device that takes part in both spends up to epsilon {both:g} ever: each has its own budget"
