"""A record written out: as a new file, as front matter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from memsync.errors import InvalidRecord, Problem, problem_facts, summarise
from memsync.frontmatter.document import parse, text_problems
from memsync.frontmatter.emit import mapping, strict
from memsync.frontmatter.model import Writable
from memsync.frontmatter.schema import (
    APPLICATION,
    CONFLICT,
    EPISODE,
    EVIDENCE,
    RECORD,
    SELECTORS,
    SOURCE,
    Checker,
    Table,
    tell_limits,
)
from memsync.record import canonical_body

if TYPE_CHECKING:
    from memsync.record import Record

#: Keys of the record's own mapping whose value is again one, or a list of them.
_NESTED: dict[str, Table] = {
    "selectors": SELECTORS,
    "evidence": EVIDENCE,
    "source": SOURCE,
    "episode": EPISODE,
    "application": APPLICATION,
    "conflict": CONFLICT,
}
#: Values that an absent key stands for.
_SILENT: dict[str, object] = {"epoch": 0, "paused": False}


def encode(record: Record) -> bytes:
    """A new file for a record. The body ends with one line break.

    Raises InvalidRecord when the file would not be read back as this record.
    """
    return dump_document(front_matter_of(record), record.body)


def dump_document(front: Mapping[str, Writable], body: str) -> bytes:
    """A new file with a front matter. Raises InvalidRecord when it could not be read back."""
    text = canonical_body(body)
    lines = ["---", *mapping(front), "---", *([text] if text else ()), ""]
    raw = "\n".join(lines).encode("utf-8", "surrogatepass")
    document = parse(raw, "")
    if document.broken:
        raise _invalid(tuple(p for p in document.problems if p.level == "error"))
    if document.data != strict(front) or canonical_body(document.body) != text:
        raise InvalidRecord(summary="its values do not survive being written", problems=[])
    return raw


def dump_yaml(values: Mapping[str, Writable]) -> bytes:
    """A new YAML file."""
    return "".join(line + "\n" for line in mapping(values)).encode()


def front_matter_of(record: Record) -> dict[str, Writable]:
    """The mapping that ``encode`` writes: the keys that say something, in their order."""
    written = _written(record, RECORD)
    for key, silent in _SILENT.items():
        if written.get(key) == silent:
            del written[key]
    return written


def changes_between(old: Record, new: Record) -> dict[str, Writable]:
    """The top-level keys to give to ``edit`` so that ``old`` becomes ``new``.

    A key that disappears is None. The body is not among them.
    """
    before, after = front_matter_of(old), front_matter_of(new)
    changed = {key: value for key, value in after.items() if before.get(key) != value}
    return changed | {key: None for key in before if key not in after}


def check_limits(record: Record, path: str) -> tuple[Problem, ...]:
    """Why a record must not be written: limits, and texts that could not be read back."""
    check = Checker(path)
    tell_limits(check, record, "error")
    check.problems += text_problems(record.body, 0, path)
    check.problems += text_problems(record.title, 0, path)
    return tuple(check.problems)


def _written(part: Any, table: Table) -> dict[str, Writable]:
    """The keys of one part that say something, then its unknown keys."""
    written: dict[str, Writable] = {}
    for key, (attribute, _reader) in table.items():
        value = getattr(part, attribute)
        if value is None or value == ():
            continue
        nested = _NESTED.get(key) if table is RECORD else None
        if nested is None:
            written[key] = _plain(value)
        elif type(value) is tuple:
            written[key] = [_written(item, nested) for item in value]
        elif written_part := _written(value, nested):
            written[key] = written_part
        elif key != "selectors":
            written[key] = {}
    extra = getattr(part, "extra", None)
    for key, value in (extra or {}).items():
        if key not in table:
            written[key] = cast("Writable", value)
    return written


def _plain(value: Any) -> Writable:
    """A value without the types of this program."""
    if isinstance(value, tuple):
        return list(value)
    return str(value) if isinstance(value, str) else cast("Writable", value)


def _invalid(problems: tuple[Problem, ...]) -> InvalidRecord:
    return InvalidRecord(summary=summarise(problems), problems=problem_facts(problems))
