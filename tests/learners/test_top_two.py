"""Top-two sampling: the evidence against an arm, how often it is wrong, and how soon it ends."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from catalogue import Ready, ready
from sottovoce import Budget, Interval, calibrate, noise_of
from sottovoce.engine.complete import complete
from sottovoce.engine.step import Answer, learn
from sottovoce.learners import learner_of
from sottovoce.protocol.errors import ConfigurationError
from sottovoce.report.confidence import clopper_pearson
from sottovoce.sim.gates import Quieter
from sottovoce.sim.random import simulation_key
from sottovoce.sim.run import Case, simulate, simulate_grid
from sottovoce.sim.worlds import world_of

BETS = 0.5 ** np.arange(1, 9)
ODDS = np.array([2, 4, 8, 8, 8, 4, 2, 1]) / 37


class ByHand:
    """The sums of the docstring, one arm and one report after the other; reports may count for a part of one."""

    def __init__(self, arms: int, reach: float, steer: float, failure: float) -> None:
        self.arms, self.reach, self.steer, self.failure = arms, reach, steer, failure
        self.pulls, self.total, self.out = [0.0] * arms, [0.0] * arms, [False] * arms
        self.evidence, self.surplus, self.squares = ([np.zeros(8) for _ in range(arms)] for _ in range(3))

    def hear(self, arm: int, report: float, weight: float) -> None:
        leader, second, *_ = self.ranking()
        shares, left = self.shares(), self.arms - sum(self.out)
        for each in range(self.arms):
            rival = second if each == leader else leader
            if arm not in (rival, each):
                continue
            theirs, ours = shares[rival] + 1e-6, shares[each] + 1e-6
            if arm == rival:
                counts = 2 * ours / (ours + theirs) * np.clip(1 - self.surplus[each] / self.steer, 0, 2)
            else:
                counts = -2 * theirs / (ours + theirs) * np.clip(1 + self.surplus[each] / self.steer, 0, 2)
            if left > 2:
                both = self.pulls[each] * self.pulls[rival] / max(self.pulls[each] + self.pulls[rival], 1e-6)
                counts = counts * both / (both + 0.05 / (self.reach * BETS) ** 2)
            self.evidence[each] = self.evidence[each] + weight * counts * report
            self.surplus[each] = self.surplus[each] + weight * counts
            self.squares[each] = self.squares[each] + weight * counts**2
        self.pulls[arm] += weight
        self.total[arm] += weight * report
        self.out = [out or self.log_evidence(each) >= -np.log(self.failure) for each, out in enumerate(self.out)]

    def ranking(self) -> list[int]:
        """The best arm first; those that are ruled out last."""
        means = [s / n if n else -np.inf for s, n in zip(self.total, self.pulls, strict=True)]
        return sorted(range(self.arms), key=lambda arm: (self.out[arm], -means[arm]))

    def shares(self) -> list[float]:
        """How likely each arm is asked: the challenger by 1/E, and the leader as often as suits each of them."""
        unheard = [float(pulls == 0) for pulls in self.pulls]
        if any(unheard):
            return [each / sum(unheard) for each in unheard]
        leader = self.ranking()[0]
        others = [arm for arm in range(self.arms) if arm != leader and not self.out[arm]]
        odds = {arm: np.exp(-self.log_evidence(arm)) for arm in others}
        most, shares = self.pulls[leader], [0.0] * self.arms
        for arm in others:
            shares[arm] = odds[arm] / sum(odds.values()) * most / (most + self.pulls[arm])
        shares[leader] = 1 - sum(shares)
        return shares

    def log_evidence(self, arm: int) -> float:
        bets = self.reach * BETS
        sure = self.evidence[arm] - self.reach * np.abs(self.surplus[arm])
        return float(np.log(np.sum(ODDS * np.exp(bets * sure - bets**2 * self.squares[arm] / 2))))


def test_the_evidence_is_the_published_sum_and_the_surplus_stays_small():
    """600 reports of three arms, some through quieter gates; arms are asked as no learner would: 0 too often.

    Reports of arm 2 are low at first and high later: it is ruled out, and stays so whatever the evidence is later.
    """
    each = ready("top-two", epsilon=2.0, arms=3)
    assert each.mechanism is not None
    reach = noise_of(each.mechanism).bound
    hand, draw = ByHand(3, 0.5 / reach, 20.0, 0.05), np.random.default_rng(0)
    with jax.enable_x64(True):
        learner: Any = each.learner
        tell = jax.jit(
            lambda state, arm, estimate, weight: learn(complete(learner), state, Answer(arm, estimate, weight))
        )
        state = learner.init()
        for number in range(600):
            arm, weight = int(draw.choice(3, p=[0.5, 0.25, 0.25])), float(draw.choice([1.0, 0.28]))
            sign = (-1.0 if number < 300 else 1.0) if arm == 2 else draw.choice([-1.0, 1.0])
            estimate = 0.5 + reach / np.sqrt(weight) * sign
            state, told = tell(state, arm, estimate, weight)
            if told:
                hand.hear(arm, (estimate - 0.5) / reach, weight)
            assert np.max(np.abs(state.surplus)) <= learner.steer
        expected = [hand.log_evidence(arm) for arm in range(3)]
        np.testing.assert_allclose(learner.log_evidence(state), expected, rtol=1e-9)
        np.testing.assert_allclose(state.pulls, hand.pulls, rtol=1e-12)
        assert hand.out[2]
        assert np.array_equal(learner.ruled_out(state), hand.out)
        state = learner.tell(state, 0, 0.5)._replace(evidence=jnp.zeros_like(state.evidence))
        assert np.array_equal(learner.ruled_out(state), hand.out)
        assert int(learner.recommend(state)) == hand.ranking()[0]


def scaled(each: Ready, units: float) -> Any:
    """A learner that takes the noise for smaller than it is: reports and the range of means look larger."""
    learner: Any = each.learner
    return dataclasses.replace(learner, unit=learner.unit / units, reach=learner.reach * units)


@pytest.mark.parametrize("rewards", [[0.501, 0.5], [0.501, 0.5, 0.1, 0.1]])
def test_wrong_answers_are_as_rare_as_promised_also_with_quieter_reports(rewards: list[float]):
    """Two arms that can hardly be told apart, half of the people with a quarter of the budget: 300 seeds, failure 0.2.

    False-alarm rate 1e-6. A learner that takes the noise for a third of what it is, is caught.
    """
    each = ready("top-two", epsilon=4.0, arms=len(rewards), failure=0.2)
    assert each.mechanism is not None
    quieter = [Quieter(calibrate("levels", each.mechanism.domain, Budget(1.0)), 0.5)]
    cases = [Case(learner, each.mechanism, quieter) for learner in (each.learner, scaled(each, 3.0))]
    world = world_of("arms", arms=len(rewards), rewards=rewards)
    traces = simulate_grid(cases, each.user, world, rounds=500, seeds=300, checkpoints=3)
    wrong = [int(np.sum(~trace.correct & trace.stopped)) for trace in traces if trace.correct is not None]
    least = [clopper_pearson(count, 300, 1e-6)[0] for count in wrong]
    assert least[0] <= 0.2 < least[1]


def test_it_is_right_and_ends_sooner_than_lil_ucb():
    """Fixed seeds. Of 40 runs at most eight are wrong: more has probability 1.3e-4 at exactly 95 % confidence."""
    world, people = world_of("arms", arms=3, rewards=[0.8, 0.5, 0.5]), {}
    for name in ("lil-ucb", "top-two"):
        each = ready(name, epsilon=8.0, arms=3)
        trace = simulate(each.learner, each.user, world, rounds=900, mechanism=each.mechanism, seeds=40, checkpoints=9)
        assert trace.stopped.all()
        assert trace.correct is not None
        assert trace.correct.sum() >= 32
        people[name] = trace.samples.mean()
    assert people["top-two"] < 0.85 * people["lil-ucb"]


def test_people_who_come_before_the_next_model_are_spread_over_the_arms():
    """4,000 people at each of two states: first over all arms, then over the leader and who may still be best."""
    learner: Any = ready("top-two").learner
    keys = jax.random.split(simulation_key(0), 4000)
    with jax.enable_x64(True):
        state = learner.init()
        shares = jax.jit(lambda state: jnp.bincount(jax.vmap(lambda key: learner.ask(state, key).arm)(keys), length=4))
        np.testing.assert_allclose(shares(state) / 4000, 0.25, atol=0.04)  # 5.8 standard errors
        state = state._replace(pulls=jnp.full(4, 50.0), total=jnp.asarray([30.0, 20.0, 20.0, 0.0]))
        assert not learner.done(learner.init())
        state = state._replace(evidence=state.evidence.at[:, 3].set(90.0), squares=state.squares.at[:, 3].set(90.0))
        np.testing.assert_allclose(shares(state) / 4000, [0.5, 0.25, 0.25, 0.0], atol=0.045)


@pytest.mark.parametrize(
    ("numbers", "says"),
    [({"failure": 0.0}, "failure must be between 0 and 1, got 0"), ({"steer": 0.0}, "steer must be positive, got 0")],
)
def test_what_cannot_be_run_is_refused(numbers: dict, says: str):
    with pytest.raises(ConfigurationError, match=says):
        ready("top-two", **numbers)


def test_laplace_noise_is_refused():
    noise = noise_of(calibrate("laplace", Interval(), Budget(1.0)))
    with pytest.raises(ConfigurationError, match="sub-Gaussian"):
        learner_of(ready("top-two").task, noise)
