"""What the embedded store keeps of administration: the log of actions, and the admission tokens that were used."""

import sqlite3

from sottovoce.server.store.base import HOUR, Action
from sottovoce.server.store.files import transaction

FIELDS = Action._fields[:-1]
"""All but the number, which the store gives."""
RECORD = f"INSERT INTO actions ({', '.join(FIELDS)}) VALUES ({', '.join('?' * len(FIELDS))})"
FORGOTTEN = 4
"""Used tokens that have expired and are deleted with each new one: more than one, so the table becomes smaller."""


def record(journal: sqlite3.Connection, action: Action) -> int:
    number = journal.execute(RECORD, action[:-1]).lastrowid
    assert number is not None
    return number


def amend(journal: sqlite3.Connection, number: int, status: int, detail: bytes) -> None:
    journal.execute("UPDATE actions SET status = ?, detail = ? WHERE number = ?", (status, detail, number))


def actions(journal: sqlite3.Connection, task: str, before: int, most: int) -> list[Action]:
    terms = {"task = ?": task, "number < ?": before}
    chosen = {term: value for term, value in terms.items() if value}
    where = f"WHERE {' AND '.join(chosen)}" if chosen else ""
    wanted = f"SELECT {', '.join(Action._fields)} FROM actions {where} ORDER BY number DESC LIMIT ?"
    return [Action._make(row) for row in journal.execute(wanted, (*chosen.values(), most)).fetchall()]


def forget_actions(journal: sqlite3.Connection, first: int) -> None:
    """Those before this hour."""
    journal.execute("DELETE FROM actions WHERE time < ?", (first * HOUR,))


def admit(journal: sqlite3.Connection, task: int, id: bytes, expires: int, now: int) -> bool:
    """It survives the end of the process at once, and the loss of power with the next report: it is not synced here."""
    old = "SELECT expires, task, id FROM admitted WHERE expires <= ? ORDER BY expires LIMIT ?"
    journal.execute("PRAGMA synchronous = NORMAL")
    try:
        with transaction(journal) as run:
            run(f"DELETE FROM admitted WHERE (expires, task, id) IN ({old})", (now, FORGOTTEN))
            return run("INSERT OR IGNORE INTO admitted VALUES (?, ?, ?)", (expires, task, id)).rowcount > 0
    finally:
        journal.execute("PRAGMA synchronous = FULL")
