"""What the inputs of golden vectors have in common."""

import math
from typing import Any

import numpy as np

from sottovoce.privacy.domains import domain_from
from sottovoce.privacy.mechanisms import calibrate, numbers_of
from sottovoce.protocol.budget import Budget
from sottovoce.protocol.codec import to_decimals

Case = tuple[str, dict[str, Any]]
"""What a vector is about, and what is given."""

INTERVAL = {"kind": "interval", "low": 0.0, "high": 1.0}
OWNER = {"epsilon": 4.0, "delta": 0.0, "lifetime": 40.0, "lifetime_delta": 0.0}


def vector(draw: np.random.Generator, length: int, scale: float = 1.0) -> list[float]:
    return [round(float(x), 6) for x in draw.normal(size=length) * scale / math.sqrt(length)]


def gate(mechanism: str, domain: dict[str, Any], epsilon: float, delta: float = 0.0, **numbers: Any) -> dict[str, Any]:
    """A calibrated mechanism as a contract carries it; `numbers` replace its own."""
    own = numbers_of(calibrate(mechanism, domain_from(domain), Budget(epsilon, delta))) | numbers
    numbers = {name: number for name, number in own.items() if number is not None}
    budget = {"epsilon": epsilon, "delta": delta}
    return {"mechanism": mechanism, "domain": to_decimals(domain), **budget, "numbers": to_decimals(numbers)}
