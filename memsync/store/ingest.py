"""Taking in what the person did by hand: edits, new files, moves, copies, deletions, commits.

``decide_ingest`` only decides. The machine adds identity keys and stamps ``updated``; every other
byte of the person's file stays.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from memsync import errors, files, record
from memsync.contract.results import Why
from memsync.gitrepo import SEEN, Change, MemoryRepo
from memsync.index import Mark, Row
from memsync.record import Authority, Lifecycle, Record, Scope
from memsync.store import layout
from memsync.store.effects import Plan
from memsync.store.reading import Reader

if TYPE_CHECKING:
    from memsync.frontmatter.model import Value, Writable

#: Deletions of this many files, or of this share of all, are taken for an accident.
MANY_DELETIONS = 5
MANY_SHARE = 0.10


@dataclass(slots=True)
class Ingest:
    """What is to be taken in: the plan, what the person should be told, what is put off."""

    plan: Plan | None = None
    see: str | None = None
    paths: tuple[str, ...] = ()
    notices: list[Why] = field(default_factory=list)
    missing: tuple[str, ...] = ()


@dataclass(slots=True)
class _Work:
    """A decision in the making."""

    reader: Reader
    repo: MemoryRepo
    now: datetime
    files: dict[str, bytes | None] = field(default_factory=dict)
    notices: list[Why] = field(default_factory=list)
    edited: list[str] = field(default_factory=list)
    added: list[str] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    back: list[str] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)


def decide_ingest(
    reader: Reader, repo: MemoryRepo, now: datetime, accept_missing: bool = False
) -> Ingest:
    """What a write has to take in first. The reader is fresh and the lock is held."""
    head = repo.resolve("HEAD")
    changes = {c.path: c for c in repo.changes(layout.COMMITTED) if _is_ours(c.path)}
    seen = repo.resolve(SEEN) if head else None
    committed: dict[str, str] = {}
    if head and seen and seen != head:
        committed = repo.changed_between(seen, head, layout.TOPS)
    unnamed = [row.path for row in reader.index.rows("r.provisional = 1")]
    lying = dict(reader.index.forgotten_paths())
    if not changes and not committed and not unnamed and not lying:
        return Ingest(see=head if head != seen else None)
    work = _Work(reader, repo, now)
    _take_records(work, changes, sorted({*changes, *unnamed}))
    _take_returned(work, changes, lying, committed)
    missing = _take_deletions(work, changes, committed, seen, accept_missing)
    _take_others(work, changes)
    return _finished(work, missing, head if head != seen else None)


def _is_ours(path: str) -> bool:
    return layout.kind_of(path) is not None or path in layout.COMPANIONS


def _finished(work: _Work, missing: tuple[str, ...], see: str | None) -> Ingest:
    if not work.files:
        return Ingest(see=see, notices=work.notices, missing=missing)
    plan = Plan(_message(work), work.files, tuple(dict.fromkeys(work.ids)))
    return Ingest(plan, see, tuple(work.files), work.notices, missing)


def _message(work: _Work) -> str:
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


def _take_records(work: _Work, changes: dict[str, Change], paths: list[str]) -> None:
    """Complete and collect the changed record files that can be read."""
    heads = work.repo.blobs_at(paths)
    before = dict(work.repo.read_blobs(heads.values()))
    dead = {path for path, _ in work.reader.index.forgotten_paths()}
    for path in paths:
        change = changes.get(path)
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


def _take_one(work: _Work, row: Row, raw: bytes, base: bytes | None, is_new: bool) -> None:
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
    work.files[row.path] = content
    work.ids.append(row.id)
    (work.edited if old else work.added).append(decoded.record.title)


def _base_record(work: _Work, row: Row, base: bytes | None) -> Record | None:
    """The record as HEAD has it, at this path or, after a move, at the path it left."""
    from memsync.frontmatter.schema import decode

    if base is not None:
        return decode(base, row.path, layout.place_of(row.path), row.id).record
    return _moved_from(work, row)


def _moved_from(work: _Work, row: Row) -> Record | None:
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
    work: _Work, row: Row, now_record: Record, data: Mapping[str, Value], old: Record | None
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


def next_stamp(now: datetime, base: str | None) -> str:
    """A stamp later than ``base``, whatever the clock says (design, 4.4)."""
    before = record.instant(base)
    later = max(now, before + timedelta(seconds=1)) if before else now
    return record.stamp(later)


# --- forgotten records that came back by hand ------------------------------------------------


def _take_returned(
    work: _Work, changes: dict[str, Change], lying: dict[str, str], committed: dict[str, str]
) -> None:
    """A tombstoned id that a person's change brings back is a rollback."""
    from memsync.frontmatter.edits import edit

    for path, wanted in lying.items():
        mark = next(iter(work.reader.index.marks("t.id = ?", (wanted,))), None)
        brought = path in changes or committed.get(path) in ("A", "M")
        if mark is None or not brought:
            continue
        if mark.permanent:
            work.notices.append(Why("forgotten-for-good", (path, wanted)))
            continue
        raw = files.read_if_there(os.path.join(work.reader.home, path), record.FILE_BYTES + 1)
        if raw is None or _is_half_forgotten(mark, changes):
            continue
        try:
            content = edit(raw, path, {"epoch": mark.epoch + 1, "updated": record.stamp(work.now)})
        except (errors.EditWouldDamage, errors.BrokenFile, errors.InvalidRecord):
            continue
        work.files[path] = content
        work.ids.append(wanted)
        work.back.append(path)


