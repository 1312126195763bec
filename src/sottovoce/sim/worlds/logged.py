"""A log of actions and rewards as a contextual bandit, by replay: a row counts when the learner does what it says.

Li, Chu, Langford, Wang, "Unbiased offline evaluation of contextual-bandit-based news article recommendation
algorithms", WSDM 2011: draw a row, let the learner choose from its fields; if that is the logged action, the learner is
told the logged reward, else the row is forgotten as if it had never come. There the log was made by uniform play. Where
action a was logged with probability p(a | x), a row that agrees is kept with probability `least` / p, where `least` is
the smallest p (rejection, as in Mandel, Liu, Brunskill, Popovic, "Offline evaluation of online reinforcement learning
algorithms", AAAI 2016):

    P(row is kept | x, the learner does a) = p(a | x) * least / p(a | x) = least,

the same for all people and actions. So the people who are kept are like all people, their rewards are those of the
action that was chosen, and the mean reward is right on average, for a learner that learns as for a fixed rule.

What to know: rows are drawn with replacement (Mary, Preux, Nicol, "Improving offline evaluation of contextual bandit
algorithms via bootstrapping techniques", ICML 2014), so a run may be longer than the log. Right on average is then with
respect to the rows as they are: with few rows for each coordinate of the features a learner may learn rows by heart.
`least` is the smallest probability in the log, not of all that was possible. What the other actions would have brought
is not known, so `regret` is against the highest reward, `high`.

This world is made from a table and its columns and has no name in the registry: a study has no place for them.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from sottovoce.learners.base import Key, configuration
from sottovoce.users.fields import in_blocks


class Row(NamedTuple):
    person: jax.Array
    """The encoded fields; the loop that looks for a row carries these, not a block of them for each action."""
    action: jax.Array
    reward: jax.Array
    keep: jax.Array
    """With what probability the row is kept if the learner agrees."""


@configuration("arms", "dimension", "patience")
class Logged:
    """`people` has a row of encoded fields for each row of the log; `keep` is least / p."""

    dimension: int
    arms: int
    people: Any
    actions: Any
    rewards: Any
    keep: Any
    high: float
    patience: int
    """After so many rows that did not count the reward is NaN: nobody like that is in the log."""

    def visit(self, round: jax.Array, key: Key) -> Row:
        drawn = jax.random.randint(key, (), 0, len(self.actions))
        pick = lambda column: jnp.asarray(column)[drawn]  # noqa: E731
        return Row(*map(pick, (self.people, self.actions, self.rewards, self.keep)))

    def shown(self, context: Row) -> jax.Array:
        return in_blocks(jnp, self.arms, context.person)

    def kept(self, context: Row, action: jax.Array, key: Key) -> jax.Array:
        return (action == context.action) & (jax.random.uniform(key) < context.keep)

    def outcome(self, context: Row, action: jax.Array, key: Key) -> jax.Array:
        return jnp.where(action == context.action, context.reward, jnp.nan)

    def regret(self, context: Row, action: jax.Array) -> jax.Array:
        return self.high - jnp.where(action == context.action, context.reward, jnp.nan)
