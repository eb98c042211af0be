"""Writing what files say into the tables of the index."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

from memsync import record, tokens
from memsync.contract.codec import to_json
from memsync.index.rows import Facts, scope_word
from memsync.record import Record, Scope

SUMMARY_CHARACTERS = 160


def forget_paths(db: sqlite3.Connection, paths: Sequence[str]) -> None:
    """Take out all that the index says of these paths."""
    known = {path for (path,) in db.execute("SELECT path FROM files")}
    listed = [(path,) for path in paths if path in known]
    if not listed:
        return
    for table, number in (("words", "rowid"), ("wholes", "n")):
        db.executemany(
            f"DELETE FROM {table} WHERE {number} = (SELECT n FROM records WHERE path = ?)",  # noqa: S608
            listed,
        )
    for table in ("files", "records", "tombstones", "projects"):
        db.executemany(f"DELETE FROM {table} WHERE path = ?", listed)  # noqa: S608


def insert(db: sqlite3.Connection, facts: Facts) -> None:
    """Put in what one file says; nothing is there of its path."""
    problems = None
    if facts.problems:
        problems = json.dumps(
            [(p.code, p.path, p.line, p.message, p.remedy, p.level) for p in facts.problems],
            ensure_ascii=False,
        )
    db.execute(
        "INSERT INTO files VALUES (?, ?, ?, ?, ?, ?)",
        (facts.path, facts.kind, facts.blob, facts.stated, facts.id, problems),
    )
    if facts.mark is not None:
        db.execute(
            "INSERT OR REPLACE INTO tombstones VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            facts.mark,
        )
    if facts.project is not None:
        db.execute(
            "INSERT OR REPLACE INTO projects VALUES (?, ?, ?)",
            (facts.id, facts.path, json.dumps(facts.project, ensure_ascii=False)),
        )
    if facts.record is not None:
        _insert_record(db, facts, facts.record)


def _insert_record(db: sqlite3.Connection, facts: Facts, item: Record) -> None:
    whole = to_json(item)
    body = whole.pop("body", "")
    selectors = whole.get("selectors") or None
    used = item.application
    cursor = db.execute(
        f"INSERT INTO records VALUES ({', '.join('?' * 27)})",  # noqa: S608
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
        ),
    )
    # Apart from what a task looks at, which so lies close together.
    db.execute(
        "INSERT INTO wholes VALUES (?, ?)",
        (cursor.lastrowid, json.dumps(whole, ensure_ascii=False)),
    )
    db.execute(
        "INSERT INTO words (rowid, title, body, tags, category, scope) VALUES (?, ?, ?, ?, ?, ?)",
        (
            cursor.lastrowid,
            tokens.index_text(item.title),
            tokens.index_text(_searchable(item, body)),
            tokens.index_text(" ".join(item.tags)),
            tokens.index_text(item.category or ""),
            scope_word(item.scope.value, item.project_key),
        ),
    )


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
