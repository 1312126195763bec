"""The commands around a live task, against a server that only notes what it is sent."""

import re
import sys
from pathlib import Path

import msgspec
import numpy as np
import pytest

from sottovoce.catalogue.resolve import contract_of
from sottovoce.catalogue.task import task_of
from sottovoce.catalogue.task_file import load_task_file
from sottovoce.cli import main
from sottovoce.cli.init import starting_file
from sottovoce.client import Response
from sottovoce.privacy.domains import domain_from
from sottovoce.protocol.contract import ByModel, ByTicket, Contract, contract_from, digest_of
from sottovoce.protocol.errors import BadInput
from sottovoce.protocol.offers import GeneralizedModel
from sottovoce.protocol.team import ArmEstimate, Gain, Summary
from sottovoce.protocol.wire import TaskStatus
from sottovoce.users.fields import encode
from sottovoce.users.warm import answers_of, warm_rows


def written(path: Path, *changes: tuple[str, str], contextual: bool) -> Contract:
    text = starting_file(path, contextual=contextual)
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path.write_text(text)
    return contract_from(contract_of(load_task_file(path)))


def type_in(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["sottovoce", *words])
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit) as left:
        main()
    return int(left.value.code or 0)


@pytest.mark.parametrize("options", [(), ("--contextual",)])
def test_the_starting_file_is_a_task_as_it_stands_and_nothing_is_overwritten(
    options: tuple, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
):
    path = tmp_path / "task.toml"
    assert type_in(monkeypatch, "init", str(path), *options) == 0
    contract = contract_from(contract_of(load_task_file(path)))
    assert isinstance(contract.offers, ByModel if options else ByTicket)
    assert contract.reward.wait + contract.delay + 15 < 60  # a device that sends every 15 s: within a minute
    before = path.read_text()
    path.write_text(before + "\n")
    assert type_in(monkeypatch, "init", str(path), *options) == 2
    assert "is already there" in " ".join(capsys.readouterr().err.split())
    assert path.read_text() == before + "\n"


def test_warm_answers_are_what_a_device_would_say_without_noise(tmp_path: Path):
    arms = written(tmp_path / "a.toml", contextual=False)
    rows = [{"action": "A quote", "reward": "1"}, {"action": "A number", "reward": "0"}]
    found = warm_rows(arms, answers_of(arms, rows))
    assert [(row.action, row.message) for row in found] == [(3, [1.0]), (2, [-1.0])]

    candidates = written(tmp_path / "c.toml", ('# learner = "scale-free"', 'learner = "linucb"'), contextual=True)
    row = {"price": "12.5", "new": "yes", "genre": "crime", "reward": "0.5"}
    x = encode(candidates.offers.fields, {"price": 12.5, "new": True, "genre": "crime"})
    (found,) = warm_rows(candidates, answers_of(candidates, [row]))
    assert found.action is None
    np.testing.assert_array_equal(found.message, domain_from(task_of(candidates).domain).embed(x, 0.0))

    named = (("candidates = 5", 'actions = ["news", "sport"]'), ('# learner = "scale-free"', 'learner = "gradient"'))
    gradients = written(tmp_path / "g.toml", *named, contextual=True)
    d = gradients.offers.dimension
    model = GeneralizedModel(np.zeros(d), np.eye(d), 0.0, 0.0, np.zeros(d))
    (found,) = warm_rows(gradients, answers_of(gradients, [row | {"action": "sport"}]), model)
    assert found.action is None
    np.testing.assert_array_equal(
        found.message, domain_from(task_of(gradients).domain).embed(np.append(np.zeros(d // 2), x), 0.0)
    )


def test_a_warm_start_reads_cells_as_a_trial_does(tmp_path: Path):
    contract = written(tmp_path / "c.toml", contextual=True)
    offers = contract.offers
    assert isinstance(offers, ByModel)
    rows = [
        {"price": "$12.50", "new": "", "genre": "crime", "reward": "yes"},
        {"price": "NA", "new": "TRUE", "genre": "", "reward": "0"},
    ]
    first, second = answers_of(contract, rows)
    np.testing.assert_array_equal(
        first.context[0], encode(offers.fields, {"price": 12.5, "new": None, "genre": "crime"})
    )
    np.testing.assert_array_equal(second.context[0], encode(offers.fields, {"price": None, "new": True, "genre": None}))
    assert (first.reward, second.reward) == (1.0, -1.0)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"genre": "space"}, ""),
        ({"price": "cheap"}, "row 1: 'price' must be a finite number, got 'cheap'"),
        ({"reward": "inf"}, "row 1: 'reward' must be a finite number"),
        ({"reward": "nan"}, "column 'reward' has no value in 1 of 1 rows: fill them in, or remove these rows"),
        ({"reward": "7"}, "row 1: the reward 7 is outside the declared range, 0 to 1"),
        ({"new": "maybe"}, "row 1: 'new' must be true or false, got 'maybe'"),
        ({"age": "3"}, "the columns must be genre, new, price, reward; got price, new, genre, reward, age"),
    ],
)
def test_a_bad_row_is_named(changes: dict, says: str, tmp_path: Path):
    contract = written(tmp_path / "c.toml", contextual=True)
    row = {"price": "12.5", "new": "no", "genre": "crime", "reward": "0.5"} | changes
    if not says:
        assert len(answers_of(contract, [row])) == 1
        return
    with pytest.raises(BadInput) as refused:
        answers_of(contract, [row])
    assert str(refused.value).startswith(says)


