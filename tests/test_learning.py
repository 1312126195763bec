"""Is it learning? The verdict says no more than the reports do."""

import msgspec
import pytest

from serving import ARMS, MODEL, contract
from sottovoce.protocol.contract import Contract
from sottovoce.protocol.team import ArmEstimate, Gain, Prediction, Summary
from sottovoce.report.learning import expected, is_learning

ARMS_TASK = contract(**ARMS)
NOTHING = Summary(
    id="arms", reports=0, warm=0, learned=0, published=0, refused={}, done=False, recommendation=None, version="",
    epsilon=2.0, bytes_per_report=1, estimates=[], state="",
)  # fmt: skip


def word(task: Contract = ARMS_TASK, shares: tuple[float, ...] = (0.4, 0.3, 0.3), **means: float) -> str:
    """The verdict where the mean rewards of the arms are these, each within a standard error of 0.01."""
    rows = [
        ArmEstimate(action=name, share=share, reports=10_000.0, reward=mean, error=0.01)
        for (name, mean), share in zip(means.items(), shares, strict=False)
    ]
    return is_learning(task, msgspec.structs.replace(NOTHING, learned=30_000, estimates=rows)).word


def test_the_verdict_follows_from_ranges_that_hold_together():
    assert is_learning(ARMS_TASK, NOTHING).word == "not yet"
    assert word(a=0.5, b=0.5, c=0.5) == "not yet"
    assert word(a=0.5, b=0.5, c=0.5, shares=(0.9, 0.1, 0.0)) == "partly"  # it prefers one, and cannot show it
    assert word(a=0.7, b=0.69, c=0.3) == "partly"
    assert word(a=0.9, b=0.5, c=0.5) == "yes"


def test_ranges_that_lie_apart_one_by_one_need_not_do_so_together():
    """At 10,000 reports each half width is 3.58 errors alone, and 3.9 for three actions together (error 0.05)."""
    assert word(a=0.575, b=0.5, c=0.5) == "not yet"
    assert word(a=0.58, b=0.5, c=0.5) == "yes"


def test_what_has_no_ranges_has_no_verdict():
    drifting = contract(**ARMS | {"learner": "thompson", "drift": "sudden"})
    assert word(drifting, a=0.9, b=0.1, c=0.1) == "not known"
    assert word(contract(**MODEL)) == "not known"


@pytest.mark.parametrize(("low", "high", "says"), [(0.01, 0.2, "yes"), (-0.2, -0.01, "no"), (-0.1, 0.1, "not yet")])
def test_a_gain_that_is_measured_decides(low: float, high: float, says: str):
    gain = Gain(
        baseline=0.5, choice=0.6, difference=0.1, low=low, high=high, baseline_reports=900.0, choice_reports=900.0,
        confidence=0.95, aside=0,
    )  # fmt: skip
    assert is_learning(contract(**MODEL), msgspec.structs.replace(NOTHING, learned=9, gain=gain)).word == says


def test_a_learner_with_an_answer_names_it():
    said = is_learning(ARMS_TASK, msgspec.structs.replace(NOTHING, learned=9, done=True, recommendation=1))
    assert (said.word, "recommends b" in said.sentence) == ("yes", True)


@pytest.mark.parametrize(
    ("numbers", "says"),
    [
        ({"people_needed": 1200}, "about 1,200 reports until it has cost half"),
        ({}, "more than 3,000 reports until it has cost half"),
        (
            {"predicted_samples": 512.4, "predicted_right": 0.875},
            "about 512 reports until it has its answer, right in 88 %",
        ),
    ],
)
def test_a_prediction_is_said_in_reports(numbers: dict[str, float], says: str):
    said = expected(Prediction(runs=8, followed=3000, **numbers), 17)  # pyright: ignore[reportArgumentType]
    assert says in said
    assert said.endswith("; now: 17")
