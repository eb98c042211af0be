"""Files that are not there, and forgotten ones that are: what a person removed or brought back."""

from __future__ import annotations

import os

from memsync import errors, files, record
from memsync.contract.shared import Why
from memsync.index import Mark
from memsync.record import Record
from memsync.store import layout
from memsync.store.handwork import HandWork, tombstone_for

#: Deletions of this many files, or of this share of all, are taken for an accident.
MANY_DELETIONS = 5
MANY_SHARE = 0.10


# --- forgotten records that came back by hand ------------------------------------------------


def take_marks(work: HandWork) -> None:
    """A tombstone never expires: one that was removed is put back.

    Where its record came back with that, by a `git revert` of the forget, it is remembered again.
    """
    removed = {path: "HEAD" for path, change in work.changes.items() if change.kind == "deleted"}
    if work.seen:
        there = {p: work.seen for p, kind in work.committed.items() if kind == "D"}
        removed = {**there, **removed}
    for path, revision in removed.items():
        if layout.kind_of(path) != "tombstone" or os.path.lexists(work.at(path)):
            continue
        blob = work.repo.blobs_at([path], revision).get(path)
        if blob is None or work.is_blind(path):
            continue
        raw = work.repo.read_blob(blob)
        work.files[path] = raw
        if not _took_back(work, raw, path):
            work.notices.append(Why("tombstone-restored", (path,)))


def _took_back(work: HandWork, raw: bytes, path: str) -> bool:
    from memsync import tombstone

    mark = tombstone.decode(raw, path).tombstone
    if mark is None or mark.permanent:
        return False
    row = work.reader.index.by_id(mark.id)
    if row is None or row.epoch > mark.epoch:
        return False
    brought = row.path in work.changes or work.by_hand.get(row.path) in ("A", "M")
    return brought and _bring_back(work, row.path, mark.id, mark.epoch)


def take_returned(work: HandWork, lying: dict[str, str]) -> None:
    """A tombstoned id that a person's change brings back is a rollback."""
    for path, wanted in lying.items():
        mark = next(iter(work.reader.index.marks("t.id = ?", (wanted,))), None)
        brought = path in work.changes or work.by_hand.get(path) in ("A", "M")
        if mark is None or not brought:
            continue
        if mark.permanent:
            work.notices.append(Why("forgotten-for-good", (path, wanted)))
        elif not _is_half_forgotten(work, mark):
            _bring_back(work, path, wanted, mark.epoch)


def _bring_back(work: HandWork, path: str, wanted: str, epoch: int) -> bool:
    """Raise a record's epoch above its tombstone's; False where its file cannot be edited."""
    from memsync.frontmatter.edits import edit

    raw = files.read_if_there(work.at(path), record.FILE_BYTES + 1)
    if raw is None:
        return False
    try:
        content = edit(raw, path, {"epoch": epoch + 1, "updated": record.stamp(work.now)})
    except (errors.EditWouldDamage, errors.BrokenFile, errors.InvalidRecord):
        return False
    work.files[path] = content
    work.ids.append(wanted)
    work.back.append(path)
    return True


def _is_half_forgotten(work: HandWork, mark: Mark) -> bool:
    """Whether the tombstone itself is the newer, uncommitted fact: then the forget is finished."""
    return mark.path in work.changes


# --- deletions -----------------------------------------------------------------------------


def take_deletions(work: HandWork, accept_missing: bool) -> tuple[str, ...]:
    """Forget the records whose files the person removed, behind the guards.

    Returns the paths about which the person has to be asked.
    """
    lost = lost_records(work)
    if not lost:
        return ()
    if not _may_forget(work, len(lost), accept_missing):
        work.notices.append(Why("too-many-deletions", (str(len(lost)),)))
        for path in lost:
            work.files.pop(path, None)
        return tuple(sorted(lost))
    for path, gone in sorted(lost.items()):
        work.files[layout.tombstone_file(gone.id)] = tombstone_for(gone, "file-deleted", work.now)
        if path in work.changes:
            work.files[path] = None
        work.gone.append(gone.title)
        work.ids.append(gone.id)
    return ()


def _may_forget(work: HandWork, count: int, accept_missing: bool) -> bool:
    if not os.path.isfile(work.at(layout.SETTINGS)) or work.repo.is_sparse():
        return False
    return accept_missing or not is_too_many(count, work.reader.index.count() + count)


def is_too_many(count: int, total: int) -> bool:
    """Whether so many missing files of ``total`` are taken for an accident (design, 3.2)."""
    return count > max(MANY_DELETIONS, int(total * MANY_SHARE))


def lost_records(work: HandWork) -> dict[str, Record]:
    """path -> record of what HEAD (or what was seen last) had and no file states any more."""
    from memsync.frontmatter.schema import decode

    lost: dict[str, Record] = {}
    here = [p for p, c in work.changes.items() if c.kind == "deleted"]
    there = [p for p, letter in work.by_hand.items() if letter == "D"]
    for paths, revision in ((here, "HEAD"), (there, work.seen or "HEAD")):
        blobs = work.repo.blobs_at([p for p in paths if layout.is_record(p)], revision)
        contents = dict(work.repo.read_blobs(blobs.values()))
        for path, blob in blobs.items():
            if os.path.lexists(work.at(path)) or work.is_blind(path):
                continue
            provisional = record.provisional_id(path, blob)
            found = decode(contents[blob], path, layout.place_of(path), provisional).record
            if found is None:
                work.files[path] = None  # it was broken in Git already; nothing is forgotten
            elif _is_known(work, found):
                if path in work.changes:
                    work.files[path] = None  # moved, or its forget is on record
            else:
                lost[path] = found
    return lost


def _is_known(work: HandWork, found: Record) -> bool:
    """Whether a record lives under another path, or its forget is on record."""
    index = work.reader.index
    marks = "t.id = ? AND (t.permanent OR t.epoch >= ?)"
    return bool(index.by_id(found.id) or index.marks(marks, (found.id, found.epoch)))


def missing_files(work: HandWork) -> dict[str, bytes]:
    """path -> content of all that a person removed and did not forget, as Git last had it."""
    revisions = {path: "HEAD" for path, c in work.changes.items() if c.kind == "deleted"}
    for path in lost_records(work):
        revisions.setdefault(path, work.seen or "HEAD")
    found: dict[str, bytes] = {}
    for path, revision in revisions.items():
        blob = work.repo.blobs_at([path], revision).get(path)
        if blob is not None and not work.is_blind(path):
            found[path] = work.repo.read_blob(blob)
    return found
