"""A device in a holdout: the coin says what a report is for, before anything is known of the person."""

import json
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from pretend import PERSON, Clock, Server, contextual

from scripted import ScriptedEntropy
from sottovoce.catalogue.task_file import HoldoutShare, Privacy
from sottovoce.client import Device, Limits
from sottovoce.client.terms import accept
from sottovoce.privacy.domains import Interval
from sottovoce.privacy.drawing import privatise
from sottovoce.privacy.gates import measuring_of
from sottovoce.privacy.mechanisms import decode, mechanism_from
from sottovoce.protocol.budget import Budget
from sottovoce.protocol.codec import from_text, to_text
from sottovoce.protocol.contract import RewardTerms, contract_from
from sottovoce.protocol.errors import ConfigurationError, ContractRefused
from sottovoce.protocol.holdout import purpose_of
from sottovoce.protocol.permits import coin_of

GOLDEN = json.loads((Path(__file__).parent.parent / "golden" / "holdout.json").read_text("utf-8"))
SHARE = 0.2
CONTRACT = contextual(holdout=HoldoutShare(share=SHARE), privacy=Privacy(epsilon=4.0, lifetime=1e5))
LOUD = contextual(holdout=HoldoutShare(share=SHARE), privacy=Privacy(epsilon=8.0, lifetime=1e5))
"""Its payloads have two bytes, and a level takes one."""
GENEROUS = Limits(epsilon=8.0, lifetime=1e5)
BLUE = 2
"""The app's own choice; the pretended model gives all actions the same score, and the first is chosen."""


def device(server: Server, permits: int, clock: Clock | None = None) -> Device:
    mine = Device("http://s", "headline", limits=GENEROUS, transport=server, clock=clock or Clock())
    mine.prefetch(permits)
    return mine


def purposes(reports: list[dict[str, Any]]) -> list[str]:
    return [purpose_of(coin_of(from_text(one["permit"]), from_text(one["nonce"])), SHARE) for one in reports]


# --- bytes written down, shared with every other device ---------------------------------------------------------------


@pytest.mark.parametrize("case", GOLDEN["purposes"], ids=lambda case: f"{case['share']}-{case['coin'][24:36]}")
def test_a_coin_says_what_is_written_down(case: dict[str, str]):
    assert purpose_of(bytes.fromhex(case["coin"]), float(case["share"])) == case["purpose"]


@pytest.mark.parametrize("case", GOLDEN["reports"], ids=lambda case: case["what"])
def test_a_report_that_measures_is_the_bytes_written_down(case: dict[str, Any]):
    coin = coin_of(from_text(case["permit"]), from_text(case["nonce"]))
    assert coin.hex() == case["coin"]
    assert purpose_of(coin, float(case["share"])) == case["purpose"]
    if case["purpose"] != "learning":
        terms = RewardTerms(default=case["reward"]["low"], wait=1, **case["reward"])
        rewards = Interval(terms.unit_low, terms.unit_high)
        mechanism = mechanism_from("levels", rewards, Budget(case["epsilon"]), case["numbers"])
        message, entropy = rewards.embed(terms.to_unit(case["observed"])), ScriptedEntropy(case["entropy"])
        np.testing.assert_allclose(message, case["message"], rtol=1e-15)
        drawn = privatise(mechanism, message, entropy, coin)
        assert to_text(drawn.ljust(case["report_size"], b"\0")) == case["payload"]
        assert entropy.script == []


# --- choosing and reporting ------------------------------------------------------------------------------------------


def test_the_coin_decides_who_gets_the_baseline_and_every_report_costs_and_measures_the_same():
    """400 decisions. That one of the three purposes has none of them: 2e-39."""
    server = Server(LOUD)
    clock = Clock()
    mine = device(server, 400, clock)
    made = [mine.choose(PERSON, baseline=BLUE) for _ in range(400)]
    for number, decision in enumerate(made):
        mine.observe(decision.id, number % 2)
    waiting = mine.outbox()
    by_permit = {row.report["permit"]: row.report for row in waiting}
    reports = [by_permit[f"permit-{number:021}"] for number in range(1, 401)]  # the oldest permit first
    found = purposes(reports)
    assert set(found) == {"baseline", "choice", "learning"}
    assert [one.action for one in made] == [BLUE if purpose == "baseline" else 0 for purpose in found]
    assert {row.epsilon for row in waiting} == {8.0}
    assert mine.budget().spent == pytest.approx(3200)
    assert {len(from_text(row.report["payload"])) for row in waiting} == {2}
    assert len({len(json.dumps(row.report)) for row in waiting}) == 1
    clock.now += 2 * 3600
    assert mine.send().acknowledged == 400
    assert len({len(body) for body in server.bodies}) == 1


