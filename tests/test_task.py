"""The public contract: plain data, checked once, and another contract when anything in it changes."""

import hashlib
import itertools
import json
import string
from datetime import date

import msgspec
import pytest

from catalogue import shape_of
from sottovoce import task
from sottovoce.catalogue.algorithms import algorithms
from sottovoce.catalogue.resolve import contract_of, mechanism_of
from sottovoce.catalogue.task import Shuffling, Task, task_of
from sottovoce.catalogue.task_file import Privacy, TaskFile
from sottovoce.catalogue.toml_file import parsed
from sottovoce.privacy.domains import domain_from
from sottovoce.protocol.codec import from_text, to_text
from sottovoce.protocol.contract import contract_from, digest_of
from sottovoce.protocol.errors import ConfigurationError, UnknownName, WireError
from sottovoce.protocol.fields import Category, Flag, Number


def example(**changes) -> Task:
    return task(**({"learner": "linucb", "arms": 4, "dimension": 3, "rounds": 100, "epsilon": 1.0} | changes))


def file(**changes) -> TaskFile:
    whole = {
        "id": "films", "learner": "linucb", "candidates": 4, "fields": {"length": Number(low=60.0, high=200.0)},
        "horizon": 100, "privacy": Privacy(epsilon=1.0), "expires": date(2100, 1, 1),
    }  # fmt: skip
    return TaskFile(**(whole | changes))


def test_a_contract_says_the_whole_task():
    body = contract_of(file(tuning={"bonus": 0.1}))
    found = task_of(contract_from(body))
    assert found == example(dimension=2, bonus=0.1)
    assert mechanism_of(found) == mechanism_of(example(dimension=2))
    assert digest_of(body) == hashlib.sha256(body).hexdigest()


@pytest.mark.parametrize(
    "change",
    [
        {"privacy": Privacy(epsilon=2.0)},
        {"candidates": 5},
        {"horizon": 101},
        {"tuning": {"bonus": 0.1}},
        {"title": "a"},
    ],
)
def test_any_change_makes_another_contract(change: dict):
    assert digest_of(contract_of(file(**change))) != digest_of(contract_of(file()))


def test_a_contract_records_whether_every_named_action_is_tried():
    named = {"learner": "scale-free", "candidates": 0, "actions": ("a", "b")}

    def tried(**changes) -> float:
        return task_of(contract_from(contract_of(file(**changes)))).tuning["named"]

    assert tried(**named) == 1.0
    assert tried(**named, one_right=True) == tried(learner="scale-free") == tried(**named, tuning={"named": 0.0}) == 0.0
    assert "named" not in task_of(contract_from(contract_of(file(**named | {"learner": "linucb"})))).tuning
    with pytest.raises(ConfigurationError, match="one_right is said of named actions"):
        contract_of(file(one_right=True))


@pytest.mark.parametrize(
    ("declared", "learner"),
    [
        ({"candidates": 0, "fields": {}, "actions": ("a", "b")}, "kl-moss"),
        ({"candidates": 0, "fields": {}, "actions": ("a", "b"), "drift": "slow"}, "thompson"),
        ({}, "scale-free"),
        ({"candidates": 0, "actions": ("a", "b")}, "scale-free"),
        ({"returning": True}, "linucb"),
        ({"returning": True, "drift": "sudden"}, "scale-free"),
        ({"returning": True, "learner": "gradient"}, "gradient"),
    ],
)
def test_the_learner_follows_from_what_the_file_declares_and_the_contract_records_it(declared: dict, learner: str):
    assert task_of(contract_from(contract_of(file(**{"learner": ""} | declared)))).learner == learner


def test_a_file_that_leaves_open_who_learns_says_so_where_nothing_follows():
    with pytest.raises(ConfigurationError, match="name the learner: two-point if everybody can try two points"):
        file(learner="", candidates=0, fields={}, dimension=2)
    with pytest.raises(ConfigurationError, match="returning is said of candidates"):
        contract_of(file(returning=True, candidates=0, actions=("a", "b")))


def test_drift_is_said_in_the_file_and_only_the_learning_part_of_the_contract_knows_it():
    plain, sudden = (json.loads(contract_of(file(learner="scale-free", **said))) for said in ({}, {"drift": "sudden"}))
    assert [one.pop("learning")["tuning"]["drift"] for one in (plain, sudden)] == ["none", "sudden"]
    assert plain == sudden
    with pytest.raises(ConfigurationError, match="linucb has no version for drift; scale-free and thompson have"):
        contract_of(file(drift="slow"))
    with pytest.raises(ConfigurationError, match="drift is not tuning; it has its own place in the file"):
        contract_of(file(learner="scale-free", tuning={"drift": "slow"}))


def test_a_thousand_models_are_published_unless_a_shuffler_would_not_fill_its_batches_between_two():
    def every(**said) -> int:
        return json.loads(contract_of(file(learner="scale-free", horizon=100_000, **said)))["learning"]["publish_every"]

    assert every() == 100
    assert every(publish_every=7) == 7
    assert every(shuffler=Shuffling(batch=50)) == 500


def test_every_number_of_a_contract_is_whole_or_a_decimal_string():
    def numbers(value):
        if isinstance(value, dict | list):
            return [one for part in (value.values() if isinstance(value, dict) else value) for one in numbers(part)]
        return [value] if isinstance(value, int | float) else []

    found = numbers(json.loads(contract_of(file())))
    assert len(found) > 10
    assert all(isinstance(one, int) and abs(one) < 2**53 for one in found)


