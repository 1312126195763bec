"""What is different between two contracts is said in words, privacy first, and nothing is left out."""

import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from serving import ARMS, MODEL, task_file
from sottovoce.catalogue.resolve import contract_of
from sottovoce.cli import main
from sottovoce.report.differences import differences

TITLES = ("What it means for privacy", "What is different for people and apps", "What the server does with the reports")

AGE = MODEL["fields"]


def said(old: dict[str, Any], new: dict[str, Any]) -> str:
    return "\n".join(differences(contract_of(task_file(**old)), contract_of(task_file(**new))))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"privacy": {"epsilon": 4.0}}, ["spends: epsilon 4 (was epsilon 2)", "a weaker promise: the odds"]),
        ({"privacy": {"epsilon": 1.0}}, ["spends: epsilon 1 (was epsilon 2)", "a stronger promise"]),
        ({"privacy": {"epsilon": 2.0, "lifetime": 50.0}}, ["epsilon 50 (was epsilon 20)", "no useful bound"]),
        ({"privacy": {"epsilon": 2.0, "window": 4.0}}, ["4 in 7 days (was epsilon 20 in 7 days)", "stronger"]),
        ({"privacy": {"epsilon": 2.0, "window_days": 1}}, ["epsilon 20 a day in the long run (before: 2.86)"]),
        ({"privacy": {"epsilon": 2.0, "quieter": []}}, ["may choose: none (was epsilon 1 or epsilon 0.5)"]),
        ({"retention": "365d"}, ["365 days (was 90 days)", "forgets single private reports later"]),
        ({"delay": "1m"}, ["up to 1 minute (was up to 10 minutes)", "more about the time of its decision"]),
        ({"admission": "signed"}, ["signs a token (was everybody)", "which reports came from one person"]),
        ({"fields": AGE | {"sick": {"kind": "flag"}}}, ["fields: age (0 to 100), sick (yes or no)", "new: sick;"]),
        ({"fields": {"age": AGE["age"] | {"high": 9.0}}}, ["age (0 to 9) (was age (0 to 100))", "changed: age"]),
        ({"shuffler": {"batch": 50}}, ["shuffler: mixes at least 50 reports", "(was none)", "in batches alone"]),
        (MODEL | {"id": "arms"}, ["by a model (was the server, by tickets)", "sphere (was levels)", "new: age"]),
    ],
)
def test_a_change_of_privacy_is_said_with_its_meaning_and_first(change: dict[str, Any], says: list[str]):
    base = MODEL if change.keys() in ({"fields"}, {"shuffler"}) else ARMS
    text = said(base, base | change)
    privacy = text.partition(TITLES[1])[0].partition(TITLES[2])[0]
    assert all(one in privacy for one in says), text
    assert text.splitlines()[2] == TITLES[0]


@pytest.mark.parametrize(
    "change",
    [
        {"title": "New"}, {"actions": ["a", "b", "d"]}, {"expires": "2098-12-31"}, {"horizon": 9}, {"publish_every": 7},
        {"learner": "ucb"}, {"origins": ["https://shop.example"]}, {"holdout": {"share": 0.1, "baseline": "b"}},
        {"reward": {"high": 5.0}}, {"reward": {"default": 1.0}}, {"reward": {"wait": "5m"}},
    ],
    ids=lambda change: next(iter(change)),
)  # fmt: skip
def test_other_changes_are_said_too_and_do_not_speak_of_a_promise(change: dict[str, Any]):
    text = said(ARMS, ARMS | change)
    assert "(was " in text
    assert "promise" not in text
    if change != {"actions": ["a", "b", "d"]}:
        assert text.splitlines()[3].startswith("- both are called arms")  # the privacy is the same


def leaves(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    return [path] if inside is None else [one for key, part in inside for one in leaves(part, (*path, key))]


@pytest.mark.parametrize("file", [ARMS | {"title": "t"}, MODEL | {"title": "t", "holdout": {"share": 0.1}}])
def test_no_part_of_a_contract_can_change_unsaid(file: dict[str, Any]):
    """Every number and every word of it in turn."""
    old = contract_of(task_file(**file))
    unsaid, compared = [], 0
    for path in leaves(msgspec.json.decode(old)):
        new = msgspec.json.decode(old)
        *way, last = path
        inside = new
        for key in way:
            inside = inside[key]
        inside[last] = other(inside[last])
        try:
            lines = list(differences(old, msgspec.json.encode(new)))
        except Exception:  # no contract at all
            continue
        compared += 1
        if not any("(was " in line for line in lines):
            unsaid.append(path)
    assert compared > 40
    assert {*unsaid} <= {
        ("id",),
        ("offers", "candidates"),
    }  # said by the heading; without a meaning where actions have names


def other(value: Any) -> Any:
    """A value of the same kind."""
    if isinstance(value, int):
        return value + 1
    try:
        return str(float(value) + 1)
    except ValueError:
        return value.replace("2099", "2098") if value.startswith("2099") else value + "x"


def test_two_tasks_together_cost_their_sum_and_the_same_contract_nothing():
    assert "in both spends up to epsilon 60 ever" in said(ARMS, ARMS | {"id": "b", "privacy": {"epsilon": 4.0}})
    assert said(ARMS, ARMS).startswith("nothing is different: both are the contract ")


def test_a_file_is_compared_with_a_task_of_a_server(live, tmp_path: Path, monkeypatch: Any, capsys: Any):
    file = tmp_path / "next.toml"
    file.write_text(
        'id = "next"\nlearner = "kl-ucb"\nactions = ["a", "b", "c"]\nhorizon = 2000\nexpires = 2099-12-31\n'
        "publish_every = 10\n[privacy]\nepsilon = 3.0\n"
    )
    server = ["--server", f"http://127.0.0.1:{live.server.port}"]
    monkeypatch.setattr(sys, "argv", ["sottovoce", "task", "diff", "arms", str(file), *server])
    with pytest.raises(SystemExit):
        main()
    printed = capsys.readouterr().out
    digest = live.server.call("GET", "/v1/tasks/arms").json()["digest"]
    assert printed.splitlines()[0].endswith(f"beside arms, contract {digest[:12]}")
    assert "one report spends: epsilon 3 (was epsilon 2)" in printed
