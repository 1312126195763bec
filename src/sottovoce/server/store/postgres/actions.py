"""What a PostgreSQL store keeps of administration: the log of actions, and the admission tokens that were used."""

from collections.abc import Callable, Sequence
from typing import Any

from sottovoce.server.store.base import HOUR, Action

FIELDS = Action._fields[:-1]
"""All but the number, which the store gives."""
RECORD = f"INSERT INTO actions ({', '.join(FIELDS)}) VALUES ({', '.join(['%s'] * len(FIELDS))}) RETURNING number"
FORGOTTEN = 4
"""Used tokens that have expired and are deleted with each new one: more than one, so the table becomes smaller."""
ADMIT = f"""
WITH old AS (
  DELETE FROM admitted WHERE (expires, task, id) IN (
    SELECT expires, task, id FROM admitted WHERE expires <= %s ORDER BY expires LIMIT {FORGOTTEN} FOR UPDATE SKIP LOCKED
  )
)
INSERT INTO admitted VALUES (%s, %s, %s) ON CONFLICT DO NOTHING RETURNING true
"""

Run = Callable[[str, Sequence[Any]], list[Any]]


def record(run: Run, action: Action) -> int:
    return run(RECORD, action[:-1])[0][0]


def amend(run: Run, number: int, status: int, detail: bytes) -> None:
    run("UPDATE actions SET status = %s, detail = %s WHERE number = %s", (status, detail, number))


def actions(run: Run, task: str, before: int, most: int) -> list[Action]:
    terms = {"task = %s": task, "number < %s": before}
    chosen = {term: value for term, value in terms.items() if value}
    where = f"WHERE {' AND '.join(chosen)}" if chosen else ""
    wanted = f"SELECT {', '.join(Action._fields)} FROM actions {where} ORDER BY number DESC LIMIT %s"
    return [Action._make(row) for row in run(wanted, (*chosen.values(), most))]


def forget_actions(run: Any, first: int) -> None:
    """Those before this hour."""
    run("DELETE FROM actions WHERE time < %s", (first * HOUR,))


def admit(run: Run, task: int, id: bytes, expires: int, now: int) -> bool:
    return bool(run(ADMIT, (now, expires, task, id)))
