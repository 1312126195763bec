"""Copy the data folder of a running server on SQLite: python3 backup.py DATA TARGET. The target must not exist yet.

What was learned is copied before the journal. So the journal has all that the learned knows of, and what it has more is
learned after a restore. The other way round reports could come under numbers that the learner believes to have read.
"""

import contextlib
import os
import sqlite3
import sys
from pathlib import Path

FILES = ("learned.sqlite", "journal.sqlite")


def main(data: Path, target: Path) -> None:
    """Both files, each as it is at one moment; the server goes on writing meanwhile."""
    for name in FILES:
        if not (data / name).is_file():
            raise SystemExit(f"{data} has no {name}: it is not the data folder of a server")
    target.mkdir(mode=0o700)
    for name in FILES:
        os.close(os.open(target / name, os.O_CREAT | os.O_EXCL, 0o600))
        connect = sqlite3.connect
        with contextlib.closing(connect(data / name)) as source, contextlib.closing(connect(target / name)) as copy:
            source.backup(copy)
            (found,) = copy.execute("PRAGMA integrity_check").fetchone()
            if found != "ok":
                raise SystemExit(f"{target / name} is damaged: {found}")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
