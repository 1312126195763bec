"""Golden vectors, made half by Python and half by TypeScript: both languages give the same bytes."""

import random
import secrets

import pytest

from sottovoce.privacy.domains import DOMAINS
from sottovoce.privacy.drawing import SYSTEM
from sottovoce.privacy.mechanisms import MECHANISMS
from sottovoce.protocol.links import CURVES
from sottovoce.protocol.offers import MODELS
from sottovoce.users import USERS
from vectors.answers import ANSWERS, FOLDER, SIDES, TOLERANCE, Written, agree, answer, read
from vectors.made import vectors


@pytest.mark.parametrize("topic", ANSWERS)
@pytest.mark.parametrize("side", SIDES)
def test_python_gives_what_was_written_down(topic: str, side: str):
    for case in read(topic, side):
        found = answer(topic, case["given"])
        assert agree(found, case["gives"], TOLERANCE.get(topic, 0.0)), (case["what"], found, case["gives"])


@pytest.mark.parametrize("topic", ANSWERS)
def test_the_file_of_pythons_half_is_what_its_script_makes(topic: str):
    """Numbers up to their last digits, which differ between processors; everything else byte for byte."""
    made, written = vectors(topic), read(topic, "python")
    assert len(made) == len(written)
    for one, other in zip(made, written, strict=True):
        assert one["what"] == other["what"]
        assert agree(one["given"], other["given"], 0.0 if topic in ("fields", "wire", "sums") else 1e-12)
        assert agree(one["gives"], other["gives"], TOLERANCE.get(topic, 0.0)), one["what"]


def test_there_are_enough_of_them_half_from_each_side_and_of_every_kind():
    cases = {(topic, side): read(topic, side) for topic in ANSWERS for side in SIDES}
    for side in SIDES:
        assert sum(len(found) for (_, made_by), found in cases.items() if made_by == side) >= 150
        drawn = [case["given"] for case in cases["mechanisms", side] if "report" in case["gives"]]
        assert {given["mechanism"] for given in drawn} == set(MECHANISMS)
        assert {given["domain"]["kind"] for given in drawn} == set(DOMAINS)
        told = [case["given"] for case in cases["messages", side]]
        assert {given["user"] for given in told} == set(USERS)
        assert {given["link"]["name"] for given in told if given["link"]} == set(CURVES)
        assert {case["given"]["kind"] for case in cases["choices", side]} == set(MODELS)
    sizes = {len(case["gives"].get("message", ())) for side in SIDES for case in cases["mechanisms", side]}
    assert {1, 2, 3, 16, 63, 64} <= sizes
    assert {path.name.split(".")[0] for path in FOLDER.glob("*.*.json")} == set(ANSWERS)


def test_an_answer_that_differs_by_one_byte_or_one_digit_is_seen():
    gives = read("mechanisms", "python")[0]["gives"]
    assert not agree(gives, gives | {"report": "ff" + gives["report"][2:]}, 1e-12)
    assert not agree({"message": [0.1]}, {"message": [0.1 + 1e-11]}, 1e-12)
    assert not agree({"message": [0.1]}, {"message": [0.1, 0.1]}, 1e-12)


def test_integers_are_taken_from_bytes_as_the_system_takes_them(monkeypatch: pytest.MonkeyPatch):
    data = secrets.token_bytes(40_000)
    ours, system = Written(data), Written(data)
    monkeypatch.setattr(random, "_urandom", system.octets)
    for bound in (1, 2, 3, 255, 256, 257, 3898901, 2**40, 2**53, 2**97 + 1) * 30:
        assert ours.below(bound) == SYSTEM.below(bound)
        assert ours.octets(12) == SYSTEM.octets(12)
    assert ours.used == system.used
