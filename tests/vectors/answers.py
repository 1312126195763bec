"""What Python answers to a golden vector. Each topic is a function from what is `given` to what it `gives`.

A vector is the same in every language: its numbers are JSON numbers, bytes are hexadecimal, and what JSON cannot say is
`{"number": "nan"}`. Randomness is the bytes that a device takes from its operating system, in order.
"""

import contextlib
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from sottovoce.client.answers import document_of, kept_of, mechanism_of, message_of
from sottovoce.client.ledger import Account, Limits
from sottovoce.client.tables import Pending
from sottovoce.client.terms import accept
from sottovoce.client.vault import Vault
from sottovoce.privacy.domains import domain_from
from sottovoce.privacy.drawing import privatise
from sottovoce.privacy.mechanisms import Mechanism, mechanism_from
from sottovoce.privacy.spent import Spent
from sottovoce.protocol.budget import Budget
from sottovoce.protocol.codec import from_decimals, from_text, to_text
from sottovoce.protocol.contract import ByModel, Limit, digest_of
from sottovoce.protocol.errors import SottovoceError
from sottovoce.protocol.links import Link
from sottovoce.protocol.offers import MODELS, model_from, version_of
from sottovoce.protocol.permits import coin_of, commitment_of
from sottovoce.protocol.strict import decoded
from sottovoce.protocol.wire import Commitments
from sottovoce.users import USERS, user_of
from sottovoce.users.fields import features

FOLDER = Path(__file__).parents[1] / "golden"
SIDES = ("python", "typescript")

Given = dict[str, Any]
Gives = dict[str, Any]


