"""The simulator and the live server learn the same from the same reports, whatever the kind of the learner."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from serving import ARMS, MODEL, contract
from sottovoce.catalogue.resolve import mechanism_from
from sottovoce.engine.schedule import Schedule
from sottovoce.protocol.contract import Contract
from sottovoce.server.learn import leaves
from sottovoce.server.learn.folding import Fold
from sottovoce.server.learn.publishing import Remembered, ask_once
from sottovoce.server.store import Entry, Report
from sottovoce.sim.gates import Quieter
from sottovoce.sim.halves import halves
from sottovoce.sim.loop import answer, begin
from sottovoce.sim.random import round_keys
from sottovoce.sim.run import Case, Run, parts_of, setting_of, simulate
from sottovoce.sim.worlds import world_of_task
from sottovoce.sim.worlds.base import world_for

POINTS: dict[str, Any] = ARMS | {"actions": [], "dimension": 2}
KINDS: dict[str, dict[str, Any]] = {
    "kl-ucb": ARMS | {"publish_every": 1},
    "tsallis-inf": ARMS | {"publish_every": 7},
    "fkm": POINTS | {"publish_every": 3},
    "lil-ucb": ARMS | {"publish_every": 5, "privacy": {"epsilon": 8.0}, "tuning": {"failure": 0.3}},
    "linucb": MODEL | {"publish_every": 2, "tuning": {"growth": 1.2}},
    "gradient": MODEL | {"publish_every": 4},
    "glm": MODEL | {"publish_every": 3, "preset": "explicit", "privacy": {"epsilon": 2.0, "delta": 1e-5}},
}
ROUNDS = 40


class Overheard(Fold):
    """The fold of the live server, for payloads that are the estimates themselves: the simulator draws the noise."""

    def _messages(self, reports: Any) -> Any:
        return np.frombuffer(b"".join(report.payload for report in reports), ">f8").reshape(len(reports), -1)


class Simulation(NamedTuple):
    """One seed of a task in the simulator, with quieter gates where the learner can weigh."""

    parts: Any
    options: dict[str, Any]
    case: Case


def simulation_of(live: Contract) -> Simulation:
    learner, user, full = halves(live.task)
    quieter = [Quieter(mechanism_from(live.task, gate), 0.3) for gate in live.gates[1:]]
    options = {"rounds": ROUNDS, "seeds": 1, "publish_every": live.publish_every}
    return Simulation((learner, user, world_of_task(live.task)), options, Case(learner, full, quieter))


def journal_of(live: Contract, simulation: Simulation, fold: Fold) -> list[Entry]:
    """The reports of the simulator's visitors, each told to this fold before the next one comes."""
    run, (_, user, world) = Run(**simulation.options), simulation.parts
    learner, gates = parts_of(simulation.case)
    setting = setting_of(simulation.case, user, run)._replace(domain=None)  # estimates as the live server decodes them
    (key,) = run.seed_keys()
    here, context = world_for(world, key), fold.publish().version
    carry = begin(setting, learner, gates, here, key)
    carry, entries = carry._replace(state=fold.progress.state), []
    marks = Schedule(run.publish_every, learner.growth).marks(ROUNDS)
    for round in range(ROUNDS):
        state = fold.progress.state
        carry = carry._replace(state=state, published=carry.published if setting.lazy else ())
        said, _ = answer(setting, learner, gates, here, key, carry, jnp.asarray(round))
        offer = ask_once(learner, carry.published if setting.lazy else state, round_keys(key, round).ask)
        gate = 0 if said.weight is None else [float(weight) for weight in gates.weights].index(float(said.weight))
        ticket = bytes.fromhex(context) if context else leaves.pack(Remembered(offer.memo, offer.arm))
        payload = np.asarray(said.estimate).astype(">f8").tobytes()
        entries.append(Entry(round + 1, Report(1, round.to_bytes(16, "big"), 0, gate, ticket, payload)))
        fold._fold([entries[-1].report])
        if marks[round] and not fold.done():
            context = fold.publish().version
            carry = carry._replace(published=fold.progress.state)
    return entries


@pytest.mark.parametrize("name", KINDS)
def test_the_same_visitors_and_noise_give_the_same_state(name: str):
    """One by one and in groups bit for bit, because the step is compiled once; the batch of the simulator to 1e-10."""
    live = contract(**KINDS[name] | {"learner": name, "horizon": 2000})
    simulation = simulation_of(live)
    trace = simulate(*simulation.parts, mechanism=simulation.case.mechanism, quieter=simulation.case.quieter,
                     **simulation.options)  # fmt: skip
    with jax.enable_x64(True):
        one_by_one, served = Overheard(live, b"secret"), Overheard(live, b"secret")
        entries = journal_of(live, simulation, one_by_one)
        served.publish()
        assert len({entry.report.gate for entry in entries}) == len(live.gates)
        for start in range(0, ROUNDS, 13):
            for _ in served.advance(entries[start : start + 13]):
                pass
        assert served.digest() == one_by_one.digest()
        assert (served.learned, served.published) == (one_by_one.learned, one_by_one.published)
    assert served.learned == trace.samples[0]
    for found, simulated in zip(jax.tree.leaves(served.progress.state), jax.tree.leaves(trace.state), strict=True):
        np.testing.assert_allclose(found, simulated[0], rtol=1e-10, atol=1e-10)
