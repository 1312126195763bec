"""From names to numbers: a task's mechanism, and the contract that a task file declares."""

from typing import Any

import msgspec

from sottovoce.catalogue.algorithms import algorithm_of
from sottovoce.catalogue.task import Task, task
from sottovoce.catalogue.task_checks import check_file
from sottovoce.catalogue.task_file import TaskFile, limit_of, seconds
from sottovoce.privacy.domains import Interval, domain_from
from sottovoce.privacy.mechanisms import Mechanism, calibrate, numbers_of, verify
from sottovoce.protocol.budget import Budget
from sottovoce.protocol.codec import to_decimals
from sottovoce.protocol.contract import FORMAT, ByModel, ByTicket
from sottovoce.protocol.errors import ConfigurationError
from sottovoce.protocol.fields import width_of
from sottovoce.protocol.links import link_of
from sottovoce.protocol.wire import room_for

QUIETER = (0.5, 0.25)
"""Shares of the task's epsilon that a device may choose instead, where the file does not say."""

MODELS = 1000
"""How many models are published over the horizon, where the file does not say. See docs/defaults.md."""
BATCHES = 10
"""At least so many of a shuffler lie between two of these models: what does not fill one before the next is lost."""


def mechanism_of(task: Task) -> Mechanism:
    """The calibrated mechanism that a task declares.

    >>> from sottovoce import task
    >>> mechanism_of(task("tsallis-inf", arms=3, rounds=10, epsilon=1.0)).levels
    2
    """
    if task.mechanism == "none":
        raise ConfigurationError(f"{task.learner} gets raw data; it exists in simulation only")
    return calibrate(task.mechanism, domain_from(task.domain), task.budget, task.formula)


def contract_of(file: TaskFile) -> bytes:
    """The contract that a task file declares, as it is served; refuses what cannot work or breaks its promise."""
    check_file(file)
    resolved = task_from(file)
    unit_low, unit_high = _unit(resolved)
    mechanisms = _mechanisms(file, resolved)
    if file.shuffler and file.shuffler.batch > (most := room_for(mechanisms[0].coin_size + mechanisms[0].report_size)):
        raise ConfigurationError(f"a batch of this task has at most {most:,} reports, got {file.shuffler.batch:,}")
    contract = {
        "format": FORMAT,
        "id": file.id,
        "title": file.title,
        "offers": msgspec.to_builtins(_offers(resolved, file)),
        "domain": resolved.domain,
        "mechanism": resolved.mechanism,
        "gates": [
            {"epsilon": one.budget.epsilon, "delta": one.budget.delta, "numbers": numbers_of(one)} for one in mechanisms
        ],
        "limit": msgspec.to_builtins(limit_of(file.privacy)),
        "reward": msgspec.to_builtins(file.reward)
        | {"wait": seconds(file.reward.wait, "wait"), "unit_low": unit_low, "unit_high": unit_high},
        "delay": seconds(file.delay, "delay"),
        "expires": file.expires.isoformat(),
        "retention": seconds(file.retention, "retention"),
        "extensions": _extensions(file, resolved),
        "learning": _learning(file, resolved),
    }
    return msgspec.json.encode(to_decimals(contract))


def task_from(file: TaskFile) -> Task:
    """The task that a file declares."""
    contextual = algorithm_of(file.learner).actions == "features"
    return task(
        file.learner,
        file.preset,
        arms=file.candidates or len(file.actions),
        dimension=width_of(file.fields) * max(len(file.actions), 1) if contextual else file.dimension,
        rounds=file.horizon,
        epsilon=file.privacy.epsilon,
        delta=file.privacy.delta,
        region=file.region,
        **tuning_of(file),
    )


def tuning_of(file: TaskFile) -> dict[str, float | str]:
    """What the file says, and what follows from it: a learner that can is told whether the actions have names."""
    known = algorithm_of(file.learner).presets.get(file.preset, {}).get("tuning", {})
    drift: dict[str, float | str] = {} if file.drift == "none" else {"drift": file.drift}
    if not file.actions or "named" not in known:
        return drift | file.tuning
    return {"named": float(not file.one_right), "contrast": 0.0} | drift | file.tuning


def _offers(task: Task, file: TaskFile) -> ByModel | ByTicket:
    """How devices learn what to choose."""
    if algorithm_of(task.learner).actions != "features":
        return ByTicket(actions=file.actions, dimension=file.dimension, slopes=task.user == "slope")
    return ByModel(
        model=task.user,
        fields=file.fields,
        actions=file.actions,
        candidates=file.candidates,
        link=link_of(task.tuning) if "link" in task.tuning else None,
    )


def _learning(file: TaskFile, task: Task) -> dict[str, Any]:
    """See `catalogue.task.Learning`."""
    same = {name: getattr(task, name) for name in ("learner", "preset", "formula", "tuning", "region")}
    between = BATCHES * file.shuffler.batch if file.shuffler else 1
    publish_every = file.publish_every or max(between, file.horizon // MODELS)
    chosen: dict[str, Any] = {"origins": file.origins} if file.origins else {}
    if file.shuffler:
        chosen["shuffler"] = {"batch": file.shuffler.batch}
    if file.holdout and file.holdout.baseline:
        chosen["holdout"] = {"share": file.holdout.share, "baseline": file.actions.index(file.holdout.baseline)}
    return same | {"horizon": file.horizon, "publish_every": publish_every} | chosen


def _extensions(file: TaskFile, task: Task) -> dict[str, Any]:
    """What devices must know beyond what every contract has."""
    found: dict[str, Any] = {} if file.admission == "open" else {"admission": file.admission}
    if file.holdout and algorithm_of(file.learner).actions == "features":
        rewards = Interval(*_unit(task))
        measuring = [calibrate("levels", rewards, gate.budget) for gate in _mechanisms(file, task)]
        found["holdout"] = {"share": file.holdout.share, "gates": [numbers_of(one) for one in measuring]}
    return found


def _unit(task: Task) -> tuple[float, float]:
    """The scale on which messages speak of the reward."""
    if "link" in task.tuning:
        link = link_of(task.tuning)
        return link.low, link.high
    if task.user == "scalar":
        return float(task.domain["low"]), float(task.domain["high"])
    return (0.0, 1.0) if task.user == "slope" else (-1.0, 1.0)


def _mechanisms(file: TaskFile, resolved: Task) -> list[Mechanism]:
    """One for every budget that a device may choose, the task's own first."""
    full = mechanism_of(resolved)
    quieter = file.privacy.quieter
    weighs = algorithm_of(file.learner).weighs
    if quieter and not weighs:
        raise ConfigurationError(f"{file.learner} cannot weigh reports; leave privacy.quieter out, or say quieter = []")
    chosen = tuple(share * resolved.epsilon for share in QUIETER if weighs) if quieter is None else quieter
    if any(not 0 < epsilon < resolved.epsilon for epsilon in chosen):
        raise ConfigurationError(f"quieter budgets lie between 0 and {resolved.epsilon:g}, got {list(chosen)}")
    budgets = [Budget(epsilon, resolved.delta) for epsilon in sorted(chosen, reverse=True)]
    every = [full, *(calibrate(resolved.mechanism, full.domain, spent, resolved.formula) for spent in budgets)]
    for mechanism in every:
        verify(mechanism)
    return every