class Written:
    """Randomness from written bytes, as `secrets.randbelow` takes integers from those of the operating system."""

    def __init__(self, data: bytes) -> None:
        self.data, self.used = data, 0

    def octets(self, count: int) -> bytes:
        taken = self.data[self.used : self.used + count]
        assert len(taken) == count, "more randomness was asked for than is written down"
        self.used += count
        return taken

    def below(self, bound: int) -> int:
        bits = bound.bit_length()
        while (drawn := int.from_bytes(self.octets(-(-bits // 8)), "big") >> -bits % 8) >= bound:
            pass
        return drawn


def _plain(value: Any) -> Any:
    """As JSON has it."""
    match value:
        case np.ndarray() | np.generic():
            return _plain(value.tolist())
        case float() if not math.isfinite(value):
            return {"number": str(value)}
        case dict():
            return {name: _plain(one) for name, one in value.items()}
        case list() | tuple():
            return [_plain(one) for one in value]
        case _:
            return value


def _revived(value: Any) -> Any:
    match value:
        case {"number": text}:
            return float(text)
        case dict():
            return {name: _revived(one) for name, one in value.items()}
        case list():
            return [_revived(one) for one in value]
        case _:
            return value


def _arrays(value: Any) -> Any:
    return np.array(value, dtype=float) if isinstance(value, list) else value


def _mechanism(given: Given) -> Mechanism:
    domain, budget = domain_from(from_decimals(given["domain"])), Budget(given["epsilon"], given["delta"])
    return mechanism_from(given["mechanism"], domain, budget, from_decimals(given["numbers"]))


def mechanisms(given: Given) -> Gives:
    """A message is formed and made private."""
    mechanism, entropy = _mechanism(given), Written(bytes.fromhex(given["random"]))
    message = mechanism.domain.embed(*[_arrays(part) for part in given["raw"]])
    report = privatise(mechanism, message, entropy, bytes.fromhex(given["coin"]))
    return {"message": message, "report": report[mechanism.coin_size :].hex(), "used": entropy.used}


def fields(given: Given) -> Gives:
    """Raw fields become rows of features."""
    offers = decoded(json.dumps({"kind": "model", "model": "linear", **given["offers"]}).encode(), ByModel, "offers")
    return {"context": features(offers, given["raw"])}


def choices(given: Given) -> Gives:
    """A model is read, and an action chosen by it."""
    kind, body = given["kind"], given["body"].encode()
    model = model_from(body, kind, given["dimension"])
    user = USERS[kind](None) if kind == "linear" else USERS[kind](None, None)
    context = np.array(given["context"], dtype=float)
    action = int(user.act(model, context, given["chance"]))
    return {"version": version_of(body), "action": action, "kept": kept_of(model, context, action)}


def messages(given: Given) -> Gives:
    """What is reported of a reward, before noise."""
    link = None if given["link"] is None else Link(**given["link"])
    user = user_of(given["user"], domain_from(from_decimals(given["domain"])), link)
    model, action = given["model"], _arrays(given["action"])
    if model is not None:
        model = MODELS[given["user"]](**{name: _arrays(part) for name, part in model.items()})
    return {"message": user.message(model, _arrays(given["context"]), action, _arrays(given["reward"]))}


def _accepted(given: Given) -> Any:
    return accept(given["contract"].encode(), given["task"], Limits(**given["limits"]), given["epsilon"])


def contracts(given: Given) -> Gives:
    """A contract is accepted by an owner."""
    terms = _accepted(given)
    sizes = [[one.budget.epsilon, one.coin_size, one.report_size] for one in terms.mechanisms]
    return {"digest": terms.digest, "gate": terms.gate, "mechanisms": sizes}


def reports(given: Given) -> Gives:
    """From a contract, a decision and a reward to the bytes that travel."""
    terms, pending = _accepted(given), given["pending"]
    models = {
        version_of(body.encode()): model_from(
            body.encode(), terms.contract.offers.model, terms.contract.offers.dimension
        )
        for body in given["models"]
    }
    raw = msgspec.msgpack.encode(pending["raw"])
    row = Pending("", 0, 0.0, terms.gate, pending["permit"], pending["nonce"], pending["version"], raw)
    entropy, mechanism = Written(bytes.fromhex(given["random"])), mechanism_of(terms, row)
    message, _ = message_of(terms, models, row, mechanism, given["reward"])
    drawn = privatise(mechanism, message, entropy, coin_of(from_text(row.permit), from_text(row.nonce)))
    report = document_of(terms, row, drawn[mechanism.coin_size :])
    return {"digest": digest_of(given["contract"].encode()), "report": report.decode(), "used": entropy.used}


def sums(given: Given) -> Gives:
    """Epsilons are added up."""
    return {"total": Spent(pure=tuple((epsilon, count) for epsilon, count in given["pure"])).total}


def ledger(given: Given) -> Gives:
    """What was spent, and whether there is room for one more report."""
    mechanism = _mechanism(given["mechanism"])
    with contextlib.closing(Vault(None)) as vault:
        for number, (cost, hour, own) in enumerate(given["entries"]):
            vault.join("server", "this" if own else "another", b"", b"")
            pure = tuple((epsilon, count) for epsilon, count in cost["pure"])
            spent = msgspec.json.encode(Spent(pure, cost["squared"], cost["coordinates"]))
            vault.pay(str(number), 1.0, 0.0, spent, hour)
        vault.join("server", "this", b"", b"")
        account = Account(vault, Limits(**given["limits"]), Limit(**given["limit"]))
        balance, affords = account.balance(mechanism, given["now"]), account.affords(mechanism, given["now"])
    gives = {name: getattr(balance, name) for name in ("spent", "window_spent", "spent_by_all", "reports_left")}
    return gives | {"affords": affords}


def wire(given: Given) -> Gives:
    """Bytes, hashes and numbers."""
    match given:
        case {"bytes": data}:
            octets = bytes.fromhex(data)
            return {"text": to_text(octets), "sha256": digest_of(octets)}
        case {"text": text}:
            return {"bytes": from_text(text).hex()}
        case {"nonces": nonces}:
            committed = [to_text(commitment_of(bytes.fromhex(nonce))) for nonce in nonces]
            return {"body": msgspec.json.encode(Commitments(commitments=committed)).decode()}
        case {"permit": permit, "nonce": nonce}:
            return {"coin": coin_of(from_text(permit), from_text(nonce)).hex()}
        case {"bound": bound, "random": data}:
            entropy = Written(bytes.fromhex(data))
            return {"drawn": str(entropy.below(int(bound))), "used": entropy.used}
        case {"decimal": text}:
            return {"number": decoded(f'"{text}"'.encode(), float, "a number")}
    raise AssertionError(f"no such vector: {given}")


ANSWERS: dict[str, Callable[[Given], Gives]] = {
    topic.__name__: topic for topic in (mechanisms, fields, choices, messages, contracts, reports, sums, ledger, wire)
}
TOLERANCE = {"mechanisms": 1e-12, "messages": 1e-12, "ledger": 1e-9}
"""How far numbers may be apart, relative to 1 or to themselves; in the other topics not at all. Bytes never."""


def answer(topic: str, given: Given) -> Gives:
    """What Python gives, as JSON has it; input that is refused gives `{"refused": true}`."""
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # some vectors are about what overflows
            return _plain(ANSWERS[topic](_revived(given)))
    except SottovoceError:
        return {"refused": True}


def agree(found: Any, written: Any, tolerance: float) -> bool:
    """Are two answers the same, but for the last digits of numbers that are not whole?"""
    match found, written:
        case float() | int(), float() | int() if not isinstance(found, bool) and not isinstance(written, bool):
            return abs(found - written) <= tolerance * max(1.0, abs(written))
        case dict(), dict():
            return found.keys() == written.keys() and all(agree(found[n], written[n], tolerance) for n in found)
        case list(), list():
            return len(found) == len(written) and all(
                agree(one, other, tolerance) for one, other in zip(found, written, strict=True)
            )
        case _:
            return found == written


def read(topic: str, side: str) -> list[dict[str, Any]]:
    return json.loads((FOLDER / f"{topic}.{side}.json").read_text("utf-8"))
