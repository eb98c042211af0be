"""What a caller may ask of a provider: the views of ``query``, the operations of ``apply``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Generic, TypeVar

from memsync.contract.results import Entry, Explained, History, Listing, Manifest, Profile
from memsync.record import Authority, Lifecycle, MemoryClass, MemoryType, Scope

R_co = TypeVar("R_co", covariant=True)


class Asks(Generic[R_co]):
    """A query, and the type of its answer."""

    __slots__ = ()
    view: ClassVar[str]


@dataclass(frozen=True, slots=True)
class ProjectRef:
    """The code project that a request is about.

    ``path`` is a folder on the caller's disk, which only a local provider can look at; ``key``
    or ``aliases`` (normalised remotes) name the project anywhere. All empty: no project.
    """

    path: str | None = None
    key: str | None = None
    aliases: tuple[str, ...] = ()


# --- query ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ProfileQuery(Asks[Profile]):
    """The core profile: what holds everywhere, ready for an agent."""

    view: ClassVar[str] = "profile"
    max_chars: int = 2000


@dataclass(frozen=True, slots=True)
class TaskQuery(Asks[Manifest]):
    """What a task should be told (design, section 7).

    ``paths`` are relative to the project's top. ``max_chars`` counts characters of the text.
    """

    view: ClassVar[str] = "task"
    project: ProjectRef = ProjectRef()
    task: str = ""
    paths: tuple[str, ...] = ()
    operation: str | None = None
    phase: str | None = None
    max_entries: int | None = None
    max_chars: int = 6000


@dataclass(frozen=True, slots=True)
class ManifestQuery(Asks[Explained]):
    """As ``task``, for one memory: was it saved, does it match, is it delivered, and why."""

    view: ClassVar[str] = "manifest"
    id: str
    task: TaskQuery = field(default_factory=TaskQuery)


@dataclass(frozen=True, slots=True)
class ManageQuery(Asks[Listing]):
    """A list of memories. With a project: its own and the global ones; without: all."""

    view: ClassVar[str] = "manage"
    project: ProjectRef = ProjectRef()
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
    project: ProjectRef = ProjectRef()
    limit: int = 20


@dataclass(frozen=True, slots=True)
class ExpandQuery(Asks[Entry]):
    """One memory, whole: by id, unique prefix or exact title.

    A ``project`` keeps the answer to its own memories and the global ones.
    """

    view: ClassVar[str] = "expand"
    id: str
    project: ProjectRef = ProjectRef()


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


Query = (
    ProfileQuery
    | TaskQuery
    | ManifestQuery
    | ManageQuery
    | SearchQuery
    | ExpandQuery
    | HistoryQuery
    | ConflictsQuery
)
QUERIES: tuple[type[Query], ...] = (
    ProfileQuery,
    TaskQuery,
    ManifestQuery,
    ManageQuery,
    SearchQuery,
    ExpandQuery,
    HistoryQuery,
    ConflictsQuery,
)


# --- apply ---------------------------------------------------------------------------------
#
# Where an operation on a memory names a ``project``, that is where the caller is: a title or the
# beginning of an id then reaches only its memories and the global ones, while a whole id reaches
# its memory wherever that belongs.


@dataclass(frozen=True, slots=True)
class RememberInput:
    """Keep a text that the user said. ``scope`` absent: the project, where there is one."""

    operation: ClassVar[str] = "remember"
    text: str
    project: ProjectRef = ProjectRef()
    scope: Scope | None = None
    title: str | None = None
    category: str | None = None
    tags: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    operations: tuple[str, ...] = ()
    phases: tuple[str, ...] = ()
    memory_type: MemoryType | None = None
    memory_class: MemoryClass | None = None
    valid_from: str | None = None
    valid_until: str | None = None
    language: str | None = None
    allow: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CorrectInput:
    """Put another text in a memory's place: the same id, or with ``supersede`` a new one."""

    operation: ClassVar[str] = "correct"
    id: str
    text: str
    title: str | None = None
    supersede: bool = False
    expected_revision: str | None = None
    project: ProjectRef = ProjectRef()


@dataclass(frozen=True, slots=True)
class ForgetInput:
    """Forget a memory. ``missing`` instead of an id: all whose files are gone."""

    operation: ClassVar[str] = "forget"
    id: str | None = None
    permanent: bool = False
    missing: bool = False
    expected_revision: str | None = None
    project: ProjectRef = ProjectRef()


@dataclass(frozen=True, slots=True)
class RollbackInput:
    """Bring back an earlier version, or a forgotten memory.

    ``missing`` instead of an id: put back all files that are gone.
    """

    operation: ClassVar[str] = "rollback"
    id: str | None = None
    to: str | None = None
    missing: bool = False
    expected_revision: str | None = None
    project: ProjectRef = ProjectRef()


@dataclass(frozen=True, slots=True)
class ResolveInput:
    """Settle a conflict: take entry ``take`` (from 1; 0 keeps what stands), or give a text."""

    operation: ClassVar[str] = "resolve"
    id: str
    take: int | None = None
    text: str | None = None
    expected_revision: str | None = None
    project: ProjectRef = ProjectRef()


@dataclass(frozen=True, slots=True)
class PauseInput:
    """Pause or resume one memory, a project, learning, retrieval, or (all empty) everything.

    With an ``id``, ``project`` says where the caller is.
    """

    operation: ClassVar[str] = "pause"
    paused: bool = True
    id: str | None = None
    project: ProjectRef | None = None
    learning: bool = False
    retrieval: bool = False


@dataclass(frozen=True, slots=True)
class SettingsInput:
    """Set one shared setting; ``value`` None goes back to the default."""

    operation: ClassVar[str] = "settings"
    name: str
    value: str | None = None


Input = (
    RememberInput
    | CorrectInput
    | ForgetInput
    | RollbackInput
    | ResolveInput
    | PauseInput
    | SettingsInput
)
INPUTS: tuple[type[Input], ...] = (
    RememberInput,
    CorrectInput,
    ForgetInput,
    RollbackInput,
    ResolveInput,
    PauseInput,
    SettingsInput,
)
