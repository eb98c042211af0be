"""The tables of the index, and the file they live in."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import zlib
from collections.abc import Iterator

from memsync import errors

#: How long a write waits for another process's write, in seconds.
PATIENCE = 20.0
#: How long it is waited for who makes a new index, in seconds.
BRIEFLY = 2.0

_SCHEMA = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE folders (path TEXT PRIMARY KEY, snapshot BLOB) WITHOUT ROWID;
CREATE TABLE files (
  path TEXT PRIMARY KEY, kind TEXT, blob TEXT, stated TEXT, id TEXT, problems TEXT
) WITHOUT ROWID;
CREATE INDEX files_stated ON files (stated) WHERE stated IS NOT NULL;
CREATE INDEX files_problems ON files (path) WHERE problems IS NOT NULL;
CREATE TABLE records (
  n INTEGER PRIMARY KEY, path TEXT UNIQUE, id TEXT, blob TEXT, scope TEXT, project TEXT,
  title TEXT, title_key TEXT, type TEXT, class TEXT, category TEXT, authority TEXT,
  lifecycle TEXT, epoch INTEGER, paused INTEGER, conflict INTEGER, supported TEXT,
  valid_from TEXT, valid_until TEXT, selectors TEXT, updated TEXT, outcome TEXT,
  outcome_at TEXT, provisional INTEGER, body_at INTEGER, length INTEGER, summary TEXT
);
CREATE TABLE wholes (n INTEGER PRIMARY KEY, json TEXT);
CREATE INDEX records_id ON records (id);
CREATE INDEX records_scope ON records (project, type);
CREATE INDEX records_title ON records (title_key);
CREATE TABLE tombstones (
  id TEXT PRIMARY KEY, path TEXT UNIQUE, epoch INTEGER, permanent INTEGER, scope TEXT,
  project TEXT, forgotten_at TEXT, reason TEXT, text_hash TEXT, candidate_key TEXT
) WITHOUT ROWID;
CREATE TABLE projects (key TEXT PRIMARY KEY, path TEXT UNIQUE, json TEXT) WITHOUT ROWID;
CREATE VIRTUAL TABLE words USING fts5 (
  title, body, tags, category, scope, tokenize = 'porter unicode61 remove_diacritics 2'
);
"""

#: Which index this is. Raise the number when what is written changes; tables count by themselves.
VERSION = f"1-{zlib.crc32(_SCHEMA.encode()):08x}"


@contextlib.contextmanager
def telling_damage() -> Iterator[None]:
    """Turn what SQLite says of a file that it cannot read into IndexDamaged or IndexBusy."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError) and "locked" in str(error):
            raise errors.IndexBusy(seconds=PATIENCE) from error
        raise errors.IndexDamaged(detail=str(error)) from error


def discard(path: str) -> None:
    """Remove an index file and what belongs to it."""
    for ending in ("", "-wal", "-shm", "-journal"):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path + ending)


def is_cut_off(path: str) -> bool:
    """Whether a file is there and empty: it is new at this moment, or its content was lost."""
    try:
        return os.stat(path).st_size == 0
    except OSError:
        return False


def connect(path: str, patience: float) -> sqlite3.Connection:
    """Open the database file; ``patience`` is how long to wait for another process's write."""
    return sqlite3.connect(path, timeout=patience, isolation_level=None)


def version(connection: sqlite3.Connection) -> str | None:
    """Which index a database holds; None for none."""
    row = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone()
    if row is None:
        return None
    found = connection.execute("SELECT value FROM meta WHERE name = 'version'").fetchone()
    return str(found[0]) if found else None


def create(connection: sqlite3.Connection) -> None:
    """Make the tables anew, unless another process was quicker."""
    connection.execute("BEGIN IMMEDIATE")
    if version(connection) != VERSION:  # another process may have been quicker
        drop(connection)
        for statement in _SCHEMA.split(";\n"):
            connection.execute(statement)
        connection.execute("INSERT INTO meta VALUES ('version', ?)", (VERSION,))
        # It begins anywhere, so that no generation of an older index of this place is repeated.
        connection.execute("INSERT INTO meta VALUES ('generation', abs(random()) >> 16)")
    connection.execute("COMMIT")


def drop(connection: sqlite3.Connection) -> None:
    """Remove all tables."""
    connection.execute("DROP TABLE IF EXISTS words")
    tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    for (name,) in tables:
        if not name.startswith(("sqlite_", "words")):
            connection.execute(f'DROP TABLE IF EXISTS "{name}"')


def inode(path: str) -> tuple[int, int] | None:
    """Which file stands at a path; None for none."""
    try:
        info = os.stat(path)
    except OSError:
        return None
    return info.st_dev, info.st_ino