def test_what_a_report_that_measures_says_is_the_reward_alone():
    """800 decisions, some 160 of each kind that measures; false-alarm rate below 1e-6: five standard errors."""
    (mechanism, *_), server = measuring_of(contract_from(CONTRACT)), Server(CONTRACT)
    mine, people = device(server, 800), [PERSON, PERSON | {"age": 90, "country": "de", "member": False}]
    for number in range(800):
        mine.observe(mine.choose(people[number % 2]).id, 1.0 if number % 2 else 0.0)
    said: dict[float, list[float]] = {0.0: [], 1.0: []}
    reports = [row.report for row in mine.outbox()]
    for report, purpose in zip(reports, purposes(reports), strict=True):
        if purpose != "learning":
            payload = from_text(report["payload"])
            level, padding = payload[: mechanism.report_size], payload[mechanism.report_size :]
            assert not any(padding)
            number = int(report["permit"][-6:]) - 1
            said[float(number % 2)].append(float(decode(mechanism, level)))
    unit = contract_from(CONTRACT).reward
    for reward, estimates in said.items():
        error = mechanism.noise().bound / len(estimates) ** 0.5
        assert abs(np.mean(estimates) - unit.to_unit(reward)) < 5 * error
    assert 5 * error < 0.5 * (unit.unit_high - unit.unit_low)  # a report without the reward would be caught


def test_of_a_decision_that_measures_no_features_are_kept(tmp_path: Path):
    server = Server(CONTRACT)
    mine = Device("http://s", "headline", folder=tmp_path, limits=GENEROUS, transport=server, clock=Clock())
    mine.prefetch(60)
    for _ in range(60):
        mine.choose(PERSON)
    rows = mine._vault.run("SELECT permit, nonce, raw FROM decisions")
    found = purposes([{"permit": permit, "nonce": nonce} for permit, nonce, _ in rows])
    for purpose, (_, _, raw) in zip(found, rows, strict=True):
        assert bool(msgspec.msgpack.decode(raw)) == (purpose == "learning")


def test_an_apprentice_measures_the_baseline_and_never_a_choice_that_nobody_saw():
    server = Server(CONTRACT)
    server.mode = "apprentice"
    mine = device(server, 200)
    mine.send()
    made = [mine.choose(PERSON, baseline="blue") for _ in range(200)]
    assert {one.name for one in made} == {"blue"}
    for one in made:
        mine.observe(one.id, 1.0)
    found = purposes([row.report for row in mine.outbox()])
    assert len(found) == sum(one.reported for one in made) < 200
    assert set(found) == {"baseline", "learning"}
    assert {one.problem for one in made} == {""}


def test_a_baseline_that_is_no_action_is_refused_at_the_first_decision():
    with pytest.raises(ConfigurationError, match="the baseline must be one of 4 actions"):
        device(Server(CONTRACT), 1).choose(PERSON, baseline="purple")


# --- what a device refuses -------------------------------------------------------------------------------------------


def changed(**numbers: Any) -> bytes:
    contract = json.loads(CONTRACT)
    contract["extensions"]["holdout"] |= numbers
    return json.dumps(contract).encode()


HONEST = json.loads(CONTRACT)["extensions"]["holdout"]["gates"]


@pytest.mark.parametrize(
    "numbers",
    [
        {"share": "0.26"},
        {"share": "0.0"},
        {"share": "nan"},
        {"share": "a tenth"},
        {"gates": HONEST[:2]},
        {"gates": [HONEST[0], HONEST[0], HONEST[2]]},
        {"gates": [{"levels": 300, "keep": HONEST[0]["keep"], "flip": HONEST[0]["flip"]}, *HONEST[1:]]},
        {"gates": [HONEST[0] | {"keep": 2 * HONEST[0]["keep"]}, *HONEST[1:]]},
        {"gates": [HONEST[0] | {"seed": 1}, *HONEST[1:]]},
        {"also": 1},
    ],
    ids=str,
)
def test_a_holdout_that_is_not_as_it_should_be_is_refused(numbers: dict[str, Any]):
    accept(changed(), "headline", GENEROUS)
    with pytest.raises(ContractRefused):
        accept(changed(**numbers), "headline", GENEROUS)


def test_a_contract_without_a_holdout_says_nothing_of_it():
    assert b"holdout" not in contextual()
