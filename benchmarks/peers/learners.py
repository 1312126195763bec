"""The learners of the peers, each asked the same two things: choose an arm, learn from its reward.

Each is used as its documentation shows for one person after the other. A library is imported where it is needed: this
file is read in an environment that has only one of them.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from worlds import SHAPES, Learner


class MabWiser:
    """UCB1 without features, LinUCB with them."""

    def __init__(self, world: str, seed: int) -> None:
        from mabwiser.mab import MAB, LearningPolicy

        arms, length = SHAPES[world]
        policy = LearningPolicy.LinUCB(alpha=1.0) if length else LearningPolicy.UCB1(alpha=1.0)
        self.mab = MAB(list(range(arms)), policy, seed=seed)
        self.mab.fit([], [], np.zeros((0, length))) if length else self.mab.fit(list(range(arms)), [0.5] * arms)

    def choose(self, seen: Any) -> int:
        return self.mab.predict() if seen is None else self.mab.predict(seen[None])

    def learn(self, seen: Any, arm: int, reward: float) -> None:
        self.mab.partial_fit([arm], [reward]) if seen is None else self.mab.partial_fit([arm], [reward], seen[None])


class River:
    """UCB without features, LinUCBDisjoint with them."""

    def __init__(self, world: str, seed: int) -> None:
        from river import bandit

        arms, length = SHAPES[world]
        self.arms = list(range(arms))
        self.policy = bandit.LinUCBDisjoint(alpha=1.0, seed=seed) if length else bandit.UCB(delta=1, seed=seed)

    def choose(self, seen: Any) -> int:
        return self.policy.pull(self.arms, **_named(seen))

    def learn(self, seen: Any, arm: int, reward: float) -> None:
        self.policy.update(arm, *_named(seen).values(), reward)


def _named(seen: Any) -> dict[str, dict[int, float]]:
    return {} if seen is None else {"context": dict(enumerate(seen.tolist()))}


class ContextualBandits:
    """LinUCB."""

    def __init__(self, world: str, seed: int) -> None:
        from contextualbandits.online import LinUCB

        self.policy = LinUCB(SHAPES[world][0], alpha=1.0, beta_prior=None, random_state=seed + 1)

    def choose(self, seen: Any) -> int:
        return int(self.policy.predict(seen[None])[0])

    def learn(self, seen: Any, arm: int, reward: float) -> None:
        self.policy.partial_fit(seen[None], np.array([arm]), np.array([reward]))


class SMPyBandits:
    """UCB."""

    def __init__(self, world: str, seed: int) -> None:
        from SMPyBandits.Policies import UCB

        np.random.seed(seed)  # noqa: NPY002  (it knows NumPy's global generator only)
        self.policy = UCB(SHAPES[world][0])
        self.policy.startGame()

    def choose(self, seen: Any) -> int:
        return self.policy.choice()

    def learn(self, seen: Any, arm: int, reward: float) -> None:
        self.policy.getReward(arm, reward)


class VowpalWabbit:
    """SquareCB, which is its own way to explore; in text, as its manual shows."""

    def __init__(self, world: str, seed: int) -> None:
        import vowpalwabbit

        self.each = world == "features"
        how = "--cb_explore_adf" if self.each else f"--cb_explore {SHAPES[world][0]}"
        self.workspace = vowpalwabbit.Workspace(f"{how} --squarecb --quiet --random_seed {seed + 1}")
        self.rng = np.random.default_rng(seed)

    def choose(self, seen: Any) -> int:
        lines = [_text(one) for one in seen] if self.each else [_text(seen)]
        self.asked = lines if self.each else lines[0]
        chances = np.array(self.workspace.predict(self.asked))
        self.chances = chances / chances.sum()
        return int(self.rng.choice(len(chances), p=self.chances))

    def learn(self, seen: Any, arm: int, reward: float) -> None:
        label = f"{-reward:g}:{self.chances[arm]:.6f}"
        if self.each:
            self.workspace.learn([f"0:{label} {line}" if i == arm else line for i, line in enumerate(self.asked)])
        else:
            self.workspace.learn(f"{arm + 1}:{label} {self.asked}")


def _text(features: Any) -> str:
    return "| " + " ".join(f"f{i}:{value:.5f}" for i, value in enumerate([1.0] if features is None else features))


LEARNERS: dict[str, Callable[[str, int], Learner]] = {
    "mabwiser": MabWiser,
    "river": River,
    "contextualbandits": ContextualBandits,
    "SMPyBandits": SMPyBandits,
    "vowpalwabbit": VowpalWabbit,
}
