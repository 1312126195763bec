"""The public contract of one learning task: all that a device must know to answer, and a privacy officer to judge.

A task is plain data. `task()` fills it from a preset; each half of the product resolves the names it needs.
"""

import hashlib
import tomllib
from functools import lru_cache
from importlib import resources
from typing import Any

import msgspec

from sottovoce.core.budget import Budget, budget
from sottovoce.core.errors import ConfigurationError, UnknownName

DEFAULT_DELTA = 1e-5
"""For presets whose mechanism needs a delta, when nobody chose one."""


class Task(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One learning task; see the module's first lines."""

    learner: str
    preset: str
    arms: int
    dimension: int
    """Length of a feature vector; 0 for tasks without context."""
    rounds: int
    epsilon: float
    delta: float
    user: str
    domain: dict[str, int | float | str]
    mechanism: str
    formula: str
    tuning: dict[str, int | float | str]

    @property
    def budget(self) -> Budget:
        return Budget(self.epsilon, self.delta)

    def digest(self) -> str:
        """A hash of the whole contract: a changed contract is another contract.

        >>> task("tsallis-inf", arms=10, rounds=1000, epsilon=1.0).digest()[:8] != ""
        True
        """
        return hashlib.sha256(msgspec.json.encode(self, order="deterministic")).hexdigest()


class Algorithm(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One file of `core/presets`: what a learner is, and the numbers of its presets."""

    title: str
    setting: str
    paper: str
    algorithm: str
    bound: str
    user: str
    presets: dict[str, dict[str, Any]]
    contextual: bool = False


@lru_cache(maxsize=1)
def algorithms() -> dict[str, Algorithm]:
    """Every algorithm of the catalogue, by name.

    >>> "linucb" in algorithms()
    True
    """
    folder = resources.files("sottovoce.core.presets")
    files = sorted((f for f in folder.iterdir() if f.name.endswith(".toml")), key=lambda f: f.name)
    return {
        file.name.removesuffix(".toml"): msgspec.convert(tomllib.loads(file.read_text("utf-8")), Algorithm)
        for file in files
    }


def algorithm_of(learner: str) -> Algorithm:
    """One algorithm of the catalogue.

    >>> algorithm_of("linucb").contextual
    True
    """
    if learner not in algorithms():
        raise UnknownName("learner", learner, algorithms())
    return algorithms()[learner]


def needs_delta(learner: str, preset: str) -> bool:
    """Does the mechanism of this preset promise an (epsilon, delta), not epsilon alone?

    >>> needs_delta("linucb", "paper"), needs_delta("linucb", "practical")
    (True, False)
    """
    return algorithm_of(learner).presets[preset]["gate"]["mechanism"] == "gaussian"


def task(
    learner: str,
    preset: str = "practical",
    *,
    arms: int,
    rounds: int,
    epsilon: float,
    delta: float | None = None,
    dimension: int = 0,
    **tuning: float | str,
) -> Task:
    """A task from a preset; `tuning` overrides the preset's numbers by name.

    >>> task("linucb", arms=10, dimension=5, rounds=1000, epsilon=1.0).mechanism
    'sphere'
    """
    algorithm = algorithm_of(learner)
    if preset not in algorithm.presets:
        raise UnknownName(f"preset of {learner}", preset, algorithm.presets)
    chosen = algorithm.presets[preset]
    _check(algorithm, learner, arms, dimension, rounds)
    gate = dict(chosen["gate"])
    pure = not needs_delta(learner, preset)
    if pure and delta:
        raise ConfigurationError(f"{learner} {preset} promises epsilon alone; leave delta out (got {delta:g})")
    spent = budget(epsilon, 0.0 if pure else DEFAULT_DELTA if delta is None else delta)
    numbers = dict(chosen.get("tuning", {}))
    for name, value in tuning.items():
        if name not in numbers:
            raise UnknownName(f"tuning of {learner}", name, numbers)
        numbers[name] = value
    domain = dict(gate["domain"])
    if algorithm.contextual:
        domain["dimension"] = dimension
    return Task(
        learner=learner,
        preset=preset,
        arms=arms,
        dimension=dimension,
        rounds=rounds,
        epsilon=spent.epsilon,
        delta=spent.delta,
        user=algorithm.user,
        domain=domain,
        mechanism=gate["mechanism"],
        formula=gate.get("formula", "analytic"),
        tuning=numbers,
    )


def _check(algorithm: Algorithm, learner: str, arms: int, dimension: int, rounds: int) -> None:
    if arms < 2:
        raise ConfigurationError(f"arms must be at least 2, got {arms}")
    if rounds < 1:
        raise ConfigurationError(f"rounds must be at least 1, got {rounds}")
    if algorithm.contextual and dimension < 1:
        raise ConfigurationError(f"{learner} needs a dimension of at least 1, got {dimension}")
    if not algorithm.contextual and dimension:
        raise ConfigurationError(f"{learner} takes no features; leave dimension out (got {dimension})")
