"""What happens to a learner's state: it starts, and one report after the other is told until the learner is done.

The compiled loop, the loop in plain Python, the live server and a loop of one's own all come here. Publishing is
`learner.refresh(state)` at the times of `schedule`.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from sottovoce.engine.complete import Complete
from sottovoce.engine.weighing import told


class Report(NamedTuple):
    """One report as a learner hears it."""

    memo: Any
    """What its offer told the server to remember."""
    estimate: Any
    weight: Any = None
    """Between 0 and 1; None for a report that counts in full."""


def start(learner: Complete) -> Any:
    """The state before the first report. It is what the first offers are made from.

    A learner with `growth` above 1 publishes rarely and says in `init` what is offered first; the others solve for
    their first model as for every later one.
    """
    state = learner.init()
    return learner.refresh(state) if learner.growth <= 1 else state


def learn(learner: Complete, state: Any, report: Report, arrived: Any = True) -> tuple[Any, Any]:
    """The state after this report, and whether it was heard: only if it has arrived and the learner is not done.

    >>> from sottovoce.engine.complete import complete
    >>> from sottovoce.learners.uniform import UniformArms
    >>> learner = complete(UniformArms(arms=3))
    >>> state, heard = learn(learner, start(learner), Report((), 0.5))
    >>> float(state.reports), heard
    (1.0, True)
    """
    after = told(learner, state, *report)
    if learner.stops:
        arrived = arrived & ~learner.done(state)
    if arrived is True:
        return after, True
    return jax.tree.map(lambda new, old: jnp.where(arrived, new, old), after, state), arrived
