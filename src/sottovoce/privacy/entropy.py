"""A device's randomness."""

import secrets
from typing import Protocol


class Entropy(Protocol):
    """A source of randomness. Outside tests it is the operating system."""

    def below(self, bound: int) -> int:
        """A uniform integer in [0, bound)."""
        ...

    def octets(self, count: int) -> bytes:
        """Uniform bytes."""
        ...


class SystemEntropy:
    """The operating system's randomness."""

    def below(self, bound: int) -> int:
        return secrets.randbelow(bound)

    def octets(self, count: int) -> bytes:
        return secrets.token_bytes(count)


SYSTEM: Entropy = SystemEntropy()
