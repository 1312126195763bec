"""Devices for many people in one process: a folder for each person, opened when needed, and one thread that sends.

For a backend that holds the devices of its users; docs/backend.md says what is lost in trust. A person is any text that
names them in the app. It is neither sent nor written down: the folder's name is a keyed hash of it.
"""

import hashlib
import hmac
import logging
import os
import secrets
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from sottovoce.client.background import Background
from sottovoce.client.device import Device
from sottovoce.client.http import Http
from sottovoce.client.shared import Shared
from sottovoce.client.vault import FILE, Vault

KEY = "key"
"""The file with the secret of the folders' names."""
REFUSED = "opted-out"
"""The file in the folder of a person who opted out."""
MOST_OPEN = 64
"""Devices that stay open; each holds three files."""

log = logging.getLogger("sottovoce.client")


class Place(NamedTuple):
    """One task of one person."""

    folder: str
    task: str


class _Held:
    """A device that is open, or is being opened, and how many use it now."""

    def __init__(self) -> None:
        self.opening, self.users = threading.Lock(), 0
        self.device: Device | None = None


class Devices:
    """The devices of many people, all of one server. Thread-safe. `options` are those of `Device`.

    They share their connections, and what is the same for everybody: contract, status and model.

    >>> devices = Devices("https://learn.example", "./people", limits=Limits())      # doctest: +SKIP
    >>> with devices.of("ada", "headline") as device:                                 # doctest: +SKIP
    ...     decision = device.choose()
    """

    def __init__(self, server: str, folder: str | Path, **options: Any) -> None:
        self._server, self._root = server.rstrip("/"), Path(folder)
        self._options: dict[str, Any] = options | {"transport": Shared(options.get("transport") or Http(self._server))}
        self._root.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._key = _secret(self._root / KEY)
        self._lock = threading.Lock()
        self._held: OrderedDict[Place, _Held] = OrderedDict()
        self._busy: set[Place] = set()
        """Where something may wait to be sent."""
        self._looked = False
        """Were the folders of an earlier start looked through?"""
        self._background = Background(self.send, "of many people")

    @contextmanager
    def of(self, person: str, task: str) -> Iterator[Device]:
        """The device of this person for this task, open as long as it is used."""
        place = Place(self.folder_of(person), task)
        with self._at(place) as device:
            try:
                yield device
            finally:
                with self._lock:
                    self._busy.add(place)

    def folder_of(self, person: str) -> str:
        """The name of the person's folder, from which nobody without the key can tell who it is."""
        return hmac.new(self._key, person.encode(), hashlib.sha256).hexdigest()[:32]

    def opt_out(self, person: str) -> None:
        """Withdraw what has not left, and report nothing more, to no task; also to those that are joined later."""
        folder = self._root / self.folder_of(person)
        folder.mkdir(exist_ok=True, mode=0o700)
        (folder / REFUSED).touch(mode=0o600)
        for place in self._joined(folder):
            with self._at(place) as device:
                device.opt_out()

    def opt_in(self, person: str) -> None:
        """Report again, on the old budget."""
        folder = self._root / self.folder_of(person)
        (folder / REFUSED).unlink(missing_ok=True)
        for place in self._joined(folder):
            with self._at(place) as device:
                device.opt_in()

    def opted_out(self, person: str) -> bool:
        """Does this person report nothing?"""
        return (self._root / self.folder_of(person) / REFUSED).exists()

    def send(self, *, force: bool = False) -> int:
        """Send what is due for everybody, as `Device.send` does; how many devices still have something to send."""
        if not self._looked:
            self._looked = True
            found = [place for file in self._root.glob(f"*/{FILE}") for place in self._joined(file.parent)]
            with self._lock:
                self._busy.update(found)
        with self._lock:
            visited = self._busy | self._held.keys()  # those that are open stay up to date
        for place in visited:
            try:
                with self._at(place) as device:
                    with self._lock:
                        self._busy.discard(place)
                    device.send(force=force)
                    counts = device.stats()
                    waits = counts["promised"] + counts["drawn"] > 0
            except Exception as error:  # of one person; the others are not to wait for it
                log.warning("task %s: %s: %s; trying again", place.task, type(error).__name__, error)
                waits = True
            if waits:
                with self._lock:
                    self._busy.add(place)
        with self._lock:
            return len(self._busy)

    def start(self, every: float = 15.0) -> None:
        """Call `send` again and again in a thread of its own."""
        self._background.start(every)

    def close(self) -> None:
        """Stop sending and close all devices. What waits is sent after the next start."""
        self._background.stop()
        with self._lock:
            held, self._held = self._held, OrderedDict()
        for one in held.values():
            if one.device is not None:
                one.device.close()

    @contextmanager
    def _at(self, place: Place) -> Iterator[Device]:
        with self._lock:
            held = self._held.setdefault(place, _Held())
            self._held.move_to_end(place)
            held.users += 1
        try:
            with held.opening:
                if held.device is None:
                    held.device = self._opened(place)
            yield held.device
        finally:
            with self._lock:
                held.users -= 1
                left = self._take_idle()
            for device in left:
                device.close()

    def _opened(self, place: Place) -> Device:
        folder = self._root / place.folder
        device = Device(self._server, place.task, folder=folder, **self._options)
        if (folder / REFUSED).exists():
            device.opt_out()
        device.send()  # it may have been closed for long: what is due leaves, and the newest model comes
        return device

    def _take_idle(self) -> list[Device]:
        """Those that were not used for longest, if there are too many, and those that could not be opened."""
        idle = [place for place, held in self._held.items() if not held.users]
        many = max(0, len(self._held) - MOST_OPEN)
        gone = [self._held.pop(place) for n, place in enumerate(idle) if n < many or self._held[place].device is None]
        return [held.device for held in gone if held.device is not None]

    def _joined(self, folder: Path) -> list[Place]:
        """The tasks of this server that the person of this folder has joined."""
        if not (folder / FILE).exists():
            return []
        with closing(Vault(folder)) as vault:
            return [Place(folder.name, row.task) for row in vault.joined() if row.server == self._server]


def _secret(file: Path) -> bytes:
    """The secret in this file, made at the first start, whole or not at all."""
    if not file.exists():
        half = file.with_suffix(".new")
        with os.fdopen(os.open(half, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "wb") as new:
            new.write(secrets.token_bytes(32))
        half.rename(file)
    return file.read_bytes()
