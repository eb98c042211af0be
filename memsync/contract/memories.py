"""The part of the contract about memories: lists, search, history, and how things stand."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from memsync.contract.shared import NO_PROJECT, Asks, Entry, ProjectRef, Why
from memsync.errors import Problem
from memsync.record import Authority, Lifecycle, MemoryClass, MemoryType, Scope


@dataclass(frozen=True, slots=True)
class Forgotten:
    """One forgotten memory: the mark, never the text."""

    id: str
    scope: Scope
    project_key: str | None
    forgotten_at: str
    reason: str
    permanent: bool


@dataclass(frozen=True, slots=True)
class Listing:
    """A list of memories. ``elsewhere`` counts those of other projects, which it leaves out.

    ``broken`` are the files that cannot be read, of any project.
    """

    records: tuple[Entry, ...] = ()
    forgotten: tuple[Forgotten, ...] = ()
    elsewhere: int = 0
    truncated: bool = False
    broken: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Revision:
    """One version of a memory in Git's history; ``revision`` is None where it was removed."""

    revision: str | None
    commit: str
    when: str
    author: str
    subject: str
    path: str


@dataclass(frozen=True, slots=True)
class History:
    """The versions of a memory, newest first, and the difference that was asked for."""

    id: str
    revisions: tuple[Revision, ...] = ()
    diff: str | None = None
    uncommitted: bool = False


@dataclass(frozen=True, slots=True)
class Status:
    """How the memory stands. ``attention`` is what needs the person, as codes with facts.

    ``learning`` and ``retrieval`` say what holds here; ``switched_off`` what is off, and where.
    """

    home: str
    branch: str | None
    head: str | None
    counts: dict[str, int] = field(default_factory=dict)
    pending: int = 0
    problems: tuple[Problem, ...] = ()
    attention: tuple[Why, ...] = ()
    project: str | None = None
    project_name: str | None = None
    learning: bool = True
    retrieval: bool = True
    switched_off: tuple[Why, ...] = ()
    language: str = "en"


@dataclass(frozen=True, slots=True)
class ManageQuery(Asks[Listing]):
    """A list of memories. With a project: its own and the global ones; without: all."""

    view: ClassVar[str] = "manage"
    project: ProjectRef = NO_PROJECT
    scope: Scope | None = None
    memory_type: MemoryType | None = None
    memory_class: MemoryClass | None = None
    authority: Authority | None = None
    lifecycle: Lifecycle | None = None
    category: str | None = None
    tag: str | None = None
    state: str | None = None
    forgotten: bool = False
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class SearchQuery(Asks[Listing]):
    """The memories that fit some words, the best first."""

    view: ClassVar[str] = "search"
    words: str
    project: ProjectRef = NO_PROJECT
    limit: int = 20


@dataclass(frozen=True, slots=True)
class ExpandQuery(Asks[Entry]):
    """One memory, whole: by id, unique prefix or exact title.

    A ``project`` keeps the answer to its own memories and the global ones.
    """

    view: ClassVar[str] = "expand"
    id: str
    project: ProjectRef = NO_PROJECT


@dataclass(frozen=True, slots=True)
class HistoryQuery(Asks[History]):
    """The versions of one memory, newest first; with ``diff_to``, what two of them differ in.

    ``diff_from`` absent means the version before ``diff_to``; ``current`` is the file as it is.
    """

    view: ClassVar[str] = "history"
    id: str
    limit: int | None = None
    diff_from: str | None = None
    diff_to: str | None = None


@dataclass(frozen=True, slots=True)
class ConflictsQuery(Asks[Listing]):
    """The memories with an open conflict."""

    view: ClassVar[str] = "conflicts"
