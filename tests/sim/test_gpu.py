"""What can be known of a GPU without one: that it could run every loop, and that a difference would be found.

`make gpu` plays on one. Here the loops are lowered for CUDA, which fails for what only a CPU can do.
"""

import os
import re
import subprocess
import sys
from importlib.metadata import EntryPoint
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from agreement import Played, agreement_of, random_numbers, unlike
from catalogue import PRESETS, Ready, made_up_ratings, ready
from sottovoce.learners.base import configuration
from sottovoce.learners.uniform import State, UniformArms
from sottovoce.protocol.errors import ConfigurationError
from sottovoce.server.learn.compiled import stay_on_cpu
from sottovoce.sim import device
from sottovoce.sim.run import Case, Run, loop_of, simulate
from sottovoce.sim.worlds.movielens import movielens_of

ON_A_GPU = {"cusolver_syevd_ffi"}
"""Libraries that a loop calls there: eigenvectors, side by side for all seeds up to a dimension of 32."""


def lowered(each: Ready, learner: Any = None, platform: str = "cuda") -> str:
    """The text of the loop for a platform; lowering refuses what has no rule there."""
    with jax.enable_x64(True):
        loop = loop_of([Case(learner or each.learner, each.mechanism)], each.user, each.world, Run(rounds=4, seeds=2))
        return loop.lower(lowering_platforms=(platform,)).as_text()


def elsewhere(text: str) -> set[str]:
    """Calls of what is not on a GPU."""
    return set(re.findall(r"custom_call @(\w+)", text)) - ON_A_GPU


@pytest.mark.parametrize(("name", "preset"), PRESETS)
def test_every_loop_can_run_on_a_gpu_and_never_leaves_it(name: str, preset: str):
    """Also: no product of matrices in float32, which a GPU computes with ten bits unless told otherwise."""
    text = lowered(ready(name, preset))
    assert not elsewhere(text)
    assert not re.search(r"dot_general.*xf32>", text)


@configuration("arms")
class Schur(UniformArms):
    """Uses a decomposition that JAX has for CPUs only."""

    def tell(self, state: State, memo: Any, estimate: Any) -> State:
        found, _ = jax.lax.linalg.schur(jnp.eye(2) * estimate)
        return State(state.reports + found[0, 0])


@configuration("arms")
class Calling(UniformArms):
    """Calls Python in every round."""

    def tell(self, state: State, memo: Any, estimate: Any) -> State:
        shape = jax.ShapeDtypeStruct((), float)
        return State(state.reports + jax.pure_callback(np.sin, shape, estimate, vmap_method="sequential"))


@pytest.mark.parametrize("learner", [Schur, Calling])
def test_a_learner_that_only_a_cpu_can_run_is_found(learner: type):
    with pytest.raises((NotImplementedError, ValueError), match=r"platform.* cuda"):
        lowered(ready("tsallis-inf"), learner(arms=4))


def test_a_library_that_is_not_on_a_gpu_is_found():
    assert elsewhere(lowered(ready("linucb"), platform="cpu")) == {"lapack_dsyevd_ffi"}


DRAW = np.random.default_rng(0)
ONE = Played(np.cumsum(DRAW.gamma(2.0, size=(256, 20)), axis=1), np.full(256, 300.0))


@pytest.mark.parametrize("parted", [0, 1, 40, 256])
def test_seeds_that_rounding_parted_are_no_difference(parted: int):
    """Late in the run, with as many lucky as unlucky ones; false-alarm rate 1e-6."""
    regret = ONE.regret * (1 + 1e-9)
    regret[:parted, 10:] += DRAW.normal(size=(parted, 1))
    assert agreement_of(ONE, ONE._replace(regret=regret), 89).holds


@pytest.mark.parametrize(
    "planted",
    [
        ONE._replace(regret=ONE.regret * 1.01),
        ONE._replace(regret=np.where(np.arange(20) < 10, ONE.regret, np.nan)),
        ONE._replace(samples=ONE.samples - (np.arange(256) < 60)),
    ],
    ids=["one percent more regret", "no numbers in the end", "some seeds stop earlier"],
)
def test_a_planted_difference_is_found(planted: Played):
    assert not agreement_of(ONE, planted, 89).holds


