"""The provider: flags of OpenFeature are decided by tasks, on devices, privately.

Each targeting key has a device of its own; without one all evaluations belong to the one owner of this process. The key
is neither sent nor stored, and of the context only what the task declares is looked at.
"""

import asyncio
import logging
import sqlite3
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from openfeature.evaluation_context import EvaluationContext
from openfeature.event import ProviderEventDetails
from openfeature.exception import ErrorCode, FlagNotFoundError, GeneralError, ProviderNotReadyError
from openfeature.flag_evaluation import FlagResolutionDetails, Reason
from openfeature.provider import AbstractProvider, Metadata
from openfeature.track import TrackingEventDetails

from sottovoce.client import Decision, Device, Devices, Http, Limits
from sottovoce.client.background import Background
from sottovoce.openfeature.flags import Flag, fields_of
from sottovoce.openfeature.watching import Watch
from sottovoce.protocol.contract import ByModel
from sottovoce.protocol.errors import SottovoceError, Unreachable

OWNER = ""
"""Who evaluates without a targeting key."""

log = logging.getLogger("sottovoce.openfeature")


class Open(NamedTuple):
    """A decision that was not tracked yet: until its deadline the same question has the same answer."""

    decision: str
    fields: dict[str, Any] | None
    until: float
    details: FlagResolutionDetails[Any]


