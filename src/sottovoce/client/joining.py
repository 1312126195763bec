"""Joining a task: its contract is fetched, judged and pinned. From then on it is this contract or none."""

import sqlite3
from dataclasses import dataclass
from typing import Any

import msgspec

from sottovoce.client.ledger import Limits
from sottovoce.client.store import Store
from sottovoce.client.terms import Terms, accept, authentic, expired
from sottovoce.client.transport import Transport
from sottovoce.protocol.contract import Contract, Status
from sottovoce.protocol.errors import ConfigurationError, ContractChanged, ContractRefused, Unreachable
from sottovoce.protocol.wire import TaskDocument


@dataclass(frozen=True)
class Standing:
    """What may change while a task lives, as last heard."""

    apprentice: bool
    open: bool
    opted_out: bool
    recommendation: Any
    """Of a task that knows enough; None before."""


def join(
    store: Store, transport: Transport, server: str, task: str, limits: Limits, epsilon: float | None, now: float
) -> tuple[int, Terms]:
    """The task's number in the store and its terms; without a server, those that were pinned."""
    with store.reading() as db:
        found = "SELECT id, digest, contract FROM joined WHERE server = ? AND task = ?"
        pinned = db.execute(found, (server, task)).fetchone()
    document = look(transport, task, first=pinned is None)
    contract = msgspec.json.decode(pinned[2], type=Contract) if document is None else authentic(document, task)
    if pinned is not None and pinned[1] != contract.digest():
        raise ContractChanged(f"{server} has another contract for {task!r} than the one this device joined: refused")
    terms = accept(contract, limits, epsilon)
    if pinned is None and expired(contract, now):
        raise ContractRefused(f"task {task!r} expired on {contract.expires}")
    with store.transaction(flush=True) as db:
        db.execute(
            "INSERT INTO joined (server, task, digest, contract, limits, mode, open) VALUES (?, ?, ?, ?, ?, 'live', 1) "
            "ON CONFLICT DO UPDATE SET limits = excluded.limits",
            (server, task, contract.digest(), msgspec.json.encode(contract), msgspec.json.encode(limits)),
        )
        (number,) = db.execute("SELECT id FROM joined WHERE server = ? AND task = ?", (server, task)).fetchone()
    if document is not None:
        set_status(store, number, document.status)
    return number, terms


def look(transport: Transport, task: str, *, first: bool = False) -> TaskDocument | None:
    """The server's document now; None when it cannot be had, which is an error the `first` time only."""
    try:
        answer = transport.request("GET", f"/v1/tasks/{task}")
        if answer.status == 200:
            return msgspec.json.decode(answer.body, type=TaskDocument)
        problem = f"status {answer.status}"
    except (OSError, msgspec.DecodeError) as error:
        answer, problem = None, str(error) or type(error).__name__
    if first and answer is not None and answer.status == 404:
        raise ConfigurationError(f"the server knows no task {task!r}")
    if first:
        raise Unreachable(f"the contract of {task!r} cannot be had and is not cached: {problem}")
    return None


def set_status(store: Store, joined: int, status: Status) -> None:
    """Remember whether reports are wanted, and who chooses."""
    with store.transaction() as db:
        values = (status.mode, not status.paused, joined)
        db.execute("UPDATE joined SET mode = ?, open = ? WHERE id = ?", values)


def standing(db: sqlite3.Connection, joined: int) -> Standing:
    """As it is in the store, where every process of the owner sees it."""
    columns = "SELECT mode, open, opted_out, recommendation FROM joined WHERE id = ?"
    mode, is_open, opted_out, recommendation = db.execute(columns, (joined,)).fetchone()
    known = None if recommendation is None else msgspec.json.decode(recommendation)
    return Standing(mode == "apprentice", bool(is_open), bool(opted_out), known)