def _is_half_forgotten(mark: Mark, changes: dict[str, Change]) -> bool:
    """Whether the tombstone itself is the newer, uncommitted fact: then the forget is finished."""
    return mark.path in changes


# --- deletions -----------------------------------------------------------------------------


def _take_deletions(
    work: _Work,
    changes: dict[str, Change],
    committed: dict[str, str],
    seen: str | None,
    accept_missing: bool,
) -> tuple[str, ...]:
    """Forget the records whose files the person removed, behind the guards."""
    lost = _lost_records(work, changes, committed, seen)
    if not lost:
        return ()
    if not _may_forget(work, len(lost), accept_missing):
        work.notices.append(Why("too-many-deletions", (str(len(lost)),)))
        for path in lost:
            work.files.pop(path, None)
        return tuple(sorted(lost))
    for path, gone in sorted(lost.items()):
        mark_path = layout.tombstone_file(gone.id)
        work.files[mark_path] = tombstone_for(gone, "file-deleted", work.now)
        if path in changes:
            work.files[path] = None
        work.gone.append(gone.title)
        work.ids.append(gone.id)
    return ()


def _may_forget(work: _Work, count: int, accept_missing: bool) -> bool:
    if not os.path.isfile(os.path.join(work.reader.home, layout.SETTINGS)):
        return False
    if work.repo.is_sparse():
        return False
    return accept_missing or not is_too_many(count, work.reader.index.count() + count)


def is_too_many(count: int, total: int) -> bool:
    """Whether so many missing files of ``total`` are taken for an accident (design, 3.2)."""
    return count > max(MANY_DELETIONS, int(total * MANY_SHARE))


def _lost_records(
    work: _Work, changes: dict[str, Change], committed: dict[str, str], seen: str | None
) -> dict[str, Record]:
    """path -> record of what HEAD (or what was seen last) had and no file states any more."""
    from memsync.frontmatter.schema import decode

    lost: dict[str, Record] = {}
    here = [p for p, c in changes.items() if c.kind == "deleted"]
    there = [p for p, letter in committed.items() if letter == "D"]
    for paths, revision in ((here, "HEAD"), (there, seen or "HEAD")):
        blobs = work.repo.blobs_at([p for p in paths if layout.is_record(p)], revision)
        contents = dict(work.repo.read_blobs(blobs.values()))
        for path, blob in blobs.items():
            if os.path.lexists(os.path.join(work.reader.home, path)) or _is_blind(work, path):
                continue
            provisional = record.provisional_id(path, blob)
            found = decode(contents[blob], path, layout.place_of(path), provisional).record
            if found is None:
                work.files[path] = None  # it was broken in Git already; nothing is forgotten
            elif work.reader.index.by_id(found.id) or work.reader.index.marks(
                "t.id = ? AND (t.permanent OR t.epoch >= ?)", (found.id, found.epoch)
            ):
                if path in changes:
                    work.files[path] = None  # moved, or its forget is on record
            else:
                lost[path] = found
    return lost


def _is_blind(work: _Work, path: str) -> bool:
    """Whether the folder could not be looked into, so that absence means nothing."""
    return any(path.startswith(folder + "/") for folder in work.reader.seen.unreadable)


def tombstone_for(gone: Record, reason: str, now: datetime) -> bytes:
    """The tombstone of a record that is forgotten now, as a file."""
    from memsync.tombstone import ForgetReason, Tombstone, encode, text_hash

    return encode(
        Tombstone(
            id=gone.id,
            scope=gone.scope,
            project_key=gone.project_key if gone.scope is Scope.PROJECT else None,
            epoch=gone.epoch,
            forgotten_at=record.stamp(now),
            reason=ForgetReason(reason),
            candidate_key=gone.candidate_key,
            text_hash=text_hash(gone.title, gone.body),
        )
    )


# --- all other files -----------------------------------------------------------------------


def _take_others(work: _Work, changes: dict[str, Change]) -> None:
    """Project files, settings, tombstones and companions that can be read."""
    broken = {p.path for p in work.reader.index.problems() if p.level == "error"}
    for path, change in changes.items():
        kind = layout.kind_of(path)
        if kind in ("record", "candidate") or path in work.files:
            continue
        if kind == "tombstone" and change.kind == "deleted":
            head = work.repo.blobs_at([path])
            if path in head:  # a tombstone never expires: it is put back
                work.files[path] = work.repo.read_blob(head[path])
                work.notices.append(Why("tombstone-restored", (path,)))
            continue
        if path in broken or (kind == "settings" and change.kind == "deleted"):
            continue
        full = os.path.join(work.reader.home, path)
        if change.kind == "deleted":
            work.files[path] = None
        elif os.path.isfile(full) and not os.path.islink(full):
            content = files.read(full, record.FILE_BYTES + 1)
            if len(content) <= record.FILE_BYTES:
                work.files[path] = content
