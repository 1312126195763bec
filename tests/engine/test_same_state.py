"""The simulator and the live server learn the same from the same reports, whatever the kind of the learner."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from serving import ARMS, MODEL, contract
from sottovoce.catalogue.task import learning_of, task_of
from sottovoce.engine.complete import Complete, complete
from sottovoce.engine.pytrees import stack
from sottovoce.engine.schedule import Schedule
from sottovoce.learners.base import configuration
from sottovoce.privacy.domains import size
from sottovoce.privacy.gates import mechanisms_of
from sottovoce.protocol.contract import Contract
from sottovoce.server.learn import leaves
from sottovoce.server.learn.folding import CHUNK, Fold
from sottovoce.server.learn.publishing import Remembered, ask_once
from sottovoce.server.store.base import Entry, Journalled
from sottovoce.sim.batch import Playing
from sottovoce.sim.gates import Quieter
from sottovoce.sim.halves import halves
from sottovoce.sim.random import round_keys
from sottovoce.sim.run import Case, Run, parts_of, setting_of
from sottovoce.sim.worlds import world_of_task

POINTS: dict[str, Any] = ARMS | {"actions": [], "dimension": 2}
KINDS: dict[str, dict[str, Any]] = {
    "kl-ucb": ARMS | {"publish_every": 1},
    "tsallis-inf": ARMS | {"publish_every": 7},
    "thompson, sudden": ARMS | {"publish_every": 2, "drift": "sudden"},
    "fkm": POINTS | {"publish_every": 3},
    "lil-ucb": ARMS | {"publish_every": 5, "privacy": {"epsilon": 8.0}, "tuning": {"failure": 0.3}},
    "linucb": MODEL | {"publish_every": 2, "tuning": {"growth": 1.2}},
    "gradient": MODEL | {"publish_every": 4},
    "scale-free": MODEL | {"publish_every": 3},
    "glm": MODEL | {"publish_every": 3, "preset": "explicit", "privacy": {"epsilon": 2.0, "delta": 1e-5}},
}
"""A learner, where there is a comma with what the task says of drift, and the rest of the task."""
ROUNDS = 80


class FoldOfEstimates(Fold):
    """The fold of the live server, for payloads that are the estimates themselves: the simulator draws the noise."""

    def _messages(self, reports: Any) -> Any:
        places = np.zeros((CHUNK, size(self._domain)))
        places[: len(reports)] = [np.frombuffer(report.payload, ">f8") for report in reports]
        return places


class Recorded(NamedTuple):
    state: Any
    messages: jax.Array
    """The bits of what was heard: whole numbers, which weighing leaves alone."""
    count: jax.Array


@configuration("domain")
class Recorder:
    """A learner that also keeps what it hears, as it is before the domain takes it apart."""

    learner: Complete
    domain: Any

    @property
    def growth(self) -> float:
        return self.learner.growth

    def init(self) -> Recorded:
        return Recorded(self.learner.init(), jnp.zeros((ROUNDS, size(self.domain)), int), jnp.zeros((), int))

    def ask(self, state: Recorded, key: jax.Array) -> Any:
        return self.learner.ask(state.state, key)

    def tell(self, state: Recorded, memo: Any, estimate: jax.Array) -> Recorded:
        bits = jax.lax.bitcast_convert_type(estimate, jnp.int64)
        inner = self.learner.tell(state.state, memo, self.domain.extract(estimate))
        return Recorded(inner, state.messages.at[state.count].set(bits), state.count + 1)

    def refresh(self, state: Recorded) -> Recorded:
        return state._replace(state=self.learner.refresh(state.state))

    def done(self, state: Recorded) -> jax.Array:
        return self.learner.done(state.state)


def simulated(live: Contract) -> tuple[Any, list[tuple[jax.Array, int, bytes]]]:
    """One seed in the simulator: the state, and for each report the key of its offer, its gate and what was heard."""
    learner, user, full = halves(task_of(live))
    assert full is not None
    run = Run(rounds=ROUNDS, seeds=1, publish_every=learning_of(live).publish_every, checkpoints=2)
    quieter = [Quieter(mechanism, 0.3) for mechanism in mechanisms_of(live)[1:]]
    case = Case(learner, full, quieter)
    whole, gates = parts_of(case)
    setting = setting_of(case, user, run)._replace(domain=None)
    recorder = complete(Recorder(learner=whole, domain=full.domain))
    (key,), publish = run.seed_keys(), run.publish(whole)
    cases, world = stack([(recorder, gates)]), world_of_task(task_of(live))
    playing = Playing(setting, cases, world, run.seed_keys(), run.ends(), publish)
    while not playing.over:
        playing.advance()
    state, messages, count = jax.tree.map(lambda leaf: leaf[0], playing.batch().state_of(0))
    asks, chosen = rounds_of(gates if quieter else None, key)
    heard = [row.astype(">i8").tobytes() for row in messages[: int(count)]]
    return state, list(zip(asks, np.asarray(chosen).tolist(), heard, strict=False))


@jax.jit
def rounds_of(gates: Any, key: jax.Array) -> tuple[list[jax.Array], jax.Array]:
    """For each round the key of its offer, and the gate of its report."""
    keys = jax.vmap(round_keys, (None, 0))(key, jnp.arange(ROUNDS))
    chosen = jax.vmap(gates.choose)(keys.report) if gates else jnp.zeros(ROUNDS, int)
    return [keys.ask[round] for round in range(ROUNDS)], chosen


def journal_of(live: Contract, reports: list[tuple[jax.Array, int, bytes]], fold: Fold) -> list[Entry]:
    """The simulator's reports as the server journals them, each told to this fold before the next one is offered."""
    version, offered, entries = fold.publish().version, fold.progress.state, []
    marks = Schedule(learning_of(live).publish_every, fold.learner.growth).marks(ROUNDS)
    lazy = learning_of(live).publish_every > 1 or fold.learner.refreshes
    for round, (key, gate, said) in enumerate(reports):
        offer = ask_once(fold.learner, offered if lazy else fold.progress.state, key)
        context = bytes.fromhex(version) if version else leaves.pack(Remembered(offer.memo, offer.arm))
        entries.append(Entry(round + 1, Journalled(1, round.to_bytes(16, "big"), 0, gate, context, said)))
        fold._fold([entries[-1]])
        if marks[round] or fold.done():
            version = fold.publish().version
            offered = fold.progress.state
    return entries


@pytest.mark.parametrize("name", KINDS)
def test_the_same_visitors_and_noise_give_the_same_state(name: str):
    """One by one and in groups bit for bit, because the step is compiled once; the batch of the simulator to 1e-10."""
    live = contract(**KINDS[name] | {"learner": name.partition(",")[0], "horizon": 2000})
    with jax.enable_x64(True):
        state, reports = simulated(live)
        assert {gate for _, gate, _ in reports} == set(range(len(live.gates)))
        one_by_one, served = FoldOfEstimates(live, b"secret"), FoldOfEstimates(live, b"secret")
        entries = journal_of(live, reports, one_by_one)
        served.publish()
        for start in range(0, len(entries), 13):
            for _ in served.advance(entries[start : start + 13]):
                pass
    assert served.digest() == one_by_one.digest()
    assert (served.learned, served.published) == (one_by_one.learned, one_by_one.published)
    assert served.learned == len(reports) > 20
    for found, expected in zip(jax.tree.leaves(served.progress.state), jax.tree.leaves(state), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)
