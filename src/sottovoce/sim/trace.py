"""What a simulation returns, and whether what was recommended is right."""

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import numpy as np
from numpy.typing import NDArray

from sottovoce.engine.complete import Complete
from sottovoce.engine.pytrees import join, split

TIE = 1e-9
"""Mean rewards this close are equally good: far below any gap of a world, far above the rounding of its numbers."""


class Trace(NamedTuple):
    """What a simulation returns."""

    rounds: NDArray[np.int64]
    """The checkpoints: after how many rounds."""
    regret: NDArray[np.float64]
    """Cumulated regret, a row per seed, a column per checkpoint."""
    finite: bool
    """False if any state ceased to be a number; JAX itself does not raise."""
    state: Any
    """The learners' final states, leaves with a leading axis of seeds."""
    samples: NDArray[np.float64]
    """How many people answered, for each seed: fewer than the rounds where a learner stopped."""
    stopped: NDArray[np.bool_]
    """Whether each seed's learner was done in the end; never, if it is not one that stops."""
    recommended: NDArray | None = None
    """What each seed's learner recommends, if it is one that stops: an arm, or a mask of arms."""
    correct: NDArray[np.bool_] | None = None
    """Whether nothing is better, by the world's `gaps`."""

    def table(self) -> dict[str, NDArray]:
        """The regret as a long table, a row for each seed and checkpoint: `pandas.DataFrame(trace.table())`."""
        seeds, checkpoints = self.regret.shape
        return {
            "seed": np.repeat(np.arange(seeds), checkpoints),
            "rounds": np.tile(self.rounds, seeds),
            "regret": self.regret.ravel(),
        }


def trace_of(
    learner: Complete, ends: NDArray, regret: NDArray, state: Any, samples: NDArray, gaps: NDArray | None
) -> Trace:
    """One case's seeds, with what they recommend and whether that is right."""
    finite = bool(all(np.all(np.isfinite(leaf)) for leaf in jax.tree.leaves(state)))
    if not learner.stops:
        return Trace(ends, regret, finite, state, samples, np.zeros(len(samples), bool))
    numbers, rest = split(learner)
    stopped, recommended, best = jax.tree.map(np.asarray, _endings(rest, numbers, state, gaps))
    correct = None if gaps is None else _is_best(recommended, best, gaps)
    return Trace(ends, regret, finite, state, samples, stopped, recommended, correct)


def joined(traces: Sequence[Trace]) -> Trace:
    """The seeds of several traces of one run, side by side."""
    if len(traces) == 1:
        return traces[0]
    by_seed = [trace._replace(rounds=None, finite=None) for trace in traces]
    every = jax.tree.map(lambda *leaves: np.concatenate(leaves), *by_seed)
    return every._replace(rounds=traces[0].rounds, finite=all(trace.finite for trace in traces))


@functools.partial(jax.jit, static_argnums=0)
def _endings(rest: Any, numbers: list[Any], state: Any, gaps: NDArray | None) -> tuple[Any, Any, Any]:
    """For each seed: is the learner done, what does it recommend, and what is best, where the gaps are known?"""
    learner = join(numbers, rest)
    best = None if gaps is None else jax.vmap(lambda gaps: learner.best_set(-gaps))(gaps)
    return jax.vmap(learner.done)(state), jax.vmap(learner.recommend)(state), best


def _is_best(recommended: NDArray, best: NDArray, gaps: NDArray) -> NDArray[np.bool_]:
    """Is no arm better than the one recommended, or no set than the set? Ties are right; rows are seeds."""
    arms = np.arange(gaps.shape[1])
    chosen = recommended if recommended.ndim > 1 else recommended[:, None] == arms
    return np.sum(gaps * chosen, axis=1) <= np.sum(gaps * best, axis=1) + TIE
