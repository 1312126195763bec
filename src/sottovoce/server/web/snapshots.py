"""What a task can be rolled back to, as it is listed."""

from collections.abc import Sequence
from datetime import date, timedelta

from sottovoce.protocol import team
from sottovoce.server.problems import Problem
from sottovoce.server.store.base import Kept
from sottovoce.server.web.task import LiveTask

FIRST_DAY = date(1970, 1, 1)


def listed(kept: Sequence[Kept], learned: int) -> team.SnapshotList:
    """The snapshots before what a task has learned by now, the newest first, one for each count.

    >>> found = listed([Kept(0, 0, False, 0), Kept(5, 7, False, 20000), Kept(9, 11, False, 20001)], learned=9)
    >>> found.first, found.last, [(one.learned, one.day) for one in found.snapshots]
    (0, 8, [(5, '2024-10-04'), (0, '')])
    """
    days = {one.learned: one.day for one in kept if one.learned < learned}
    rows = [team.KeptSnapshot(learned=count, day=_written(days[count])) for count in sorted(days, reverse=True)]
    first = next((one.learned for one in kept if one.base), 0)
    return team.SnapshotList(first=first, last=learned - 1, snapshots=rows)


def check_count(task: LiveTask, possible: team.SnapshotList, learned: int) -> None:
    """Refuse a count that the task cannot go back to."""
    if task.broken or not possible.first <= learned <= possible.last:
        detail = f"{task.contract.id} can go back to its state after {possible.first:,} to {possible.last:,} reports"
        raise Problem("bad-request", "its learner fails" if task.broken else detail)


def _written(day: int) -> str:
    return (FIRST_DAY + timedelta(days=day)).isoformat() if day else ""
