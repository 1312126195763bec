"""A shuffler between real devices and a real server: who sent what is forgotten, and no report is lost or doubled."""

import json
import secrets
import sqlite3
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from loading import Load
from serving import ARMS, CLIENT, MIXED, MODEL, TOKEN, Held, Server, Shuffler, honest, model_report, until
from sottovoce.client import Device, Limits
from sottovoce.privacy.gates import mechanisms_of
from sottovoce.protocol.codec import from_text, to_text
from sottovoce.protocol.contract import Contract
from sottovoce.protocol.permits import REPORT_ID_BYTES, commitment_of
from sottovoce.server.admins import digest_of_token

BATCH = MIXED["shuffler"]["batch"]
PAGE = "https://shop.example"
LEARNED = MIXED | {"id": "learned-mixed", "publish_every": 20, "origins": [PAGE]}
SHUFFLE = "the-token-of-the-shuffler"


class Pair(NamedTuple):
    server: Server
    shuffler: Server
    contract: Contract


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("learns")
    tokens = folder / "tokens.toml"
    tokens.write_text(f'[tokens.mixer]\nrole = "shuffle"\nsha256 = "{digest_of_token(SHUFFLE)}"\n')
    tokens.chmod(0o600)
    server = Server(folder / "data", tokens=tokens).start()
    try:
        yield server
    finally:
        server.close()


