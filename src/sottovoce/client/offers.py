"""What a device chooses by, cached: the model that is the same for everyone, or tickets with the server's choice."""

import math
import re
from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np

from sottovoce.catalogue.task import Task, algorithm_of
from sottovoce.client.joining import set_status
from sottovoce.client.store import Store, count
from sottovoce.client.terms import Terms
from sottovoce.client.transport import Transport
from sottovoce.protocol.contract import Status
from sottovoce.protocol.errors import WireError
from sottovoce.protocol.offers import GeneralizedModel, LinearModel
from sottovoce.protocol.wire import LARGEST_OFFERS, ModelDocument, Offers, OffersRequest, version_of

KINDS: dict[str, type[LinearModel] | type[GeneralizedModel]] = {"linear": LinearModel, "generalized": GeneralizedModel}
FRESH = 60.0
"""Seconds that a model is fresh when the server does not say."""

FOREVER = 2**53
"""Seconds that a ticket may claim to live."""

PROBLEM = "urn:sottovoce:problem:"


class Models:
    """The models of one task: the newest, and those by which an open decision was made."""

    def __init__(self, store: Store, joined: int, terms: Terms) -> None:
        self._store, self._joined, self._terms = store, joined, terms
        self._known: dict[str, Any] = {}
        self.newest: str | None = None
        self.until = -math.inf
        self._etag = ""
        with store.reading() as db:
            rows = db.execute("SELECT version, document, etag, until, newest FROM models WHERE joined = ?", (joined,))
            for version, document, etag, until, newest in rows.fetchall():
                self._known[version] = model_from(
                    msgspec.json.decode(document, type=ModelDocument), terms.contract.task
                )
                if newest:
                    self.newest, self._etag, self.until = version, etag, until

    def __getitem__(self, version: str) -> Any:
        return self._known[version]

    def refresh(self, transport: Transport, now: float) -> None:
        """Ask for a newer model; OSError or WireError when none can be had, and the old one stays."""
        headers = {"If-None-Match": self._etag} if self._etag else {}
        answer = transport.request("GET", f"/v1/tasks/{self._terms.contract.id}/model", None, headers)
        if answer.status == 304:
            self.until = now + max_age(answer.headers)
            return
        if answer.status != 200:
            raise WireError(f"no model: status {answer.status}")
        try:
            document = msgspec.json.decode(answer.body, type=ModelDocument)
        except msgspec.DecodeError as error:
            raise WireError(f"not a model: {error}") from error
        model = model_from(document, self._terms.contract.task)
        self._keep(document, model, answer.body, answer.headers.get("etag", ""), now + max_age(answer.headers))

    def _keep(self, document: ModelDocument, model: Any, body: bytes, etag: str, until: float) -> None:
        """The new model replaces all that no open decision needs."""
        with self._store.transaction() as db:
            db.execute("UPDATE models SET newest = 0 WHERE joined = ?", (self._joined,))
            db.execute(
                "INSERT OR REPLACE INTO models VALUES (?, ?, ?, ?, ?, 1)",
                (self._joined, document.version, body, etag, until),
            )
            db.execute(
                "DELETE FROM models WHERE joined = ? AND newest = 0 AND version NOT IN "
                "(SELECT source FROM decisions WHERE joined = ?)",
                (self._joined, self._joined),
            )
            left = db.execute("SELECT version FROM models WHERE joined = ?", (self._joined,)).fetchall()
            self._known[document.version] = model
            self._known = {version: self._known[version] for (version,) in left}
            self.newest, self._etag, self.until = document.version, etag, until
        set_status(self._store, self._joined, Status(mode=document.mode, paused=not document.open))


def model_from(document: ModelDocument, task: Task) -> Any:
    """The model's arrays, if they have the shapes of this task and the name that their content gives.

    >>> from sottovoce import task
    >>> numbers = {"theta": [1.0, 0.0], "precision": [[1.0, 0.0], [0.0, 1.0]], "width": 0.1, "explore": 0.0}
    >>> document = ModelDocument(
    ...     version=version_of(numbers), kind="linear", model=numbers, mode="live", open=True
    ... )
    >>> model_from(document, task("linucb", arms=2, dimension=2, rounds=10, epsilon=1.0)).theta
    array([1., 0.])
    """
    kind, d = KINDS[document.kind], task.dimension
    shapes = {"theta": (d,), "precision": (d, d), "width": (), "explore": (), "anchor": (d,)}
    if document.version != version_of(document.model):
        raise WireError("the model does not have the version it claims")
    if document.kind != task.user or set(document.model) != set(kind._fields):
        raise WireError(f"not a {task.user} model: {document.kind} with {sorted(document.model)}")
    return kind(**{name: _array(document.model[name], shapes[name]) for name in kind._fields})


