"""What an owner or a privacy officer may want to know of a device's folder, read from the file alone."""

import contextlib
import math
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from sottovoce.client.ledger import Limits
from sottovoce.client.vault import FILE, JoinedRow, LedgerRow, TaskVault, Vault
from sottovoce.privacy.accounting import Ledger, Spent
from sottovoce.protocol.budget import Budget
from sottovoce.protocol.contract import contract_from, digest_of
from sottovoce.protocol.errors import ConfigurationError


def inspection(folder: Path) -> list[dict[str, Any]]:
    """One row per task: what was joined, every entry of the ledger, and what waits in the outbox."""
    if not (folder / FILE).is_file():
        raise ConfigurationError(f"{folder} is not a device's folder: it has no {FILE}")
    with contextlib.closing(Vault(folder)) as vault, vault.lock:
        ledger = vault.ledger()
        return [_row(TaskVault(vault, joined.id), joined, ledger) for joined in vault.joined()]


def _row(vault: TaskVault, joined: JoinedRow, ledger: list[LedgerRow]) -> dict[str, Any]:
    contract = contract_from(joined.contract)
    limits, limit = msgspec.json.decode(joined.limits, type=Limits), contract.limit
    own = [row for row in ledger if row.joined == joined.id]
    paid = {row.id: row.epsilon for row in own}
    return {
        "task": joined.task,
        "server": joined.server,
        "digest": digest_of(joined.contract),
        "mechanism": contract.mechanism,
        "epsilon": contract.gates[0].epsilon,
        "delta": contract.gates[0].delta,
        "expires": contract.expires.isoformat(),
        "opted_out": bool(joined.opted_out),
        **_spent("spent", "lifetime", own, Budget(limit.lifetime, limit.lifetime_delta)),
        **_spent("spent_by_all", "lifetime_of_all", ledger, Budget(limits.lifetime, limits.lifetime_delta)),
        "fates": dict(Counter(row.fate for row in own)),
        "reports": [
            {"epsilon": row.epsilon, "delta": row.delta, "hour": _time(row.hour), "fate": row.fate} for row in own
        ],
        "outbox": [
            {"report": msgspec.json.decode(row.report), "epsilon": paid[row.entry], "due": _time(row.due)}
            for row in vault.outbox()
        ],
    }


def _spent(name: str, limit_name: str, rows: Iterable[LedgerRow], limit: Budget) -> dict[str, float | None]:
    """None where Gaussian noise meets a limit with delta 0: no epsilon bounds it."""
    spent = sum((msgspec.json.decode(row.cost, type=Spent) for row in rows), Spent())
    epsilon = Ledger(limit, spent).spent_epsilon()
    return {name: epsilon if math.isfinite(epsilon) else None, limit_name: limit.epsilon}


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
