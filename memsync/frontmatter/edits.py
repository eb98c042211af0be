"""Lossless machine edits: only the lines of the keys that change are touched."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from memsync.errors import BrokenFile, EditWouldDamage, InvalidRecord, problem_facts, summarise
from memsync.frontmatter import emit
from memsync.frontmatter.document import parse, parse_yaml
from memsync.frontmatter.schema import ORDER
from memsync.frontmatter.strict import Step, walk
from memsync.record import canonical_body

if TYPE_CHECKING:
    from memsync.frontmatter.model import Document, Value, Writable

_FAULTS_OF_VALUES = frozenset(("file-too-large", "not-text", "conflict-markers"))
_TEXT_HEADER = re.compile(r"[^\n#]*?([ \t]+#[^\r\n]*)?\r?\n")
_COMMA_AFTER = re.compile(r"\s*,[ \t]*")
_COMMA_BEFORE = re.compile(r",\s*\Z")
_COMMENT = re.compile(r"[ \t]+#[^\n]*?(?=\r?(?:\n|\Z))|[ \t]*(?=\r?(?:\n|\Z))")


def edit(raw: bytes, path: str, changes: Mapping[str, Writable], body: str | None = None) -> bytes:
    """The file with some top-level keys and perhaps the body changed, all else byte for byte.

    A value None removes its key. Without ``body`` the body's bytes stay. A file without front
    matter gets one on top. Raises BrokenFile when the file cannot be read, InvalidRecord when the
    result would be broken, and EditWouldDamage when more than was asked for would change.
    """
    document = parse(raw, path)
    _refuse_broken(document)
    if document.refused:
        raise EditWouldDamage(path=path, keys=", ".join(changes) or "body")
    for careful in (False, True):
        written = _rewritten(document, changes, body, careful)
        after = parse(written, path)
        if _is_as_asked(document, after, changes, body):
            return written
    raise _damage(after, document, changes)


def edit_yaml(raw: bytes, path: str, changes: Mapping[str, Writable]) -> bytes:
    """The same for a whole YAML file."""
    document = parse_yaml(raw, path)
    _refuse_broken(document)
    for careful in (False, True):
        written = _bytes_of(_edited(document.front, changes, document, careful), document.bom)
        after = parse_yaml(written, path)
        if _is_as_asked(document, after, changes, None):
            return written
    raise _damage(after, document, changes)


def _rewritten(
    document: Document, changes: Mapping[str, Writable], body: str | None, careful: bool
) -> bytes:
    text = _text_of(document)
    edited = _edited(document.front, changes, document, careful)
    if not document.has_front_matter:
        tail = text if body is None else _new_body(text, body, document.newline)
        fence = "---" + document.newline
        return _bytes_of(fence + edited + fence + tail if edited else tail, document.bom)
    start = text.index("\n") + 1
    rest = text[start + len(document.front) :]
    closing = rest[: rest.find("\n") + 1] or rest
    tail = rest[len(closing) :]
    if body is not None:
        closing = closing if closing.endswith("\n") else closing + document.newline
        tail = _new_body(tail, body, document.newline)
    return _bytes_of(text[:start] + edited + closing + tail, document.bom)


def _refuse_broken(document: Document) -> None:
    errors = tuple(p for p in document.problems if p.level == "error")
    if errors:
        raise BrokenFile(
            path=document.path, summary=summarise(errors), problems=problem_facts(errors)
        )


def _text_of(document: Document) -> str:
    text = document.raw.decode("utf-8")
    return text[1:] if document.bom else text


def _bytes_of(text: str, bom: bool) -> bytes:
    return (("\ufeff" if bom else "") + text).encode("utf-8", "surrogatepass")


def _new_body(old: str, body: str, newline: str) -> str:
    """The body in the file's line breaks, with the empty lines that stood before the old one."""
    text = canonical_body(body)
    if not text:
        return ""
    before = old[: len(old) - len(old.lstrip("\r\n"))] if old.strip() else ""
    return before + text.replace("\n", newline) + newline


