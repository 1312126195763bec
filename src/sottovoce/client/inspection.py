"""What an owner or a privacy officer may want to know of a device's folder, read from the file alone."""

import math
import sqlite3
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from sottovoce.client.ledger import Limits
from sottovoce.client.store import FILE, Store
from sottovoce.privacy.accounting import Ledger, Spent
from sottovoce.protocol.budget import Budget
from sottovoce.protocol.contract import Contract
from sottovoce.protocol.errors import ConfigurationError


def inspection(folder: Path) -> list[dict[str, Any]]:
    """One row per task: what was joined, every entry of the ledger, and what waits in the outbox."""
    if not (folder / FILE).is_file():
        raise ConfigurationError(f"{folder} is not a device's folder: it has no {FILE}")
    store = Store(folder)
    try:
        with store.reading() as db:
            joined = db.execute("SELECT id, server, task, contract, limits, opted_out FROM joined ORDER BY id")
            return [_row(db, *found) for found in joined.fetchall()]
    finally:
        store.close()


def _row(
    db: sqlite3.Connection, joined: int, server: str, task: str, pinned: bytes, allowed: bytes, opted_out: int
) -> dict[str, Any]:
    contract = msgspec.json.decode(pinned, type=Contract)
    limits = msgspec.json.decode(allowed, type=Limits)
    limit = contract.limit
    entries = db.execute("SELECT epsilon, delta, hour, fate FROM ledger WHERE joined = ? ORDER BY id", (joined,))
    reports = [
        {"epsilon": epsilon, "delta": delta, "hour": _time(hour), "fate": fate}
        for epsilon, delta, hour, fate in entries
    ]
    waiting = db.execute(
        "SELECT report, epsilon, due FROM outbox JOIN ledger ON ledger.id = outbox.entry WHERE outbox.joined = ? "
        "ORDER BY due",
        (joined,),
    )
    here = db.execute("SELECT cost FROM ledger WHERE joined = ?", (joined,))
    everywhere = db.execute("SELECT cost FROM ledger")
    return {
        "task": task,
        "server": server,
        "digest": contract.digest(),
        "mechanism": contract.task.mechanism,
        "epsilon": contract.gates[0].epsilon,
        "delta": contract.gates[0].delta,
        "expires": contract.expires.isoformat(),
        "opted_out": bool(opted_out),
        **_spent("spent", "lifetime", here, Budget(limit.lifetime, limit.lifetime_delta)),
        **_spent("spent_by_all", "lifetime_of_all", everywhere, Budget(limits.lifetime, limits.lifetime_delta)),
        "fates": dict(Counter(report["fate"] for report in reports)),
        "reports": reports,
        "outbox": [
            {"report": msgspec.json.decode(report), "epsilon": epsilon, "due": _time(due)}
            for report, epsilon, due in waiting
        ],
    }


def _spent(name: str, limit_name: str, costs: sqlite3.Cursor, limit: Budget) -> dict[str, float | None]:
    """None where Gaussian noise meets a limit with delta 0: no epsilon bounds it."""
    spent = sum((msgspec.json.decode(cost, type=Spent) for (cost,) in costs), Spent())
    epsilon = Ledger(limit, spent).spent_epsilon()
    return {name: epsilon if math.isfinite(epsilon) else None, limit_name: limit.epsilon}


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