def test_another_budget_is_found_and_another_seed_has_other_random_numbers():
    def played(epsilon: float) -> Played:
        each = ready("tsallis-inf", epsilon=epsilon)
        run = {"rounds": 300, "seeds": 256, "checkpoints": 1}
        trace = simulate(each.learner, each.user, each.world, mechanism=each.mechanism, **run)
        return Played(trace.regret, trace.samples)

    assert not agreement_of(played(4.0), played(1.0), 89).holds
    assert unlike(random_numbers(0), random_numbers(1)) == list(random_numbers(0))


def test_random_numbers_may_be_rounded_but_bits_may_not():
    drawn = random_numbers(0)
    rounded = {name: numbers * (1 + 1e-6) if numbers.dtype.kind == "f" else numbers for name, numbers in drawn.items()}
    assert unlike(drawn, rounded) == ["uniform"]


def test_many_seeds_are_played_in_parts_where_memory_is_short_and_give_the_same(monkeypatch: pytest.MonkeyPatch):
    each, run = ready("top-two"), {"rounds": 40, "seeds": 10, "checkpoints": 4}
    parts = each.learner, each.user, each.world
    whole = simulate(*parts, mechanism=each.mechanism, **run)
    monkeypatch.setattr(device, "room", lambda: 20_000)
    told: list[int] = []
    pieces = simulate(*parts, mechanism=each.mechanism, **run, progress=told.append)
    assert len(told) > 4
    assert sum(told) <= 40
    jax.tree.map(np.testing.assert_allclose, pieces._replace(finite=None), whole._replace(finite=None))


def test_no_more_seeds_are_played_at_once_than_a_card_is_quick_with(monkeypatch: pytest.MonkeyPatch):
    each, told = ready("exp3"), []
    monkeypatch.setattr(device, "room", lambda: 10**12)
    monkeypatch.setattr(device, "AT_ONCE", 4)
    run = {"rounds": 40, "seeds": 10, "checkpoints": 1}
    simulate(each.learner, each.user, each.world, mechanism=each.mechanism, **run, progress=told.append)
    assert len(told) == 3


def test_a_table_of_ratings_is_in_memory_once_however_many_seeds_there_are(tmp_path):
    world = movielens_of(dimension=3, arms=4, path=str(made_up_ratings(tmp_path / "u.data")))
    each = ready("linucb", rounds=40)

    def bytes_of(seeds: int) -> int:
        run = Run(rounds=40, seeds=seeds)
        with jax.enable_x64(True):
            loop = loop_of([Case(each.learner, each.mechanism)], each.user, world, run)
        return sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(loop.in_avals) if leaf.ndim > 2)

    one_table = world.features.nbytes
    assert bytes_of(3) - bytes_of(2) < one_table


def test_a_gpu_that_is_not_there_is_refused_with_what_to_do():
    command = [sys.executable, "-m", "sottovoce", "simulate", "--learner", "tsallis-inf", "--device", "gpu"]
    environment = os.environ | {"CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    said = " ".join(done.stderr.split())
    assert f"pip install 'jax[cuda13]=={jax.__version__}'" in said or "`nvidia-smi` must list one" in said


def test_a_jax_for_gpus_without_a_gpu_is_told_apart(monkeypatch: pytest.MonkeyPatch):
    plugin = EntryPoint("xla_cuda13", "jax_plugins.xla_cuda13", "jax_plugins")
    monkeypatch.setattr(device, "entry_points", lambda group: [plugin])
    with pytest.raises(ConfigurationError, match="finds no NVIDIA GPU here; `nvidia-smi` must list one"):
        device.use("gpu")
    device.use("cpu")


def test_a_device_that_we_do_not_know_is_refused():
    with pytest.raises(ConfigurationError, match="tpu"):
        device.use("tpu")


def test_a_live_learner_takes_no_gpu_unless_its_operator_says_so(monkeypatch: pytest.MonkeyPatch):
    told: dict[str, str] = {}
    monkeypatch.setattr(jax.config, "update", told.__setitem__)
    monkeypatch.setenv("JAX_PLATFORMS", "cuda")
    stay_on_cpu()
    assert not told
    monkeypatch.delenv("JAX_PLATFORMS")
    stay_on_cpu()
    assert told == {"jax_platforms": "cpu"}
