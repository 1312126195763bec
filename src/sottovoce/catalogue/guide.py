"""Which algorithm to use: one line for each situation, shown by the command line and by the manual."""

from typing import NamedTuple


class Advice(NamedTuple):
    """A situation, and the learner we would take for it."""

    situation: str
    learner: str
    why: str


GUIDE = (
    Advice("a few actions, rewards that stay as they are", "thompson", "less regret than kl-ucb and tsallis-inf there"),
    Advice("a few actions, rewards that may change with time", "tsallis-inf", "learns in both kinds of worlds"),
    Advice("a few actions, and only the best one is wanted", "lil-ucb", "stops by itself, right with 95 % confidence"),
    Advice("the same, with a fixed number of people", "sequential-halving", "makes the most of those who come"),
    Advice("the best few of several actions", "clucb", "stops by itself, with a confidence"),
    Advice("actions described by features", "linucb", "chooses on the device; the features never leave it"),
    Advice("the same, and the answer is yes or no, or a count", "glm", "logistic, probit and Poisson rewards"),
    Advice("a number or a point to tune, two tries a person", "two-point", "a slope says more than two values"),
    Advice("a number or a point to tune, one try a person", "fkm", "asks one value only; needs many more people"),
)
