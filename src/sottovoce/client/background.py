"""Work that is done again and again in a thread of its own."""

import logging
import threading
from collections.abc import Callable

log = logging.getLogger("sottovoce.client")


class Background:
    """Calls `work` every so many seconds between `start` and `stop`. What it raises is logged; the next call comes."""

    def __init__(self, work: Callable[[], object], name: str) -> None:
        self._work, self._name = work, name
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, every: float) -> None:
        if self._thread is None:
            self._stopping.clear()
            self._thread = threading.Thread(target=self._run, args=(every,), name="sottovoce", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def _run(self, every: float) -> None:
        while True:
            try:
                self._work()
            except Exception as error:  # a full disk, a busy file, a server that sends what nobody thought of
                log.warning("task %s: %s: %s; trying again", self._name, type(error).__name__, error)
            if self._stopping.wait(every):
                return
