"""The alarm for reports that honest people cannot have sent together."""

import numpy as np
import pytest

from sottovoce import Ball, Budget, Interval, calibrate, privatise
from sottovoce.lab.audit.subjects import most_different
from sottovoce.privacy.mechanisms import Mechanism
from sottovoce.server.learn.alarm import BLOCK, Alarm

MECHANISMS = [
    calibrate("levels", Interval(), Budget(1.0)),
    calibrate("sphere", Ball(20), Budget(1.0)),
    calibrate("gaussian", Ball(3), Budget(1.0, 1e-5)),
    calibrate("laplace", Interval(), Budget(1.0)),
]


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda mechanism: type(mechanism).__name__)
def test_people_who_all_say_the_most_extreme_thing_raise_no_alarm(mechanism: Mechanism):
    """600 honest reports, drawn from again and again: the mean of a block errs as 600 do, so nothing is raised."""
    domain, alarm, draw = mechanism.domain, Alarm(mechanism), np.random.default_rng(0)
    message = domain.embed(*most_different(domain)[0])
    law = mechanism.decode([privatise(mechanism, message) for _ in range(600)])
    spread = law - law.mean(axis=0) + message
    for _ in range(4):
        alarm.see(spread[draw.integers(0, 600, BLOCK)])
        assert not alarm.raised


def test_forgers_with_most_of_the_reports_raise_it_and_it_ends_with_them():
    mechanism, draw = MECHANISMS[1], np.random.default_rng(0)
    vectors = draw.normal(size=(BLOCK, 21))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    signs = np.where(draw.random(BLOCK) < 0.7, np.sign(vectors[:, 0]), draw.choice([-1, 1], BLOCK))
    forged = signs[:, None] * vectors[:, :-1] / mechanism.mean
    alarm = Alarm(mechanism)
    alarm.see(forged[: BLOCK // 2])
    assert not alarm.raised
    alarm.see(forged[BLOCK // 2 :])
    assert alarm.raised
    alarm.see(draw.choice([-1, 1], BLOCK)[:, None] * forged)
    assert not alarm.raised
