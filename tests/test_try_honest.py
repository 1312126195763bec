"""`sottovoce try` does not promise what the rows cannot say, reads what people write, and shows any name as it is."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sottovoce.lab.try_data.question import Asked, Question, question_of
from sottovoce.lab.try_data.unseen import unseen
from sottovoce.protocol.fields import Category, Flag
from sottovoce.sim.guesses import guessed_fields
from sottovoce.users.cells import number_in, numbers_of
from test_cli import refused, typed


def people_of(draw: np.random.Generator, rows: int, fields: int) -> np.ndarray:
    return np.column_stack([np.ones(rows), draw.uniform(-1, 1, (rows, fields))]) / np.sqrt(1 + fields)


def written(folder: Path, headings: str, rows: list[tuple], **asked: Any) -> Question:
    lines = [",".join(map(str, row)) for row in rows]
    (folder / "data.csv").write_text("\n".join([headings, *lines]) + "\n")
    return question_of(Asked(str(folder / "data.csv"), **asked))


# --- rows that were not seen ------------------------------------------------------------------------------------------


def test_rows_learned_by_heart_say_nothing_of_others():
    """As many fields as rows, and answers that follow none of them: fewer than one such table in a hundred passes.

    Of 100 tables 9 or more would pass with a chance of 1e-6. Fixed seeds.
    """
    draw, passed = np.random.default_rng(0), 0
    for _ in range(100):
        people, answers = people_of(draw, 60, 60), np.eye(3)[draw.integers(0, 3, 60)]
        by_heart = people @ np.linalg.lstsq(people, answers)[0]
        assert np.mean(by_heart.argmax(axis=1) == answers.argmax(axis=1)) == 1
        passed += unseen(people, answers).clear
    assert passed < 9


@pytest.mark.parametrize("logged", [False, True])
def test_what_fields_say_is_found_in_rows_that_were_not_seen(logged: bool):
    draw = np.random.default_rng(1)
    people, actions = people_of(draw, 400, 3), draw.integers(0, 2, 400)
    right = (people[:, 1] > 0).astype(int)
    rewards = np.eye(2)[right]
    if logged:
        rewards = np.eye(2)[actions] * ((actions == right) - np.mean(actions == right))[:, None] * 2
    mean, error, clear, _ = unseen(people, rewards)
    assert clear
    assert 0 < error < 0.1
    assert mean > rewards.mean(axis=0).max() + 0.3


def test_a_log_says_what_its_rows_give_on_the_scale_of_the_reward(tmp_path: Path):
    draw = np.random.default_rng(2)
    pairs = zip(draw.uniform(20, 60, 600), draw.integers(0, 2, 600), strict=True)
    rows = [(f"{age:.1f}", "ab"[action], 5.0 if (age > 40) == action else 1.0) for age, action in pairs]
    question = written(tmp_path, "age,action,reward", rows, action="action", reward="reward")
    assert question.unseen.mean == pytest.approx(5, abs=0.4)


# --- columns that tell too much ---------------------------------------------------------------------------------------


def test_a_column_that_only_repeats_the_answer_or_the_reward_casts_doubt_on_all_that_follows(tmp_path: Path):
    draw = np.random.default_rng(3)
    rows = []
    for age, action in zip(draw.uniform(20, 60, 300), draw.integers(0, 2, 300), strict=True):
        reward, plan = 10 + draw.normal() + 0.2 * action, int(age > 40)
        rows.append((f"{age:.1f}", "ab"[action], f"{reward:.2f}", f"{1.2 * reward:.2f}", "xy"[plan], "UV"[plan]))
    headings = "age,action,reward,with_tax,plan,code"
    log = written(tmp_path, headings, rows, action="action", reward="reward")
    assert [doubt.split(".")[0] for doubt in log.doubts] == ["'with_tax' alone says what the reward is"]
    answers = written(tmp_path, headings, rows, label="plan")
    assert [doubt.split(".")[0] for doubt in answers.doubts] == ["'code' alone says the right answer"]
    few = written(tmp_path, headings, rows[:15], label="plan")
    assert not few.doubts  # so few rows may agree by chance


@pytest.mark.parametrize("known_afterwards", [False, True])
def test_a_log_that_replay_would_get_wrong_is_doubted(known_afterwards: bool, tmp_path: Path):
    """Whether somebody stayed depends on the reward, so it says which action it was only together with the age.

    The log without it is doubted with a chance of 1e-6. Fixed seed.
    """
    draw = np.random.default_rng(4)
    ages, actions, noise = draw.uniform(20, 60, 1000), draw.integers(0, 2, 1000), draw.integers(0, 2, 1000)
    rewards = ((ages > 40) == actions).astype(int)
    stayed = np.where(draw.uniform(size=1000) < 0.8, rewards, noise) if known_afterwards else noise
    rows = [(f"{a:.1f}", s, "ab"[action], r) for a, s, action, r in zip(ages, stayed, actions, rewards, strict=True)]
    log = written(tmp_path, "age,stayed,action,reward", rows, action="action", reward="reward")
    assert [doubt.split(":")[0] for doubt in log.doubts] == ["Replay is not right here"] * known_afterwards


def test_a_log_whose_actions_follow_fields_names_them_all_and_how_to_leave_them_out(tmp_path: Path):
    rows = [(20 + row % 30, "ab"[row % 2], row % 2, row % 2 + 0.5, row % 3) for row in range(300)]
    asked = {"action": "action", "reward": "reward"}
    with pytest.raises(ValueError, match=r"depends on 'p', 'q', so its overall .* Leave out with --ignore what"):
        written(tmp_path, "age,action,p,q,reward", rows, **asked)


# --- cells ------------------------------------------------------------------------------------------------------------


def test_letters_for_yes_and_no_and_codes_of_currencies_are_read():
    assert numbers_of("bought", ["Y", "n"]) == [1, 0]
    assert numbers_of("bought", ["t", "F"]) == [1, 0]
    assert [number_in(cell, comma=False) for cell in ("12.50 EUR", "USD 1,200", "-CHF3", "EUR", "3 APR")] == [
        12.5, 1200, -3, None, None,
    ]  # fmt: skip
    assert list(guessed_fields({"a": ["Y", "N"], "b": ["F", "N"]}).values()) == [Flag(), Category(values=("F", "N"))]


# --- names as they are ------------------------------------------------------------------------------------------------


def test_names_that_look_like_markup_are_shown_as_they_are_and_long_ones_leave_room_for_numbers(tmp_path: Path):
    names = "[/b] $1 off $9_^", "a very long name that would push all numbers from the screen"
    rows = [(row % 40, f'"{names[row % 7 < 3]}"') for row in range(70)]
    small = ("--people", "200", "--seeds", "1", "--epsilon", "4")
    for most in names:  # each is the best fixed action once
        again = rows if most == names[0] else [(age, f'"{names[f"{names[0]}" in name]}"') for age, name in rows]
        (tmp_path / "data.csv").write_text("age,offer\n" + "".join(f"{age},{name}\n" for age, name in again))
        said = typed("try", "data.csv", "--label", "offer", *small, cwd=tmp_path)
        assert f"always '{most[:23]}" in said
        (line,) = (line for line in said.splitlines() if line.startswith("always"))
        assert line.count("0.571") == 2
        assert max(map(len, said.splitlines())) <= 80
        page = (tmp_path / "results" / "try-data" / "report.html").read_text()
        assert page.count(f">always &#x27;{most[:23]}") + page.count(f">always '{most[:23]}") >= 2


def test_a_log_with_many_actions_is_announced_as_slow(tmp_path: Path):
    rows = [(age, f"item {place}", age % 2) for age in range(20, 60) for place in range(25)]
    asked = {"action": "item", "reward": "bought"}
    assert written(tmp_path, "age,item,bought", rows, **asked).slow
    few = [row for row in rows if len(row[1]) == len("item 0")]  # ten actions
    assert not written(tmp_path, "age,item,bought", few, **asked).slow


def test_a_compressed_file_is_refused_in_words(tmp_path: Path):
    import gzip

    (tmp_path / "data.csv.gz").write_bytes(gzip.compress(b"a,b\n1,2\n"))
    said = refused("try", str(tmp_path / "data.csv.gz"), "--label", "b")
    assert "not compressed" in " ".join(said.split())
