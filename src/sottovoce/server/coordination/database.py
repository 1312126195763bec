"""Web processes and learners on many hosts: PostgreSQL brings wishes and news, wakes by NOTIFY, and elects the learner.

A notification may be lost, with its connection for example. So everybody also looks by himself, every second.
"""

import asyncio
import logging
import select
import time
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import psycopg
from psycopg import AsyncConnection, Connection

from sottovoce.server.coordination.election import RELEASE, RENEW_SECONDS, Election
from sottovoce.server.coordination.messages import News, Wish
from sottovoce.server.coordination.pipes import ChildLearner, WebProcess
from sottovoce.server.logs import log
from sottovoce.server.store.base import StoreFault
from sottovoce.server.store.postgres.connecting import REACHING, connect
from sottovoce.server.store.postgres.store import PostgresStore

WAKE, NEWS, TASKS = "sottovoce_wake", "sottovoce_news", "sottovoce_tasks"
"""Channels: the journal has grown or there is a wish; the learner has news; a task was made or changed."""
LOOK_SECONDS = 1.0
"""How often to look without being notified."""
RETRY_SECONDS = 0.5


class ElectedLearner(ChildLearner):
    """The learner as a web process sees it: its own child, which may be elected, and whichever learner is."""

    wake_seconds = 0.02

    def __init__(self, store: PostgresStore, folder: Path) -> None:
        super().__init__(store.address, folder)
        self.leads = False
        self._bell = Bell(store.address)
        self._address, self._seen = store.address, 0

    def ask(self, wish: Wish) -> None:
        self._bell.run("INSERT INTO wishes (body) VALUES (%s)", msgspec.json.encode(wish))
        self._bell.ring(WAKE)

    def announce(self) -> None:
        self._bell.ring(TASKS)

    async def run(self, told: Callable[[News], Awaitable[None]], restarted: Callable[[], None]) -> None:
        epoch = 0

        async def own(news: News) -> None:
            nonlocal epoch
            epoch, self.leads = news.epoch, news.epoch > 0
            await told(news)

        def ended() -> None:
            self.leads = False
            self._bell.run(RELEASE, epoch)  # its election ends with it
            restarted()

        await asyncio.gather(super().run(own, ended), self._hear(told))

    async def stop(self) -> None:
        await super().stop()
        await asyncio.to_thread(self._bell.close)

    def _wake(self) -> None:
        self._waking = False
        self._bell.ring(WAKE)

    async def _hear(self, told: Callable[[News], Awaitable[None]]) -> None:
        """Pass on what the elected learner tells all web processes, for as long as the server runs."""
        faulty = False
        while not self._stopping:
            try:
                async with await AsyncConnection.connect(self._address, autocommit=True, **REACHING) as connection:
                    for channel in (NEWS, TASKS):
                        await connection.execute(f"LISTEN {channel}")  # pyright: ignore[reportArgumentType]
                    while not self._stopping:
                        await self._pass_on(connection, told)
                        faulty = False
            except psycopg.Error as error:
                if not faulty:
                    log("no news from the database; trying again", logging.WARNING, error=type(error).__name__)
                faulty = True
                await asyncio.sleep(RETRY_SECONDS)

    async def _pass_on(self, connection: AsyncConnection, told: Callable[[News], Awaitable[None]]) -> None:
        newest = "SELECT DISTINCT ON (task) id, body FROM news ORDER BY task, id DESC"
        later = "SELECT id, body FROM news WHERE id > %s ORDER BY id"
        found = await (connection.execute(later, (self._seen,)) if self._seen else connection.execute(newest))
        for id, body in await found.fetchall():
            await told(msgspec.json.decode(body, type=News))
            self._seen = max(self._seen, id)
        async for notice in connection.notifies(timeout=LOOK_SECONDS, stop_after=1):
            if notice.channel == TASKS:
                self.changed.set()


class Bell:
    """Notifies others beside everything else. What fails is left to those who look by themselves."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._thread, self._connection = ThreadPoolExecutor(1, "bell"), None

    def ring(self, channel: str) -> None:
        self.run("SELECT pg_notify(%s, '')", channel)

    def run(self, statement: str, *values: object) -> None:
        self._thread.submit(self._run, statement, values)

    def close(self) -> None:
        self._thread.shutdown(wait=True)
        if self._connection is not None:
            self._connection.close()

    def _run(self, statement: str, values: tuple[object, ...]) -> None:
        try:
            if self._connection is None or self._connection.closed:
                self._connection = connect(self._address)
            self._connection.execute(statement, values)  # pyright: ignore[reportArgumentType]
        except psycopg.Error as error:
            log("others were not notified", logging.WARNING, error=type(error).__name__)
            if self._connection is not None:
                self._connection.close()


class WebProcesses:
    """All web processes as a learner sees them, of which its own must live."""

    def __init__(self, store: PostgresStore, own: WebProcess) -> None:
        self._store, self._own, self._election = store, own, Election(store.address)
        self._ear: Connection | None = None
        self._untold: list[News] = []
        self._faulty, self._looked = False, 0.0

    def stand_by(self, meanwhile: Callable[[], None]) -> list[Wish] | None:
        """Until elected: what is asked for; None when the own web process is gone."""
        self._own.tell([News(task=0)])
        pause = 0.0
        while self._own.listen(pause) is not None:
            if epoch := self._election.win():
                log("elected to learn", epoch=epoch)
                self._store.epoch, self._untold = epoch, []
                self._own.tell([News(task=0, epoch=epoch)])
                return self.listen(0.0)
            meanwhile()
            pause = RENEW_SECONDS
        return None

    def retire(self) -> None:
        """Let another one be elected."""
        if self._store.epoch is not None:
            self._election.release(self._store.epoch)
        self._store.epoch = None

    def listen(self, wait: float) -> list[Wish] | None:
        """What is asked for; None when the own web process is gone or another learner was elected."""
        try:
            if self._ear is None:
                self._ear = connect(self._store.address)
                self._ear.execute(f"LISTEN {WAKE}")  # pyright: ignore[reportArgumentType]
            until_looking = max(0.0, self._looked + LOOK_SECONDS - time.monotonic())
            ready = select.select([self._own.ear, self._ear], [], [], min(wait, until_looking))[0]
            if (self._own.ear in ready and self._own.listen(0.0) is None) or self._election.lost:
                return None
            if self._ear not in ready and until_looking:
                return []
            for _ in self._ear.notifies(timeout=0):
                pass
            self._looked = time.monotonic()
            found = self._ear.execute("DELETE FROM wishes RETURNING id, body").fetchall()
        except psycopg.Error:
            if self._ear is not None:
                self._ear.close()
                self._ear = None
            return self._own.listen(min(wait, RETRY_SECONDS))
        return [Wish(*msgspec.json.decode(body)) for _, body in sorted(found)]

    def tell(self, news: Sequence[News]) -> bool:
        """Whether the own web process is still there. What the database cannot take now is told later."""
        self._untold += [one for one in news if one.task]
        faulty = any(one.faulty for one in news)
        try:
            if self._untold and not faulty:
                self._store.tell([(one.task, msgspec.json.encode(one)) for one in self._untold], NEWS)
                self._untold = []
        except StoreFault:
            faulty = True
        changed, self._faulty = faulty != self._faulty, faulty
        return self._own.tell([News(task=0, faulty=faulty, epoch=self._store.epoch or 0)] if changed else [])
