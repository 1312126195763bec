"""What local privacy is compared with: learners that are told raw data. They exist in simulation only.

Trust "central": a curator is told everything and publishes with differential privacy. Trust "none": the learner itself
is told everything. No device can answer them (`catalogue.resolve.mechanism_of` refuses), and no server can run them.
"""

from collections.abc import Callable

from sottovoce.catalogue.task import Task
from sottovoce.learners.base import Learner
from sottovoce.sim.comparators import (
    dp_successive_elimination,
    gloc,
    joint_dp_linucb,
    linear_perturbation,
    oful,
    tossou_dimitrakakis,
    tree_bco,
    ucb_glm,
)

COMPARATORS: dict[str, Callable[[Task], Learner]] = {
    "joint-dp-linucb": joint_dp_linucb.build,
    "tossou-dimitrakakis": tossou_dimitrakakis.build,
    "dp-successive-elimination": dp_successive_elimination.build,
    "tree-bco": tree_bco.build,
    "linear-perturbation": linear_perturbation.build,
    "oful": oful.build,
    "ucb-glm": ucb_glm.build,
    "gloc": gloc.build,
}