@pytest.fixture(scope="module")
def pair(served: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    contract, _ = served.create(MIXED), served.create(LEARNED)
    shuffler = Shuffler(tmp_path_factory.mktemp("mixes"), served.address, "mixed", LEARNED["id"], token=SHUFFLE)
    try:
        yield Pair(served, shuffler.start().ready(), contract)
    finally:
        shuffler.close()


def journal(server: Server, task: str) -> list[dict[str, Any]]:
    lines = server.admin("GET", f"/v1/tasks/{task}/export").body.splitlines()[1:]
    return [json.loads(line) for line in lines]


def test_devices_report_through_it_and_the_server_learns_nothing_but_payloads(pair: Pair):
    """Real devices, which know nothing of a shuffler but its address."""
    served, shuffler, task = pair.server, pair.shuffler, LEARNED["id"]
    devices, before, limits = list[Device](), served.version(task), Limits(epsilon=2.0, lifetime=20.0)
    try:
        for person in range(BATCH):
            devices.append(device := Device(shuffler.address, task, limits=limits))
            decision = device.choose({"age": float(person)})
            assert decision.reported
            device.observe(decision.id, 1.0)
        sent = [waiting.report for device in devices for waiting in device.outbox()]
        assert [device.send(force=True).acknowledged for device in devices[1:]] == [1] * (BATCH - 1)
        time.sleep(0.5)
        assert served.summary(task)["reports"] == 0  # one is missing: nothing has left
        assert devices[0].send(force=True).acknowledged == 1
        until(lambda: served.caught_up(task)["learned"] == BATCH, seconds=10)
        until(lambda: served.version(task) != before, seconds=10)  # it has learned
        until(lambda: shuffler.version(task) == served.version(task), seconds=10)  # and says so here
        check_forgotten(served, journal(served, task), sent)
    finally:
        for device in devices:
            device.close()


def check_forgotten(server: Server, kept: list[dict[str, Any]], sent: list[dict[str, Any]]) -> None:
    """The journal has what was sent, in another order, and no byte that a device could be known by."""
    coins = [Held(one["permit"], one["nonce"]).coin for one in sent]
    payloads = [to_text(coin[:12] + from_text(one["payload"])) for coin, one in zip(coins, sent, strict=True)]
    assert Counter(one["payload"] for one in kept) == Counter(payloads)
    assert [one["payload"] for one in kept] != payloads  # the chance of the same order is 1 in 20!
    known = [from_text(one[name]) for one in sent for name in ("permit", "nonce")]
    known += [commitment_of(from_text(one["nonce"])) for one in sent]
    known += [commitment[:REPORT_ID_BYTES] for commitment in known]
    known += [coin[12:] for coin in coins]  # of a coin no more than the codebook's part
    files = [path.read_bytes() for path in server.folder.iterdir() if path.is_file()]
    for secret in known:
        assert not any(secret in file or to_text(secret).encode() in file for file in files)
    assert any(from_text(kept[0]["payload"]) in file for file in files)  # or the search finds nothing at all


def test_no_address_and_no_permit_reaches_a_log(pair: Pair):
    reports = pair.shuffler.model_reports(pair.contract, 3)
    assert pair.shuffler.report("mixed", *reports) == ["accepted"] * 3
    pair.shuffler.call("GET", "/v1/tasks/no-such-task")
    for said in (pair.shuffler.log.read_text(), pair.server.log.read_text()):
        for secret in (CLIENT, SHUFFLE, TOKEN, *(report[name] for report in reports for name in ("permit", "nonce"))):
            assert secret not in said


def test_what_nobody_could_mix_is_refused_on_both_sides(pair: Pair):
    server, shuffler = pair.server, pair.shuffler
    # the server itself gives no permits, and takes no reports
    commitments = {"commitments": [to_text(commitment_of(bytes(12)))]}
    direct = server.call("POST", "/v1/tasks/mixed/permits", commitments)
    assert (direct.status, direct.json()["type"].rpartition(":")[2]) == (409, "wrong-kind")
    good = shuffler.model_reports(pair.contract, 1)
    direct = server.call("POST", "/v1/tasks/mixed/reports", {"reports": good})
    assert (direct.status, direct.json()["type"].rpartition(":")[2]) == (409, "wrong-kind")
    # the shuffler takes its own permits alone, each once
    forged = [model_report(pair.contract, Held("AGtJ0gAEnU-wOhhXMV5nGxAJtDeH", "AAAAAAAAAAAAAAAA"), good[0]["version"])]
    altered = [good[0] | {"nonce": to_text(secrets.token_bytes(12))}]
    unknown = [one | {"version": "0" * 32} for one in shuffler.model_reports(pair.contract, 1)]
    verdicts = shuffler.report("mixed", *good, *good, *forged, *altered, *unknown)
    assert verdicts == ["accepted", "duplicate", "bad-permit", "bad-permit", "unknown-version"]


def test_pages_that_the_task_declares_may_use_the_shuffler_and_others_may_not(pair: Pair):
    for origin, allowed in ((PAGE, PAGE), ("https://other.example", None)):
        path, headers = f"/v1/tasks/{LEARNED['id']}", {"origin": origin}
        asked = pair.shuffler.call("OPTIONS", f"{path}/reports", headers=headers)
        answered = pair.shuffler.call("GET", path, headers=headers)
        assert (asked.status == 204) is (allowed is not None)
        assert [one.headers.get("access-control-allow-origin") for one in (asked, answered)] == [allowed] * 2
    assert "access-control-allow-origin" not in pair.shuffler.call("GET", "/v1/tasks/mixed", headers=headers).headers


def batch_of(contract: Contract, version: str, count: int, **other: Any) -> dict[str, Any]:
    coin_size = mechanisms_of(contract)[0].coin_size
    payloads = [to_text(honest(contract, coin=secrets.token_bytes(32))) for _ in range(count)]
    assert coin_size == 12
    reports = [{"id": to_text(secrets.token_bytes(REPORT_ID_BYTES)), "payload": payload} for payload in payloads]
    return {"version": version, "gate": 0, "reports": reports} | other


def test_a_batch_is_taken_once_from_the_shuffler_alone_and_never_below_its_size(served: Server):
    file = MIXED | {"id": "batched"}
    contract, path = served.create(file), "/v1/tasks/batched/batches"
    whole = batch_of(contract, served.version("batched"), BATCH)
    assert served.call("POST", path, whole).status == 401
    assert served.call("POST", path, whole, token="another").status == 401

    def send(batch: dict[str, Any], path: str = path) -> Any:
        answer = served.call("POST", path, batch, token=SHUFFLE)
        return answer.json()["verdicts"] if answer.status == 200 else answer.json()["detail"]

    least = f"a batch of this task has at least {BATCH} different reports"
    assert send(whole | {"reports": whole["reports"][1:]}) == least
    assert send(whole | {"reports": whole["reports"][:1] * BATCH}) == least
    assert send(whole | {"version": "0" * 32}) == ["unknown-version"] * BATCH
    assert send(whole | {"gate": 9}) == ["bad-gate"] * BATCH
    bad = {"id": whole["reports"][0]["id"], "payload": "AA"}, {"id": "AA", "payload": whole["reports"][0]["payload"]}
    assert send(whole | {"reports": [*bad, *whole["reports"]]})[:2] == ["bad-payload"] * 2
    assert send(whole) == ["duplicate"] * BATCH
    assert served.summary("batched")["reports"] == BATCH
    for other in (ARMS, MODEL):
        said = send(whole, f"/v1/tasks/{served.create(other).id}/batches")
        assert said == "this task declares no shuffler: its devices report to the server"
    # its token does nothing else
    assert served.call("GET", "/v1/tasks", token=SHUFFLE).status == 403
    assert served.call("POST", "/v1/tasks/batched/pause", {}, token=SHUFFLE).status == 403


def test_reports_through_another_gate_wait_for_their_like(pair: Pair):
    """Which gate was used is a clue, so each has batches of its own."""
    server, shuffler, contract = pair
    until(lambda: shuffler.version("mixed") == server.version("mixed"), seconds=10)
    before = journal(server, "mixed")
    version = shuffler.version("mixed")
    quiet = [model_report(contract, permit, version, gate=1) for permit in shuffler.permits("mixed", BATCH - 1)]
    loud = [model_report(contract, permit, version) for permit in shuffler.permits("mixed", BATCH)]
    assert set(shuffler.report("mixed", *quiet, *loud)) == {"accepted"}
    until(lambda: len(journal(server, "mixed")) >= len(before) + BATCH, seconds=10)
    time.sleep(0.3)
    assert {one["gate"] for one in journal(server, "mixed")} == {0}


def test_kills_under_load_lose_nothing_and_double_nothing(served: Server, tmp_path: Path):
    task = MIXED | {"id": "killed", "publish_every": 10_000}
    contract = served.create(task)
    shuffler = Shuffler(tmp_path / "shuffler", served.address, "killed", token=SHUFFLE).start().ready()
    try:
        load = Load(shuffler, contract, seed=1)
        for pause in (0.4, 0.3):
            time.sleep(pause)
            shuffler.kill()
            shuffler.start()
        time.sleep(0.3)
        load.finish()
        until(lambda: waiting(shuffler) < BATCH, seconds=15)
        shuffler.stop()
        left = rows(shuffler, "SELECT payload FROM waiting")
        assert rows(shuffler, "SELECT count(*) FROM leaving") == [0]
        kept, used = journal(served, "killed"), rows(shuffler, "SELECT id FROM used")
        assert load.retried > 0
        assert len(load.acknowledged) > BATCH
        assert set(load.acknowledged) <= set(used)
        assert len(kept) + len(left) == len(used)  # what was taken before a kill and not acknowledged is there too
        payloads = Counter([one["payload"] for one in kept] + [to_text(one) for one in left])
        assert max(payloads.values()) == 1  # each has a coin of its own, so none came twice
        assert not {from_text(one["id"]) for one in kept} & set(used)
    finally:
        shuffler.close()


def rows(shuffler: Server, query: str) -> list[Any]:
    with sqlite3.connect(shuffler.folder / "shuffler.sqlite") as file:
        return [row[0] for row in file.execute(query)]


def waiting(shuffler: Server) -> int:
    return sum(rows(shuffler, f"SELECT count(*) FROM {table}")[0] for table in ("waiting", "leaving"))
