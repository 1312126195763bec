"""The simulated people of a live task: their raw fields and what the device makes of them."""

import datetime

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sottovoce.catalogue.resolve import contract_of
from sottovoce.catalogue.task_file import Privacy, TaskFile
from sottovoce.fleet.people import Crowd
from sottovoce.protocol.contract import Contract, contract_from
from sottovoce.protocol.fields import Category, Flag, Number
from sottovoce.users.fields import encode, features

FIELDS = {
    "member": Flag(),
    "age": Number(low=18.0, high=80.0),
    "country": Category(values=("it", "fr", "de")),
    "income": Number(low=-3.0, high=1e5),
}
EXPIRES = datetime.date(2100, 1, 1)


def contextual(**changes) -> Contract:
    whole = {"actions": ("news", "sport", "games"), "learner": "gradient", "fields": FIELDS, **changes}
    body = contract_of(TaskFile(id="t", horizon=100, privacy=Privacy(epsilon=4.0), expires=EXPIRES, **whole))
    return contract_from(body)


@pytest.mark.parametrize("kind", [{}, {"actions": (), "candidates": 4}], ids=["named", "candidates"])
def test_the_simulated_encoding_is_that_of_the_device(kind: dict):
    contract = contextual(**kind)
    crowd = Crowd(contract, seed=1, size=20)
    people, contexts = crowd.come(0)
    device = np.stack([features(contract.offers, raw) for raw in people])
    np.testing.assert_allclose(np.asarray(contexts), device, rtol=1e-15, atol=2e-16)
    others, _ = crowd.come(20)
    assert others != people
    ages = [one["age"] for raw in people + others for one in (raw if isinstance(raw, list) else [raw])]
    assert 18 <= min(ages) < 30
    assert 68 < max(ages) <= 80


@pytest.mark.parametrize(
    ("learner", "tuning", "length"),
    [("linucb", {}, 1.0), ("gradient", {"radius": 2.0}, 2.0), ("gradient", {"link": "identity", "radius": 3.0}, 1.0)],
)
def test_the_hidden_coefficients_have_the_declared_length(learner: str, tuning: dict, length: float):
    crowd = Crowd(contextual(learner=learner, tuning=tuning), seed=3, size=1)
    assert np.linalg.norm(crowd.world.rewards.theta) == pytest.approx(length)


def test_outcomes_average_to_what_the_regret_assumes():
    """Of one person, 20,000 times; false-alarm rate 1e-6 (4.9 deviations)."""
    crowd = Crowd(contextual(), seed=3, size=20_000)
    with jax.enable_x64(True):
        one = jnp.repeat(jnp.asarray(crowd.come(0)[1][:1]), 20_000, axis=0)
    means, regrets = [], []
    for action in range(3):
        outcomes, regret, uniform = crowd.happen(0, one, np.full(20_000, action))
        assert set(np.unique(outcomes)) == {0.0, 1.0}
        means.append(outcomes.mean())
        regrets.append(regret[0])
    np.testing.assert_allclose(max(means) - np.array(means), regrets, atol=4.9 * 2 / np.sqrt(20_000))
    assert uniform[0] == pytest.approx(np.mean(regrets))


def test_arms_and_points_have_people_too():
    arms = contract_of(
        TaskFile(id="t", learner="thompson", actions=("a", "b"), horizon=9, privacy=Privacy(epsilon=1.0),
                 expires=EXPIRES)
    )  # fmt: skip
    crowd = Crowd(contract_from(arms), seed=0, size=3)
    people, contexts = crowd.come(0)
    assert people == [None] * 3
    assert sorted(crowd.happen(0, contexts, np.array([0, 1, 0]))[1][:2]) == pytest.approx([0.0, 0.2])
    points = contract_of(
        TaskFile(id="t", learner="fkm", dimension=2, horizon=9, privacy=Privacy(epsilon=1.0), expires=EXPIRES)
    )
    crowd = Crowd(contract_from(points), seed=0, size=3)
    _, regret, uniform = crowd.happen(0, crowd.come(0)[1], np.zeros((3, 2)))
    assert 0 < uniform[0] < 1
    assert regret[0] == pytest.approx(0.25)


def test_a_number_outside_its_range_counts_as_the_nearest_in_it():
    inside = {"member": True, "age": 80.0, "country": "it", "income": -3.0}
    np.testing.assert_array_equal(encode(FIELDS, inside | {"age": 1e9, "income": -1e9}), encode(FIELDS, inside))