class SottovoceProvider(AbstractProvider):
    """Flags by their keys, decided by the tasks of one server. `folder` keeps a device for each targeting key.

    `every` is how often, in seconds, due reports are sent and the server is asked for news.
    """

    def __init__(
        self,
        server: str,
        flags: Mapping[str, Flag],
        *,
        folder: str | Path = "./sottovoce",
        limits: Limits | None = None,
        epsilon: float | None = None,
        every: float = 15.0,
    ) -> None:
        super().__init__()
        self._flags, self._every = dict(flags), every
        transport = Http(server)
        self._devices = Devices(server, folder, limits=limits, epsilon=epsilon, transport=transport)
        self._watch = Watch(transport, {self._task(key) for key in self._flags})
        self._lock, self._open = threading.Lock(), dict[tuple[str, str], Open]()
        self._turns = [threading.Lock() for _ in range(64)]
        self._stale = False
        self._background = Background(self._round, "of OpenFeature")

    # --- life --------------------------------------------------------------------------------------------------------

    def initialize(self, evaluation_context: EvaluationContext) -> None:
        try:
            self._watch.look()
        except Unreachable as error:
            self._stale = True
            raise ProviderNotReadyError(str(error)) from error
        finally:
            self._background.start(self._every)

    def shutdown(self) -> None:
        self._background.stop()
        self._devices.close()

    def get_metadata(self) -> Metadata:
        return Metadata(name="sottovoce")

    def _round(self) -> None:
        """Send what is due, forget what is over, and say what is new."""
        self._devices.send()
        with self._lock:
            self._open = {place: one for place, one in self._open.items() if one.until > time.time()}
        try:
            changed = set(self._watch.look())
        except Unreachable as error:
            if not self._stale:
                self._stale = True
                self.emit_provider_stale(ProviderEventDetails(message=str(error)))
            return
        if self._stale:
            self._stale = False
            self.emit_provider_ready(ProviderEventDetails())
        if flags := [key for key in self._flags if self._task(key) in changed]:
            self.emit_provider_configuration_changed(ProviderEventDetails(flags_changed=flags))

    # --- evaluating is choosing --------------------------------------------------------------------------------------

    def _resolve(
        self, kind: str, key: str, default: Any, context: EvaluationContext | None
    ) -> FlagResolutionDetails[Any]:
        """Raises the SDK's errors, which it turns into the default and an error code."""
        if key not in self._flags:
            raise FlagNotFoundError(f"no flag {key!r} was declared")
        flag, task, context = self._flags[key], self._task(key), context or EvaluationContext()
        person = context.targeting_key or OWNER
        if self._devices.opted_out(person):
            return FlagResolutionDetails(
                default, reason=Reason.DISABLED, flag_metadata={"task": task, "reported": False}
            )
        try:
            with self._devices.of(person, task) as device:
                flag.check(device.contract, kind)
                fields = fields_of(device.contract, context.attributes)
                with self._turn(person):  # two at once are one question
                    known = self._known(person, key, default, fields)
                    return known or self._decide(device, person, key, default, fields)
        except Unreachable as error:
            raise ProviderNotReadyError(str(error)) from error
        except (SottovoceError, OSError, sqlite3.Error) as error:
            if task in self._watch.unknown:
                raise FlagNotFoundError(f"the server has no task {task!r}") from error
            raise GeneralError(str(error)) from error

    def _known(self, person: str, key: str, default: Any, fields: Any) -> FlagResolutionDetails[Any] | None:
        """The open decision about the same question: an app may evaluate as often as it draws its screen."""
        with self._lock:
            held = self._open.get(self._place(person, key))
        if held is None or held.fields != fields or time.time() >= held.until:
            return None
        if held.details.error_code:
            return replace(held.details, value=default)
        return replace(held.details, reason=Reason.CACHED)

    def _decide(self, device: Device, person: str, key: str, default: Any, fields: Any) -> FlagResolutionDetails[Any]:
        flag, balance, contract = self._flags[key], device.budget(), device.contract
        facts = {"task": contract.id, "epsilon": balance.epsilon, "reported": False}
        if not balance.reports_left:
            return FlagResolutionDetails(default, reason=Reason.DEFAULT, flag_metadata=facts | {"reports_left": 0})
        decision = device.choose(fields, baseline=flag.baseline(contract, default))
        if decision.problem and not decision.reported and "permit" not in decision.problem:
            raise ProviderNotReadyError(decision.problem)
        facts |= {"reported": decision.reported, "reports_left": device.budget().reports_left}
        if decision.problem and decision.reported:  # paid for, and a report that says nothing is sent all the same
            told = {"error_code": ErrorCode.INVALID_CONTEXT, "error_message": decision.problem}
            details = FlagResolutionDetails(default, reason=Reason.ERROR, flag_metadata=facts, **told)
        else:
            name, by_model = contract.offers.actions[_first(decision)], isinstance(contract.offers, ByModel)
            reason = _reason(decision, by_model=by_model)
            details = FlagResolutionDetails(flag.value(name), reason=reason, variant=name, flag_metadata=facts)
        with self._lock:
            until = time.time() + contract.reward.wait
            self._open[self._place(person, key)] = Open(decision.id, fields, until, details)
        return details

    # --- tracking is observing ---------------------------------------------------------------------------------------

    def track(
        self,
        tracking_event_name: str,
        evaluation_context: EvaluationContext | None = None,
        tracking_event_details: TrackingEventDetails | None = None,
    ) -> None:
        """The event's value is the reward of this person's newest decision of every flag that names the event."""
        reward = tracking_event_details.value if tracking_event_details else None
        person = (evaluation_context and evaluation_context.targeting_key) or OWNER
        for key, flag in self._flags.items():
            if (flag.event or key) != tracking_event_name:
                continue
            if reward is None:
                log.warning("event %s has no value, so nothing is observed", tracking_event_name)
                continue
            with self._lock:
                held = self._open.pop(self._place(person, key), None)
            if held is None:
                continue
            try:
                with self._devices.of(person, self._task(key)) as device:
                    device.observe(held.decision, reward)
            except (SottovoceError, OSError, sqlite3.Error) as error:  # an app goes on; the default will be reported
                log.warning("event %s: %s", tracking_event_name, error)

    # --- the person --------------------------------------------------------------------------------------------------

    def opt_out(self, targeting_key: str = OWNER) -> None:
        """Report nothing more for this person, to no task; flags then have their defaults."""
        self._devices.opt_out(targeting_key)

    def opt_in(self, targeting_key: str = OWNER) -> None:
        """Report again, on the old budget."""
        self._devices.opt_in(targeting_key)

    def _task(self, key: str) -> str:
        return self._flags[key].task or key

    def _turn(self, person: str) -> threading.Lock:
        return self._turns[hash(person) % len(self._turns)]

    def _place(self, person: str, key: str) -> tuple[str, str]:
        return self._devices.folder_of(person), key

    # --- one method for each type ------------------------------------------------------------------------------------

    def resolve_string_details(
        self, flag_key: str, default_value: str, evaluation_context: EvaluationContext | None = None
    ) -> FlagResolutionDetails[str]:
        return self._resolve("string", flag_key, default_value, evaluation_context)

    async def resolve_string_details_async(
        self, flag_key: str, default_value: str, evaluation_context: EvaluationContext | None = None
    ) -> FlagResolutionDetails[str]:
        return await asyncio.to_thread(self.resolve_string_details, flag_key, default_value, evaluation_context)

    def resolve_object_details(
        self,
        flag_key: str,
        default_value: Sequence[Any] | Mapping[str, Any],
        evaluation_context: EvaluationContext | None = None,
    ) -> FlagResolutionDetails[Sequence[Any] | Mapping[str, Any]]:
        return self._resolve("object", flag_key, default_value, evaluation_context)

    async def resolve_object_details_async(
        self,
        flag_key: str,
        default_value: Sequence[Any] | Mapping[str, Any],
        evaluation_context: EvaluationContext | None = None,
    ) -> FlagResolutionDetails[Sequence[Any] | Mapping[str, Any]]:
        return await asyncio.to_thread(self.resolve_object_details, flag_key, default_value, evaluation_context)

    def resolve_boolean_details(
        self, flag_key: str, default_value: bool, evaluation_context: EvaluationContext | None = None
    ) -> FlagResolutionDetails[bool]:
        return self._resolve("boolean", flag_key, default_value, evaluation_context)

    def resolve_integer_details(
        self, flag_key: str, default_value: int, evaluation_context: EvaluationContext | None = None
    ) -> FlagResolutionDetails[int]:
        return self._resolve("integer", flag_key, default_value, evaluation_context)

    def resolve_float_details(
        self, flag_key: str, default_value: float, evaluation_context: EvaluationContext | None = None
    ) -> FlagResolutionDetails[float]:
        return self._resolve("float", flag_key, default_value, evaluation_context)


def _first(decision: Decision) -> int:
    """The number of the action; where several arms are recommended, of the first."""
    return decision.action[0] if isinstance(decision.action, tuple) else int(decision.action)


def _reason(decision: Decision, *, by_model: bool) -> Reason:
    """A report will be sent, or none for want of a permit: chosen. Else the task has ended, and what it knows stays."""
    if decision.reported or decision.problem:
        return Reason.TARGETING_MATCH if by_model else Reason.SPLIT
    return Reason.STALE if by_model else Reason.STATIC
