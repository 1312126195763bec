"""Thompson sampling: a few draws of the posterior stand for the rounds of a short stretch."""

import numpy as np

from sottovoce.catalogue.task import Task
from sottovoce.lab.plan.paths import Array, Counts, Paths, Recorder, Signal, paths_for

PATHS = 96

DRAWS = 16
"""Of the posterior in one stretch."""

STRETCH = 0.04


def predict_thompson(task: Task, losses: Array) -> Paths:
    signal, generator = Signal(task, losses), np.random.default_rng(0)
    gaps = losses - losses.min()
    pulls = np.zeros((paths_for(len(losses), PATHS), len(losses)), dtype=np.int64)
    recorder = Recorder(len(pulls))
    kind = _Levels if signal.noise.levels else _Normal
    model = kind(signal, len(pulls), generator)
    while True:
        time = pulls.sum(1)
        wanted = np.minimum(np.maximum(1, (STRETCH * time).astype(int)), task.rounds - time)
        if not np.any(wanted > 0):
            return recorder.paths()
        new = np.minimum(_won(model.draw(pulls), wanted), np.ceil(STRETCH * 2 * pulls).astype(int) + 1)
        model.hear(new)
        pulls = pulls + new
        recorder.note(pulls.sum(1), pulls @ gaps)


def _won(draws: Array, wanted: Counts) -> Counts:
    """How many of the wanted rounds each arm wins: those of a draw go to the arm that is best in it."""
    first = np.arange(DRAWS)
    rounds = wanted[:, None] // DRAWS + (first < (wanted % DRAWS)[:, None])
    best = draws.argmin(2)[:, :, None] == np.arange(draws.shape[2])
    return np.sum(best * rounds[:, :, None], axis=1)


class _Levels:
    """Dirichlet posteriors over levels."""

    def __init__(self, signal: Signal, paths: int, generator: np.random.Generator) -> None:
        self.signal, self.law, self.generator = signal, signal.law, generator
        self.counts = np.zeros((paths, *signal.law.shape))

    def draw(self, pulls: Counts) -> Array:
        if self.law.shape[1] == 2:
            low, high = 1 + self.counts[:, None, :, 0], 1 + self.counts[:, None, :, 1]
            return self.generator.beta(high, low, (len(pulls), DRAWS, len(self.law)))
        shape = (len(pulls), DRAWS, *self.law.shape)
        gammas = self.generator.standard_gamma(1 + self.counts[:, None], shape)
        return gammas @ np.linspace(0.0, 1.0, self.law.shape[1]) / gammas.sum(3)

    def hear(self, new: Counts) -> None:
        self.counts += self.signal.heard(new, self.generator)


class _Normal:
    """Normal posteriors of the mean, with the variance that Gaussian noise is known to have."""

    def __init__(self, signal: Signal, paths: int, generator: np.random.Generator) -> None:
        self.signal, self.generator = signal, generator
        self.totals = np.zeros((paths, len(signal.losses)))

    def draw(self, pulls: Counts) -> Array:
        known = np.maximum(pulls, 1)[:, None]
        spread = np.sqrt(self.signal.noise.proxy / known)
        draws = self.totals[:, None] / known + spread * self.generator.standard_normal(
            (len(pulls), DRAWS, pulls.shape[1])
        )
        return np.where(pulls[:, None] > 0, draws, -np.inf)

    def hear(self, new: Counts) -> None:
        self.totals += self.signal.sums(new, self.generator)
