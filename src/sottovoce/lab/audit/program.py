"""A device that is a program of its own, in any language, so that the audit can hear what it sends.

It is started afresh for every part of the audit. On standard input it gets one JSON object: the task's `contract` as it
is served, the number of the `gate`, the person's data as the pieces that the domain's embedding takes (`person`), and a
`count`. It answers with so many lines, each what one report makes public, in hexadecimal: the coin, if the mechanism
has one, then the payload. Every report is drawn with the randomness of that device, as for a real person.
"""

import subprocess
from dataclasses import dataclass
from typing import Any

import msgspec

from sottovoce.protocol.errors import ConfigurationError

Raw = tuple[Any, ...]
"""One person's data, in the pieces that the domain's `embed` takes."""


@dataclass(frozen=True)
class Program:
    """The command of a device, and what it answers: one gate of a contract."""

    command: tuple[str, ...]
    contract: bytes
    gate: int

    def transcripts(self, raw: Raw, count: int) -> list[bytes]:
        question = {"contract": self.contract.decode(), "gate": self.gate, "person": raw, "count": count}
        asked = msgspec.json.encode(question, enc_hook=float)  # NumPy's numbers are plain ones there
        try:
            done = subprocess.run(self.command, input=asked, capture_output=True, check=False)
        except OSError as error:
            raise ConfigurationError(f"cannot start the device {self.command[0]!r}: {error.strerror}") from error
        if done.returncode:
            raise ConfigurationError(f"the device failed: {done.stderr.decode(errors='replace').strip()[-2000:]}")
        return self._read(done.stdout, count)

    def _read(self, answer: bytes, count: int) -> list[bytes]:
        """One transcript a line.

        >>> Program((), b"", 0)._read(b"4142 4344", 2)
        [b'AB', b'CD']
        """
        lines = answer.split()
        if len(lines) != count:
            raise ConfigurationError(f"the device sent {len(lines)} reports, and was asked for {count}")
        try:
            return [bytes.fromhex(line.decode()) for line in lines]
        except ValueError as error:
            raise ConfigurationError("the device must answer with a line of hexadecimal digits a report") from error
