"""The whole memory as one JSON Lines stream, and back, byte for byte.

The first line is a header. Each further line is a file: its path, its content as text, or in
base64 where it is no UTF-8, and for records what it says, so that other programs need no YAML.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

from memsync import errors, files, record
from memsync.contract.codec import to_json
from memsync.store import layout
from memsync.store.effects import Plan
from memsync.store.reading import Reader
from memsync.store.scan import refuse_newer
from memsync.store.writing import Transaction

SCHEMA = "memsync.export.v1"
#: The longest line that an import reads, in bytes.
LINE_BYTES = 1024 * 1024
#: The longest path that an import takes.
PATH_CHARACTERS = 1024

_NOT_EXPORTED = frozenset(
    {"file-too-large", "unreadable", "symbolic-link", "not-a-file", "name-not-text"}
)


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import found: files that are new, that were here already, and that differ."""

    new: tuple[str, ...]
    same: tuple[str, ...]
    kept: tuple[str, ...]
    commit: str | None


def export(reader: Reader) -> Iterator[dict[str, Any]]:
    """The header and every file of the memory, in the order of their paths."""
    yield {"schema": SCHEMA, "exportedAt": reader.now_text, "records": reader.index.count()}
    rows = {row.path: row for row in reader.index.rows()}
    listed = [path for (path,) in reader.index.all_paths()]
    companions = [
        name for name in layout.COMPANIONS if os.path.isfile(os.path.join(reader.home, name))
    ]
    for path in sorted({*listed, *companions}):
        try:
            raw = files.read(os.path.join(reader.home, path), record.FILE_BYTES + 1)
        except errors.CannotRead:
            continue
        if len(raw) > record.FILE_BYTES:
            continue
        line: dict[str, Any] = {"kind": layout.kind_of(path) or "companion", "path": path}
        try:
            line["content"] = raw.decode()
        except UnicodeDecodeError:
            line["base64"] = base64.b64encode(raw).decode()
        row = rows.get(path)
        if row is not None:
            line["record"] = to_json(reader.records([row])[0])
        yield line


def left_out(reader: Reader) -> tuple[str, ...]:
    """The paths that an export leaves out: what cannot be read, and what no memory is so large."""
    told = {p.path for p in reader.problems() if p.code in _NOT_EXPORTED}
    return tuple(sorted(told))


def read_stream(stream: BinaryIO) -> dict[str, bytes]:
    """path -> content of a stream. Raises ImportRefused, which names the line."""
    found: dict[str, bytes] = {}
    header = False
    for number, raw in enumerate(iter(lambda: stream.readline(LINE_BYTES + 1), b""), 1):
        if not raw.strip():
            continue
        value = _object(raw, number)
        if not header:
            if value.get("schema") != SCHEMA:
                raise errors.ImportRefused(line=number, detail=f"this is not {SCHEMA}")
            header = True
            continue
        path = _path(value.get("path"), number)
        if path in found:
            raise errors.ImportRefused(line=number, detail=f"{path} stands twice")
        found[path] = _content(value, number)
    if not header:
        raise errors.ImportRefused(line=0, detail="the stream is empty")
    for path in found:
        above = path.rpartition("/")[0]
        while above:
            if above in found:
                raise errors.ImportRefused(line=0, detail=f"{above} is a file and a folder")
            above = above.rpartition("/")[0]
    return found


def _object(raw: bytes, number: int) -> dict[str, Any]:
    if len(raw) > LINE_BYTES:
        raise errors.ImportRefused(line=number, detail=f"it has more than {LINE_BYTES} bytes")
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise errors.ImportRefused(line=number, detail="it is not JSON") from error
    if not isinstance(value, dict):
        raise errors.ImportRefused(line=number, detail="it is not an object")
    return value


def _path(value: object, number: int) -> str:
    """A path of the memory: no other place on the disk can be written through an import."""
    safe = (
        isinstance(value, str)
        and len(value) <= PATH_CHARACTERS
        and "\0" not in value
        and (value in layout.COMPANIONS or layout.kind_of(value) is not None)
    )
    if not safe:
        raise errors.ImportRefused(line=number, detail=f"{value!r} is no path of a memory")
    return str(value)


