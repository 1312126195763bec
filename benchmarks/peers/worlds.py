"""The worlds in which everybody is compared, in plain NumPy; `sottovoce` has the same ones in JAX.

- `arms`: ten arms, rewards 0 or 1; one arm, drawn for every seed, has the mean 0.7 and all others 0.5.
- `people`: four arms and a person with five features, a unit vector; reward +1 or -1 with mean <x, theta of the arm>.
- `features`: twenty candidates with twenty features each, unit vectors; reward +1 or -1 with mean <x, theta>.

Only NumPy is needed: this file is read in the environments of the peers too.
"""

from typing import Any, Protocol

import numpy as np

ROUNDS = 2_000
SHAPES = {"arms": (10, 0), "people": (4, 5), "features": (20, 20)}
"""Arms, and the length of what is shown."""
GAP = 0.2


class Learner(Protocol):
    """What a peer becomes, so that all of them can be asked alike."""

    def choose(self, seen: Any) -> int: ...

    def learn(self, seen: Any, arm: int, reward: float) -> None: ...


def play(world: str, learner: Learner, rounds: int, rng: np.random.Generator) -> float:
    """The regret after so many rounds."""
    truth = theta_of(world, rng)
    regret = 0.0
    for _ in range(rounds):
        seen, means = visit(world, truth, rng)
        arm = int(learner.choose(seen))
        learner.learn(seen, arm, reward_of(world, float(means[arm]), rng))
        regret += means.max() - means[arm]
    return float(regret)


def visit(world: str, truth: np.ndarray, rng: np.random.Generator) -> tuple[Any, np.ndarray]:
    """What is shown (None where there is nothing to show), and the mean reward of each arm."""
    arms, length = SHAPES[world]
    if world == "arms":
        return None, truth
    if world == "people":
        person = on_sphere(rng.standard_normal(length))
        return person, truth @ person
    candidates = on_sphere(rng.standard_normal((arms, length)))
    return candidates, candidates @ truth


def reward_of(world: str, mean: float, rng: np.random.Generator) -> float:
    """0 or 1 among arms, +1 or -1 among features."""
    if world == "arms":
        return float(rng.random() < mean)
    return 1.0 if rng.random() < (1 + mean) / 2 else -1.0


def theta_of(world: str, rng: np.random.Generator) -> np.ndarray:
    """What is to be learned."""
    arms, length = SHAPES[world]
    if world == "arms":
        means = np.full(arms, 0.5)
        means[rng.integers(arms)] += GAP
        return means
    return on_sphere(rng.standard_normal((arms, length) if world == "people" else length))


def on_sphere(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
