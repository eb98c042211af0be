"""The file of a record brought to what the record now says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memsync.errors import BrokenFile, EditWouldDamage, problem_facts, summarise
from memsync.frontmatter.codec import changes_between, front_matter_of
from memsync.frontmatter.edits import edit
from memsync.frontmatter.emit import strict
from memsync.frontmatter.model import Place
from memsync.frontmatter.schema import decode
from memsync.record import canonical_body, title_from

if TYPE_CHECKING:
    from memsync.frontmatter.model import Decoded, Writable
    from memsync.record import Record

#: What a file that states it must state rightly: identity, and what its folder decides.
_FOLLOWING = ("scope", "projectKey")


def revise(decoded: Decoded, new: Record) -> bytes:
    """The bytes of the file once it says ``new``; only the keys that change are touched.

    The id is written down where the file states none, scope and project follow where they are
    stated, and a title that the text no longer gives is stated. Raises BrokenFile, InvalidRecord
    and EditWouldDamage as ``edit`` does.
    """
    document, old = decoded.document, decoded.record
    if old is None:
        errors = tuple(p for p in decoded.problems if p.level == "error")
        raise BrokenFile(
            path=document.path, summary=summarise(errors), problems=problem_facts(errors)
        )
    changes = changes_between(old, new) | _following(decoded, new)
    body = canonical_body(new.body)
    if not document.data.get("title") and title_from(body) != new.title:
        changes["title"] = new.title
    written = edit(document.raw, document.path, changes, None if body == old.body else body)
    place = Place(new.scope, new.project_key)
    read = decode(written, document.path, place, new.id).record
    if read is None or front_matter_of(read) != _as_read(new) or read.body != body:
        raise EditWouldDamage(path=document.path, keys=", ".join(changes) or "body")
    return written


def _following(decoded: Decoded, new: Record) -> dict[str, Writable]:
    """The keys that the file must state because of what it stated before, or did not."""
    wanted = front_matter_of(new)
    stated = decoded.document.data
    changes: dict[str, Writable] = {}
    if decoded.stated_id != new.id:
        changes["id"] = new.id
    for key in _FOLLOWING:
        value = wanted.get(key)
        if stated.get(key) is not None and stated[key] != value:
            changes[key] = value
    return changes


def _as_read(record: Record) -> dict[str, Writable]:
    """The front matter of a record as a file gives it back: unknown keys are text."""
    known = front_matter_of(record)
    return {k: strict(v) if k in record.extra else v for k, v in known.items()}