def _is_as_asked(
    before: Document, after: Document, changes: Mapping[str, Writable], body: str | None
) -> bool:
    """Whether the result, read back, has what was asked for and nothing else changed."""
    if after.broken or after.refused:
        return False
    wanted: dict[str, Value] = {k: v for k, v in before.data.items() if k not in changes}
    wanted |= {k: emit.strict(v) for k, v in changes.items() if v is not None}
    if body is None:
        return after.data == wanted and after.body == before.body
    return after.data == wanted and canonical_body(after.body) == canonical_body(body)


def _damage(
    after: Document, before: Document, changes: Mapping[str, Writable]
) -> InvalidRecord | EditWouldDamage:
    """The error for a result that is not as asked: the new values' fault, or the layout's."""
    errors = tuple(p for p in after.problems if p.level == "error")
    if errors and all(p.code in _FAULTS_OF_VALUES for p in errors):
        return InvalidRecord(summary=summarise(errors), problems=problem_facts(errors))
    return EditWouldDamage(path=before.path, keys=", ".join(changes) or "body")


# --- the YAML ------------------------------------------------------------------------------


class _Entry(NamedTuple):
    """Where one top-level key stands: spans are offsets into the YAML text."""

    key: str
    key_start: int
    key_end: int
    start: int
    end: int
    kind: str  # "leaf" or "open"
    style: str
    tail_block: bool  # the value ends with a block scalar


class _Outline(NamedTuple):
    entries: dict[str, _Entry]
    flow: tuple[int, int] | None  # the braces of a top-level mapping in flow style


def _outline(text: str) -> _Outline:
    entries: dict[str, _Entry] = {}
    flow: tuple[int, int] | None = None
    key: Step | None = None
    steps: list[Step] = []
    for step in walk(text):
        if not step.way:
            if step.role == "open" and step.style == "flow":
                flow = (step.start, step.end)
            elif step.role == "end" and flow:
                flow = (flow[0], step.start)
        elif step.role == "key" and len(step.way) == 1:
            if key:
                entries[str(key.way[0])] = _entry(key, steps, text)
            key, steps = step, []
        else:
            steps.append(step)
    if key:
        entries[str(key.way[0])] = _entry(key, steps, text)
    return _Outline(entries, flow)


def _entry(key: Step, steps: list[Step], text: str) -> _Entry:
    """Where a key and its value stand: a block collection ends where its last leaf ends."""
    last = next(step for step in reversed(steps) if step.role != "end" or step.start < step.end)
    is_text = last.role == "leaf" and last.style in ("|", ">")
    end = _end_of_text(text, last) if is_text else last.end
    first = steps[0]
    name = str(key.way[0])
    return _Entry(name, key.start, key.end, first.start, end, first.role, first.style, is_text)


def _end_of_text(text: str, step: Step) -> int:
    """Where the text of a block scalar ends: libyaml counts the empty lines below it too."""
    lines = text[step.start : step.end].splitlines(keepends=True)
    keeps = "+" in lines[0].split("#", 1)[0]
    depth = min((len(n) - len(n.lstrip(" ")) for n in lines[1:] if n.strip()), default=0)
    while len(lines) > 1 and not keeps and not lines[-1].strip() and _is_shallow(lines[-1], depth):
        lines.pop()
    return step.start + len("".join(lines).removesuffix("\n").removesuffix("\r"))


def _is_shallow(blank: str, depth: int) -> bool:
    """Whether a line of blanks is no text: it has no more of them than the text's indentation."""
    return len(blank.rstrip("\r\n")) <= depth


def _edited(front: str, changes: Mapping[str, Writable], document: Document, careful: bool) -> str:
    """The YAML with its changes: replaced first, then added, then removed.

    ``careful`` leaves nothing behind that could swallow, or be swallowed by, its neighbours.
    """
    present = [k for k in changes if k in document.data]
    added = [k for k in changes if k not in document.data and changes[k] is not None]
    added.sort(key=lambda k: ORDER.get(k, len(ORDER)))
    for key in present:
        value = changes[key]
        if value is not None and emit.strict(value) != document.data[key]:
            front = _replaced(front, key, value, document, careful)
    for key in added:
        front = _added(front, key, changes[key], document, careful)
    for key in present:
        if changes[key] is None:
            front = _removed(front, key, "#" + document.newline if careful else "")
    return front


