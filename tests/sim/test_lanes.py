"""The loop in lanes plays what the usual loop plays: operation by operation, and round by round."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from catalogue import Ready, made_up_ratings, ready
from sottovoce.sim import batch
from sottovoce.sim.lanes import advance, evaluate
from sottovoce.sim.lanes.evaluate import Evaluation, array_of, as_objects
from sottovoce.sim.lanes.rules import RULES
from sottovoce.sim.random import unsealed
from sottovoce.sim.run import Case, simulate, simulate_grid
from sottovoce.sim.trace import Trace
from sottovoce.sim.worlds.movielens import movielens_of

LANES = 5
DRAW = np.random.default_rng(0)
ROW, SQUARE = DRAW.normal(size=(LANES, 4)), DRAW.normal(size=(LANES, 4, 4))
PLACE, WORDS = np.array([0, 3, 1, 2, 9]), DRAW.integers(0, 2**32, (LANES, 2), np.uint32)

OPERATIONS: dict[str, Callable[..., Any]] = {
    "one by one": lambda x, m, i, w: jnp.where(x > 0, jnp.log1p(jnp.abs(x)), jnp.exp(x) / 3) + m * jnp.sign(m) ** 3,
    "whole numbers": lambda x, m, i, w: (w[0] >> 3) ^ (w[1] << 2) | (w[0] & 7) % 5,
    "claims": lambda x, m, i, w: (x > 0) & (m[0] < 1) | ~(x < -1),
    "moves": lambda x, m, i, w: jnp.concatenate([m.T[::-1].reshape(2, 8)[:, 1::3], jnp.stack([x[:2], x[2:]])], axis=1),
    "sums": lambda x, m, i, w: (m.sum(0), m.max(1), m.min(), jnp.cumsum(m, axis=1), (m > 0).any(0), (m > -3).all()),
    "first of the best": lambda x, m, i, w: (jnp.argmax(m, 0), jnp.argmin(jnp.floor(m), 1), jnp.argmax(m * jnp.nan)),
    "products": lambda x, m, i, w: (m @ x, x @ m.T @ m, jnp.einsum("ij,kj->ik", m, m), m @ jnp.eye(4)),
    "looked up": lambda x, m, i, w: (x[i], m[i], m[:, i], m[jnp.array([2, 0])]),
    "put": lambda x, m, i, w: (
        x.at[i].set(7.0),
        m.at[i].add(x),
        m.at[:, i].add(1.0),
        x.at[jnp.array([1, 1])].add(x[0]),
    ),
    "in a row": lambda x, m, i, w: jax.lax.scan(lambda sum, row: (sum + row @ x, sum), 0.0, m, reverse=True),
    "drawn": lambda x, m, i, w: (
        jax.random.uniform(unsealed(w), (3,)),
        jax.random.normal(jax.random.split(unsealed(w))[1]),
    ),
    "known": lambda x, m, i, w: jnp.arange(4.0)[::-1] * x + jnp.tril(jnp.ones((4, 4))).sum(0),
}
"""Of a row, a square, a place (one of them outside, as JAX allows) and two words."""


@pytest.mark.parametrize("name", OPERATIONS)
def test_what_is_done_number_by_number_is_what_jax_does(name: str):
    operation, inputs = OPERATIONS[name], (ROW, SQUARE, PLACE, WORDS)
    with jax.enable_x64(True):
        traced = jax.make_jaxpr(operation)(*(jax.ShapeDtypeStruct(leaf.shape[1:], leaf.dtype) for leaf in inputs))

        def in_lanes(*arrays: Any) -> list[Any]:
            numbers = [list(jnp.moveaxis(array.reshape(LANES, -1), -1, 0)) for array in arrays]
            given = [array_of(row, array.shape[1:]) for row, array in zip(numbers, arrays, strict=True)]
            return [as_objects(found).tolist() for found in Evaluation(RULES).run(traced, given)]

        wanted = jax.tree.leaves(jax.vmap(operation)(*inputs))
        for found, leaf in zip(jax.jit(in_lanes)(*inputs), wanted, strict=True):
            rows = np.stack([np.broadcast_to(number, LANES) for number in jax.tree.leaves(found)], axis=1)
            np.testing.assert_allclose(rows.reshape(leaf.shape), leaf, rtol=1e-12, atol=1e-12)


@pytest.fixture
def as_on_a_gpu(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """From now on loops are chosen as on a GPU that is content with few lanes; notes why some were refused."""
    told: list[str] = []
    advance._refusal.cache_clear()  # the limits may change within a test

    def refusal(*arguments: Any) -> str:
        told.append(advance.refusal(*arguments))
        return told[-1]

    monkeypatch.setattr(advance, "FEWEST", 1)
    monkeypatch.setattr(batch, "lanes", type("Lanes", (), {"refusal": refusal, "advance_all": advance.advance_all}))
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    return told


RUNS: list[tuple[str, str, dict[str, int]]] = [
    ("tsallis-inf", "practical", {}),
    ("lil-ucb", "practical", {"publish_every": 7}),
    ("gradient", "practical", {"delay": 2}),
    ("pyramid", "practical", {}),
]
NUMBERS = {"rounds": 40, "seeds": 3, "checkpoints": 2}


def played(each: Ready, world: Any = None, **more: int) -> Trace:
    parts = each.learner, each.user, world or each.world
    return simulate(*parts, mechanism=each.mechanism, **NUMBERS, **more)


@pytest.mark.parametrize(("name", "preset", "more"), RUNS)
def test_both_loops_play_the_same(name: str, preset: str, more: dict[str, int], request: pytest.FixtureRequest):
    each = ready(name, preset)
    usual = played(each, **more)
    told = request.getfixturevalue("as_on_a_gpu")
    in_lanes = played(each, **more)
    assert set(told) == {""}
    same(in_lanes, usual)


def same(one: Trace, other: Trace) -> None:
    """But for rounding: normal numbers are drawn in float32."""
    compare = lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)  # noqa: E731
    jax.tree.map(compare, one._replace(finite=None), other._replace(finite=None))


def test_a_grid_of_cases_is_played_in_lanes_too(request: pytest.FixtureRequest):
    loud, quiet = ready("exp3", epsilon=0.5), ready("exp3", epsilon=4.0)
    cases = [Case(each.learner, each.mechanism) for each in (loud, quiet)]
    usual = simulate_grid(cases, loud.user, loud.world, **NUMBERS)
    told = request.getfixturevalue("as_on_a_gpu")
    in_lanes = simulate_grid(cases, loud.user, loud.world, **NUMBERS)
    assert set(told) == {""}
    assert not np.array_equal(usual[0].regret, usual[1].regret)
    for one, other in zip(in_lanes, usual, strict=True):
        same(one, other)


def test_a_table_is_looked_up_in(tmp_path: Any, request: pytest.FixtureRequest):
    world = movielens_of(dimension=3, arms=4, path=str(made_up_ratings(tmp_path / "u.data", persons=250)))
    assert world.features.size > advance.LARGE
    each = ready("gradient", rounds=40)
    usual = played(each, world)
    told = request.getfixturevalue("as_on_a_gpu")
    in_lanes = played(each, world)
    assert set(told) == {""}
    same(in_lanes, usual)


def test_what_is_not_played_in_lanes_is_said_and_played_by_the_usual_loop(as_on_a_gpu: list[str]):
    assert np.isfinite(played(ready("linucb", rounds=40)).regret).all()
    assert set(as_on_a_gpu) == {"no rule for eigh"}


def test_a_round_with_too_many_instructions_is_not_played_in_lanes(
    as_on_a_gpu: list[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(evaluate, "MOST", 1_000)
    played(ready("tsallis-inf", "importance-weighted", rounds=41))
    assert set(as_on_a_gpu) == {"more than 1,000 instructions in a round"}


def test_few_seeds_are_not_played_in_lanes(as_on_a_gpu: list[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(advance, "FEWEST", 4)
    played(ready("tsallis-inf"))
    assert set(as_on_a_gpu) == {"3 lanes, and a GPU needs 4"}


def test_on_a_cpu_nothing_is_played_in_lanes(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(advance, "FEWEST", 1)
    monkeypatch.setattr(advance, "advance_all", None)
    played(ready("tsallis-inf"))
