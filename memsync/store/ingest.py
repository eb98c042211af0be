"""Taking in what the person did by hand: edits, new files, moves, copies, deletions, commits.

``decide_ingest`` only decides. The machine adds identity keys and stamps ``updated``; every other
byte of the person's file stays.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING

from memsync import errors, files, record
from memsync.contract.shared import Why
from memsync.gitrepo import Change, MemoryRepo
from memsync.index import Row
from memsync.record import Authority, Lifecycle, Record
from memsync.store import layout
from memsync.store.absences import missing_files, take_deletions, take_marks, take_returned
from memsync.store.effects import Plan
from memsync.store.handwork import HandWork, gather, next_stamp
from memsync.store.reading import Reader

if TYPE_CHECKING:
    from memsync.frontmatter.model import Value, Writable


class Missing(StrEnum):
    """What the person said of files that are missing."""

    UNSAID = "unsaid"
    FORGET = "forget"
    RESTORE = "restore"


@dataclass(slots=True)
class Ingest:
    """What is to be taken in: the plan, what the person should be told, what is put off.

    ``see`` is the commit up to which all is taken in, absent where there is something to ask
    about. ``left`` is the commit that was seen last, where it is no part of the history any
    more. ``restorable`` are missing files, where the person wants them back. ``dropped`` are
    files that stand here, to be put back in Git's index.
    """

    plan: Plan | None = None
    see: str | None = None
    left: str | None = None
    paths: tuple[str, ...] = ()
    notices: list[Why] = field(default_factory=list)
    missing: tuple[str, ...] = ()
    restorable: Mapping[str, bytes] = field(default_factory=dict)
    dropped: tuple[str, ...] = ()


def decide_ingest(
    reader: Reader, repo: MemoryRepo, now: datetime, missing: Missing = Missing.UNSAID
) -> Ingest:
    """What a write has to take in first. The reader is fresh and the lock is held."""
    work = gather(reader, repo, now)
    unnamed = [row.path for row in reader.index.rows("r.provisional = 1")]
    lying = dict(reader.index.forgotten_paths())
    see = work.head if work.head != work.seen else None
    if not work.changes and not work.committed and not unnamed and not lying:
        return _finished(work, see)
    _take_records(work, sorted({*work.changes, *unnamed}))
    take_marks(work)
    take_returned(work, lying)
    if missing is Missing.RESTORE:
        restorable = missing_files(work)
        _take_others(work, {p: c for p, c in work.changes.items() if p not in restorable})
        for path in restorable:
            work.files.pop(path, None)
        found = _finished(work, see)
        found.restorable = restorable
        return found
    asked = take_deletions(work, missing is Missing.FORGET)
    _take_others(work, work.changes)
    found = _finished(work, None if asked else see)
    found.missing = asked
    return found


def _finished(work: HandWork, see: str | None) -> Ingest:
    left = None
    if see and work.seen and not work.repo.is_ancestor(work.seen, see):
        left = work.seen
        work.notices.append(Why("history-left", (left[:12],)))
    if work.dropped:
        work.notices.append(Why("put-back-in-index", (errors.listed(work.dropped),)))
    found = Ingest(None, see, left, notices=work.notices, dropped=work.dropped)
    if work.files:
        found.plan = Plan(_message(work), work.files, tuple(dict.fromkeys(work.ids)))
        found.paths = tuple(work.files)
    return found


def _message(work: HandWork) -> str:
    told = [*work.edited, *work.added, *work.back, *work.gone]
    if len(told) == 1:
        what = "forget" if work.gone else "by hand"
        return f"{what}: {told[0]}"
    counted = [
        f"{len(names)} {word}"
        for names, word in (
            (work.edited, "edited"),
            (work.added, "new"),
            (work.back, "brought back"),
            (work.gone, "forgotten"),
        )
        if names
    ]
    if not counted:
        return "by hand: files of the repository"
    return "by hand: " + ", ".join(counted) + "\n\n" + "\n".join(f"- {name}" for name in told[:50])


# --- records that stand in the work tree ---------------------------------------------------


def _take_records(work: HandWork, paths: list[str]) -> None:
    """Complete and collect the changed record files that can be read."""
    heads = work.repo.blobs_at(paths)
    before = dict(work.repo.read_blobs(heads.values()))
    dead = {path for path, _ in work.reader.index.forgotten_paths()}
    for path in paths:
        change = work.changes.get(path)
        if not layout.is_record(path) or path in dead or (change and change.kind == "deleted"):
            continue
        row = work.reader.index.by_path(path)
        if row is None:
            continue  # broken: it stays as it is, and status tells it
        try:
            raw = work.reader.raw(row)
        except errors.MemsyncError:
            continue  # it is being written at this moment; the next command takes it
        blob = heads.get(path)
        base = before.get(blob) if blob else None
        _take_one(work, row, raw, base, is_new=change is not None and change.kind == "added")


def _take_one(work: HandWork, row: Row, raw: bytes, base: bytes | None, is_new: bool) -> None:
    from memsync.frontmatter.edits import edit
    from memsync.frontmatter.schema import decode

    place = layout.place_of(row.path)
    decoded = decode(raw, row.path, place, row.id)
    if decoded.record is None:
        return
    if decoded.document.refused:
        if is_new or base != raw:
            work.files[row.path] = raw  # text that looks like a broken front matter: as it is
            (work.added if is_new else work.edited).append(decoded.record.title)
        return
    old = _base_record(work, row, base)
    changes = _completions(work, row, decoded.record, decoded.document.data, old)
    if not changes and base == raw:
        return
    try:
        content = edit(raw, row.path, changes) if changes else raw
    except errors.EditWouldDamage as error:
        work.notices.append(Why("edit-would-damage", (row.path, str(error.facts.get("keys")))))
        return
    item = decode(content, row.path, place, row.id).record or decoded.record
    path = work.reader.settled_path(row.path, item)
    if path != row.path:
        work.files[row.path] = None
    work.files[path] = content
    work.ids.append(row.id)
    (work.edited if old else work.added).append(decoded.record.title)


def _base_record(work: HandWork, row: Row, base: bytes | None) -> Record | None:
    """The record as HEAD has it, at this path or, after a move, at the path it left."""
    from memsync.frontmatter.schema import decode

    if base is not None:
        return decode(base, row.path, layout.place_of(row.path), row.id).record
    return _moved_from(work, row)


def _moved_from(work: HandWork, row: Row) -> Record | None:
    from memsync.frontmatter.schema import decode

    head = work.repo.resolve("HEAD")
    if head is None or row.provisional:
        return None
    for path, blob in work.repo.paths_with_text(row.id, head, layout.TOPS):
        if layout.is_record(path) and path != row.path:
            raw = work.repo.read_blob(blob)
            found = decode(raw, path, layout.place_of(path), "")
            if found.stated_id == row.id and found.record is not None:
                return found.record
    return None


def _completions(
    work: HandWork, row: Row, now_record: Record, data: Mapping[str, Value], old: Record | None
) -> dict[str, Writable]:
    """The top-level keys that the machine adds or moves along in the person's file."""
    wanted: dict[str, Writable] = {}
    if data.get("id") != row.id:
        wanted["id"] = row.id
    place = layout.place_of(row.path)
    if place.scope is not None:
        if data.get("scope") not in (None, place.scope.value):
            wanted["scope"] = place.scope.value
            work.notices.append(Why("scope-follows-folder", (row.path, place.scope.value)))
        if data.get("projectKey") not in (None, place.project_key):
            wanted["projectKey"] = place.project_key
    said = _said_by_hand(now_record, old)
    if said:
        wanted.update(authority=Authority.EXPLICIT.value, lifecycle=Lifecycle.PROVEN.value)
    stamp = record.stamp(work.now)
    if data.get("created") is None:
        wanted["created"] = (old.created if old else None) or stamp
    if old is None:
        if data.get("updated") is None:
            wanted["updated"] = stamp
    elif _differs(now_record, old):
        wanted["updated"] = next_stamp(work.now, old.updated)
    return wanted


