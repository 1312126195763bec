"""Randomness that was written down with a golden vector."""

from typing import Any


class ScriptedEntropy:
    """Gives the written answers, and insists on being asked the written questions."""

    def __init__(self, script: list[dict[str, Any]]) -> None:
        self.script = list(script)

    def below(self, bound: int) -> int:
        line = self.script.pop(0)
        assert int(line["below"]) == bound
        return int(line["gives"])

    def octets(self, count: int) -> bytes:
        line = self.script.pop(0)
        assert line["octets"] == count
        return bytes.fromhex(line["gives"])