class Noting:
    """A server with one task, which notes what it is sent."""

    def __init__(self, file: Path) -> None:
        self.contract, self.noted = contract_of(load_task_file(file)), []

    def __call__(self, server: str, *, timeout: float) -> "Noting":
        return self

    def request(self, method, path, body=None, headers=None) -> Response:
        self.noted.append((method, path, body and msgspec.json.decode(body), dict(headers or {})))
        where = path.rpartition("/")[2]
        answers = {"summary": self.summary, "warm": lambda: {"rows": len(self.noted[-1][2]["rows"])}}
        if where == "contract":
            return Response(200, {}, self.contract)
        return Response(200, {}, msgspec.json.encode(answers.get(where, self.status)()))

    def status(self) -> TaskStatus:
        return TaskStatus(id="headline", digest=digest_of(self.contract), mode="live", state="open", version="")

    def summary(self) -> Summary:
        return Summary(
            id="headline", reports=7, warm=2, learned=9, published=0, refused={"bad-gate": 2}, done=False,
            recommendation=None, version="", epsilon=2.0, bytes_per_report=1, state="", changes=2,
            estimates=[ArmEstimate(action="A quote", share=0.5, reports=5000.0, reward=0.75, error=0.01)],
        )  # fmt: skip


def test_a_task_is_created_with_its_warm_start_and_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
):
    written(tmp_path / "task.toml", contextual=False)
    server = Noting(tmp_path / "task.toml")
    monkeypatch.setattr("sottovoce.admin.remote.Http", server)
    monkeypatch.setenv("SOTTOVOCE_ADMIN_TOKEN", "secret")
    (tmp_path / "old.csv").write_text("reward,action\n1,A quote\n0,A number\n")
    file = str(tmp_path / "task.toml")
    assert type_in(monkeypatch, "task", "create", file, "--no-plan", "--warm-start", str(tmp_path / "old.csv")) == 0
    _, created, _, warmed, *_ = server.noted
    assert created[:2] == ("POST", "/v1/tasks")
    assert msgspec.convert(created[2], type(load_task_file(Path(file)))) == load_task_file(Path(file))
    assert created[3] == {"Authorization": "Bearer secret"}
    assert warmed[2]["rows"] == [{"action": 3, "message": [1.0]}, {"action": 2, "message": [-1.0]}]
    screen = capsys.readouterr().out
    assert "secret" not in screen
    for fact in (
        "epsilon 2, no delta a report",
        "7 reports of about 20,000, 7 learned",
        "2 public or consented",
        "found a change 2 times and started again",
        "2 bad-gate",
        "A quote",
        "0.75",
        "95 %, at all times",
        "0.715 to 0.785",
    ):
        assert fact in screen
    assert type_in(monkeypatch, "task", "pause", "headline") == 0
    assert server.noted[-1][:2] == ("POST", "/v1/tasks/headline/pause")


