"""A table with the right answer in each row, as a contextual bandit: guess it, be told only whether it was right.

The actions are the answers, and the other columns are the person's fields, encoded as on a device. Rows are drawn with
replacement, so a run may be longer than the table. The reward is `high` for the right answer and `low` for another.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from sottovoce.learners.base import Key, configuration
from sottovoce.protocol.errors import ConfigurationError
from sottovoce.sim.guesses import guessed_fields
from sottovoce.sim.tables import answers_of, columns_of, encoded
from sottovoce.users.fields import in_blocks


class Row(NamedTuple):
    features: jax.Array
    answer: jax.Array


@configuration("arms", "dimension")
class Table:
    """`people` has a row of encoded fields for each row of the table, `answers` the place of the right action."""

    dimension: int
    arms: int
    people: Any
    answers: Any
    low: float = -1.0
    high: float = 1.0

    def visit(self, round: jax.Array, key: Key) -> Row:
        drawn = jax.random.randint(key, (), 0, len(self.answers))
        return Row(in_blocks(jnp, self.arms, jnp.asarray(self.people)[drawn]), jnp.asarray(self.answers)[drawn])

    def shown(self, context: Row) -> jax.Array:
        return context.features

    def outcome(self, context: Row, action: jax.Array, key: Key) -> jax.Array:
        return jnp.where(action == context.answer, self.high, self.low)

    def regret(self, context: Row, action: jax.Array) -> jax.Array:
        return self.high - self.outcome(context, action, context.features)


def table_of(*, dimension: int, arms: int, path: str = "iris", label: str = "target") -> Table:
    """The world of a CSV file, or of a table that comes with scikit-learn; fields are guessed from it."""
    columns = columns_of(path)
    answers = answers_of(columns, label)
    fields = guessed_fields(columns, without=(label,))
    people = encoded(fields, columns)
    right = len(answers.names), people.shape[1] * len(answers.names)
    if right != (arms, dimension):
        raise ConfigurationError(
            f"{path} has {right[0]} arms and a dimension of {right[1]}, got {arms} and {dimension}"
        )
    return Table(dimension=dimension, arms=arms, people=people, answers=answers.places)
