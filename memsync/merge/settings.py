"""The three-way merge of the YAML files beside the memories: settings, and a project's own file.

They have no ``updated``: where both sides changed one value, nothing says which came later, and
the larger one stays, on every machine the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from memsync.frontmatter.document import parse_yaml
from memsync.frontmatter.edits import edit_yaml
from memsync.merge.fields import digest, joined

if TYPE_CHECKING:
    from memsync.frontmatter.model import Value, Writable


def merge_yaml(base: bytes | None, ours: bytes, theirs: bytes, path: str) -> bytes | None:
    """One file out of two: lists and mappings are joined, of two numbers the larger one stays.

    The layout is that of one side. None where a side cannot be read.
    """
    if ours == theirs or theirs == base:
        return ours
    if ours == base:
        return theirs
    documents = [parse_yaml(raw, path) for raw in (base or b"", ours, theirs)]
    if any(document.broken for document in documents[1:]):
        return None
    known = {} if documents[0].broken else documents[0].data
    wanted = _mapping(known, documents[1].data, documents[2].data)
    sides = [document for document in documents[1:] if document.data == wanted]
    side = max(sides or documents[1:], key=lambda document: document.raw)
    keys = dict.fromkeys((*side.data, *wanted))
    changes: dict[str, Writable] = {
        key: wanted.get(key) for key in keys if wanted.get(key) != side.data.get(key)
    }
    return edit_yaml(side.raw, path, changes) if changes else side.raw


def _mapping(
    known: Mapping[str, Value], ours: Mapping[str, Value], theirs: Mapping[str, Value]
) -> dict[str, Any]:
    found = {}
    for key in dict.fromkeys((*ours, *theirs)):
        value = _value(known.get(key), ours.get(key), theirs.get(key))
        if value is not None:
            found[key] = value
    return found


def _value(known: Value, ours: Value, theirs: Value) -> Any:
    if ours == theirs or theirs == known:
        return ours
    if ours == known:
        return theirs
    if isinstance(ours, list) and isinstance(theirs, list):
        return [*joined(known if isinstance(known, list) else [], ours, theirs, decided=False)]
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return _mapping(known if isinstance(known, dict) else {}, ours, theirs)
    return max((ours, theirs), key=_size)


def _size(value: Value) -> tuple[bool, int, str]:
    """A number counts by its size, and more than a text or no value."""
    number = isinstance(value, str) and value.isdecimal() and len(value) < 10
    return value is not None, int(str(value)) if number else -1, digest(value)
