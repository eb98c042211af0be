"""What a command changes, decided: each function returns a plan and touches nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from memsync import errors, record
from memsync.errors import Problem, problem_facts, summarise
from memsync.frontmatter.codec import check_limits, encode
from memsync.frontmatter.edits import edit
from memsync.frontmatter.model import Decoded, Writable
from memsync.frontmatter.revise import revise as revised
from memsync.frontmatter.schema import decode
from memsync.index import Mark, Row
from memsync.record import Authority, Evidence, Lifecycle, Record
from memsync.store import layout
from memsync.store.effects import Plan
from memsync.store.handwork import next_stamp, tombstone_for


@dataclass(frozen=True, slots=True)
class Current:
    """A record as it stands: its row, its file, its values."""

    row: Row
    decoded: Decoded
    record: Record


def current(row: Row, raw: bytes) -> Current:
    """Read a record's file. Raises BrokenFile."""
    decoded = decode(raw, row.path, layout.place_of(row.path), row.id)
    if decoded.record is None:
        told = tuple(p for p in decoded.problems if p.level == "error")
        raise errors.BrokenFile(
            path=row.path, summary=summarise(told), problems=problem_facts(told)
        )
    return Current(row, decoded, replace(decoded.record, id=row.id))


def refuse_invalid(item: Record, path: str) -> None:
    """Raise InvalidRecord where a record breaks a limit or could not be read back."""
    told: tuple[Problem, ...] = check_limits(item, path)
    if told:
        raise errors.InvalidRecord(summary=summarise(told), problems=problem_facts(told))


def create(item: Record, path: str, also: dict[str, bytes | None], verb: str) -> Plan:
    """Add a record; ``also`` are files that come with it (a project's own file)."""
    refuse_invalid(item, path)
    return Plan(f"{verb}: {item.title}", {**also, path: encode(item)}, (item.id,))


def revise(now: Current, new: Record, moment: datetime, verb: str, path: str | None = None) -> Plan:
    """Change a record; ``updated`` becomes later than it was.

    ``path`` is where its file goes: another place only when a candidate becomes active.
    """
    new = replace(new, updated=next_stamp(moment, now.record.updated))
    refuse_invalid(new, now.row.path)
    content = revised(now.decoded, new)
    files: dict[str, bytes | None] = {path or now.row.path: content}
    if path is not None and path != now.row.path:
        files[now.row.path] = None
    return Plan(f"{verb}: {new.title}", files, (new.id,))


def correct(
    item: Record, title: str, body: str, moment: datetime, summary: str = "corrected by the user"
) -> Record:
    """The record with another text; what the person corrects becomes their own word."""
    stamp = record.stamp(moment)
    return replace(
        item,
        title=title,
        body=body,
        authority=Authority.EXPLICIT,
        lifecycle=Lifecycle.PROVEN,
        evidence=with_evidence(item, user_evidence(stamp, summary)),
        conflict=tuple(c for c in item.conflict if c.field not in ("body", "title")),
    )


def supersede(now: Current, new: Record, path: str, moment: datetime) -> Plan:
    """Put a new record in the place of an old one, which stays as ``superseded``."""
    old = replace(now.record, lifecycle=Lifecycle.SUPERSEDED, superseded_by=new.id)
    retired = revise(now, old, moment, "correct")
    refuse_invalid(new, path)
    return Plan(f"correct: {new.title}", {**retired.files, path: encode(new)}, (now.row.id, new.id))


def forget(now: Current, moment: datetime, reason: str = "user-forget") -> Plan:
    """Remove a record's file and leave its tombstone."""
    mark = tombstone_for(now.record, reason, moment)
    return Plan(
        f"forget: {now.record.title}",
        {layout.tombstone_file(now.row.id): mark, now.row.path: None},
        (now.row.id,),
    )


def roll_back(now: Current, old: Record, content: bytes, moment: datetime) -> Plan:
    """Put an earlier version's file in place. Its identity and its later ``updated`` stay."""
    keys: dict[str, Writable] = {
        "id": now.row.id,
        "updated": next_stamp(moment, now.record.updated),
        "epoch": now.record.epoch or None,
    }
    written = edit(content, now.row.path, _only_different(old, keys))
    return Plan(f"rollback: {old.title}", {now.row.path: written}, (now.row.id,))


def bring_back(mark: Mark, old: Record, content: bytes, path: str, moment: datetime) -> Plan:
    """Bring a forgotten record back: its epoch rises above its tombstone's."""
    keys: dict[str, Writable] = {
        "id": mark.id,
        "updated": next_stamp(moment, old.updated),
        "epoch": mark.epoch + 1,
    }
    written = edit(content, path, _only_different(old, keys))
    return Plan(f"rollback: {old.title}", {path: written}, (mark.id,))


def _only_different(old: Record, keys: dict[str, Writable]) -> dict[str, Writable]:
    present = {"id": old.id, "updated": old.updated, "epoch": old.epoch or None}
    return {key: value for key, value in keys.items() if present[key] != value}


def resolve(now: Current, take: int | None, text: str | None, moment: datetime) -> Plan:
    """Settle one conflict: keep what stands (0), take an entry (from 1), or a new text."""
    entries = now.record.conflict
    number = take if take is not None else 1
    if not entries or number < 0 or number > len(entries):
        raise errors.NoConflict(id=now.row.id, number=number, count=len(entries))
    left = entries[1:] if number == 0 else (*entries[: number - 1], *entries[number:])
    item = replace(now.record, conflict=left)
    chosen = entries[max(number, 1) - 1]
    value = text if text is not None else chosen.text if number > 0 else None
    if value is not None:
        item = _with_field(item, chosen.field, value)
    elif number > 0:
        raise errors.InvalidValue(
            field="take", value=number, allowed="an entry whose text is in the file"
        )
    return revise(now, item, moment, "resolve")


def _with_field(item: Record, field: str, value: str) -> Record:
    if field == "title":
        return replace(item, title=value)
    if field == "body":
        return replace(item, body=value)
    raise errors.InvalidValue(field="field", value=field, allowed="title or body")


def user_evidence(stamp: str, summary: str) -> Evidence:
    """The evidence that the user's own word is."""
    return Evidence(
        key=f"user:{stamp}", kind="user", summary=summary, success=True, observed_at=stamp
    )


def with_evidence(item: Record, new: Evidence) -> tuple[Evidence, ...]:
    """The evidence with one more item; past the limit the oldest give way."""
    kept = [e for e in item.evidence if e.key != new.key]
    ordered = sorted([*kept, new], key=lambda e: (e.observed_at or "", e.key))
    if len(ordered) <= record.EVIDENCE_ITEMS:
        return (*kept, new)
    newest = {e.key for e in ordered[-record.EVIDENCE_ITEMS :]}
    return tuple(e for e in (*kept, new) if e.key in newest)


def project_file(name: str, aliases: tuple[str, ...]) -> bytes:
    """A new project's own file."""
    from memsync.frontmatter.codec import dump_yaml

    listed = {"aliases": [*aliases]} if aliases else {}
    return dump_yaml({"name": name, **listed})
