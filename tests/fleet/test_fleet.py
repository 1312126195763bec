"""A fleet with real devices and real noise against a server that exists in this process only."""

import datetime
import threading
from collections import Counter
from collections.abc import Mapping

import msgspec
import numpy as np
import pytest

from sottovoce.admin.remote import Remote
from sottovoce.catalogue.resolve import contract_of
from sottovoce.catalogue.task import learning_of
from sottovoce.catalogue.task_file import Privacy, TaskFile
from sottovoce.client import Response
from sottovoce.fleet.run import run_fleet
from sottovoce.protocol import team, wire
from sottovoce.protocol.contract import ByModel, ByTicket, contract_from, digest_of
from sottovoce.protocol.errors import ConfigurationError, Refused, Unreachable
from sottovoce.protocol.fields import Flag, Number
from sottovoce.protocol.offers import GeneralizedModel, model_body, version_of

EXPIRES = datetime.date(2100, 1, 1)
ARMS = TaskFile(
    id="t", learner="thompson", actions=("a", "b", "c"), horizon=60, publish_every=10, expires=EXPIRES,
    privacy=Privacy(epsilon=2.0, lifetime=4.0),
)  # fmt: skip
FEATURES = TaskFile(
    id="t", learner="gradient", candidates=3, horizon=60, publish_every=10, expires=EXPIRES,
    fields={"age": Number(low=0.0, high=9.0), "member": Flag()}, privacy=Privacy(epsilon=4.0),
)  # fmt: skip


