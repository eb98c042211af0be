"""The index: what the files say, in SQLite, so that a read need not open ten thousand files.

It is derived. It may be deleted, damaged or of another version at any moment; then it starts
empty and the next scan fills it again.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from memsync import errors, record, tokens
from memsync.contract.codec import to_json
from memsync.errors import Problem
from memsync.record import Record, Scope

#: How long a write waits for another process's write, in seconds.
PATIENCE = 20.0
SUMMARY_CHARACTERS = 160
#: What reading a damaged index raises.
Damaged = sqlite3.DatabaseError

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
  outcome_at TEXT, provisional INTEGER, body_at INTEGER, length INTEGER, summary TEXT, json TEXT
);
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

# A record whose tombstone reaches its epoch is forgotten, whatever file lies about.
_LIVING = """NOT EXISTS (SELECT 1 FROM tombstones t WHERE t.id = r.id
  AND (t.permanent OR t.epoch >= r.epoch))"""

_COLUMNS = (
    "n, path, id, blob, scope, project, title, type, class, category, authority, lifecycle, "
    "epoch, paused, conflict, supported, valid_from, valid_until, selectors, updated, outcome, "
    "outcome_at, provisional, body_at, length, summary"
)


class Row(NamedTuple):
    """One record as the index has it: what matching and listing need, without the text."""

    n: int
    path: str
    id: str
    blob: str
    scope: str
    project: str | None
    title: str
    type: str
    class_: str
    category: str | None
    authority: str
    lifecycle: str
    epoch: int
    paused: int
    conflict: int
    supported: str
    valid_from: str
    valid_until: str
    selectors: str | None
    updated: str
    outcome: str | None
    outcome_at: str | None
    provisional: int
    body_at: int
    length: int
    summary: str

    def state(self, now: str) -> str:
        """The state of the record at ``now`` (see ``record.state_of``)."""
        return record.state_of(
            now,
            lifecycle=self.lifecycle,
            conflict=bool(self.conflict),
            paused=bool(self.paused),
            supported=self.supported,
            valid_from=self.valid_from,
            valid_until=self.valid_until,
        )


class Mark(NamedTuple):
    """One tombstone as the index has it."""

    id: str
    path: str
    epoch: int
    permanent: int
    scope: str
    project: str | None
    forgotten_at: str
    reason: str
    text_hash: str | None
    candidate_key: str | None


class Facts(NamedTuple):
    """What one file says. ``id`` is its identity; ``stated`` is what the file itself states.

    ``body_at`` is the byte at which the text of a record begins.
    """

    path: str
    kind: str
    blob: str
    stated: str | None = None
    id: str | None = None
    problems: tuple[Problem, ...] = ()
    record: Record | None = None
    body_at: int = 0
    mark: Mark | None = None
    project: Mapping[str, Any] | None = None


class Update(NamedTuple):
    """What a scan found: paths that are gone, files that are new or changed, folders as seen."""

    gone: Sequence[str] = ()
    facts: Sequence[Facts] = ()
    folders: Mapping[str, bytes | None] = MappingProxyType({})
    meta: Mapping[str, str] = MappingProxyType({})


def scope_word(scope: str, project: str | None) -> str:
    """The word under which the text index files a scope."""
    if scope == Scope.GLOBAL or project is None:
        return "scopeglobal"
    return "scope" + project.encode().hex()


class Index:
    """An open index. Not for several threads."""

    def __init__(self, path: str, connection: sqlite3.Connection, writable: bool) -> None:
        self.path = path
        self.writable = writable
        self._db = connection
        self._inode = _inode(path)

    @classmethod
    def open(cls, folder: str) -> Index:
        """Open ``index.sqlite`` in ``folder``; a missing, damaged or foreign one starts empty.

        On a read-only disk the file is opened as it is, or an empty one in memory serves.
        """
        path = os.path.join(folder, "index.sqlite")
        try:
            os.makedirs(folder, exist_ok=True)
            return cls._open_writable(path)
        except (OSError, sqlite3.OperationalError) as error:
            if isinstance(error, sqlite3.OperationalError) and "locked" in str(error):
                raise errors.IndexBusy(seconds=PATIENCE) from error
            return cls._open_readonly(path)

    @classmethod
    def _open_writable(cls, path: str) -> Index:
        for attempt in (1, 2):
            connection = _connect(path)
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA synchronous = NORMAL")
                connection.execute("PRAGMA secure_delete = ON")
                if _version(connection) != VERSION:
                    _create(connection)
                return cls(path, connection, writable=True)
            except sqlite3.OperationalError:
                connection.close()
                raise
            except sqlite3.DatabaseError:
                connection.close()
                if attempt == 2:
                    raise
                discard(path)
        raise AssertionError("unreachable")

    @classmethod
    def _open_readonly(cls, path: str) -> Index:
        if os.path.exists(path):
            with contextlib.suppress(sqlite3.DatabaseError):
                quoted = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
                connection = sqlite3.connect(
                    f"file:{quoted}?immutable=1", uri=True, isolation_level=None
                )
                if _version(connection) == VERSION:
                    return cls(path, connection, writable=False)
        return cls.in_memory()

    @classmethod
    def in_memory(cls) -> Index:
        """An empty index that lives as long as its process."""
        connection = sqlite3.connect(":memory:", isolation_level=None)
        _create(connection)
        return cls(":memory:", connection, writable=True)

    def close(self) -> None:
        """Close the database."""
        self._db.close()

    def is_current(self) -> bool:
        """Whether the file that was opened is still the one at its path."""
        return self.path == ":memory:" or _inode(self.path) == self._inode

    def in_memory_copy(self) -> Index:
        """The same content in memory, for a refresh where the file cannot be written."""
        connection = sqlite3.connect(":memory:", isolation_level=None)
        self._db.backup(connection)
        return Index(":memory:", connection, writable=True)

    # --- what was seen ---------------------------------------------------------------------

    def meta(self) -> dict[str, str]:
        """The index's own notes."""
        return dict(self._db.execute("SELECT name, value FROM meta"))

    def generation(self) -> str:
        """A mark that changes with every change of what the index says."""
        query = "SELECT value FROM meta WHERE name = 'generation'"
        return str((self._db.execute(query).fetchone() or ("",))[0])

    def snapshots(self) -> dict[str, bytes]:
        """folder -> what the last scan saw of it."""
        return dict(self._db.execute("SELECT path, snapshot FROM folders"))

    def files_in(self, folder: str) -> dict[str, str]:
        """path -> blob of the files directly in a folder."""
        top = folder + "/" if folder else ""
        rows = self._db.execute(
            "SELECT path, blob FROM files WHERE path >= ? AND path < ?", (top, top + "\U0010ffff")
        )
        return {path: blob for path, blob in rows if "/" not in path[len(top) :]}

    def paths_stating(self, ids: Iterable[str]) -> list[tuple[str, str]]:
        """(id, path) of the files that state one of these ids."""
        found: list[tuple[str, str]] = []
        for wanted in ids:
            with contextlib.suppress(UnicodeEncodeError):  # bytes that are no text name nothing
                rows = self._db.execute("SELECT path FROM files WHERE stated = ?", (wanted,))
                found += [(wanted, path) for (path,) in rows]
        return found

    def facts_of(self, path: str) -> tuple[str, str, str | None, str | None] | None:
        """(kind, blob, stated id, id) of a file."""
        found: tuple[str, str, str | None, str | None] | None = self._db.execute(
            "SELECT kind, blob, stated, id FROM files WHERE path = ?", (path,)
        ).fetchone()
        return found

    def problems(self) -> tuple[Problem, ...]:
        """All problems of all files, by path and line."""
        found: list[Problem] = []
        for (text,) in self._db.execute(
            "SELECT problems FROM files WHERE problems IS NOT NULL ORDER BY path"
        ):
            found += [Problem(*item) for item in json.loads(text)]
        return tuple(found)

    # --- writing ---------------------------------------------------------------------------

    def apply(self, update: Update) -> None:
        """Take in what a scan found, in one transaction. Raises IndexBusy, DiskFull."""
        try:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                self._forget_paths([*update.gone, *(f.path for f in update.facts)])
                for facts in update.facts:
                    self._insert(facts)
                for path, snapshot in update.folders.items():
                    if snapshot is None:
                        self._db.execute("DELETE FROM folders WHERE path = ?", (path,))
                    else:
                        self._db.execute(
                            "INSERT OR REPLACE INTO folders VALUES (?, ?)", (path, snapshot)
                        )
                if update.gone or update.facts:
                    self._bump()
                self._db.executemany(
                    "INSERT OR REPLACE INTO meta VALUES (?, ?)", update.meta.items()
                )
                self._db.execute("COMMIT")
            except BaseException:
                with contextlib.suppress(sqlite3.OperationalError):
                    self._db.execute("ROLLBACK")
                raise
        except sqlite3.OperationalError as error:
            raise self._refusal(error) from error

    def clear(self) -> None:
        """Start empty: the next scan fills the index again, and no old text stays in it.

        Raises IndexBusy, DiskFull.
        """
        try:
            self._db.execute("BEGIN IMMEDIATE")
            _drop(self._db)
            self._db.execute("COMMIT")
            _create(self._db)
        except sqlite3.OperationalError as error:
            raise self._refusal(error) from error

    def purge_text(self) -> None:
        """Take deleted text out of the files of the index, not only out of its answers.

        Raises IndexBusy where a reader held it, DiskFull; then it is to be done again.
        """
        try:
            self._db.execute("INSERT INTO words (words) VALUES ('optimize')")
            with contextlib.suppress(sqlite3.OperationalError):  # it only makes the file smaller
                self._db.execute("VACUUM")
            busy = self._db.execute("PRAGMA wal_checkpoint (TRUNCATE)").fetchone()[0]
        except sqlite3.OperationalError as error:
            raise self._refusal(error) from error
        if busy:
            raise errors.IndexBusy(seconds=PATIENCE)

    def _refusal(self, error: sqlite3.OperationalError) -> errors.MemsyncError:
        if "full" in str(error):
            return errors.DiskFull(path=self.path)
        return errors.IndexBusy(seconds=PATIENCE)

    def _bump(self) -> None:
        self._db.execute(
            "INSERT INTO meta VALUES ('generation', '1') "
            "ON CONFLICT (name) DO UPDATE SET value = value + 1"
        )

    def _forget_paths(self, paths: Sequence[str]) -> None:
        known = {path for (path,) in self._db.execute("SELECT path FROM files")}
        listed = [(path,) for path in paths if path in known]
        if not listed:
            return
        self._db.executemany(
            "DELETE FROM words WHERE rowid = (SELECT n FROM records WHERE path = ?)", listed
        )
        for table in ("files", "records", "tombstones", "projects"):
            self._db.executemany(f"DELETE FROM {table} WHERE path = ?", listed)  # noqa: S608

    def _insert(self, facts: Facts) -> None:
        problems = None
        if facts.problems:
            problems = json.dumps(
                [(p.code, p.path, p.line, p.message, p.remedy, p.level) for p in facts.problems],
                ensure_ascii=False,
            )
        self._db.execute(
            "INSERT INTO files VALUES (?, ?, ?, ?, ?, ?)",
            (facts.path, facts.kind, facts.blob, facts.stated, facts.id, problems),
        )
        if facts.mark is not None:
            self._db.execute(
                "INSERT OR REPLACE INTO tombstones VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                facts.mark,
            )
        if facts.project is not None:
            self._db.execute(
                "INSERT OR REPLACE INTO projects VALUES (?, ?, ?)",
                (facts.id, facts.path, json.dumps(facts.project, ensure_ascii=False)),
            )
        if facts.record is not None:
            self._insert_record(facts, facts.record)

    def _insert_record(self, facts: Facts, item: Record) -> None:
        whole = to_json(item)
        body = whole.pop("body", "")
        selectors = whole.get("selectors") or None
        used = item.application
        cursor = self._db.execute(
            f"INSERT INTO records VALUES ({', '.join('?' * 28)})",  # noqa: S608
            (
                None,
                facts.path,
                item.id,
                facts.blob,
                item.scope.value,
                item.project_key if item.scope is Scope.PROJECT else None,
                item.title,
                record.path_key(item.title),
                item.memory_type.value,
                item.memory_class.value,
                item.category,
                item.authority.value,
                item.lifecycle.value,
                item.epoch,
                int(item.paused),
                int(bool(item.conflict)),
                record.supported_until(item),
                _sortable(item.valid_from),
                _end(item.valid_until),
                json.dumps(selectors, ensure_ascii=False) if selectors else None,
                _sortable(item.updated),
                used.outcome.value if used and used.outcome else None,
                _sortable(used.at) if used else None,
                int(facts.stated != item.id),
                facts.body_at,
                len(item.body),
                record.shorten(" ".join(item.body.split()), SUMMARY_CHARACTERS),
                json.dumps(whole, ensure_ascii=False),
            ),
        )
        self._db.execute(
            "INSERT INTO words (rowid, title, body, tags, category, scope) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            (
                cursor.lastrowid,
                tokens.index_text(item.title),
                tokens.index_text(_searchable(item, body)),
                tokens.index_text(" ".join(item.tags)),
                tokens.index_text(item.category or ""),
                scope_word(item.scope.value, item.project_key),
            ),
        )

    # --- reading ---------------------------------------------------------------------------

    def rows(
        self, where: str = "1", arguments: Sequence[object] = (), order: str = ""
    ) -> list[Row]:
        """The living records that fit an SQL condition over ``r``."""
        ordered = f" ORDER BY {order}" if order else ""
        try:
            found = self._db.execute(
                f"SELECT {_COLUMNS} FROM records r WHERE {_LIVING} AND ({where}){ordered}",  # noqa: S608
                tuple(arguments),
            )
        except UnicodeEncodeError:
            return []  # asked with bytes that are no text, which no record has
        return [Row._make(row) for row in found]

    def in_scope(self, projects: Sequence[str]) -> list[Row]:
        """The living records that are global or belong to one of these projects."""
        marks = ", ".join("?" * len(projects))
        return self.rows(f"r.project IS NULL OR r.project IN ({marks})", projects)

    def by_id(self, wanted: str) -> Row | None:
        """The living record of this id."""
        return next(iter(self.rows("r.id = ?", (wanted,))), None)

    def by_path(self, path: str) -> Row | None:
        """The living record at this path."""
        return next(iter(self.rows("r.path = ?", (path,))), None)

    def named(self, wanted: str) -> list[Row]:
        """The living records of this exact id, else id prefix, else exact title."""
        exact = self.by_id(wanted)
        if exact:
            return [exact]
        if len(wanted) >= 2 and wanted == wanted.lower():
            start = wanted if wanted.startswith("m-") else "m-" + wanted
            found = self.rows("r.id >= ? AND r.id < ?", (start, start + "\U0010ffff"), "r.id")
            if found and len(start) > 2:
                return found
        return self.rows("r.title_key = ?", (record.path_key(wanted.strip()),), "r.id")

    def json_of(self, rows: Sequence[Row]) -> dict[int, dict[str, Any]]:
        """row number -> the record as JSON, its body left out."""
        found: dict[int, dict[str, Any]] = {}
        for start in range(0, len(rows), 500):
            numbers = [row.n for row in rows[start : start + 500]]
            marks = ", ".join("?" * len(numbers))
            query = f"SELECT n, json FROM records WHERE n IN ({marks})"  # noqa: S608
            for n, text in self._db.execute(query, numbers):
                found[n] = json.loads(text)
        return found

    def search(
        self, expression: str, scopes: Sequence[str] | None, limit: int
    ) -> list[tuple[int, float]]:
        """(row number, relevance) of the records that fit an FTS5 expression, best first.

        ``scopes`` are ``scope_word``s and are matched inside the query; None means every scope.
        Relevance is positive; more is better. Title weighs 4, tags and category 2, body 1.
        """
        if not expression:
            return []
        if scopes is not None:
            expression = f"scope : ({' OR '.join(scopes)}) AND ({expression})"
        found = self._db.execute(
            "SELECT rowid, -rank FROM words WHERE words MATCH ? "
            "AND rank MATCH 'bm25(4.0, 1.0, 2.0, 2.0, 0.0)' ORDER BY rank LIMIT ?",
            (expression, limit),
        )
        return sorted(found, key=lambda hit: (-hit[1], hit[0]))

    def holding(self, phrases: Sequence[str], scopes: Sequence[str], most: int) -> list[list[int]]:
        """For each phrase (tokens, a blank apart), ``most`` row numbers in scope that have it.

        The scope is matched inside the query. Without a rank FTS5 need not count each phrase
        through the whole index, which is most of what ``search`` costs.
        """
        within = f"scope : ({' OR '.join(scopes)}) AND "
        query = f"SELECT rowid FROM words WHERE words MATCH ? LIMIT {most:d}"  # noqa: S608
        found = []
        for phrase in phrases:
            quoted = '"' + phrase.replace('"', '""') + '"'
            found.append([n for (n,) in self._db.execute(query, (within + quoted,))])
        return found

    def by_number(self, numbers: Sequence[int]) -> dict[int, Row]:
        """row number -> living record."""
        found: dict[int, Row] = {}
        for start in range(0, len(numbers), 500):
            chunk = numbers[start : start + 500]
            marks = ", ".join("?" * len(chunk))
            found.update((row.n, row) for row in self.rows(f"r.n IN ({marks})", chunk))
        return found

    def marks(self, where: str = "1", arguments: Sequence[object] = ()) -> list[Mark]:
        """The tombstones that fit an SQL condition over ``t``, newest first."""
        found = self._db.execute(
            f"SELECT * FROM tombstones t WHERE {where} ORDER BY forgotten_at DESC, id",  # noqa: S608
            tuple(arguments),
        )
        return [Mark._make(row) for row in found]

    def marks_in_force(self) -> list[Mark]:
        """The tombstones whose record does not live again."""
        return self.marks(
            "t.permanent OR NOT EXISTS "
            "(SELECT 1 FROM records r WHERE r.id = t.id AND r.epoch > t.epoch)"
        )

    def forgotten_paths(self) -> list[tuple[str, str]]:
        """(path, id) of files whose record is forgotten and which still lie about."""
        query = f"SELECT r.path, r.id FROM records r WHERE NOT ({_LIVING})"  # noqa: S608
        return [*self._db.execute(query)]

    def projects(self) -> dict[str, dict[str, Any]]:
        """key -> what its ``project.yaml`` says."""
        return {
            key: json.loads(text)
            for key, text in self._db.execute("SELECT key, json FROM projects")
        }

    def project_keys(self) -> set[str]:
        """The keys of all projects that have a file."""
        rows = self._db.execute(
            "SELECT key FROM projects UNION SELECT project FROM records WHERE project IS NOT NULL"
        )
        return {key for (key,) in rows}

    def all_paths(self) -> Iterator[tuple[str]]:
        """The paths of all files, in order."""
        yield from self._db.execute("SELECT path FROM files ORDER BY path")

    def count(self) -> int:
        """How many records live."""
        query = f"SELECT count(*) FROM records r WHERE {_LIVING}"  # noqa: S608
        return int(self._db.execute(query).fetchone()[0])

    def content(self) -> Iterator[tuple[object, ...]]:
        """All that the index says, in a fixed order: two indexes of the same files are equal."""
        yield from self._db.execute("SELECT * FROM files ORDER BY path")
        columns = _COLUMNS.removeprefix("n, ") + ", json"
        yield from self._db.execute(f"SELECT {columns} FROM records ORDER BY path")  # noqa: S608
        yield from self._db.execute("SELECT * FROM tombstones ORDER BY id")
        yield from self._db.execute("SELECT * FROM projects ORDER BY key")
        yield from self._db.execute(
            "SELECT r.path, w.* FROM words w JOIN records r ON r.n = w.rowid ORDER BY r.path"
        )


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


