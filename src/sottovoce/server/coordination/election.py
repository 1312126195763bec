"""Which learner learns: the database elects one, for a short time that it renews. Only the database's clock counts.

Each election has a number. A transaction of the learner fails once another number is there, so a learner that was
stopped for a while, and does not know that another one was elected, writes nothing.
"""

import contextlib
import threading

import psycopg
from psycopg import Connection

from sottovoce.server.store.postgres.connecting import connect

LEASE_SECONDS, RENEW_SECONDS = 2.0, 0.4
"""How long an election holds, and how often it is renewed and others try to be elected."""
UNTIL = "clock_timestamp() + make_interval(secs => %s)"
WIN = f"UPDATE leader SET epoch = epoch + 1, until = {UNTIL} WHERE until < clock_timestamp() RETURNING epoch"
RENEW = f"UPDATE leader SET until = {UNTIL} WHERE epoch = %s RETURNING 1"
RELEASE = "UPDATE leader SET until = '-infinity' WHERE epoch = %s"


class Election:
    """One candidate."""

    def __init__(self, address: str) -> None:
        self._address, self._connection = address, connect(address)
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        self.lost = False
        """Was another one elected since?"""

    def win(self) -> int | None:
        """The number of the election, if nobody holds one now. From then on it is renewed, until it is released."""
        found = self._ask(WIN, LEASE_SECONDS)
        if not found:
            return None
        (epoch,) = found
        self.lost = False
        self._ended.clear()
        self._thread = threading.Thread(target=self._renew, args=(epoch,), name="election", daemon=True)
        self._thread.start()
        return epoch

    def release(self, epoch: int) -> None:
        """Let another one be elected at once."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join()
        self._ask(RELEASE, epoch)

    def close(self) -> None:
        self._connection.close()

    def _renew(self, epoch: int) -> None:
        while not (self.lost or self._ended.wait(RENEW_SECONDS)):
            renewed = self._ask(RENEW, LEASE_SECONDS, epoch)
            self.lost = renewed is not None and not renewed

    def _ask(self, statement: str, *values: object) -> tuple | None:
        """The first row, or an empty one; None where the database does not answer, which is tried again."""
        try:
            if self._connection.closed:
                self._connection = connect(self._address)
            found = self._connection.execute(statement, values)  # pyright: ignore[reportArgumentType]
            return (found.fetchone() if found.description else None) or ()
        except psycopg.Error:
            _end(self._connection)
            return None


def _end(connection: Connection) -> None:
    with contextlib.suppress(psycopg.Error):
        connection.close()
