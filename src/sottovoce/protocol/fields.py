"""Fields: what an app knows of a person or of a candidate, as a task declares them."""

from collections.abc import Mapping

from sottovoce.protocol.errors import check_range
from sottovoce.protocol.strict import Strict


class Number(Strict, frozen=True, kw_only=True, omit_defaults=True, tag_field="kind", tag="number"):
    """A number in a declared range; what lies outside is clipped."""

    low: float
    high: float
    middle: float | None = None
    """About half of all values lie below it: declared where they crowd near one end, as incomes do."""

    width = 1

    def __post_init__(self) -> None:
        check_range("a number field", self.low, self.high)
        if self.middle is not None and not self.low < self.middle < self.high:
            raise ValueError(f"the middle of a number must lie between {self.low:g} and {self.high:g}")


class Category(Strict, frozen=True, kw_only=True, tag_field="kind", tag="category"):
    """One of a few words; any other word counts as none of them."""

    values: tuple[str, ...]

    def __post_init__(self) -> None:
        if len(self.values) < 2 or len(set(self.values)) < len(self.values):
            raise ValueError(f"a category needs at least two different values, got {list(self.values)}")

    @property
    def width(self) -> int:
        return len(self.values)


class Flag(Strict, frozen=True, kw_only=True, tag_field="kind", tag="flag"):
    """Yes or no."""

    width = 1


Field = Number | Category | Flag


def width_of(fields: Mapping[str, Field]) -> int:
    """Coordinates of one encoded person or candidate: a constant, and those of every field."""
    return 1 + sum(field.width for field in fields.values())
