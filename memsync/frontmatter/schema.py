"""What each key of a record means: front matter and JSON in, a ``Record`` out."""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import StrEnum
from typing import Any, TypeAlias, TypeVar

from memsync.errors import Problem, problem
from memsync.frontmatter.document import parse
from memsync.frontmatter.model import Decoded, Document, Place
from memsync.frontmatter.strict import Way, line_of
from memsync.record import (
    BODY_BYTES,
    EVIDENCE_ITEMS,
    SELECTOR_ENTRIES,
    TITLE_CHARACTERS,
    Application,
    Authority,
    ConflictEntry,
    Episode,
    Evidence,
    Lifecycle,
    MemoryClass,
    MemoryType,
    Outcome,
    Record,
    Scope,
    Selectors,
    Source,
    canonical_body,
    instant,
    is_id,
    title_from,
)

T = TypeVar("T")
_WHOLE = re.compile("[0-9]{1,9}")
_FOLDER = re.compile(r"[^./\\\x00-\x1f\x7f][^/\\\x00-\x1f\x7f]{0,99}")
_ID_FORM = "m- and 16 of the characters 0-9 and a-z without i, l, o, u"
_TIME_FORM = "a date or time such as 2026-11-30 or 2026-11-30T09:12:44Z"
_FLAGS = {"true": True, "false": False}


class Checker:
    """Collects what is wrong with the values of one file or object, each with its line."""

    def __init__(self, path: str, document: Document | None = None) -> None:
        self.path = path
        self.document = document
        self.problems: list[Problem] = []

    def line(self, way: Way) -> int:
        """The line of the file where a value stands; 0 without a file."""
        if self.document is None:
            return 0
        if len(way) == 1:
            return self.document.lines.get(str(way[0]), 1)
        return line_of(self.document.front, self.document.front_line, way)

    def tell(self, code: str, way: Way, level: str = "error", **facts: object) -> None:
        """Note a problem of the value at ``way``."""
        self.problems.append(problem(code, self.path, self.line(way), level, **facts))

    def wrong(self, way: Way, expected: str) -> None:
        """Note a value of the wrong type."""
        self.tell("wrong-type", way, key=name_of(way), expected=expected)

    def invalid(self, way: Way, value: object, allowed: str) -> None:
        """Note a value that is not one of the allowed ones."""
        self.tell("invalid-value", way, key=name_of(way), value=value, allowed=allowed)


