"""What a provider answers."""

from __future__ import annotations

from dataclasses import dataclass, field

from memsync.errors import Problem
from memsync.record import Record, Scope


@dataclass(frozen=True, slots=True)
class Entry:
    """One memory with what its file does not say.

    ``state`` is one of ``active``, ``candidate``, ``superseded``, ``conflict``, ``paused``,
    ``expired``, ``not-yet-valid``, ``forgotten``. ``revision`` is the short Git blob of the
    file. ``provisional`` ids belong to hand-written files that were not taken in yet.
    """

    record: Record
    path: str
    revision: str
    state: str
    provisional: bool = False
    evidence_count: int = 0
    confirmed: str | None = None


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
class Why:
    """One reason of a match or an exclusion: a code and the facts that fill its words in."""

    code: str
    facts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ManifestItem:
    """One memory that a task may want: ``delivered`` is ``full`` or ``manifest``."""

    id: str
    title: str
    summary: str
    why_applied: tuple[Why, ...]
    lifecycle: str
    delivered: str
    scope: Scope
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class Excluded:
    """One memory that a task does not get, and why."""

    id: str
    title: str
    why: Why


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a task gets: the text for the agent, the memories in it, and those left out."""

    text: str
    full: tuple[Entry, ...] = ()
    manifest: tuple[ManifestItem, ...] = ()
    excluded: tuple[Excluded, ...] = ()
    excluded_total: int = 0
    truncated: bool = False
    project_key: str | None = None


@dataclass(frozen=True, slots=True)
class Explained:
    """The three links of one memory and one task: saved? matched? delivered?"""

    entry: Entry | None
    saved: Why
    matched: tuple[Why, ...]
    delivered: Why
    levels: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Profile:
    """The core profile as text, and the memories in it."""

    text: str
    entries: tuple[Entry, ...] = ()
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class Listing:
    """A list of memories. ``elsewhere`` counts those of other projects, which it leaves out."""

    records: tuple[Entry, ...] = ()
    forgotten: tuple[Forgotten, ...] = ()
    elsewhere: int = 0
    truncated: bool = False


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
class Applied:
    """What an operation did, told in facts.

    ``changed`` are the paths it wrote or removed; ``taken_in`` those that the person had edited
    and that were committed first; ``notices`` are codes with facts that the person should see.
    """

    operation: str
    entry: Entry | None = None
    commit: str | None = None
    changed: tuple[str, ...] = ()
    taken_in: tuple[str, ...] = ()
    notices: tuple[Why, ...] = ()
    ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Status:
    """How the memory stands. ``attention`` is what needs the person, as codes with facts."""

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
    language: str = "en"


Result = Manifest | Explained | Profile | Listing | Entry | History