def _said_by_hand(now_record: Record, old: Record | None) -> bool:
    """Whether the person rewrote what the system had inferred: then it is theirs."""
    return (
        old is not None
        and now_record.authority is Authority.INFERRED
        and (now_record.title, now_record.body) != (old.title, old.body)
    )


def _differs(now_record: Record, old: Record) -> bool:
    """Whether anything but the stamp itself and the latest application changed."""
    same = {"updated": None, "application": None}
    return replace(now_record, **same) != replace(old, **same)  # type: ignore[arg-type]


# --- all other files -----------------------------------------------------------------------


def _take_others(work: HandWork, changes: Mapping[str, Change]) -> None:
    """Project files, settings, tombstones and companions that can be read."""
    broken = {p.path for p in work.reader.index.problems() if p.level == "error"}
    for path, change in changes.items():
        kind = layout.kind_of(path)
        if kind in ("record", "candidate") or path in work.files:
            continue
        keeps = kind in ("settings", "tombstone") and change.kind == "deleted"
        if path in broken or keeps:
            continue
        full = os.path.join(work.reader.home, path)
        if change.kind == "deleted":
            work.files[path] = None
        elif os.path.isfile(full) and not os.path.islink(full):
            content = files.read(full, record.FILE_BYTES + 1)
            if len(content) <= record.FILE_BYTES:
                work.files[path] = content