def test_a_contract_with_an_unknown_field_is_refused():
    smuggled = json.dumps(json.loads(contract_of(file())) | {"tracking": 1}).encode()
    with pytest.raises(WireError, match="unknown field"):
        contract_from(smuggled)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"learner": "linucv"}, "unknown learner 'linucv'"),
        ({"preset": "best"}, "unknown preset of linucb 'best'"),
        ({"bonsu": 0.1}, "unknown tuning of linucb 'bonsu'"),
        ({"arms": 1}, "arms must be at least 2, got 1"),
        ({"rounds": 0}, "rounds must be at least 1, got 0"),
        ({"dimension": 0}, "linucb needs a dimension of at least 1, got 0"),
        ({"epsilon": float("nan")}, "epsilon must be a positive finite number, got nan"),
        ({"delta": 1e-5}, "linucb practical promises epsilon alone"),
        ({"preset": "paper", "delta": 1.0}, "delta must be at least 0 and below 1, got 1.0"),
    ],
)
def test_a_wrong_number_is_refused_with_what_was_wanted(change: dict, says: str):
    with pytest.raises(ConfigurationError) as refused:
        example(**change)
    assert str(refused.value).startswith(says)


def test_a_refusal_speaks_in_the_words_of_the_file():
    with pytest.raises(ConfigurationError, match="at least two actions or candidates to choose from, got 1"):
        contract_of(file(learner="kl-moss", actions=("one",), candidates=0, fields={}))
    with pytest.raises(ConfigurationError, match="delay is a whole number and one of s, m, h, d"):
        contract_of(file(delay="20 seconds"))


@pytest.mark.parametrize("character", ["\n", "\t", "\x00", "\x1b", "\x7f", "\x9b", "\u2028", "\u202e"])
def test_what_people_read_is_one_line_without_control_characters(character: str):
    word = f"Which{character}headline"
    category = Category(values=("a", word))
    for what, change in {
        "the title": {"title": word},
        "an action": {"actions": ("a", word), "candidates": 0},
        "the name of a field": {"fields": {word: Flag()}},
        "a value of the field 'kind'": {"fields": {"kind": category}},
    }.items():
        with pytest.raises(ConfigurationError) as refused:
            contract_of(file(**change))
        assert str(refused.value) == f"{what} must be one line without control characters, got {word!r}"


def test_words_of_every_language_are_taken():
    title = "Qu’est-ce qu’on lit\u00a0? · איזו כותרת · ज़्यादा 👩\u200d🔬"
    assert title.encode() in contract_of(file(title=title))


def test_a_date_in_quotation_marks_is_told_how_it_is_written():
    text = b'id = "a"\nlearner = "ucb"\nhorizon = 100\nexpires = "2099-01-01"'
    with pytest.raises(ConfigurationError, match="expires must be a date without quotation marks"):
        parsed(text, TaskFile, "a task", "task.toml")


def test_features_for_a_learner_that_takes_none_are_refused():
    with pytest.raises(ConfigurationError, match="takes no features"):
        task("kl-ucb", arms=3, dimension=2, rounds=10, epsilon=1.0)


def test_every_preset_of_the_catalogue_makes_a_domain_and_a_mechanism():
    for name, algorithm in algorithms().items():
        for preset in algorithm.presets if algorithm.trust == "local" else ():
            contract = task(name, preset, rounds=10, epsilon=1.0, **shape_of(name))
            assert mechanism_of(contract).domain == domain_from(contract.domain)


def test_an_unknown_domain_is_refused():
    with pytest.raises(UnknownName, match="unknown domain 'cube'"):
        mechanism_of(msgspec.structs.replace(example(), domain={"kind": "cube"}))


@pytest.mark.parametrize("text", ["d2hpc3Blcg==", "d2hp c3Blcg", "d2hpc3Blc", "ä", "d2hpc3Blch"])
def test_text_that_to_text_would_not_write_is_refused(text: str):
    """Padding, blanks, cut, not ASCII, and bits that decoding would drop: one report has one spelling."""
    with pytest.raises(WireError):
        from_text(text)


def test_of_all_short_texts_those_that_to_text_writes_are_read():
    letters = string.ascii_letters + string.digits + "-_+/= \n\0é"
    texts = {"".join(one) for length in range(4) for one in itertools.product(letters, repeat=length)}
    payloads = [bytes(one) for length in range(3) for one in itertools.product(range(256), repeat=length)]
    assert {text for text in texts if readable(text)} == set(map(to_text, payloads))


def readable(text: str) -> bool:
    try:
        from_text(text)
    except WireError:
        return False
    return True


def test_every_report_has_one_spelling():
    for payload in (b"", b"\x00", bytes(range(256))):
        assert from_text(to_text(payload)) == payload


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("horizon = [1]", "horizon must be a whole number, got a list"),
        ('drift = "suden"', "unknown drift 'suden'; choose one of: none, slow, sudden (did you mean sudden?)"),
        ('[fields.age]\nkind = "text"', "the kind of a field must be number, flag or category, got 'text'"),
        ('[fields.age]\nkind = "number"\nlow = "1"\nhigh = 2', "fields[...].low must be a number, got a text"),
    ],
)
def test_a_wrong_value_of_a_file_is_named_in_words(line: str, says: str):
    with pytest.raises(ConfigurationError) as refused:
        parsed(f'id = "a"\nexpires = 2099-12-31\n{line}\n'.encode(), TaskFile, "a task", "t.toml")
    assert says in str(refused.value)
