"""A folder that an older version wrote: refused with the command to run, migrated all or nothing, and learned on."""

import contextlib
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import jax
import pytest

from loading import more
from serving import created
from sottovoce.protocol.errors import ConfigurationError
from sottovoce.server.coordination.messages import Wish
from sottovoce.server.coordination.pipes import only_one
from sottovoce.server.learn.folds import Folds
from sottovoce.server.learn.replaying import replay
from sottovoce.server.store import migrate, open_store, parts_of
from sottovoce.server.store.files import format_of, open_existing, write_format
from sottovoce.server.store.migrations import Format, newest
from sottovoce.server.store.sqlite_migrations import FILES
from test_cli import refused, typed

FORMAT_6 = {
    "journal.sqlite": """
CREATE TABLE secrets (name TEXT PRIMARY KEY, value BLOB NOT NULL);
CREATE TABLE tasks (
  number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, contract BLOB NOT NULL, mode TEXT NOT NULL,
  paused INTEGER NOT NULL DEFAULT 0, prediction BLOB NOT NULL DEFAULT x''
);
CREATE TABLE counts (task INTEGER PRIMARY KEY, reports INTEGER NOT NULL, warm INTEGER NOT NULL);
CREATE TABLE history (
  task INTEGER NOT NULL, hour INTEGER NOT NULL, verdict TEXT NOT NULL, reports INTEGER NOT NULL,
  PRIMARY KEY (task, hour, verdict)
) WITHOUT ROWID;
CREATE TABLE journal (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, task INTEGER NOT NULL, id BLOB NOT NULL, day INTEGER NOT NULL,
  gate INTEGER NOT NULL, context BLOB NOT NULL, payload BLOB NOT NULL
);
CREATE INDEX of_task ON journal (task, seq);
CREATE TABLE ids (task INTEGER NOT NULL, id BLOB NOT NULL, day INTEGER NOT NULL, PRIMARY KEY (task, id)) WITHOUT ROWID;
CREATE TRIGGER once BEFORE INSERT ON journal
WHEN EXISTS (SELECT 1 FROM ids WHERE task = new.task AND id = new.id) BEGIN SELECT RAISE(IGNORE); END;
""",
    "learned.sqlite": """
CREATE TABLE publications (
  task INTEGER NOT NULL, learned INTEGER NOT NULL, version TEXT NOT NULL, body BLOB NOT NULL, memo BLOB NOT NULL,
  superseded INTEGER NOT NULL, PRIMARY KEY (task, learned, version)
);
CREATE TABLE snapshots (
  task INTEGER NOT NULL, learned INTEGER NOT NULL, seq INTEGER NOT NULL, published INTEGER NOT NULL,
  state BLOB NOT NULL, base INTEGER NOT NULL, PRIMARY KEY (task, base)
);
CREATE TABLE gaps (
  task INTEGER NOT NULL, after_seq INTEGER NOT NULL, until_seq INTEGER NOT NULL, reports INTEGER NOT NULL,
  PRIMARY KEY (task, after_seq)
);
CREATE TABLE unread (task INTEGER NOT NULL, seq INTEGER NOT NULL, error TEXT NOT NULL, PRIMARY KEY (task, seq));
""",
}
"""The tables as Sottovoce made them when format 6 was the newest; COUNTED is made after the rows are copied."""
COUNTED = """
CREATE TRIGGER counted AFTER INSERT ON journal BEGIN
  INSERT INTO ids VALUES (new.task, new.id, new.day);
  UPDATE counts SET reports = reports + (new.gate >= 0), warm = warm + (new.gate < 0) WHERE task = new.task;
END;
"""
OLD_SNAPSHOTS = """
SELECT task, learned, seq, published, state, 0 FROM new.snapshots WHERE seq = (SELECT max(seq) FROM new.snapshots)
UNION SELECT task, learned, seq, published, state, 1 FROM new.snapshots WHERE base
"""


@pytest.fixture(autouse=True)
def double_precision() -> Iterator[None]:
    with jax.enable_x64(True):
        yield


def learned_folder(folder: Path, *, base: bool = True) -> Path:
    """A folder of this version with reports, a rollback, a base in the middle and a snapshot at the end."""
    with contextlib.closing(open_store(folder)) as store:
        row = created(store)
        more(store, range(30))
        learning = Folds(store)
        learning.catch_up()
        learning.grant([Wish(row.number, 20)] + [Wish(row.number)] * base)
        more(store, range(30, 70))
    return folder


def format_6(new: Path, folder: Path) -> Path:
    """The same, as format 6 kept it: of each task the newest snapshot, and the base."""
    folder.mkdir()
    for name, schema in FORMAT_6.items():
        with contextlib.closing(sqlite3.connect(folder / name, isolation_level=None)) as old:
            old.execute("PRAGMA journal_mode = WAL")
            old.executescript(schema)
            old.execute("ATTACH ? AS new", (str(new / name),))
            own = "SELECT name FROM main.sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
            for (table,) in old.execute(own).fetchall():
                rows = OLD_SNAPSHOTS if table == "snapshots" else f"SELECT * FROM new.{table}"
                old.execute(f"INSERT INTO main.{table} {rows}")
            old.executescript((COUNTED if name == "journal.sqlite" else "") + "PRAGMA user_version = 6")
    return folder


