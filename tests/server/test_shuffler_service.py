"""A shuffler and a server that fails: what is sent again is the same, and what cannot be sent is kept or deleted."""

import asyncio
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from serving import ARMS, HELD_MODEL, MIXED, MODEL, Held, committing, model_report, new_nonces
from sottovoce.catalogue.resolve import contract_of
from sottovoce.catalogue.task_file import TaskFile
from sottovoce.client.http import Response
from sottovoce.protocol import wire
from sottovoce.protocol.codec import to_text
from sottovoce.protocol.contract import contract_from, digest_of
from sottovoce.protocol.errors import ConfigurationError, WireError
from sottovoce.protocol.offers import GeneralizedModel, model_body, version_of
from sottovoce.server.store.base import Journalled, open_seconds, permit_seconds
from sottovoce.shuffler.journal import Group, Journal
from sottovoce.shuffler.service import Shuffler
from sottovoce.shuffler.task import checked
from sottovoce.shuffler.upstream import Upstream

BATCH = MIXED["shuffler"]["batch"]
NOW = 1_800_000_000.0


def body_of(file: Mapping[str, Any]) -> bytes:
    return contract_of(msgspec.convert(dict(file), TaskFile))


class Learning:
    """A server of one task. `answers` are what the next batches get; an OSError is raised after it was taken."""

    def __init__(self, *answers: Any) -> None:
        self.body, self.width = body_of(MIXED), 0.0
        self.answers, self.batches = list(answers), list[bytes]()

    def request(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> Response:
        match path.rpartition("/")[2]:
            case "contract":
                return Response(200, {}, self.body)
            case "model":
                return Response(200, {}, self.model)
            case "batches":
                return self._batch(body or b"", headers or {})
        version, digest = version_of(self.model), digest_of(self.body)
        status = wire.TaskStatus(id="mixed", digest=digest, mode="live", state="open", version=version)
        return Response(200, {}, msgspec.json.encode(status))

    @property
    def model(self) -> bytes:
        d = contract_from(self.body).offers.dimension
        parts = [[0.0] * d, [[0.0] * d] * d, self.width, 1.0, [0.0] * d]
        return model_body("generalized", GeneralizedModel(*parts))

    def _batch(self, body: bytes, headers: Mapping[str, str]) -> Response:
        assert headers == {"Authorization": "Bearer token"}
        self.batches.append(body)
        told = self.answers.pop(0) if self.answers else "accepted"
        if isinstance(told, OSError):
            raise told
        if isinstance(told, int):
            return Response(told, {}, b"{}")
        count = len(msgspec.json.decode(body, type=wire.ShuffledReports).reports)
        return Response(200, {}, msgspec.json.encode(wire.Verdicts(verdicts=[told] * count)))


class Clock:
    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> float:
        return self.now


async def started(folder: Path, server: Learning, clock: Clock | None = None, batch: int = 0) -> Shuffler:
    """Without its background work: the tests say when it is done."""
    shuffler = Shuffler(Journal(folder), Upstream(server, "token"), ["mixed"], batch, clock or Clock())
    assert shuffler.trouble
    await shuffler.ask(await shuffler.join("mixed"))
    assert not shuffler.trouble
    return shuffler


async def report(shuffler: Shuffler, count: int, gate: int = 0) -> list[wire.Verdict]:
    task, nonces = shuffler.tasks["mixed"], new_nonces(count)
    permits = task.permits(committing(nonces)["commitments"], shuffler.clock()).permits
    held = [Held(one.permit, nonce) for one, nonce in zip(permits, nonces, strict=True)]
    drawn = [model_report(task.contract, one, task.version, gate) for one in held]
    return await shuffler.take(task, [msgspec.convert(one, wire.ModelReport) for one in drawn])


def test_a_batch_whose_answer_was_lost_is_sent_again_with_the_same_bytes(tmp_path: Path):
    server = Learning(ConnectionError(), 503, "task-paused")

    async def scene() -> None:
        shuffler = await started(tmp_path, server)
        assert await report(shuffler, BATCH) == ["accepted"] * BATCH
        await shuffler.mix()
        for failure in (ConnectionError, WireError):
            with pytest.raises(failure):
                await shuffler.send()
        await shuffler.send()  # paused: it is kept
        await shuffler.__aexit__()
        again = await started(tmp_path, server)  # as after a crash
        await again.mix()
        await again.send()
        await again.send()
        await again.__aexit__()

    asyncio.run(scene())
    assert len(server.batches) == 4
    assert len(set(server.batches)) == 1


def test_a_batch_has_one_model_and_one_gate_and_never_too_few(tmp_path: Path):
    server = Learning()

    async def scene() -> None:
        shuffler = await started(tmp_path, server, batch=BATCH + 5)  # its operator may want more
        await report(shuffler, BATCH + 4)
        await report(shuffler, BATCH + 4, gate=1)
        server.width = 1.0
        await shuffler.ask(shuffler.tasks["mixed"])
        await report(shuffler, BATCH + 4)
        await shuffler.mix()
        await shuffler.send()
        assert server.batches == []
        await report(shuffler, 1, gate=1)
        await report(shuffler, 1)
        await shuffler.mix()
        await shuffler.send()
        await shuffler.__aexit__()

    asyncio.run(scene())
    (sent,) = [msgspec.json.decode(batch, type=wire.ShuffledReports) for batch in server.batches]
    assert (sent.version, sent.gate, len(sent.reports)) == (version_of(server.model), 0, BATCH + 5)


def test_what_too_few_sent_is_deleted_when_its_model_is_old_and_permits_are_forgotten(tmp_path: Path):
    server, clock = Learning(), Clock()

    async def scene() -> None:
        shuffler = await started(tmp_path, server, clock)
        task = shuffler.tasks["mixed"]
        await report(shuffler, BATCH - 1)
        server.width = 1.0
        await shuffler.ask(task)
        clock.now += open_seconds(task.contract)
        await shuffler.forget()
        assert b'lapsed_total{task="mixed"}' not in shuffler.metrics_page()
        clock.now += 2
        await shuffler.forget()
        assert f'lapsed_total{{task="mixed"}} {BATCH - 1:.1f}'.encode() in shuffler.metrics_page()
        assert Journal(tmp_path).groups() == {}
        used = Journal(tmp_path)._file.execute("SELECT count(*) FROM used")
        assert used.fetchone() == (BATCH - 1,)
        clock.now += permit_seconds(task.contract) + 2 * 86400
        await shuffler.forget()
        assert Journal(tmp_path)._file.execute("SELECT count(*) FROM used").fetchone() == (0,)
        await shuffler.__aexit__()

    asyncio.run(scene())


def test_a_changed_contract_and_a_model_of_another_task_are_not_served(tmp_path: Path):
    server = Learning()

    async def scene() -> None:
        shuffler = await started(tmp_path, server)
        task = shuffler.tasks["mixed"]
        known = task.version
        server.body = body_of(MIXED | {"horizon": 3000})
        with pytest.raises(WireError, match="another contract"):
            await shuffler.ask(task)
        server.body = body_of(MIXED)
        server.__class__ = Foreign
        with pytest.raises(WireError):
            await shuffler.ask(task)
        assert task.version == known
        await shuffler.__aexit__()

    asyncio.run(scene())


class Foreign(Learning):
    @property
    def model(self) -> bytes:
        return model_body("generalized", GeneralizedModel([0.0], [[0.0]], 0.0, 1.0, [0.0]))


@pytest.mark.parametrize(
    ("file", "why"),
    [
        (ARMS, "works with tickets"),
        (MODEL, "declares no shuffler"),
        (MIXED | {"id": "other"}, "the contract of 'other'"),
    ],
)
def test_a_task_that_a_shuffler_cannot_help_is_refused_by_name(file: dict[str, Any], why: str):
    with pytest.raises(ConfigurationError, match=why):
        checked(body_of(file), MIXED["id"] if "contract of" in why else file["id"])


@pytest.mark.parametrize(
    ("file", "why"),
    [
        (ARMS | {"shuffler": {"batch": 10}}, "works with tickets"),
        (HELD_MODEL | {"shuffler": {"batch": 10}}, "what they measure"),
        (MIXED | {"admission": "signed"}, "admission tokens"),
        (MIXED | {"shuffler": {"batch": 1}}, "at least 2"),
        (MIXED | {"shuffler": {"batch": 8001}}, "at most 8,000"),
    ],
)
def test_a_task_file_with_a_shuffler_that_would_hide_nothing_is_refused(file: dict[str, Any], why: str):
    with pytest.raises(ConfigurationError, match=why):
        body_of(file)


@pytest.mark.parametrize("size", [1, 13, 14, 100, 801])
def test_the_largest_batch_fits_one_request(size: int):
    one = wire.ShuffledReport(id=to_text(bytes(16)), payload=to_text(bytes(size)))
    batch = wire.ShuffledReports(version="0" * 32, gate=999, reports=[one] * wire.room_for(size))
    assert len(msgspec.json.encode(batch)) <= wire.LARGEST_BODY


def test_neither_names_nor_places_follow_the_order_of_arrival(tmp_path: Path):
    """A payload that says when it came stands anywhere; the chance that this test fails is below 1e-6."""
    journal, count, version = Journal(tmp_path), 400, bytes(16)
    came = [Journalled(1, secrets.token_bytes(16), 0, 0, version, bytes([i // 256, i % 256])) for i in range(count)]
    for report in came:
        assert journal.append([report]) == [True]
    assert journal.append(came) == [False] * count
    waits = [payload for (payload,) in journal._file.execute("SELECT payload FROM waiting")]
    assert journal.mix(Group(1, version, 0), count + 1, 2 * count) == 0  # one is missing
    assert journal.mix(Group(1, version, 0), count, count) == count
    leaves = journal.batch(1)
    for order in (waits, [one.payload for one in leaves]):
        assert abs(rank_correlation([int.from_bytes(one, "big") for one in order])) < 5 / count**0.5
    assert abs(rank_correlation([waits.index(one.payload) for one in leaves])) < 5 / count**0.5
    assert not {one.name for one in leaves} & {one.id for one in came}
    journal.close()


def rank_correlation(places: Sequence[int]) -> float:
    """Of a permutation with its own order: 1 for the same, about 0 plus or minus 1/sqrt(n) for a random one."""
    middle = (len(places) - 1) / 2
    above = sum((i - middle) * (place - middle) for i, place in enumerate(places))
    return above / sum((i - middle) ** 2 for i in range(len(places)))
