"""The coin of a report as the server reads it: from the permit and the nonce, never from the payload."""

import pytest
from test_deadlines import NOW, modelled, permit_of, verdict

from serving import Held, committing, model_report, new_nonces
from sottovoce.privacy.sphere.codebook import COIN_BYTES
from sottovoce.protocol.codec import from_text, to_text
from sottovoce.protocol.permits import coin_of, commitment_of, report_id
from sottovoce.protocol.wire import ModelReport
from sottovoce.server.store.base import Journalled
from sottovoce.server.web.permits import TIME_BYTES, PermitOffice


def test_the_journal_keeps_the_coin_that_both_tossed_and_the_index_that_was_drawn():
    task = modelled()
    held = permit_of(task)
    report = model_report(task.contract, held, task.version)
    (kept,) = task.judge([ModelReport(**report)], NOW)
    assert isinstance(kept, Journalled)
    assert kept.id == report_id(commitment_of(from_text(held.nonce)))
    assert kept.payload == coin_of(from_text(held.permit), from_text(held.nonce))[:COIN_BYTES] + from_text(
        report["payload"]
    )


def test_a_payload_that_brings_its_own_coin_is_refused():
    task = modelled()
    held = permit_of(task)
    report = model_report(task.contract, held, task.version)
    for coin in (held.coin[:COIN_BYTES], bytes(COIN_BYTES), held.coin):
        assert verdict(task, report | {"payload": to_text(coin + from_text(report["payload"]))}) == "bad-payload"
    assert verdict(task, report) == "accepted"


def test_two_permits_for_one_commitment_are_worth_one_report():
    """Who asks again with the same nonce gets another coin, but the same place in the journal."""
    task, nonces = modelled(), new_nonces(1)
    held = [Held(task.permits(**committing(nonces), now=now).permits[0].permit, nonces[0]) for now in (NOW, NOW + 1)]
    judged = task.judge([ModelReport(**model_report(task.contract, one, task.version)) for one in held], NOW + 1)
    first, second = (one for one in judged if isinstance(one, Journalled))
    assert first.id == second.id
    assert first.payload[:COIN_BYTES] != second.payload[:COIN_BYTES]


def test_a_permit_is_read_with_its_own_nonce_key_and_task_alone():
    office, nonce = PermitOffice(b"key", "task"), bytes(range(12))
    permit = office.issue(commitment_of(nonce), NOW, b"memo")
    assert office.read(permit, to_text(nonce)) is not None
    for other in (PermitOffice(b"kez", "task"), PermitOffice(b"key", "tasks")):
        assert other.read(permit, to_text(nonce)) is None
    sent = from_text(permit)
    for place in range(len(sent)):
        for bit in range(8):
            forged = sent[:place] + bytes([sent[place] ^ 1 << bit]) + sent[place + 1 :]
            assert office.read(to_text(forged), to_text(nonce)) is None
    moved = sent[: TIME_BYTES + 3] + sent[TIME_BYTES + 4 :]
    assert office.read(to_text(moved), to_text(nonce)) is None


@pytest.mark.parametrize("length", [0, 11, 13, 32])
def test_a_nonce_of_another_length_is_refused_also_where_the_hash_is_right(length: int):
    office, nonce = PermitOffice(b"key", "task"), bytes(length)
    assert office.read(office.issue(commitment_of(nonce), NOW), to_text(nonce)) is None
