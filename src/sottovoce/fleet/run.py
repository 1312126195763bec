"""A fleet: simulated people with real devices against a real server, over HTTP, with the exact mechanisms.

In lock-step people come in cohorts between two publications: everybody in a cohort chooses by the same offer, and the
next cohort waits until the server has learned from this one. That is the simulator's `publish_every` without delay, so
the two can be compared. In a rush nobody waits: all reports are drawn first, then sent as fast as connections allow.
"""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sottovoce.admin.remote import PATIENCE, Remote
from sottovoce.catalogue.task import learning_of
from sottovoce.client import Decision, Device, Http, Limits, Sent, Transport
from sottovoce.fleet.people import Crowd
from sottovoce.protocol.contract import ByModel, Contract
from sottovoce.protocol.errors import ConfigurationError, Unreachable

RUSH = 1000
"""People whose reports are drawn together when nobody waits."""
CLOSED = {
    "paused": "`sottovoce task resume {task}` asks for reports again",
    "expired": "no report is taken after its last day; create a task with a later date",
}
"""What helps where a task takes no reports."""
LATER = 3600.0
"""Seconds between two visits of a person, as the device is told: by then its model is old."""

Progress = Callable[[int], None]
"""Called with the number of visits just made."""


class FleetResult(NamedTuple):
    """What a run came to. Regret is in units of the outcome, as in the simulator."""

    people: int
    reports: int
    """Sent by devices; fewer than visits where a budget was spent or the task was done."""
    acknowledged: int
    refused: int
    regret: float
    regret_uniform: float
    """Expected of uniform play, for the same people."""
    epsilon: float
    """Of one report."""
    bytes_per_report: int
    seconds: float
    sending: float
    """Seconds in which reports were sent."""
    curve: NDArray[np.float64]
    """The regret of each visit."""
    uniform_curve: NDArray[np.float64]
    world: Any

    def row(self) -> dict[str, float]:
        """The fields of `--json`."""
        names = FleetResult._fields[: FleetResult._fields.index("sending")]
        return {name: getattr(self, name) for name in names}


def run_fleet(
    server: str,
    task: str,
    people: int,
    visits: int = 1,
    *,
    seed: int = 0,
    lockstep: bool = True,
    connections: int = 1,
    epsilon: float | None = None,
    progress: Progress = lambda visits: None,
    transport: Transport | None = None,
) -> FleetResult:
    """Let so many people come so often each; the answer is what it cost them and what they gave."""
    for name, number in (("people", people), ("visits", visits), ("connections", connections)):
        if number < 1:
            raise ConfigurationError(f"{name} must be at least 1, got {number}")
    transport = transport or Http(server, timeout=PATIENCE)
    remote = Remote(server, transport=transport)
    contract, state = remote.contract(task), remote.status(task).state
    if state in CLOSED:
        raise ConfigurationError(f"{task} is {state}; {CLOSED[state]}".format(task=task))

    gate, limit = contract.gates[0], contract.limit
    generous = Limits(gate.epsilon, gate.delta, limit.lifetime, limit.lifetime_delta)

    def device() -> Device:
        """Of an owner who allows exactly what the task asks for; who comes often has the permits at once."""
        made = Device(server, task, limits=generous, epsilon=epsilon, transport=transport)
        if visits > 1 and isinstance(contract.offers, ByModel):
            made.prefetch(min(visits, made.budget().reports_left))
        return made

    crowd = Crowd(contract, seed=seed, size=learning_of(contract).publish_every if lockstep else min(RUSH, people))
    spent = _gate_epsilon(contract, epsilon)
    begun = time.perf_counter()
    with ThreadPoolExecutor(connections) as pool:
        fleet = _Fleet(contract, crowd, device, people, visits, pool.map if connections > 1 else map)
        fleet.in_step(remote, progress) if lockstep else fleet.rush(progress)
        fleet.put_away()
    return FleetResult(
        people=min(people, len(fleet.regret)),
        reports=fleet.reports,
        acknowledged=fleet.acknowledged,
        refused=fleet.refused,
        regret=float(np.sum(fleet.regret)),
        regret_uniform=float(np.sum(fleet.uniform)),
        epsilon=spent,
        bytes_per_report=remote.summary(task).bytes_per_report,
        seconds=time.perf_counter() - begun,
        sending=fleet.sending,
        curve=np.array(fleet.regret),
        uniform_curve=np.array(fleet.uniform),
        world=crowd.world,
    )


