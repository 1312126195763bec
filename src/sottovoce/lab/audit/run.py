"""The audit of one subject, or of a list of them, up to the verdict.

Power, for an event of probability p that is e^-epsilon p for the other person: with n fresh reports a side counted both
ways (see `attack`) and z standard deviations of caution, the bound is below epsilon by about
z (sqrt((1-p)/p) + sqrt((1-q)/q)) / sqrt(2n), where q = e^-epsilon p. `TRIALS` makes that a tenth of epsilon, with room
for chance, in the hardest case audited: one-dimensional Laplace at epsilon 1/2, p = 1/2.
"""

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from sottovoce.lab.audit.attack import choose, count
from sottovoce.lab.audit.bounds import epsilon_bound
from sottovoce.lab.audit.clues import Clues, joined
from sottovoce.lab.audit.processes import Draw, draw_afresh
from sottovoce.lab.audit.subjects import Subject
from sottovoce.privacy.mechanisms import name_of
from sottovoce.privacy.special import normal_quantile
from sottovoce.protocol.errors import ConfigurationError

TRIALS = 100_000
"""Reports of the two people together, for a subject that takes full effort."""

FEWEST = 1000
"""Below this an audit shows nothing."""

ENOUGH = 4000
"""What a subject that takes little effort gets at least: with fewer the attacker chooses by chance."""

CONFIDENCE = 0.999

TRAINING = 0.2
"""The share of the reports that the attacker chooses with; a choice needs less than a proof."""

REPLAYED = 300
"""With how many first reports of another fresh process each process is compared."""


class Verdict(NamedTuple):
    """What the audit found out about one subject."""

    mechanism: str
    domain: str
    epsilon: float
    delta: float
    planted: str | None
    lower_bound: float
    """The true epsilon is at least this, at the audit's confidence. Always finite."""
    passed: bool
    """An honest subject stays under its promise; a planted bug is caught above it."""
    evidence: str


def audit(
    subject: Subject, trials: int = TRIALS, confidence: float = CONFIDENCE, workers: int | None = None
) -> Verdict:
    """Attack a subject with `trials` reports. An honest one fails with probability at most 1 - confidence.

    >>> from sottovoce.lab.audit.subjects import honest_subjects
    >>> audit(honest_subjects()[0], trials=2000, confidence=1 - 1e-9).passed
    True
    """
    _check(trials, confidence, workers)
    training, fresh = _draws(subject, trials // 2, workers or os.cpu_count() or 1)
    event = choose(*training, subject.promised, normal_quantile((1 + confidence) / 2))
    hits, alarms, of = counts = count(event, *fresh)
    bound = epsilon_bound(counts, subject.promised, confidence)
    exceeded = bound > subject.promised.epsilon
    return Verdict(
        mechanism=name_of(subject.mechanism),
        domain=subject.scene,
        epsilon=subject.promised.epsilon,
        delta=subject.promised.delta,
        planted=subject.planted,
        lower_bound=bound,
        passed=exceeded if subject.planted else not exceeded,
        evidence=f"{event.clue}: {100 * hits / of:.3g} % against {100 * alarms / of:.3g} %",
    )


def audit_all(
    subjects: Sequence[Subject], trials: int = TRIALS, confidence: float = CONFIDENCE, workers: int | None = None
) -> Iterator[Verdict]:
    """Audit a list, one verdict at a time. The confidence is that of the whole list.

    The bound of each of k honest subjects is wrong with probability at most (1 - confidence) / k, so a run raises a
    false alarm with probability at most 1 - confidence (Bonferroni). A planted bug cannot raise one: it takes no share.

    >>> list(audit_all([]))
    []
    """
    _check(trials, confidence, workers)
    shared = 1 - (1 - confidence) / max(1, sum(subject.planted is None for subject in subjects))
    for subject in subjects:
        reports = max(min(trials, ENOUGH), round(subject.effort * trials))
        yield audit(subject, reports, confidence if subject.planted else shared, workers)


def _check(trials: int, confidence: float, workers: int | None) -> None:
    if trials < FEWEST:
        raise ConfigurationError(f"an audit needs at least {FEWEST} trials, got {trials}")
    if not 0.5 <= confidence < 1:
        raise ConfigurationError(f"confidence must be at least 0.5 and below 1, got {confidence!r}")
    if workers is not None and workers < 1:
        raise ConfigurationError(f"workers must be at least 1, got {workers}")


def _draws(subject: Subject, each: int, workers: int) -> tuple[tuple[Clues, Clues], tuple[Clues, Clues]]:
    """Training and fresh clues of the two people, every part from a process of its own."""
    training = round(TRAINING * each)
    shards = max(1, workers // 2)
    sizes = [len(part) for part in np.array_split(np.arange(each - training), shards)]
    jobs = [(person, size) for size in [*sizes, training] for person in (0, 1)] + [(0, min(REPLAYED, training))]
    with ThreadPoolExecutor(workers) as pool:
        *draws, reference = pool.map(lambda job: draw_afresh(subject, *job), jobs)
    first, second = ([_with_replay(part, reference) for part in draws[person::2]] for person in (0, 1))
    return (first[-1], second[-1]), (joined(first[:-1]), joined(second[:-1]))


def _with_replay(part: Draw, reference: Draw) -> Clues:
    """The clues, and one more: does this process send, byte by byte, what another sent for person 0?

    1 for the same bytes, -1 for others, 0 where there is nothing left to compare with.
    """
    same = np.zeros(len(part.fingerprints))
    compared = min(len(same), len(reference.fingerprints))
    same[:compared] = np.where(part.fingerprints[:compared] == reference.fingerprints[:compared], 1.0, -1.0)
    return {**part.clues, "same bytes from another process": same}