def _connect(path: str) -> sqlite3.Connection:
    return sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)


def _version(connection: sqlite3.Connection) -> str | None:
    row = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone()
    if row is None:
        return None
    found = connection.execute("SELECT value FROM meta WHERE name = 'version'").fetchone()
    return str(found[0]) if found else None


def _create(connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN IMMEDIATE")
    if _version(connection) != VERSION:  # another process may have been quicker
        _drop(connection)
        for statement in _SCHEMA.split(";\n"):
            connection.execute(statement)
        connection.execute("INSERT INTO meta VALUES ('version', ?)", (VERSION,))
        # It begins anywhere, so that no generation of an older index of this place is repeated.
        connection.execute("INSERT INTO meta VALUES ('generation', abs(random()) >> 16)")
    connection.execute("COMMIT")


def _drop(connection: sqlite3.Connection) -> None:
    connection.execute("DROP TABLE IF EXISTS words")
    tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    for (name,) in tables:
        if not name.startswith(("sqlite_", "words")):
            connection.execute(f'DROP TABLE IF EXISTS "{name}"')


def _inode(path: str) -> tuple[int, int] | None:
    try:
        info = os.stat(path)
    except OSError:
        return None
    return info.st_dev, info.st_ino


def _sortable(text: str | None) -> str:
    moment = record.instant(text)
    return record.stamp(moment) if moment else ""


def _end(text: str | None) -> str:
    moment = record.end_of(text)
    return record.stamp(moment) if moment else ""


def _searchable(item: Record, body: str) -> str:
    """The text that search covers: the body, and the story and selectors that belong to it."""
    parts = [body]
    if item.episode:
        told = (item.episode.situation, item.episode.action, item.episode.lesson)
        parts += [part for part in told if part]
    parts += [*item.selectors.paths, *item.selectors.tasks, *item.selectors.operations]
    return "\n".join(parts)