def test_what_learning_gains_is_shown_in_words_and_the_simulator_is_not_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
):
    holdout = ("# [holdout] ", "[holdout] "), ("# share", "share"), ("# baseline", "baseline")
    written(tmp_path / "task.toml", *holdout, contextual=False)
    server = Noting(tmp_path / "task.toml")
    known = {"baseline_reports": 3.0, "choice_reports": 4.0, "confidence": 0.95, "aside": 3}
    gain = Gain(baseline=0.55, choice=0.62, difference=0.07, low=0.02, high=0.12, **known)
    summary = msgspec.structs.replace(server.summary(), gain=gain)
    monkeypatch.setattr(server, "summary", lambda: summary)
    monkeypatch.setattr("sottovoce.admin.remote.Http", server)
    assert type_in(monkeypatch, "task", "show", "headline") == 0
    screen = " ".join(capsys.readouterr().out.split())
    assert "0.1 of people get the baseline, Short and plain" in screen
    assert "7 reports of about 20,000, 4 learned from" in screen
    assert "Learned from 4 private reports" in screen
    assert "people who got the learned choice: 0.620; the baseline: 0.550; gain 0.070 on average so far" in screen
    assert "between 0.020 and 0.120 with confidence 95 % at every time at once; from 4 and 3 reports" in screen
    assert type_in(monkeypatch, "devices", "--task", "headline", "--compare") == 2
    assert "the simulator has no holdout" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("table", "says"),
    [
        (b"reward,arm\n1,A quote\n", "the columns must be action, reward; got reward, arm"),
        (b"reward,action\n9,A quote\n", "row 1: the reward 9 is outside the declared range, 0 to 1"),
        (b"reward,action\n", "has no rows below its headings"),
        (b"", "has no rows below its headings"),
        ("reward,action\n1,A quote\n".encode("utf-16"), "is not UTF-8 text; save it as 'CSV UTF-8'"),
        (b"reward,action\n1,A quote,more,cells\n", "row 1 has 4 cells, but there are 2 headings"),
    ],
)
def test_a_bad_table_is_refused_before_anything_is_created(
    table: bytes, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
):
    written(tmp_path / "task.toml", contextual=False)
    server = Noting(tmp_path / "task.toml")
    monkeypatch.setattr("sottovoce.admin.remote.Http", server)
    (tmp_path / "old.csv").write_bytes(table)
    words = ("task", "create", str(tmp_path / "task.toml"), "--warm-start", str(tmp_path / "old.csv"))
    assert type_in(monkeypatch, *words) == 2
    assert says in " ".join(capsys.readouterr().err.split())
    assert server.noted == []


def test_a_task_whose_last_day_is_over_is_refused_before_it_is_created(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
):
    path = tmp_path / "task.toml"
    path.write_text(re.sub(r"expires = \S+", "expires = 2020-01-01", starting_file(path, contextual=False)))
    assert type_in(monkeypatch, "task", "create", str(path)) == 2
    assert "its last day, 2020-01-01, is over; write a later day" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("port", ["99999", "-1"])
def test_a_port_that_does_not_exist_is_refused(
    port: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
):
    assert type_in(monkeypatch, "serve", "--port", port) == 2
    assert f"--port is a number from 0 to 65535, got {port}" in " ".join(capsys.readouterr().err.split())