def shape(folder: Path) -> dict[str, object]:
    """Tables with their columns, indices and triggers of a folder."""
    found: dict[str, object] = {}
    for file in FILES:
        with contextlib.closing(sqlite3.connect(folder / file)) as connection:
            for name, kind in connection.execute("SELECT name, type FROM sqlite_master"):
                found[f"{file} {kind} {name}"] = connection.execute(f"PRAGMA table_info({name})").fetchall()
    return found


def contents(folder: Path) -> dict[str, bytes]:
    """What the files hold, header included."""
    found = {}
    for file in FILES:
        with contextlib.closing(sqlite3.connect(folder / file)) as connection:
            found[file] = connection.serialize()
    return found


@pytest.mark.parametrize("base", [True, False], ids=["base", "no base"])
def test_a_folder_of_format_6_is_migrated_and_learned_on_as_if_nothing_had_been(tmp_path: Path, base: bool):
    new = learned_folder(tmp_path / "new", base=base)
    old = format_6(new, tmp_path / "old")
    migrate(old)
    assert shape(old) == shape(new)
    with contextlib.closing(open_store(new)) as one, contextlib.closing(open_store(f"sqlite:{old}")) as other:
        row = other.tasks()[0]
        assert other.snapshot(row.number) == one.snapshot(row.number)._replace(day=0)  # pyright: ignore
        assert replay(other, row) == replay(one, row)
        states = {more(store, range(70, 100)) for store in (one, other)}
        assert states == {replay(one, row), replay(other, row)}
        assert len(states) == 1
        assert other.count(row.number) == one.count(row.number) == (100, 0)


def test_an_old_folder_is_refused_with_the_command_to_run_and_a_dry_run_changes_nothing(tmp_path: Path):
    old = format_6(learned_folder(tmp_path / "new"), tmp_path / "old")
    before = contents(old)
    for words in (("serve", "--data", str(old), "--port", "0"), ("task", "replay", "arms", "--data", str(old))):
        assert f"`sottovoce store migrate {old}`" in " ".join(refused(*words).split())
    said = typed("store", "migrate", str(old), "--dry-run")
    assert "learned.sqlite would get format 7: A task keeps several snapshots" in said
    assert contents(old) == before
    with only_one("server", old, wait=False):
        assert "another server uses" in refused("store", "migrate", f"sqlite:{old}")
    assert contents(old) == before
    assert "learned.sqlite has now format 7" in typed("store", "migrate", f"sqlite:{old}")
    assert "learned.sqlite has format 7 and stays as it is" in typed("store", "migrate", str(old))
    assert "there is no" in refused("store", "migrate", str(tmp_path / "none"))
    assert not (tmp_path / "none").exists()
    assert "mysql://there" in refused("store", "migrate", "mysql://there")


KILLED = """
import os, signal, sys
from pathlib import Path
from sottovoce.server.store import sqlite_migrations
from sottovoce.server.store.migrations import Migration

class Killing(list):
    def __iter__(self):
        yield from super().__iter__()
        os.kill(os.getpid(), signal.SIGKILL)

extra = Migration(9, 9, "One more table.", ["CREATE TABLE more (number INTEGER)"])
files = {name: [*known, extra] for name, known in sqlite_migrations.FILES.items()}
if sys.argv[2] in files:
    files[sys.argv[2]][-1] = extra._replace(statements=Killing(extra.statements))
sqlite_migrations.FILES = files
sqlite_migrations.migrate(Path(sys.argv[1]))
"""


def killed(folder: Path, file: str) -> int:
    """Migrate in a process that is killed after the statements for this file, before they are committed."""
    return subprocess.run([sys.executable, "-c", KILLED, str(folder), file], timeout=60, env=os.environ).returncode


def test_a_kill_in_the_middle_leaves_each_file_old_or_new_and_the_next_run_does_the_rest(tmp_path: Path):
    old = format_6(learned_folder(tmp_path / "new"), tmp_path / "old")

    def formats() -> list[int]:
        found = []
        for name in FILES:
            with contextlib.closing(open_existing(old / name)) as file:
                found.append(format_of(file).number)
                tables = file.execute("SELECT count(*) FROM sqlite_master WHERE name = 'more'").fetchone()
                assert tables == (found[-1] == 9,)
        return found

    assert killed(old, "journal.sqlite") == -9
    assert formats() == [6, 6]
    assert killed(old, "learned.sqlite") == -9
    assert formats() == [9, 6]
    assert killed(old, "") == 0
    assert formats() == [9, 9]


def test_a_newer_folder_is_used_while_it_allows_it_and_refused_by_name_when_it_no_longer_does(tmp_path: Path):
    folder = learned_folder(tmp_path)
    name, known = "journal.sqlite", newest(FILES["journal.sqlite"])
    for oldest in (known.number, known.number + 1):
        with contextlib.closing(open_existing(folder / name)) as file:
            write_format(file, Format(known.number + 2, oldest))
        if oldest == known.number:
            with contextlib.closing(open_store(folder)) as store:
                store.probe()  # writes the header, and leaves what it says
                more(store, range(70, 80))
            assert parts_of(folder)[0].format == Format(known.number + 2, oldest)
    with pytest.raises(ConfigurationError, match=r"format \d+, which programs that know .* start the newer version"):
        open_store(folder)
    with pytest.raises(ConfigurationError, match="start the newer version"):
        migrate(folder)
