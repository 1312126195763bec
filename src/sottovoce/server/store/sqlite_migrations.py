"""The tables of the embedded store, as the numbered changes that made them, and how a folder is brought up to date."""

import contextlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from sottovoce.protocol.errors import ConfigurationError
from sottovoce.server.store.files import format_of, migrate_file, open_existing
from sottovoce.server.store.migrations import Migration, Part, check_known, missing

ADD = "ON CONFLICT (task, hour, verdict) DO UPDATE SET reports = reports + excluded.reports"
"""What happens to an hour of the history that is there already."""

JOURNAL = (
    Migration(6, 6, "The first format from which one can go on: tasks, and a journal of reports.", (
        "CREATE TABLE secrets (name TEXT PRIMARY KEY, value BLOB NOT NULL)",
        """CREATE TABLE tasks (
             number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, contract BLOB NOT NULL, mode TEXT NOT NULL,
             paused INTEGER NOT NULL DEFAULT 0, prediction BLOB NOT NULL DEFAULT x''
           )""",
        "CREATE TABLE counts (task INTEGER PRIMARY KEY, reports INTEGER NOT NULL, warm INTEGER NOT NULL)",
        """CREATE TABLE history (
             task INTEGER NOT NULL, hour INTEGER NOT NULL, verdict TEXT NOT NULL, reports INTEGER NOT NULL,
             PRIMARY KEY (task, hour, verdict)
           ) WITHOUT ROWID""",
        """CREATE TABLE journal (
             seq INTEGER PRIMARY KEY AUTOINCREMENT, task INTEGER NOT NULL, id BLOB NOT NULL, day INTEGER NOT NULL,
             gate INTEGER NOT NULL, context BLOB NOT NULL, payload BLOB NOT NULL
           )""",
        "CREATE INDEX of_task ON journal (task, seq)",
        """CREATE TABLE ids (
             task INTEGER NOT NULL, id BLOB NOT NULL, day INTEGER NOT NULL, PRIMARY KEY (task, id)
           ) WITHOUT ROWID""",
        """CREATE TRIGGER once BEFORE INSERT ON journal
           WHEN EXISTS (SELECT 1 FROM ids WHERE task = new.task AND id = new.id) BEGIN
             SELECT RAISE(IGNORE);
           END""",
        """CREATE TRIGGER counted AFTER INSERT ON journal BEGIN
             INSERT INTO ids VALUES (new.task, new.id, new.day);
             UPDATE counts SET reports = reports + (new.gate >= 0), warm = warm + (new.gate < 0) WHERE task = new.task;
           END""",
    )),
    # an older server would write down nothing, and take a used token again
    Migration(7, 7, "What is done with admin tokens is written down, and used admission tokens are remembered.", (
        """CREATE TABLE actions (
             number INTEGER PRIMARY KEY AUTOINCREMENT, time INTEGER NOT NULL, token TEXT NOT NULL, role TEXT NOT NULL,
             action TEXT NOT NULL, task TEXT NOT NULL, detail BLOB NOT NULL, status INTEGER NOT NULL,
             address TEXT NOT NULL
           )""",
        "CREATE INDEX actions_of_task ON actions (task, number)",
        # a token has one last second, which is signed; by it those that are over lie together
        """CREATE TABLE admitted (
             expires INTEGER NOT NULL, task INTEGER NOT NULL, id BLOB NOT NULL, PRIMARY KEY (expires, task, id)
           ) WITHOUT ROWID""",
    )),
    # an older server would count in the history what this counts by itself
    Migration(8, 8, "A report counts itself in the history of its hour, so that a group of them is one statement.", (
        "CREATE TABLE clock (hour INTEGER NOT NULL)",
        "INSERT INTO clock VALUES (0)",
        f"""CREATE TRIGGER timed AFTER INSERT ON journal WHEN new.gate >= 0 BEGIN
             INSERT INTO history SELECT new.task, hour, 'accepted', 1 FROM clock WHERE true {ADD};
           END""",
    )),
)  # fmt: skip

LEARNED = (
    Migration(6, 6, "The first format from which one can go on: what was learned, and what was rolled back.", (
        """CREATE TABLE publications (
             task INTEGER NOT NULL, learned INTEGER NOT NULL, version TEXT NOT NULL, body BLOB NOT NULL,
             memo BLOB NOT NULL, superseded INTEGER NOT NULL, PRIMARY KEY (task, learned, version)
           )""",
        """CREATE TABLE snapshots (
             task INTEGER NOT NULL, learned INTEGER NOT NULL, seq INTEGER NOT NULL, published INTEGER NOT NULL,
             state BLOB NOT NULL, base INTEGER NOT NULL, PRIMARY KEY (task, base)
           )""",
        """CREATE TABLE gaps (
             task INTEGER NOT NULL, after_seq INTEGER NOT NULL, until_seq INTEGER NOT NULL, reports INTEGER NOT NULL,
             PRIMARY KEY (task, after_seq)
           )""",
        """CREATE TABLE unread (
             task INTEGER NOT NULL, seq INTEGER NOT NULL, error TEXT NOT NULL, PRIMARY KEY (task, seq)
           )""",
    )),
    Migration(7, 7, "A task keeps several snapshots, each with its day, so that it is rolled back quickly.", (
        "ALTER TABLE snapshots RENAME TO snapshots_6",
        """CREATE TABLE snapshots (
             task INTEGER NOT NULL, seq INTEGER NOT NULL, learned INTEGER NOT NULL, published INTEGER NOT NULL,
             base INTEGER NOT NULL, day INTEGER NOT NULL, state BLOB NOT NULL, PRIMARY KEY (task, seq)
           )""",
        # a base that is also the newest one was kept twice: one row of it stays
        """INSERT OR REPLACE INTO snapshots
           SELECT task, seq, learned, published, base, 0, state FROM snapshots_6 ORDER BY base""",
        "DROP TABLE snapshots_6",
    )),
)  # fmt: skip

JOURNAL_FILE = "journal.sqlite"
FILES: Mapping[str, Sequence[Migration]] = {JOURNAL_FILE: JOURNAL, "learned.sqlite": LEARNED}


def parts_of(folder: Path) -> list[Part]:
    """The files of a folder and what has to be done to each; nothing is changed."""
    return [_part(folder / name, migrations) for name, migrations in FILES.items()]


def migrate(folder: Path) -> None:
    """Bring every file up to date, each all or nothing. What was interrupted between two files is run again."""
    parts_of(folder)  # refuses a folder that cannot be migrated before anything is changed
    for name, migrations in FILES.items():
        migrate_file(folder / name, migrations)


def _part(path: Path, migrations: Sequence[Migration]) -> Part:
    if not path.exists():
        raise ConfigurationError(f"there is no {path}; name the folder of a server")
    with contextlib.closing(open_existing(path)) as connection:
        found = format_of(connection)
    check_known(str(path), found, migrations)
    return Part(path.name, found, missing(found, migrations))
