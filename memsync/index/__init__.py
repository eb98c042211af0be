"""The index: what the files say, in SQLite, so that a read need not open ten thousand files.

It is derived. It may be deleted, damaged or of another version at any moment; then it starts
empty and the next scan fills it again.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from memsync import errors, record
from memsync.errors import Problem
from memsync.index import filling, tables
from memsync.index.rows import Brief, Facts, Mark, Row, Update, scope_word
from memsync.index.tables import discard, telling_damage

__all__ = [
    "Brief",
    "Damaged",
    "Facts",
    "Index",
    "Mark",
    "Row",
    "Update",
    "discard",
    "scope_word",
    "telling_damage",
]

#: How much of the file SQLite keeps in memory: as much as filling it at 10,000 records touches.
CACHE_KIB = 32_768
#: What reading a damaged index raises.
Damaged = sqlite3.DatabaseError

# A record whose tombstone reaches its epoch is forgotten, whatever file lies about.
_LIVING = """NOT EXISTS (SELECT 1 FROM tombstones t WHERE t.id = r.id
  AND (t.permanent OR t.epoch >= r.epoch))"""

_COLUMNS = (
    "n, path, id, blob, scope, project, title, type, class, category, authority, lifecycle, "
    "epoch, paused, conflict, supported, valid_from, valid_until, selectors, updated, outcome, "
    "outcome_at, provisional, body_at, length, summary"
)


class Index:
    """An open index. Not for several threads."""

    def __init__(self, path: str, connection: sqlite3.Connection, writable: bool) -> None:
        self.path = path
        self.writable = writable
        self._db = connection
        self._inode = tables.inode(path)

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
                raise errors.IndexBusy(seconds=tables.PATIENCE) from error
            return cls._open_readonly(path)

    @classmethod
    def _open_writable(cls, path: str) -> Index:
        for attempt in (1, 2):
            cut_off = tables.is_cut_off(path)
            connection = tables.connect(path, tables.BRIEFLY if cut_off else tables.PATIENCE)
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA synchronous = NORMAL")
                connection.execute("PRAGMA secure_delete = ON")
                connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
                if tables.version(connection) != tables.VERSION:
                    tables.create(connection)
                connection.execute(f"PRAGMA busy_timeout = {tables.PATIENCE * 1000:.0f}")
                return cls(path, connection, writable=True)
            except sqlite3.OperationalError as error:
                connection.close()
                if attempt == 2 or not cut_off or "locked" not in str(error):
                    raise
                discard(path)  # who still has it open will notice
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
                if tables.version(connection) == tables.VERSION:
                    return cls(path, connection, writable=False)
        return cls.in_memory()

    @classmethod
    def in_memory(cls) -> Index:
        """An empty index that lives as long as its process."""
        connection = sqlite3.connect(":memory:", isolation_level=None)
        tables.create(connection)
        return cls(":memory:", connection, writable=True)

    def close(self) -> None:
        """Close the database."""
        self._db.close()

    def is_current(self) -> bool:
        """Whether the file that was opened is still the one at its path."""
        return self.path == ":memory:" or tables.inode(self.path) == self._inode

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

    def is_blank(self) -> bool:
        """Whether no file is known yet."""
        return self._db.execute("SELECT 1 FROM files LIMIT 1").fetchone() is None

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
                filling.forget_paths(self._db, [*update.gone, *(f.path for f in update.facts)])
                for facts in update.facts:
                    filling.insert(self._db, facts)
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
            tables.drop(self._db)
            self._db.execute("COMMIT")
            tables.create(self._db)
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
            raise errors.IndexBusy(seconds=tables.PATIENCE)

    def _refusal(self, error: sqlite3.OperationalError) -> errors.MemsyncError:
        if "full" in str(error):
            return errors.DiskFull(path=self.path)
        return errors.IndexBusy(seconds=tables.PATIENCE)

    def _bump(self) -> None:
        self._db.execute(
            "INSERT INTO meta VALUES ('generation', '1') "
            "ON CONFLICT (name) DO UPDATE SET value = value + 1"
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

    def in_scope(self, projects: Sequence[str]) -> list[Brief]:
        """The living records that are global or belong to one of these projects."""
        marks = ", ".join("?" * len(projects))
        found = self._db.execute(
            f"SELECT {', '.join(Brief._fields)} FROM records r WHERE {_LIVING} "  # noqa: S608
            f"AND (r.project IS NULL OR r.project IN ({marks}))",
            tuple(projects),
        )
        return [Brief._make(row) for row in found]

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
            query = f"SELECT n, json FROM wholes WHERE n IN ({marks})"  # noqa: S608
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
        columns = _COLUMNS.removeprefix("n, ")
        yield from self._db.execute(
            f"SELECT {columns}, json FROM records NATURAL JOIN wholes ORDER BY path"  # noqa: S608
        )
        yield from self._db.execute("SELECT * FROM tombstones ORDER BY id")
        yield from self._db.execute("SELECT * FROM projects ORDER BY key")
        yield from self._db.execute(
            "SELECT r.path, w.* FROM words w JOIN records r ON r.n = w.rowid ORDER BY r.path"
        )
