"""One task of a shuffler: what devices get of it, and which reports are taken."""

from collections.abc import Mapping, Sequence

import msgspec

from sottovoce.catalogue.task import learning_of
from sottovoce.privacy.gates import mechanisms_of
from sottovoce.privacy.mechanisms import verify
from sottovoce.protocol.contract import ByModel, Contract, contract_from, digest_of
from sottovoce.protocol.errors import ConfigurationError, WireError
from sottovoce.protocol.offers import model_from, version_of
from sottovoce.protocol.wire import ModelReport, Permit, Permits, TaskStatus, Verdict, room_for
from sottovoce.server.problems import Problem, not_ready
from sottovoce.server.store.base import Journalled, TaskRow, permit_seconds
from sottovoce.server.web.judging import Judge
from sottovoce.server.web.permits import PermitOffice, committed
from sottovoce.shuffler.journal import KeptTask

ASK_AGAIN = 5
"""Seconds, for a device that comes before the server's first word."""


def checked(body: bytes, id: str) -> Contract:
    """The contract, if a shuffler can help its task; refused by name otherwise."""
    contract = contract_from(body)
    if contract.id != id:
        raise ConfigurationError(f"the server answered with the contract of {contract.id!r}, not of {id!r}")
    if not isinstance(contract.offers, ByModel):
        raise ConfigurationError(
            f"{id} works with tickets: each report brings back what the server itself gave out, so a shuffler would "
            "hide nothing"
        )
    try:
        declared = learning_of(contract).shuffler
    except msgspec.ValidationError as error:
        raise ConfigurationError(f"{id} is of a newer version of Sottovoce than this shuffler: {error}") from error
    if declared is None:
        raise ConfigurationError(f"{id} declares no shuffler: say `[shuffler]` and `batch = n` in its file")
    if contract.extensions:
        raise ConfigurationError(f"a shuffler does not know the extensions of {id}: {', '.join(contract.extensions)}")
    for mechanism in mechanisms_of(contract):
        verify(mechanism)
    return contract


class MirroredTask:
    """The contract is pinned; the status and the model are the server's last; the permits are the shuffler's own."""

    def __init__(self, id: str, kept: KeptTask, key: bytes, batch: int) -> None:
        """`batch`: what the operator of the shuffler wants at least; the contract may want more."""
        self.id, self.number, self.body, self.contract = id, kept.number, kept.contract, checked(kept.contract, id)
        self.digest, learning = digest_of(kept.contract), learning_of(self.contract)
        assert learning.shuffler is not None
        self.least, self.origins = max(batch, learning.shuffler.batch), frozenset(learning.origins)
        first = mechanisms_of(self.contract)[0]
        self.most = room_for(first.coin_size + first.report_size)
        if self.least > self.most:
            raise ConfigurationError(f"a batch of {id} has at most {self.most:,} reports, got {self.least:,}")
        self.model = kept.model
        self._status = msgspec.json.decode(kept.status, type=TaskStatus) if kept.status else None
        self._permits = PermitOffice(key, self.digest)
        self._judge = Judge(TaskRow(kept.number, kept.contract, "live", False), self._permits)

    # --- what the server said ----------------------------------------------------------------------------------------

    @property
    def status(self) -> TaskStatus:
        """The server's last, with the version of the model that is served here."""
        if self._status is None or not self.model:
            raise not_ready("the shuffler has not heard of this task yet", ASK_AGAIN)
        return msgspec.structs.replace(self._status, version=self.version)

    @property
    def version(self) -> str:
        return version_of(self.model) if self.model else ""

    def read_model(self, body: bytes) -> bytes:
        """The model, if it is one of this task: everybody gets the same."""
        if not isinstance(self.contract.offers, ByModel):
            raise WireError("a task with tickets has no model")
        model_from(body, self.contract.offers.model, self.contract.offers.dimension)
        return body

    def says(self, status: TaskStatus, model: bytes) -> bool:
        """Is this what is served already?"""
        return (self._status, self.model) == (status, model)

    def take(self, status: TaskStatus, model: bytes, versions: Mapping[str, int], now: float) -> None:
        """Serve this from now on."""
        self.model, self._status = model, status
        self._judge.learn_versions(versions, now)

    # --- devices -----------------------------------------------------------------------------------------------------

    def permits(self, commitments: Sequence[str], now: float) -> Permits:
        if (state := self.status.state) != "open":
            raise Problem(f"task-{state}", f"{self.id} takes no reports now")
        expires = int(now) + permit_seconds(self.contract)
        issued = [self._permits.issue(one, expires) for one in committed(commitments)]
        return Permits(permits=[Permit(permit=permit, expires=expires) for permit in issued])

    def judge(self, reports: Sequence[ModelReport], now: float) -> list[Journalled | Verdict]:
        """Each report as it would be kept, or why not: by the rules of a server, with the shuffler's own permits."""
        return [self._judge(report, self.status.state, now) for report in reports]
