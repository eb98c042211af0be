"""The three-way merge of memories (design, sections 4.1 and 4.2): one rule for everything that
brings two versions together. Pure, and the same whichever side comes first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from memsync import tombstone
from memsync.errors import EditWouldDamage, InvalidRecord
from memsync.frontmatter.codec import encode
from memsync.frontmatter.model import Decoded
from memsync.frontmatter.revise import revise
from memsync.merge.fields import digest, merge_fields, moment, text_hash
from memsync.record import FILE_BYTES, ConflictEntry, Record
from memsync.tombstone import Tombstone

__all__ = ["LEFT", "MERGED", "NOTHING", "Held", "Merged", "Version", "merge", "merge_records"]

#: How the merge driver ends: merged; left to the person. Any other end lets git merge the lines.
MERGED, LEFT = 0, 64


class Version(NamedTuple):
    """The file of a record that can be read. ``commit`` is where Git keeps it, if it does."""

    path: str
    decoded: Decoded
    commit: str | None = None

    @property
    def record(self) -> Record:
        """What the file says."""
        assert self.decoded.record is not None
        return self.decoded.record

    @property
    def content(self) -> bytes:
        """The file itself."""
        return self.decoded.document.raw


class Held(NamedTuple):
    """What one side has of one id: its record, its tombstone, both or none."""

    record: Version | None = None
    tombstone: Tombstone | None = None


class Merged(NamedTuple):
    """What two sides become: a record's file and its path, a tombstone, both absent for nothing."""

    path: str | None
    content: bytes | None
    tombstone: Tombstone | None


#: What a side has that never heard of an id.
NOTHING = Held()


def merge(base: Held, ours: Held, theirs: Held) -> Merged:
    """What one id becomes where two sides have gone on from ``base``.

    A tombstone stays whoever has it, and what it covers is not brought back. A record that one
    side does not have is no deletion. Never raises.
    """
    mark = _tombstone(ours.tombstone, theirs.tombstone)
    living = [s.record for s in (ours, theirs) if s.record and not _is_covered(s.record, mark)]
    if not living:
        return Merged(None, None, mark)
    if len(living) == 1:
        return Merged(living[0].path, living[0].content, mark)
    path, content = merge_records(base.record, *living)
    return Merged(path, content, mark)


def merge_records(base: Version | None, ours: Version, theirs: Version) -> tuple[str, bytes]:
    """The path and the file of one record that two sides have, both of the same id."""
    if ours.record.epoch != theirs.record.epoch:
        higher = max(ours, theirs, key=lambda side: side.record.epoch)
        return higher.path, higher.content
    for side, other in ((ours, theirs), (theirs, ours)):
        if _is_unchanged(base, side):
            return other.path, other.content
    merged = merge_fields(base.record if base else None, ours.record, theirs.record)
    place = _placed(base, ours, theirs)
    merged = replace(
        merged, scope=place.record.scope, project_key=place.record.project_key, id=ours.record.id
    )
    return place.path, _written(merged, ours, theirs)


def _is_unchanged(base: Version | None, side: Version) -> bool:
    return base is not None and (side.path, side.content) == (base.path, base.content)


# --- tombstones ----------------------------------------------------------------------------


def _tombstone(ours: Tombstone | None, theirs: Tombstone | None) -> Tombstone | None:
    """The one that reaches further; of equals, the later."""
    known = [mark for mark in (ours, theirs) if mark is not None]
    return max(known, key=_reach, default=None)


def _reach(mark: Tombstone) -> tuple[bool, int, object, str]:
    return mark.permanent, mark.epoch, moment(mark.forgotten_at), digest(tombstone.encode(mark))


def _is_covered(version: Version, mark: Tombstone | None) -> bool:
    return mark is not None and tombstone.covers(mark, mark.id, version.record.epoch)


# --- the file ------------------------------------------------------------------------------


def _placed(base: Version | None, ours: Version, theirs: Version) -> Version:
    """The side whose path stays: the one that moved; where both did, the later one."""
    if base is not None and ours.path != theirs.path:
        if ours.path == base.path:
            return theirs
        if theirs.path == base.path:
            return ours
    return max((ours, theirs), key=lambda side: (moment(side.record.updated), side.path))


def _written(merged: Record, ours: Version, theirs: Version) -> bytes:
    """The file of the merged record, in the layout of the later side."""
    alike = [side for side in (ours, theirs) if side.record == merged]
    side = max(alike or (ours, theirs), key=_layout)
    if alike:
        return side.content
    content = _revised(side.decoded, merged)
    while len(content) > FILE_BYTES:
        shorter = _shortened(merged, (ours, theirs))
        if shorter is None:
            break
        merged = shorter
        content = _revised(side.decoded, merged)
    return content


def _layout(side: Version) -> tuple[object, bytes]:
    return moment(side.record.updated), side.content


def _revised(decoded: Decoded, merged: Record) -> bytes:
    try:
        return revise(decoded, merged)
    except (EditWouldDamage, InvalidRecord):
        # A layout that takes no edit: the values are what counts.
        return encode(merged)


def _shortened(merged: Record, sides: Sequence[Version]) -> Record | None:
    """The record with its longest conflict text named by hash and commit instead."""
    texts = [entry for entry in merged.conflict if entry.text is not None]
    longest = max(texts, key=lambda entry: (len(entry.text or ""), digest(entry)), default=None)
    if longest is None or longest.text is None:
        return None
    known = [side.commit for side in sides if side.commit and _has(side.record, longest)]
    short = longest._replace(
        text=None, hash=text_hash(longest.text), commit=min(known, default=None)
    )
    return replace(merged, conflict=tuple(short if e is longest else e for e in merged.conflict))


def _has(record: Record, entry: ConflictEntry) -> bool:
    texts = (record.title, record.body, *(e.text for e in record.conflict))
    return entry.text in texts