def _replaced(front: str, key: str, value: Writable, document: Document, careful: bool) -> str:
    outline = _outline(front)
    entry = outline.entries[key]
    if outline.flow:
        return _replaced_in_flow(front, entry, value)
    indent = _indent(front, entry, document)
    colon = front.index(":", entry.key_end) + 1
    one_line = entry.kind == "leaf" and "\n" not in front[colon : entry.end]
    if one_line and not _is_multi(value):
        text = emit.scalar(value, key, style=entry.style)
        blank = "" if entry.start > colon else " "
        return front[: entry.start] + blank + text + front[entry.end :]
    comment, end = _comment(front, entry, colon)
    room = emit.WIDTH - (colon - entry.key_start) - len(indent) - 1
    head, rest = emit.block(value, indent, key, room, not careful)
    first = (f" {head}" if head else "") + comment
    return front[:colon] + document.newline.join([first, *rest]) + front[end:]


def _replaced_in_flow(front: str, entry: _Entry, value: Writable) -> str:
    colon = "" if ":" in front[entry.key_end : entry.start] else ":"
    tight = entry.end > entry.start or (not colon and front[entry.start - 1] != ":")
    blank = "" if tight else " "
    return front[: entry.start] + colon + blank + emit.flow(value) + front[entry.end :]


def _comment(front: str, entry: _Entry, colon: int) -> tuple[str, int]:
    """The comments on the first and the last line of a value, and where they end."""
    if entry.tail_block:
        comment, end = "", entry.end
    else:
        tail = _COMMENT.match(front, entry.end)
        comment, end = (tail.group(), tail.end()) if tail else ("", entry.end)
    if entry.kind == "leaf" and entry.tail_block:
        header = _TEXT_HEADER.match(front, entry.start)
        comment = (header.group(1) if header else None) or ""
    elif "\n" in front[colon : entry.start] and (head := _COMMENT.match(front, colon)):
        comment = head.group() + comment
    return comment if comment.strip() else "", end


def _added(front: str, key: str, value: Writable, document: Document, careful: bool) -> str:
    outline = _outline(front)
    order = ORDER.get(key, len(ORDER))
    before = [e for e in outline.entries.values() if ORDER.get(e.key, len(ORDER)) < order]
    if outline.flow:
        return _added_in_flow(front, key, value, outline.entries, outline.flow[0] + 1)
    entries = list(outline.entries.values())
    anchor = max(before, key=lambda e: ORDER[e.key]) if before and key in ORDER else None
    indent = _indent(front, entries[0], document) if entries else ""
    at = len(front)
    if anchor:
        line_end = front.find("\n", anchor.end)
        at = len(front) if line_end < 0 else line_end + 1
    text = document.newline.join(emit.entry(key, value, indent, not careful))
    if at and front[at - 1] != "\n":
        return front[:at] + document.newline + text + front[at:]
    return front[:at] + text + document.newline + front[at:]


def _added_in_flow(
    front: str, key: str, value: Writable, entries: Mapping[str, _Entry], inside: int
) -> str:
    last = max((entry.end for entry in entries.values()), default=inside)
    text = f"{emit.scalar(key, flow=True)}: {emit.flow(value)}"
    return front[:last] + (", " if entries else "") + text + front[last:]


def _removed(front: str, key: str, instead: str) -> str:
    outline = _outline(front)
    entry = outline.entries[key]
    if outline.flow:
        after = _COMMA_AFTER.match(front, entry.end)
        if after:
            return front[: entry.key_start] + front[after.end() :]
        before = _COMMA_BEFORE.search(front[: entry.key_start])
        start = before.start() if before else entry.key_start
        return front[:start] + front[entry.end :]
    start = front.rfind("\n", 0, entry.key_start) + 1
    line_end = front.find("\n", entry.end)
    return front[:start] + instead + ("" if line_end < 0 else front[line_end + 1 :])


def _indent(front: str, entry: _Entry, document: Document) -> str:
    """What stands before a key; more than blanks (an explicit ``?``) is left alone."""
    indent = front[front.rfind("\n", 0, entry.key_start) + 1 : entry.key_start]
    if indent.strip():
        raise EditWouldDamage(path=document.path, keys=entry.key)
    return indent


def _is_multi(value: Writable) -> bool:
    """Whether a value is more than a scalar of one line."""
    if isinstance(value, str):
        return "\n" in value
    return isinstance(value, Mapping | list | tuple)
