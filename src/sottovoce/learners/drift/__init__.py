"""Versions of the defaults for worlds that change: `drift = "sudden"` starts again, `drift = "slow"` forgets."""

from sottovoce.catalogue.algorithms import algorithm_of
from sottovoce.catalogue.task import Task
from sottovoce.learners.base import Learner
from sottovoce.learners.drift import arms, contextual
from sottovoce.learners.drift.watching import watching
from sottovoce.privacy.noise import Noise
from sottovoce.protocol.errors import UnknownName

DRIFTS = ("none", "slow", "sudden")


def following(learner: Learner, task: Task, noise: Noise) -> Learner:
    """The learner in the version for the drift that a task declares.

    Where it declares none only `scale-free` notices a change, if candidates have features and its tuning says `watch`;
    `watching.py` has the reasons. A contract from before there was either names neither.

    >>> from sottovoce import halves, task
    >>> type(halves(task("thompson", arms=3, rounds=10, epsilon=1.0, drift="sudden")).learner).__name__
    'RestartingArms'
    """
    drift = str(task.tuning.get("drift", "none"))
    if drift not in DRIFTS:
        raise UnknownName("drift", drift, DRIFTS)
    if drift == "none":
        watched = min(float(task.tuning.get(name, 0.0)) for name in ("watch", "contrast")) > 0
        return watching(learner, task, noise) if watched else learner
    of_kind = contextual if algorithm_of(task.learner).actions == "features" else arms
    return (of_kind.forgetting if drift == "slow" else of_kind.restarting)(learner, task, noise)
