"""What a person did since memsync last looked, as Git and the folder tell it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from memsync import errors, files, record
from memsync.contract.shared import Why
from memsync.gitrepo import SEEN, Change, MemoryRepo
from memsync.record import Record, Scope
from memsync.store import layout
from memsync.store.reading import Reader
from memsync.store.scan import blob_of


@dataclass(slots=True)
class HandWork:
    """The differences, and what comes of them while it is decided.

    ``changes`` differ between HEAD and the folder. ``committed`` (path -> A, M, D or T) differ
    between the commit that memsync has taken in and HEAD. ``by_hand`` are those of them that a
    commit made on purpose, which a merge or a reset does not. ``dropped`` are files that stand
    here and that Git's index was told to drop (`git rm --cached`).
    """

    reader: Reader
    repo: MemoryRepo
    now: datetime
    head: str | None
    seen: str | None
    changes: Mapping[str, Change]
    committed: Mapping[str, str]
    by_hand: Mapping[str, str]
    dropped: tuple[str, ...] = ()
    files: dict[str, bytes | None] = field(default_factory=dict)
    notices: list[Why] = field(default_factory=list)
    edited: list[str] = field(default_factory=list)
    added: list[str] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    back: list[str] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)

    def at(self, path: str) -> str:
        """The absolute path of a file of the memory."""
        return os.path.join(self.reader.home, path)

    def is_blind(self, path: str) -> bool:
        """Whether something stands in the way of looking, so that absence means nothing."""
        return any(path == p or path.startswith(p + "/") for p in self.reader.seen.blind)


def gather(reader: Reader, repo: MemoryRepo, now: datetime, read_only: bool = False) -> HandWork:
    """Ask Git what differs. With ``read_only`` it notes nothing in its own index."""
    head = repo.resolve("HEAD")
    differing = repo.changes(layout.COMMITTED, read_only)
    ours = [c for c in differing if _is_ours(c.path)]
    changes = {c.path: c for c in ours if not (c.dropped and _is_as(reader, c))}
    dropped = tuple(c.path for c in ours if c.dropped)
    seen = repo.resolve(SEEN) if head else None
    committed: dict[str, str] = {}
    by_hand: dict[str, str] = {}
    if head and seen and seen != head:
        committed = repo.changed_between(seen, head, layout.TOPS)
        if committed:
            touched = repo.changed_by_commits(seen, head, layout.TOPS)
            by_hand = {p: kind for p, kind in committed.items() if kind in touched.get(p, "")}
    return HandWork(reader, repo, now, head, seen, changes, committed, by_hand, dropped)


def _is_as(reader: Reader, change: Change) -> bool:
    """Whether a file that was dropped from Git's index is as HEAD has it."""
    try:
        content = files.read(os.path.join(reader.home, change.path), record.FILE_BYTES + 1)
    except errors.CannotRead:
        return False
    return blob_of(content) == change.dropped


def _is_ours(path: str) -> bool:
    return layout.kind_of(path) is not None or path in layout.COMPANIONS


def next_stamp(now: datetime, base: str | None) -> str:
    """A stamp later than ``base``, whatever the clock says (design, 4.4)."""
    before = record.instant(base)
    later = max(now, record.later(before, seconds=1)) if before else now
    return record.stamp(later)


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
