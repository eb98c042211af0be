"""What the index holds of files and records, as values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from memsync.errors import Problem
from memsync.record import Record, Scope


class Row(NamedTuple):
    """One record as the index has it: what matching and listing need, without the text."""

    n: int
    path: str
    id: str
    blob: str
    scope: str
    project: str | None
    title: str
    type: str
    class_: str
    category: str | None
    authority: str
    lifecycle: str
    epoch: int
    paused: int
    conflict: int
    supported: str
    valid_from: str
    valid_until: str
    selectors: str | None
    updated: str
    outcome: str | None
    outcome_at: str | None
    provisional: int
    body_at: int
    length: int
    summary: str

    def state(self, now: str) -> str:
        """The state of the record at ``now``."""
        return _state(self, now)


class Brief(NamedTuple):
    """Of a record in scope, what decides whether and in which order a task is offered it."""

    n: int
    id: str
    project: str | None
    type: str
    authority: str
    lifecycle: str
    paused: int
    conflict: int
    supported: str
    valid_from: str
    valid_until: str
    selectors: str | None
    outcome: str | None
    outcome_at: str | None

    def state(self, now: str) -> str:
        """The state of the record at ``now``."""
        return _state(self, now)


def _state(row: Row | Brief, now: str) -> str:
    """The state of the record at ``now``; all times are as ``record.stamp`` writes them."""
    if row.lifecycle == "superseded":
        return "superseded"
    if row.conflict:
        return "conflict"
    if row.paused:
        return "paused"
    if row.supported < now:
        return "candidate"
    if row.valid_until and row.valid_until <= now:
        return "expired"
    if row.valid_from > now:
        return "not-yet-valid"
    return "active"


class Mark(NamedTuple):
    """One tombstone as the index has it."""

    id: str
    path: str
    epoch: int
    permanent: int
    scope: str
    project: str | None
    forgotten_at: str
    reason: str
    text_hash: str | None
    candidate_key: str | None


class Facts(NamedTuple):
    """What one file says. ``id`` is its identity; ``stated`` is what the file itself states.

    ``body_at`` is the byte at which the text of a record begins.
    """

    path: str
    kind: str
    blob: str
    stated: str | None = None
    id: str | None = None
    problems: tuple[Problem, ...] = ()
    record: Record | None = None
    body_at: int = 0
    mark: Mark | None = None
    project: Mapping[str, Any] | None = None


class Update(NamedTuple):
    """What a scan found: paths that are gone, files that are new or changed, folders as seen."""

    gone: Sequence[str] = ()
    facts: Sequence[Facts] = ()
    folders: Mapping[str, bytes | None] = MappingProxyType({})
    meta: Mapping[str, str] = MappingProxyType({})


def scope_word(scope: str, project: str | None) -> str:
    """The word under which the text index files a scope."""
    if scope == Scope.GLOBAL or project is None:
        return "scopeglobal"
    return "scope" + project.encode().hex()