def _content(value: dict[str, Any], number: int) -> bytes:
    content, coded = value.get("content"), value.get("base64")
    try:
        if isinstance(content, str):
            return content.encode()
        if isinstance(coded, str):
            return base64.b64decode(coded, validate=True)
    except ValueError as error:
        raise errors.ImportRefused(line=number, detail="its content cannot be read") from error
    raise errors.ImportRefused(line=number, detail="it has no content")


def take_in(transaction: Transaction, stream: dict[str, bytes]) -> Imported:
    """Add the files of a stream. What is here already stays; a record that lives keeps its text.

    Settings and companions of an existing repository stay as they are. What was forgotten here
    stays forgotten, and what was forgotten there is forgotten here too.

    Raises CannotWrite where a link stands on the way, NewerFormat.
    """
    reader = transaction.reader
    new: dict[str, bytes | None] = {}
    same, kept = [], []
    for path in stream:
        _refuse_links(reader.home, path)
    for path, content in stream.items():
        current = files.read_if_there(os.path.join(reader.home, path))
        if current == content or (current is not None and _was_completed(reader, path, content)):
            same.append(path)
        elif current is not None or _is_known(reader, path, content):
            if _may_replace(transaction, path):
                new[path] = content
            else:
                kept.append(path)
        else:
            new[path] = content
    if layout.SETTINGS in new:
        _refuse_newer_settings(reader.home, stream[layout.SETTINGS])
    arrived = (*new,)
    for path in arrived:
        new.update(dict.fromkeys(_forgotten_by(reader, path, stream[path])))
    commit = None
    if new:
        commit = transaction.commit(Plan(f"import: {len(new)} files", new))
    return Imported(arrived, tuple(same), tuple(kept), commit)


def _was_completed(reader: Reader, path: str, content: bytes) -> bool:
    """Whether the file here is the stream's, completed with the identity that it did not state."""
    from memsync.frontmatter.schema import decode

    row = reader.index.by_path(path)
    if row is None:
        return False
    decoded = decode(content, path, layout.place_of(path), row.id)
    if decoded.record is None or decoded.stated_id is not None:
        return False
    here = reader.records([row])[0]
    given = {"created": here.created, "updated": here.updated}
    return decoded.record.replacing(**given) == here


def _forgotten_by(reader: Reader, path: str, content: bytes) -> list[str]:
    """The path of the living record that a tombstone of the stream forgets."""
    from memsync import tombstone

    found = tombstone.decode(content, path).tombstone if path.startswith("tombstones/") else None
    row = reader.index.by_id(found.id) if found else None
    if found is None or row is None or not (found.permanent or found.epoch >= row.epoch):
        return []
    return [row.path]


def _refuse_newer_settings(home: str, content: bytes) -> None:
    from memsync.frontmatter.document import parse_yaml

    refuse_newer(home, parse_yaml(content, layout.SETTINGS).data.get("format"))


def _refuse_links(home: str, path: str) -> None:
    """Raise CannotWrite where a link stands on the way to a path: it may lead anywhere."""
    way = home
    for part in path.split("/"):
        way = os.path.join(way, part)
        if os.path.islink(way):
            raise errors.CannotWrite(path=path, detail="a symbolic link is on the way")


def _is_known(reader: Reader, path: str, content: bytes) -> bool:
    """Whether the record of a file lives here under another path, or was forgotten here."""
    if not layout.is_record(path):
        return False
    from memsync.frontmatter.schema import decode

    found = decode(content, path, layout.place_of(path), "").record
    if found is None or not record.is_id(found.id):
        return False
    if reader.index.by_id(found.id) is not None:
        return True
    forgotten = reader.index.marks(
        "t.id = ? AND (t.permanent OR t.epoch >= ?)", (found.id, found.epoch)
    )
    return bool(forgotten)


def _may_replace(transaction: Transaction, path: str) -> bool:
    """Settings and companions give way while the repository is as new as ``init`` made it."""
    if path != layout.SETTINGS and path not in layout.COMPANIONS:
        return False
    reader = transaction.reader
    return reader.index.count() == 0 and not reader.index.marks()
