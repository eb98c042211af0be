"""The field rules of a merge (design, section 4.2): what two changed records become. Pure.

Every rule is the same from both sides. Where both changed a value and one must win, it is that of
the record with the later ``updated``, and of the larger hash where that does not decide.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, NamedTuple, TypeVar

from memsync import record
from memsync.frontmatter.codec import front_matter_of
from memsync.merge.lines import merge_lines
from memsync.record import (
    BODY_BYTES,
    EVIDENCE_ITEMS,
    SELECTOR_ENTRIES,
    Application,
    Authority,
    ConflictEntry,
    Evidence,
    Lifecycle,
    Record,
    Selectors,
)

T = TypeVar("T")

#: Values of which one wins whole. Scope and project go with the path; ``title`` has a rule more.
SCALARS = (
    *("memory_type", "memory_class", "category", "language", "candidate_key", "superseded_by"),
    *("valid_from", "valid_until", "source", "episode", "reason", "paused"),
)
#: Values that are sets: what one side took away or added is taken away or added.
SETS = ("tags", "supersedes", "allow")

_NEVER = datetime.min.replace(tzinfo=UTC)
_RANK = (Lifecycle.TRIAL, Lifecycle.PROVEN, Lifecycle.SUPERSEDED)


class Sides(NamedTuple):
    """The records of a merge; the ``later`` one was updated later. ``base`` is what both knew.

    Where they knew nothing, ``base`` says nothing, so that silence never wins over a word.
    ``decided`` says whether the times tell which is the later one.
    """

    base: Record
    later: Record
    earlier: Record
    decided: bool

    @classmethod
    def of(cls, base: Record, ours: Record, theirs: Record) -> Sides:
        """Order two sides, the same whichever comes first."""
        times = moment(ours.updated), moment(theirs.updated)
        if times[0] != times[1]:
            pair = (ours, theirs) if times[0] > times[1] else (theirs, ours)
        else:
            pair = (ours, theirs) if digest(ours) >= digest(theirs) else (theirs, ours)
        return cls(base, *pair, times[0] != times[1])

    def chosen(self, read: Callable[[Record], T]) -> T:
        """The value of the side that changed it; of the winning side, where both did."""
        later, earlier = read(self.later), read(self.earlier)
        if later == earlier:
            return later
        known = read(self.base)
        if earlier == known:
            return later
        if later == known:
            return earlier
        if self.decided:
            return later
        # The record's hash cannot decide: what both become would have another one.
        return max((later, earlier), key=digest)


def merge_fields(base: Record | None, ours: Record, theirs: Record) -> Record:
    """What two records of one id and one epoch become, in all but their place.

    A text that both changed and that one of them loses is kept under ``conflict``.
    """
    sides = Sides.of(base or Record(ours.id, ""), ours, theirs)
    found: dict[str, Any] = {name: sides.chosen(_reader(name)) for name in SCALARS}
    found |= {name: _set_of(sides, _reader(name)) for name in SETS}
    lost: list[ConflictEntry] = []
    found["title"] = _title(sides, lost)
    found["body"] = _body(sides, lost)
    found["selectors"] = _selectors(sides, lost)
    found["conflict"] = _with_lost(_set_of(sides, lambda r: r.conflict), lost)
    found["authority"] = _authority(sides)
    found["lifecycle"] = _lifecycle(base, ours, theirs)
    found["evidence"] = _evidence(sides)
    found["application"] = _application(sides)
    found["created"] = _earliest(sides)
    found["updated"] = _latest(sides)
    found["extra"] = _extra(sides)
    return replace(sides.later, **found)


# --- one wins ------------------------------------------------------------------------------


def moment(text: str | None) -> datetime:
    """A time to compare by; what has none was before everything."""
    return record.instant(text) or _NEVER


def digest(value: object) -> str:
    """What decides between two values that nothing else tells apart."""
    if isinstance(value, Record):
        value = (front_matter_of(value), value.body)
    import hashlib  # ties are rare

    return hashlib.sha256(json.dumps(value, sort_keys=True, default=_plain).encode()).hexdigest()


def _plain(value: object) -> object:
    return dict(value) if isinstance(value, Mapping) else str(value)


def _reader(name: str) -> Callable[[Record], Any]:
    return lambda item: getattr(item, name)


def _earliest(sides: Sides) -> str | None:
    known = [text for text in (sides.later.created, sides.earlier.created) if text]
    return min(known, key=lambda text: (moment(text), text), default=None)


def _latest(sides: Sides) -> str | None:
    known = [text for text in (sides.later.updated, sides.earlier.updated) if text]
    return max(known, key=lambda text: (moment(text), text), default=None)


def _authority(sides: Sides) -> Authority:
    explicit = Authority.EXPLICIT in (sides.later.authority, sides.earlier.authority)
    return Authority.EXPLICIT if explicit else Authority.INFERRED


def _lifecycle(base: Record | None, ours: Record, theirs: Record) -> Lifecycle:
    changed = [ours.lifecycle, theirs.lifecycle]
    if base is not None and base.lifecycle in changed:
        changed.remove(base.lifecycle)
    return max(changed, key=_RANK.index)


def _application(sides: Sides) -> Application | None:
    known = [a for a in (sides.later.application, sides.earlier.application) if a]
    if len(known) < 2 or known[0] == known[1]:
        return known[0] if known else None
    return max(known, key=lambda a: (moment(a.at), digest(a)))


def _extra(sides: Sides) -> Mapping[str, object]:
    """Unknown keys, each as a scalar, in the order of the later record."""
    keys = dict.fromkeys((*sides.later.extra, *sides.earlier.extra))
    chosen = {key: sides.chosen(_unknown(key)) for key in keys}
    return {key: value for key, value in chosen.items() if value is not _ABSENT}


def _unknown(key: str) -> Callable[[Record], object]:
    return lambda item: item.extra.get(key, _ABSENT)


class _Absent:
    """No value, which is not the same as an empty one."""

    def __str__(self) -> str:
        return "\0absent"


_ABSENT: Any = _Absent()


# --- sets ----------------------------------------------------------------------------------


def _set_of(sides: Sides, read: Callable[[Record], Sequence[T]]) -> tuple[T, ...]:
    return joined(read(sides.base), read(sides.later), read(sides.earlier), sides.decided)


def joined(
    known: Sequence[T], later: Sequence[T], earlier: Sequence[T], decided: bool
) -> tuple[T, ...]:
    """A three-way set. Its order is that of a side that has it all, else of the later side.

    Where nothing says which side is the later one (not ``decided``), the order does not depend
    on which comes first.
    """
    kept = [item for item in later if item in earlier or item not in known]
    kept += [item for item in earlier if item not in later and item not in known]
    whole = [tuple(side) for side in (later, earlier) if _same(side, kept)]
    if decided:
        return whole[0] if whole else tuple(kept)
    return max(whole, key=digest) if whole else tuple(sorted(kept, key=digest))


def _same(side: Sequence[T], wanted: Sequence[T]) -> bool:
    return len(side) == len(wanted) and all(item in side for item in wanted)


def _selectors(sides: Sides, lost: list[ConflictEntry]) -> Selectors:
    """Each level a set; what passes the limit stays within reach as a conflict."""
    levels = {}
    for level in Selectors._fields:
        every = _set_of(sides, _level(level))
        levels[level] = every[:SELECTOR_ENTRIES]
        if len(every) > SELECTOR_ENTRIES:
            rest = "\n".join(every[SELECTOR_ENTRIES:])
            lost.append(_entry(f"selectors.{level}", rest, sides.earlier))
    return Selectors(**levels)


def _level(name: str) -> Callable[[Record], tuple[str, ...]]:
    return lambda item: tuple(getattr(item.selectors, name))


def _evidence(sides: Sides) -> tuple[Evidence, ...]:
    """All evidence by key; past the limit the newest, by time, then key."""
    later, earlier = sides.later.evidence, sides.earlier.evidence
    found: dict[str, Evidence] = {}
    for item in (*later, *earlier):
        other = found.setdefault(item.key, item)
        if item != other:
            found[item.key] = max(other, item, key=_weight)
    newest = sorted(found.values(), key=_age)
    kept = {item.key for item in newest[-EVIDENCE_ITEMS:]}
    listed = tuple(item for item in found.values() if item.key in kept)
    whole = [side for side in (later, earlier) if _same(side, listed)]
    if sides.decided:
        return whole[0] if whole else listed
    return max(whole, key=digest) if whole else tuple(e for e in newest if e.key in kept)


def _age(item: Evidence) -> tuple[datetime, str]:
    return moment(item.observed_at), item.key


def _weight(item: Evidence) -> tuple[datetime, str]:
    return moment(item.observed_at), digest(item)


# --- texts ---------------------------------------------------------------------------------


def _title(sides: Sides, lost: list[ConflictEntry]) -> str:
    title = sides.chosen(lambda r: r.title)
    _keep_loser(sides, "title", title, lambda r: r.title, lost)
    return title


def _body(sides: Sides, lost: list[ConflictEntry]) -> str:
    """Both changes where they do not meet; else the winner, and the other under ``conflict``."""
    merged = merge_lines(sides.base.body, sides.later.body, sides.earlier.body)
    if merged is not None and len(merged.encode("utf-8", "surrogatepass")) <= BODY_BYTES:
        return merged
    body = sides.chosen(lambda r: r.body)
    _keep_loser(sides, "body", body, lambda r: r.body, lost)
    return body


def _keep_loser(
    sides: Sides,
    name: str,
    won: str,
    read: Callable[[Record], str],
    lost: list[ConflictEntry],
) -> None:
    """Keep the text of the side that changed it and did not win."""
    known = read(sides.base)
    sides_lost = (s for s in (sides.later, sides.earlier) if read(s) not in (won, known))
    lost.extend(_entry(name, read(side), side) for side in sides_lost)


def _entry(name: str, text: str, side: Record) -> ConflictEntry:
    device = side.source.device if side.source else None
    return ConflictEntry(name, text, device, side.updated)


def _with_lost(
    entries: Sequence[ConflictEntry], lost: Iterable[ConflictEntry]
) -> tuple[ConflictEntry, ...]:
    """The entries with new ones; a text that is there already is not kept twice."""
    found = list(entries)
    for entry in lost:
        if not any(_is_kept(entry, known) for known in found):
            found.append(entry)
    return tuple(found)


def _is_kept(entry: ConflictEntry, known: ConflictEntry) -> bool:
    """Whether an entry has the text of a new one, or names it."""
    if known.field != entry.field or entry.text is None:
        return False
    return known.text == entry.text or known.hash == text_hash(entry.text)


def text_hash(text: str) -> str:
    """What names a conflict's text that is too long for the file: its SHA-256, in hex."""
    import hashlib

    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
