"""Versions of the defaults for worlds that change: `drift = "sudden"` starts again, `drift = "slow"` forgets."""

from sottovoce.catalogue.algorithms import algorithm_of
from sottovoce.catalogue.task import Task
from sottovoce.learners.base import Learner
from sottovoce.learners.drift import arms, contextual
from sottovoce.privacy.noise import Noise
from sottovoce.protocol.errors import UnknownName

DRIFTS = ("none", "slow", "sudden")


def following(learner: Learner, task: Task, noise: Noise) -> Learner:
    """The learner in the version for the drift that a task declares; as it is where it declares none.

    A contract from before there was drift does not name it.

    >>> from sottovoce import halves, task
    >>> type(halves(task("thompson", arms=3, rounds=10, epsilon=1.0, drift="sudden")).learner).__name__
    'RestartingArms'
    """
    drift = str(task.tuning.get("drift", "none"))
    if drift not in DRIFTS:
        raise UnknownName("drift", drift, DRIFTS)
    if drift == "none":
        return learner
    of_kind = contextual if algorithm_of(task.learner).actions == "features" else arms
    return (of_kind.forgetting if drift == "slow" else of_kind.restarting)(learner, task, noise)
