"""The rows of Table 1, from `rows.toml`."""

import math
from fractions import Fraction
from importlib import resources
from typing import Any, Literal

import msgspec


class Reference(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The algorithm without privacy beside a row: told no noise, with the constants of its own paper."""

    learner: str
    preset: str = "paper"


class Row(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One row: regret against rounds, or, where there are `gaps`, samples until the best arm is found against 1/gap."""

    name: str
    title: str
    theorem: str
    """Which theorem of the paper it is about."""
    learner: str
    presets: tuple[str, ...] = ("practical", "paper")
    """The first is the one that the row is judged by."""
    reference: Reference
    world: str
    shape: dict[str, int]
    options: dict[str, Any] = {}
    told: tuple[Literal["horizon", "epsilon"], ...] = ()
    """Options of the world that are those of the run: every horizon, every epsilon has its own hardest world."""
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
    epsilons: tuple[float, ...] = (0.25, 0.5, 1.0, 2.0)
    epsilon_size: float
    """At which horizon or gap these are compared."""
    paper_epsilon: float = 8.0
    """The same for the presets after the first, whose constants need larger budgets before they learn."""
    paper_epsilons: tuple[float, ...] = (1.0, 2.0, 4.0, 8.0)
    seeds: int = 32
    seed: int = 1
    """Where the seeds start."""
    why: str
    """What was chosen for this row, and why."""

    @property
    def sizes(self) -> tuple[float, ...]:
        return self.gaps or self.horizons

    def budgets(self, preset: str) -> tuple[float, tuple[float, ...]]:
        """The epsilon at which sizes are compared, and the epsilons that are compared."""
        first = preset == self.presets[0]
        return (self.epsilon, self.epsilons) if first else (self.paper_epsilon, self.paper_epsilons)

    def quick(self) -> "Row":
        """The row of the quick table: shorter, so that fewer points count."""
        held = self.epsilon_size if self.gaps else min(self.epsilon_size, self.horizons[1])
        return msgspec.structs.replace(
            self, horizons=self.horizons[:3], gaps=self.gaps[:3], epsilon_size=held, seeds=max(self.seeds // 2, 2)
        )

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
