"""The tables of a device's file, and their rows as they are read."""

from typing import NamedTuple

FORMAT = 3
"""Format 1 was written by Sottovoce 0.1."""

SCHEMA = """
CREATE TABLE joined (
    id INTEGER PRIMARY KEY, server TEXT NOT NULL, task TEXT NOT NULL, contract BLOB NOT NULL, limits BLOB NOT NULL,
    mode TEXT NOT NULL DEFAULT 'live', open INTEGER NOT NULL DEFAULT 1, opted_out INTEGER NOT NULL DEFAULT 0,
    recommendation BLOB, UNIQUE (server, task));
CREATE TABLE models (
    joined INTEGER NOT NULL, version TEXT NOT NULL, body BLOB NOT NULL, newest INTEGER NOT NULL,
    PRIMARY KEY (joined, version)) WITHOUT ROWID;
CREATE TABLE permits (
    id INTEGER PRIMARY KEY, joined INTEGER NOT NULL, permit TEXT NOT NULL, nonce TEXT NOT NULL, action BLOB NOT NULL,
    expires INTEGER NOT NULL);
CREATE TABLE decisions (
    id TEXT PRIMARY KEY, joined INTEGER NOT NULL, entry INTEGER NOT NULL, drawing INTEGER NOT NULL DEFAULT 0,
    at REAL NOT NULL, gate INTEGER NOT NULL, permit TEXT NOT NULL, nonce TEXT NOT NULL, version TEXT NOT NULL,
    raw BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE ledger (
    id INTEGER PRIMARY KEY AUTOINCREMENT, joined INTEGER NOT NULL, decision TEXT NOT NULL UNIQUE,
    epsilon REAL NOT NULL, delta REAL NOT NULL, cost BLOB NOT NULL, hour INTEGER NOT NULL, fate TEXT NOT NULL);
CREATE TABLE outbox (
    id INTEGER PRIMARY KEY, joined INTEGER NOT NULL, entry INTEGER NOT NULL, report BLOB NOT NULL, due REAL NOT NULL);
CREATE TABLE counts (
    joined INTEGER NOT NULL, name TEXT NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (joined, name)) WITHOUT ROWID;
"""


class JoinedRow(NamedTuple):
    """A task that was joined. `contract` are the bytes that were pinned."""

    id: int
    server: str
    task: str
    contract: bytes
    limits: bytes
    mode: str
    open: int
    opted_out: int
    recommendation: bytes | None
    """Of a task that knows enough; None before."""


class Pending(NamedTuple):
    """A decision whose report was promised. Raw data is kept here until its one report is drawn."""

    id: str
    entry: int
    """In the ledger."""
    at: float
    gate: int
    permit: str
    nonce: str
    version: str
    """Of the model that was chosen by; empty for a ticket."""
    raw: bytes
    """The chosen features, or the action of the ticket."""


class HeldPermit(NamedTuple):
    """A permit that was not used yet."""

    permit: str
    nonce: str
    action: bytes
    """Of a ticket, as JSON; empty where there is a model."""


class LedgerRow(NamedTuple):
    """What one report cost. Rows are added, never taken back."""

    id: int
    joined: int
    epsilon: float
    delta: float
    cost: bytes
    hour: int
    fate: str


class OutboxRow(NamedTuple):
    """One report as it will leave, and when it is due."""

    id: int
    entry: int
    report: bytes
    due: float
