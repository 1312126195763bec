"""Sottovoce: learn which action is best while every person's data is made private on their own device.

>>> import numpy as np, sottovoce as sv
>>> domain = sv.Interval(1.0, 5.0)                              # one to five stars
>>> mechanism = sv.calibrate("levels", domain, sv.budget(2.0))
>>> report = sv.privatise(mechanism, domain.embed(4.0))         # on the device: bytes, epsilon 2, no delta
>>> estimate = sv.decode(mechanism, report)                     # on the server: right on average

The device half needs numpy and msgspec only; `sv.simulate` and what it needs are loaded when first used.
"""

from typing import TYPE_CHECKING, Any

from sottovoce.privacy.domains import Ball, Direction, Gradient, Interval, Moments
from sottovoce.privacy.drawing import privatise
from sottovoce.privacy.mechanisms import calibrate, decode, noise_of
from sottovoce.privacy.noise import Noise
from sottovoce.protocol.budget import Budget, budget
from sottovoce.protocol.errors import SottovoceError

if TYPE_CHECKING:
    from sottovoce.catalogue.task import Task, task
    from sottovoce.engine.session import Session
    from sottovoce.learners.base import Offer
    from sottovoce.sim.halves import halves
    from sottovoce.sim.run import simulate
    from sottovoce.sim.trace import Trace

__version__ = "0.2.0"

__all__ = ["Ball", "Budget", "Direction", "Gradient", "Interval", "Moments", "Noise", "SottovoceError"]
__all__ += ["budget", "calibrate", "decode", "noise_of", "privatise"]
__all__ += ["Offer", "Session", "Task", "Trace", "halves", "simulate", "task"]  # loaded when first used

_LAZY = {
    "Offer": "sottovoce.learners.base",
    "Task": "sottovoce.catalogue.task",
    "Session": "sottovoce.engine.session",
    "Trace": "sottovoce.sim.trace",
    "halves": "sottovoce.sim.halves",
    "simulate": "sottovoce.sim.run",
    "task": "sottovoce.catalogue.task",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'sottovoce' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_LAZY[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
