"""Transcripts, drawn in fresh Python processes and read there.

Fresh, because a device whose noise starts from a constant seed looks honest within one process: what gives it away is a
second process that sends the same bytes. Processes rather than a pool, because a pool would be started only once.
"""

import os
import pickle
import subprocess
import sys
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sottovoce.lab.audit.clues import Clues, clues, fingerprints
from sottovoce.lab.audit.subjects import Subject, embed


class Draw(NamedTuple):
    """What the attacker keeps of some transcripts of one person."""

    clues: Clues
    fingerprints: NDArray[np.uint64]


def draw(subject: Subject, person: int, count: int) -> Draw:
    """Transcripts of this person, sent by this process.

    >>> from sottovoce.lab.audit.subjects import honest_subjects
    >>> len(draw(honest_subjects()[0], 0, 5).fingerprints)
    5
    """
    transcripts = subject.transcripts(person, count)
    messages = embed(subject.mechanism, subject.people[0]), embed(subject.mechanism, subject.people[1])
    return Draw(clues(subject.mechanism, messages, transcripts), fingerprints(transcripts))


def draw_afresh(subject: Subject, person: int, count: int) -> Draw:
    """The same, sent by a Python process that has done nothing before.

    >>> from sottovoce.lab.audit.subjects import honest_subjects
    >>> len(draw_afresh(honest_subjects()[0], 0, 5).fingerprints)
    5
    """
    command = [sys.executable, "-c", f"from {__name__} import _answer; _answer()"]
    paths = os.pathsep.join(path for path in sys.path if path)
    # One thread each: the matrices are tiny and there is a process per core already.
    settings = {"PYTHONPATH": paths, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    question = pickle.dumps((subject, person, count))
    done = subprocess.run(command, input=question, capture_output=True, env={**os.environ, **settings}, check=False)
    if done.returncode:
        raise RuntimeError(f"a process of the audit failed: {done.stderr.decode(errors='replace').strip()[-2000:]}")
    return pickle.loads(done.stdout)


def _answer() -> None:
    """All that such a process does: a question on standard input, its answer on standard output."""
    subject, person, count = pickle.load(sys.stdin.buffer)
    pickle.dump(draw(subject, person, count), sys.stdout.buffer)