class Server:
    """Takes reports once each and learns nothing; `learned` runs behind by one look."""

    def __init__(self, file: TaskFile, done_after: int = 1_000_000) -> None:
        self.body = contract_of(file)
        self.known = contract_from(self.body)
        self.state = "open"
        self.taken: dict[str, int] = {}
        self.learned, self.done_after = 0, done_after
        self.calls: Counter[str] = Counter()
        self.versions: list[str] = []
        self.lock = threading.Lock()

    def request(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> Response:
        with self.lock:
            where = path.rpartition("/")[2]
            self.calls[where] += 1
            answer = getattr(self, where)(body)
            body = answer if isinstance(answer, bytes) else msgspec.json.encode(answer)
            return Response(200, {"cache-control": "max-age=60"}, body)

    def t(self, _: object) -> wire.TaskStatus:
        version = version_of(self.model(None)) if isinstance(self.known.offers, ByModel) else ""
        return wire.TaskStatus(id="t", digest=digest_of(self.body), mode="live", state=self.state, version=version)

    def contract(self, _: object) -> bytes:
        return self.body

    def offers(self, body: bytes) -> wire.Offers:
        numbers = self._next_numbers(body)
        return wire.Offers(offers=[wire.TicketOffer(ticket=f"T{n:03}", action=n % 3, expires=2**40) for n in numbers])

    def permits(self, body: bytes) -> wire.Permits:
        return wire.Permits(permits=[wire.Permit(permit=f"P{n:03}", expires=2**40) for n in self._next_numbers(body)])

    def _next_numbers(self, body: bytes) -> range:
        """One for each commitment."""
        first = self.calls["commitment"]
        self.calls["commitment"] += len(msgspec.json.decode(body, type=wire.Commitments).commitments)
        return range(first, self.calls["commitment"])

    def model(self, _: object) -> bytes:
        """Another one after every publication; always: choose at random."""
        d, width = self.known.offers.dimension, float(self.learned // learning_of(self.known).publish_every)
        return model_body("generalized", GeneralizedModel(np.zeros(d), np.eye(d), width, 1.0, np.zeros(d)))

    def reports(self, body: bytes) -> wire.Verdicts:
        kind = wire.TicketReports if isinstance(self.known.offers, ByTicket) else wire.ModelReports
        verdicts = []
        for report in msgspec.json.decode(body, type=kind).reports:
            name = report.ticket if isinstance(report, wire.TicketReport) else report.permit
            self.versions += [report.version] if isinstance(report, wire.ModelReport) else []
            verdicts.append("duplicate" if name in self.taken else "accepted")
            self.taken[name] = report.gate
        return wire.Verdicts(verdicts=verdicts)

    def __getattr__(self, name: str):
        raise AssertionError(f"no device should ask for {name}")

    def summary(self, _: object) -> team.Summary:
        learned, self.learned = self.learned, len(self.taken)
        return team.Summary(
            id="t", reports=len(self.taken), warm=0, learned=learned, published=0, refused={},
            done=learned >= self.done_after, recommendation=0, version="", epsilon=2.0, bytes_per_report=1,
            estimates=[], state="",
        )  # fmt: skip


def test_people_come_in_cohorts_and_every_report_is_sent_alone_and_counted():
    server = Server(ARMS)
    steps = []
    result = run_fleet("http://t", "t", 25, transport=server, progress=steps.append)
    assert steps == [10, 10, 5]
    assert result.row() | {"seconds": 0, "regret": 0, "regret_uniform": 0} == {
        "people": 25, "reports": 25, "acknowledged": 25, "refused": 0, "regret": 0, "regret_uniform": 0,
        "epsilon": 2.0, "bytes_per_report": 1, "seconds": 0,
    }  # fmt: skip
    assert len(server.taken) == server.calls["reports"] == 25
    arms, rewards = np.arange(25) % 3, np.array(result.world.rewards)
    assert result.regret == pytest.approx((rewards.max() - rewards)[arms].sum())
    assert result.regret_uniform == pytest.approx(25 * 0.2 * 2 / 3)


def test_a_cohort_ends_where_the_server_publishes_even_if_others_came_before():
    server = Server(ARMS)
    server.taken = dict.fromkeys("abcdefg", 0)
    steps = []
    run_fleet("http://t", "t", 15, transport=server, progress=steps.append)
    assert steps == [3, 10, 2]


def test_who_comes_back_chooses_by_the_newest_model_and_pays_from_the_same_ledger():
    server = Server(FEATURES)
    result = run_fleet("http://t", "t", 10, 3, transport=server, seed=2)
    assert (result.people, result.reports, len(result.curve)) == (10, 30, 30)
    assert [len(set(server.versions[start : start + 10])) for start in (0, 10, 20)] == [1, 1, 1]
    assert len(set(server.versions)) == 3
    spent = run_fleet("http://t", "t", 5, 4, transport=Server(ARMS))
    assert (spent.reports, spent.acknowledged, len(spent.curve)) == (10, 10, 20)


def test_who_comes_often_in_a_rush_has_a_permit_each_time_as_long_as_the_budget_lasts():
    server = Server(msgspec.structs.replace(FEATURES, privacy=Privacy(epsilon=4.0, lifetime=8.0)))
    result = run_fleet("http://t", "t", 4, 3, transport=server, lockstep=False)
    assert (result.reports, result.acknowledged, server.calls["permits"]) == (8, 8, 8)


def test_a_quieter_fleet_answers_at_the_quieter_gate():
    server = Server(ARMS)
    result = run_fleet("http://t", "t", 4, transport=server, epsilon=1.5, connections=2)
    assert result.epsilon == 1.0
    assert set(server.taken.values()) == {1}
    with pytest.raises(ConfigurationError, match=r"not with 0\.1"):
        run_fleet("http://t", "t", 4, transport=server, epsilon=0.1)


def test_in_a_rush_nobody_waits_and_nobody_is_lost():
    server = Server(FEATURES)
    result = run_fleet("http://t", "t", 30, transport=server, lockstep=False, connections=3)
    assert (result.acknowledged, len(server.taken), server.calls["summary"]) == (30, 30, 1)


@pytest.mark.parametrize(("state", "says"), [("paused", "task resume t"), ("expired", "a task with a later date")])
def test_nobody_comes_to_a_task_that_takes_no_reports(state: str, says: str):
    server = Server(ARMS)
    server.state = state
    with pytest.raises(ConfigurationError, match=f"t is {state}; .*{says}"):
        run_fleet("http://t", "t", 4, transport=server)


def test_nobody_comes_after_the_task_is_done():
    result = run_fleet("http://t", "t", 40, transport=Server(ARMS, done_after=20))
    assert (result.people, result.acknowledged) == (20, 20)


class Broken:
    def __init__(self, answer: Response | None) -> None:
        self.answer = answer

    def request(self, method, path, body=None, headers=None) -> Response:
        if self.answer is None:
            raise ConnectionRefusedError
        return self.answer


@pytest.mark.parametrize(
    ("answer", "error", "says"),
    [
        (None, Unreachable, "no server answers at http://t; start one with `sottovoce serve`, or"),
        (Response(404, {}, b'{"detail": "There is no task \'x\'."}'), Refused, "no task 'x'; `sottovoce task list`"),
        (Response(409, {}, b'{"title": "another contract"}'), Refused, "another contract"),
        (Response(500, {}, b"<html>"), Refused, "status 500"),
        (Response(200, {}, b"[]"), Refused, "not a Sottovoce server of this version"),
    ],
)
def test_a_problem_is_one_line_that_says_what_to_do(answer: Response | None, error: type, says: str):
    with pytest.raises(error) as refused:
        Remote("http://t", transport=Broken(answer)).summary("x")
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)