def name_of(way: Way) -> str:
    """A way as a person reads it: ``evidence[0].success``."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in way)
    return text.removeprefix(".")


# --- readers: a value of some key -> what the record holds, or None with a problem told -------

Reader: TypeAlias = Callable[[Checker, Way, Any], Any]
Table: TypeAlias = dict[str, tuple[str, Reader]]


def _text(check: Checker, way: Way, value: Any) -> str | None:
    if type(value) is str:
        return value
    check.wrong(way, "a text")
    return None


def _time(check: Checker, way: Way, value: Any) -> str | None:
    if type(value) is not str:
        check.wrong(way, "a text")
        return None
    if instant(value) is None:
        check.invalid(way, value, _TIME_FORM)
    return value


def _id(check: Checker, way: Way, value: Any) -> str | None:
    if type(value) is str and is_id(value):
        return value
    if type(value) is str:
        check.invalid(way, value, _ID_FORM)
    else:
        check.wrong(way, "a text")
    return None


def _whole(check: Checker, way: Way, value: Any) -> int:
    if type(value) is int and value >= 0:
        return value
    if type(value) is str and _WHOLE.fullmatch(value):
        return int(value)
    check.wrong(way, "a whole number")
    return 0


def _flag(check: Checker, way: Way, value: Any) -> bool | None:
    if type(value) is bool:
        return value
    flag = _FLAGS.get(value.lower()) if type(value) is str else None
    if flag is None:
        check.wrong(way, "true or false")
    return flag


def _texts(check: Checker, way: Way, value: Any) -> tuple[str, ...]:
    if type(value) is str:
        return (value,)
    if type(value) is not list:
        check.wrong(way, "a list of texts")
        return ()
    for index, item in enumerate(value):
        if type(item) is not str and item is not None:
            check.wrong((*way, index), "a text")
    return tuple([item for item in value if type(item) is str])


def _one_of(kind: type[StrEnum]) -> Reader:
    members = {member.value: member for member in kind}
    allowed = "one of " + ", ".join(members)

    def reader(check: Checker, way: Way, value: Any) -> StrEnum | None:
        member = members.get(value) if type(value) is str else None
        if member is None:
            if type(value) is str:
                check.invalid(way, value, allowed)
            else:
                check.wrong(way, "a text")
        return member

    return reader


def _fields(check: Checker, way: Way, values: Any, table: Table) -> dict[str, Any]:
    """The attributes that a mapping gives; unknown keys are under ``extra``."""
    found: dict[str, Any] = {}
    extra: dict[str, Any] = {}
    for key, value in values.items():
        known = table.get(key)
        if known is None:
            extra[key] = value
        elif value is not None:
            attribute, reader = known
            item = reader(check, (*way, key), value)
            if item is not None:
                found[attribute] = item
    if extra:
        found["extra"] = extra
    return found


def _part(make: Callable[..., T], table: Table, needed: str = "") -> Reader:
    """A reader of one nested mapping; without its ``needed`` key it says nothing."""

    def reader(check: Checker, way: Way, value: Any) -> T | None:
        if type(value) is not dict:
            check.wrong(way, "a mapping of keys")
            return None
        count = len(check.problems)
        found = _fields(check, way, value, table)
        if needed and needed not in found:
            if len(check.problems) == count:
                check.wrong(way, f"an item with the key `{needed}`")
            return None
        return make(**found)

    return reader


def _parts(reader: Reader) -> Reader:
    """A reader of a list of mappings; a single one is a list of one."""

    def read_all(check: Checker, way: Way, value: Any) -> tuple[Any, ...]:
        if type(value) is dict:
            value = [value]
        if type(value) is not list:
            check.wrong(way, "a list of items with keys")
            return ()
        read = [reader(check, (*way, i), v) for i, v in enumerate(value) if v is not None]
        return tuple([item for item in read if item is not None])

    return read_all


SELECTORS: Table = {k: (k, _texts) for k in ("paths", "tasks", "operations", "phases")}
EVIDENCE: Table = {
    "key": ("key", _text),
    "kind": ("kind", _text),
    "changeId": ("change_id", _text),
    "projectKey": ("project_key", _text),
    "summary": ("summary", _text),
    "success": ("success", _flag),
    "observedAt": ("observed_at", _time),
}
SOURCE: Table = {
    "kind": ("kind", _text),
    "host": ("host", _text),
    "workflow": ("workflow", _text),
    "changeId": ("change_id", _text),
    "device": ("device", _text),
}
EPISODE: Table = {k: (k, _text) for k in ("situation", "action", "outcome", "lesson")}
APPLICATION: Table = {
    "id": ("id", _text),
    "at": ("at", _time),
    "reason": ("reason", _text),
    "outcome": ("outcome", _one_of(Outcome)),
}
CONFLICT: Table = {
    "field": ("field", _text),
    "text": ("text", _text),
    "device": ("device", _text),
    "updated": ("updated", _time),
    "hash": ("hash", _text),
    "commit": ("commit", _text),
}
#: Every key of a record, in the order in which a new file has them.
RECORD: Table = {
    "id": ("id", _id),
    "scope": ("scope", _one_of(Scope)),
    "projectKey": ("project_key", _text),
    "title": ("title", _text),
    "memoryType": ("memory_type", _one_of(MemoryType)),
    "memoryClass": ("memory_class", _one_of(MemoryClass)),
    "category": ("category", _text),
    "tags": ("tags", _texts),
    "language": ("language", _text),
    "authority": ("authority", _one_of(Authority)),
    "lifecycle": ("lifecycle", _one_of(Lifecycle)),
    "paused": ("paused", _flag),
    "epoch": ("epoch", _whole),
    "candidateKey": ("candidate_key", _text),
    "supersedes": ("supersedes", _texts),
    "supersededBy": ("superseded_by", _text),
    "validFrom": ("valid_from", _time),
    "validUntil": ("valid_until", _time),
    "reason": ("reason", _text),
    "allow": ("allow", _texts),
    "selectors": ("selectors", _part(Selectors, SELECTORS)),
    "evidence": ("evidence", _parts(_part(Evidence, EVIDENCE, "key"))),
    "source": ("source", _part(Source, SOURCE)),
    "episode": ("episode", _part(Episode, EPISODE)),
    "application": ("application", _part(Application, APPLICATION, "id")),
    "conflict": ("conflict", _parts(_part(ConflictEntry, CONFLICT, "field"))),
    "created": ("created", _time),
    "updated": ("updated", _time),
}
ORDER = {key: position for position, key in enumerate(RECORD)}


# --- a record ------------------------------------------------------------------------------


def decode(raw: bytes, path: str, place: Place, provisional: str) -> Decoded:
    """Read a file as a record.

    ``place`` is what its folder decides, ``provisional`` the id it has while it states none.
    Never raises on content. Limits are told as notices: they bind writes.
    """
    document = parse(raw, path)
    check = Checker(path, document)
    found = _fields(check, (), document.data, RECORD) if document.data else {}
    stated = found.get("id")
    body = canonical_body(document.body)
    record = None
    if document.complete and not document.broken:
        record = build(check, found, body, place, provisional)
    problems = document.problems
    if check.problems:
        problems = tuple(sorted((*problems, *check.problems), key=lambda p: p.line))
    if any(p.level == "error" for p in problems):
        record = None
    return Decoded(record, problems, stated, document)


def build(
    check: Checker, found: dict[str, Any], body: str, place: Place, provisional: str
) -> Record:
    """The record of the attributes found, completed by the folder, the body and the defaults."""
    found.setdefault("id", provisional)
    if not found.get("title", "").strip():
        found["title"] = title_from(body)
        if not found["title"] and not any(p.code == "wrong-type" for p in check.problems):
            check.tell("text-missing", ("title",))
    if place.scope is not None:
        _settle_place(check, found, place)
    elif found.get("scope") is Scope.PROJECT and "project_key" not in found:
        check.tell("project-missing", ("scope",))
    elif "project_key" in found and not _FOLDER.fullmatch(found["project_key"]):
        check.invalid(("projectKey",), found["project_key"], "the name of one folder")
    record = Record(**found, body=body)
    tell_limits(check, record, "notice")
    return record


def _settle_place(check: Checker, found: dict[str, Any], place: Place) -> None:
    """The folder decides; a front matter that says otherwise is told."""
    scope, key = found.get("scope", place.scope), found.get("project_key", place.project_key)
    if scope is not place.scope or key != place.project_key:
        line_key = "scope" if scope is not place.scope else "projectKey"
        stated = " ".join(filter(None, (str(scope), key)))
        here = " ".join(filter(None, (str(place.scope), place.project_key)))
        check.tell("path-moved", (line_key,), "notice", found=here, stated=stated)
    found["scope"], found["project_key"] = place.scope, place.project_key


def tell_limits(check: Checker, record: Record, level: str) -> None:
    """Tell every limit of the format that a record passes."""
    size = len(record.title)
    if size > TITLE_CHARACTERS:
        check.tell("title-too-long", ("title",), level, size=size, limit=TITLE_CHARACTERS)
    if len(record.body) * 4 > BODY_BYTES:
        size = len(record.body.encode("utf-8", "surrogatepass"))
        if size > BODY_BYTES:
            line = check.document.body_line if check.document else 0
            check.problems.append(
                problem("body-too-long", check.path, line, level, size=size, limit=BODY_BYTES)
            )
    for key in SELECTORS:
        size = len(getattr(record.selectors, key))
        if size > SELECTOR_ENTRIES:
            way = ("selectors", key)
            check.tell(
                "too-many-entries", way, level, key=name_of(way), size=size, limit=SELECTOR_ENTRIES
            )
    size = len(record.evidence)
    if size > EVIDENCE_ITEMS:
        check.tell(
            "too-many-entries",
            ("evidence",),
            level,
            key="evidence",
            size=size,
            limit=EVIDENCE_ITEMS,
        )
