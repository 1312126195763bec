"""What an owner or a privacy officer may want to know of a device's folder, read from the file alone."""

import argparse
import contextlib
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from sottovoce.client.ledger import Limits
from sottovoce.client.tables import JoinedRow, LedgerRow
from sottovoce.client.vault import FILE, Vault
from sottovoce.privacy.accounting import Ledger, Spent
from sottovoce.protocol.budget import Budget
from sottovoce.protocol.contract import contract_from, digest_of
from sottovoce.protocol.errors import ConfigurationError, SottovoceError


def main(words: Sequence[str]) -> None:
    """The command `sottovoce inspect`, for environments that have nothing but the device."""
    parser = argparse.ArgumentParser(prog="sottovoce inspect", description=__doc__)
    parser.add_argument("--device", type=Path, required=True, help="the folder of the device")
    parser.add_argument("--json", type=Path, help="write the rows to this file")
    given = parser.parse_args(words)
    try:
        rows = inspection(given.device)
        if given.json:
            given.json.write_bytes(msgspec.json.encode({"rows": rows}))
    except (SottovoceError, OSError) as error:
        parser.exit(2, f"sottovoce: {error}\n")
    print(text_of(rows))


def inspection(folder: Path) -> list[dict[str, Any]]:
    """One row per task: what was joined, every entry of the ledger, and what waits in the outbox."""
    if not (folder / FILE).is_file():
        raise ConfigurationError(f"{folder} is not a device's folder: it has no {FILE}")
    with contextlib.closing(Vault(folder)) as vault, vault.lock:
        ledger = vault.ledger()
        return [_row(vault, joined, ledger) for joined in vault.joined()]


def _row(vault: Vault, joined: JoinedRow, ledger: list[LedgerRow]) -> dict[str, Any]:
    vault.id, contract = joined.id, contract_from(joined.contract)
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


# --- as text ---------------------------------------------------------------------------------------------------------


def text_of(rows: list[dict[str, Any]]) -> str:
    """Three tables and a line, for a terminal."""
    parts = [
        _table("Tasks", ("task", "server", "promise", "spent", "left"), [_task_cells(row) for row in rows]),
        _table("Ledger", ("task", "fate", "reports", "epsilon each"), [one for row in rows for one in _fates(row)]),
        _table("Outbox", ("task", "due", "epsilon", "report"), [one for row in rows for one in _waiting(row)]),
    ]
    if rows:
        strictest = min(rows, key=lambda row: row["lifetime_of_all"])
        spent, limit = _number(strictest["spent_by_all"]), strictest["lifetime_of_all"]
        parts.append(f"All tasks together: epsilon {spent} of the owner's {limit:g}.")
    return "\n\n".join(parts)


def _table(title: str, headings: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    widths = [max(len(row[column]) for row in (headings, *rows)) for column in range(len(headings))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in (headings, *rows)]
    lines.insert(1, "-" * len(lines[0].rstrip()))
    return "\n".join([title, *(line.rstrip() for line in lines)] if rows else [title, "none"])


def _task_cells(row: dict[str, Any]) -> tuple[str, ...]:
    promise = f"{row['mechanism']}, epsilon {row['epsilon']:g}" + (f", delta {row['delta']:g}" if row["delta"] else "")
    left = 0.0 if row["spent"] is None else max(0.0, row["lifetime"] - row["spent"])
    return row["task"], row["server"], promise, _number(row["spent"]), "opted out" if row["opted_out"] else f"{left:g}"


def _fates(row: dict[str, Any]) -> list[tuple[str, ...]]:
    each = {fate: {one["epsilon"] for one in row["reports"] if one["fate"] == fate} for fate in row["fates"]}
    return [
        (row["task"], fate, f"{number:,}", ", ".join(f"{epsilon:g}" for epsilon in sorted(each[fate])))
        for fate, number in row["fates"].items()
    ]


def _waiting(row: dict[str, Any]) -> list[tuple[str, ...]]:
    def cells(due: str, epsilon: float, report: dict[str, Any]) -> tuple[str, ...]:
        sent = " ".join(f"{name}={value}" for name, value in report.items())
        return row["task"], due[:16].replace("T", " "), f"{epsilon:g}", sent

    return [cells(**one) for one in row["outbox"]]


def _number(epsilon: float | None) -> str:
    return "without bound" if epsilon is None else f"{epsilon:g}"