def max_age(headers: Mapping[str, str]) -> float:
    """Seconds for which an answer is fresh.

    >>> max_age({"cache-control": "public, max-age=30"}), max_age({})
    (30.0, 60.0)
    """
    found = re.search(r"max-age=(\d{1,9})", headers.get("cache-control", ""))
    return float(found[1]) if found else FRESH


class Tickets:
    """The tickets of one task, first come, first used."""

    def __init__(self, store: Store, joined: int, terms: Terms) -> None:
        self._store, self._joined, self._terms = store, joined, terms

    def left(self, now: float) -> int:
        with self._store.reading() as db:
            alive = "SELECT count(*) FROM tickets WHERE joined = ? AND expires > ?"
            return db.execute(alive, (self._joined, now)).fetchone()[0]

    def take(self, db: Any, now: float) -> tuple[str, Any] | None:
        """The next ticket and its action, in the caller's transaction."""
        db.execute("DELETE FROM tickets WHERE joined = ? AND expires <= ?", (self._joined, now))
        first = "SELECT id, ticket, action FROM tickets WHERE joined = ? ORDER BY id LIMIT 1"
        row = db.execute(first, (self._joined,)).fetchone()
        if row is None:
            return None
        db.execute("DELETE FROM tickets WHERE id = ?", (row[0],))
        return row[1], action_from(msgspec.json.decode(row[2]), self._terms.contract.task)

    def fetch(self, transport: Transport, number: int) -> None:
        """Ask for tickets; OSError or WireError when there are none."""
        body = msgspec.json.encode(OffersRequest(count=min(number, LARGEST_OFFERS)))
        answer = transport.request("POST", f"/v1/tasks/{self._terms.contract.id}/offers", body)
        if answer.status == 409 and problem_of(answer.body) == "task-paused":
            set_status(self._store, self._joined, Status(paused=True))
        if answer.status != 200:
            raise WireError(f"no tickets: status {answer.status}")
        try:
            offers = msgspec.json.decode(answer.body, type=Offers)
        except msgspec.DecodeError as error:
            raise WireError(f"not tickets: {error}") from error
        with self._store.transaction() as db:
            if offers.done:
                found = msgspec.json.encode(offers.recommendation)
                db.execute("UPDATE joined SET recommendation = ? WHERE id = ?", (found, self._joined))
            for offer in offers.offers[:number]:
                try:
                    action_from(offer.action, self._terms.contract.task)
                except WireError:
                    count(db, self._joined, "bad_offers")
                    continue
                row = (self._joined, offer.ticket, msgspec.json.encode(offer.action), min(offer.expires, FOREVER))
                db.execute("INSERT INTO tickets (joined, ticket, action, expires) VALUES (?, ?, ?, ?)", row)
        set_status(self._store, self._joined, Status(paused=False))


def action_from(sent: Any, task: Task) -> Any:
    """The server's choice: the number of an arm, a point, or the points to try.

    >>> from sottovoce import task
    >>> action_from([[0.5, 0.0], [-0.5, 0.0]], task("two-point", dimension=2, rounds=10, epsilon=1.0)).shape
    (2, 2)
    """
    if algorithm_of(task.learner).actions == "arms":
        if isinstance(sent, int) and 0 <= sent < task.arms:
            return int(sent)
        raise WireError(f"not one of {task.arms} arms")
    if task.user == "slope":
        points = len(sent) if isinstance(sent, list) else 0
        if points < 2 or points % 2:
            raise WireError("not pairs of points")
        return _array(sent, (points, task.dimension))
    return _array(sent, (task.dimension,))


def problem_of(body: bytes) -> str:
    """The name of a problem document; empty if the body is none of ours.

    >>> problem_of(b'{"type": "urn:sottovoce:problem:task-paused", "status": 409}')
    'task-paused'
    """
    try:
        kind = msgspec.json.decode(body, type=dict[str, Any]).get("type")
    except msgspec.DecodeError:
        return ""
    return kind.removeprefix(PROBLEM) if isinstance(kind, str) and kind.startswith(PROBLEM) else ""


def _array(sent: Any, shape: tuple[int, ...]) -> Any:
    try:
        array = np.asarray(sent, dtype=float)
    except (TypeError, ValueError) as error:
        raise WireError("not numbers") from error
    if array.shape != shape or not np.all(np.isfinite(array)):
        raise WireError(f"not finite numbers of shape {shape}")
    return array
