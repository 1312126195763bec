"""The rows of Table 1, from `rows.toml`."""

import math
from fractions import Fraction
from importlib import resources
from typing import Any

import msgspec

EPSILONS = (0.25, 0.5, 1.0, 2.0)


class Row(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One row: regret against rounds, or, where there are `gaps`, samples until the best arm is found against 1/gap."""

    name: str
    title: str
    learner: str
    presets: tuple[str, str] = ("practical", "paper")
    """What we recommend, and what is printed beside it."""
    world: str
    shape: dict[str, int]
    options: dict[str, Any] = {}
    tuning: dict[str, Any] = {}
    power: Fraction
    """The theorem's exponent of rounds, or of 1/gap."""
    logarithm: Fraction = Fraction(0)
    """The theorem's exponent of ln(rounds)."""
    epsilon_power: Fraction
    """The theorem's exponent of 1/epsilon."""
    horizons: tuple[int, ...]
    """Of the full table; the quick one takes the first three."""
    gaps: tuple[float, ...] = ()
    """Likewise."""
    epsilon: float = 1.0
    """At which horizons or gaps are compared."""
    seeds: int = 64
    seed: int = 1
    """Where the seeds start."""
    why: str
    """What was chosen for this row, and why."""

    @property
    def sizes(self) -> tuple[float, ...]:
        return self.gaps or self.horizons

    @property
    def unit(self) -> str:
        return "samples" if self.gaps else "regret"

    def factor(self, size: float) -> float:
        """The theorem's logarithmic factor for this horizon or gap."""
        if self.gaps:
            return math.log(math.log(1 / size**2 + math.e) / 0.05)
        return math.log(size) ** float(self.logarithm)

    @property
    def factor_text(self) -> str:
        """The same in words; nothing where there is none."""
        if self.gaps:
            return "ln(ln(1/gap^2)/0.05)"
        return {"0": "", "1": "ln T"}.get(str(self.logarithm), f"(ln T)^({self.logarithm})")


ROWS = msgspec.toml.decode(
    resources.files("sottovoce.lab.table1").joinpath("rows.toml").read_bytes(),
    type=dict[str, list[Row]],
    dec_hook=lambda kind, value: kind(value),
)["row"]