class _Fleet:
    """The people who have come so far and their devices; `each` is `map`, or one that shares work among threads."""

    def __init__(
        self, contract: Contract, crowd: Crowd, device: Callable[[], Device], people: int, visits: int, each: Any
    ) -> None:
        self._task, self._reward = contract.id, contract.reward
        self._crowd, self._new_device, self._each = crowd, device, each
        self._people, self._visits = people, people * visits
        self._devices: dict[int, Device] = {}
        self.reports = self.acknowledged = self.refused = 0
        self.sending = 0.0
        self.regret: list[float] = []
        self.uniform: list[float] = []

    def in_step(self, remote: Remote, progress: Progress) -> None:
        """Cohort by cohort; the first ends where the server's present one does."""
        summary = remote.settled(self._task)
        while (left := self._visits - len(self.regret)) and not summary.done:
            size = min(self._crowd.size - summary.learned % self._crowd.size, left, self._people)
            self._send(self._come(size, later=LATER))
            summary = remote.settled(self._task)
            progress(size)

    def rush(self, progress: Progress) -> None:
        """Everybody decides and observes, then everybody sends."""
        devices: dict[Device, None] = {}
        while left := self._visits - len(self.regret):
            size = min(self._crowd.size, left)
            devices |= dict.fromkeys(self._come(size))
            progress(size)
        self._send(list(devices))

    def _come(self, size: int, later: float = 0.0) -> list[Device]:
        """So many people come, choose and observe; the devices with a report to send are returned."""
        first = len(self.regret)
        raw, contexts = self._crowd.come(first)
        devices = list(self._each(lambda i: self._device(*divmod(first + i, self._people), later=later), range(size)))
        decisions = list(self._each(_choice, devices, raw[:size]))
        actions = [decision.action for decision in decisions]
        whole = np.array(actions + actions[:1] * (self._crowd.size - size))
        outcomes, regret, uniform = (found[:size] for found in self._crowd.happen(first, contexts, whole))
        self.regret += regret.tolist()
        self.uniform += uniform.tolist()
        rewards = self._reward.from_unit(outcomes).tolist()
        list(self._each(lambda device, made, reward: device.observe(made.id, reward), devices, decisions, rewards))
        reporting = [device for device, decision in zip(devices, decisions, strict=True) if decision.reported]
        self.reports += len(reporting)
        return reporting

    def _device(self, visit: int, person: int, later: float) -> Device:
        """The person's own; who comes back so much later each time has the newest model by then."""
        if person not in self._devices:
            self._devices[person] = self._new_device()
        elif later:
            self._devices[person].send(time.time() + visit * later)
        return self._devices[person]

    def _send(self, devices: list[Device]) -> None:
        """Every device sends what it has, at once."""
        begun = time.perf_counter()
        for sent in self._each(_sent, devices):
            self.acknowledged += sent.acknowledged
            self.refused += sent.refused
        self.sending += time.perf_counter() - begun
        if self._visits == self._people:
            self.put_away()

    def put_away(self) -> None:
        """Nobody comes back: close the devices."""
        for device in self._devices.values():
            device.close()
        self._devices.clear()


def _choice(device: Device, raw: Any) -> Decision:
    decision = device.choose(raw)
    if decision.problem:
        raise Unreachable(f"no more people can come: {decision.problem}")
    return decision


def _sent(device: Device) -> Sent:
    """What became of everything in the outbox; a server that is too busy is asked again."""
    sent, until = device.send(force=True), time.monotonic() + PATIENCE
    while sent.waiting:
        if time.monotonic() > until:
            raise Unreachable(f"the server has not taken a report for {PATIENCE:g} seconds")
        time.sleep(0.1)
        again = device.send(force=True)
        sent = Sent(sent.acknowledged + again.acknowledged, sent.refused + again.refused, again.waiting)
    return sent


def _gate_epsilon(contract: Contract, epsilon: float | None) -> float:
    """What one report costs: the largest epsilon of a gate that is not above what was asked for."""
    budgets = [gate.epsilon for gate in contract.gates]
    allowed = [budget for budget in budgets if epsilon is None or budget <= epsilon]
    if not allowed:
        listed = ", ".join(f"{budget:g}" for budget in budgets)
        raise ConfigurationError(f"{contract.id} can be answered with epsilon {listed}, not with {epsilon:g}")
    return max(allowed)
