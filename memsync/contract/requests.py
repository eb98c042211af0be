"""What a caller may ask of a provider: the views of ``query``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from memsync.record import Authority, Lifecycle, MemoryClass, MemoryType, Scope

if TYPE_CHECKING:  # named in the bases below, where a query need not load the answers
    from memsync.contract.results import (
        Entry,
        Explained,
        History,
        Listing,
        Manifest,
        Profile,
    )

if TYPE_CHECKING:  # named in the bases below, where a query need not load the answers
    from memsync.contract.results import (  # noqa: F401
        Entry,
        Explained,
        History,
        Listing,
        Manifest,
        Profile,
    )

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


#: No project.
NO_PROJECT = ProjectRef()


# --- query ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ProfileQuery(Asks["Profile"]):
    """The core profile: what holds everywhere, ready for an agent."""

    view: ClassVar[str] = "profile"
    max_chars: int = 2000


@dataclass(frozen=True, slots=True)
class TaskQuery(Asks["Manifest"]):
    """What a task should be told (design, section 7).

    ``paths`` are relative to the project's top. ``max_chars`` counts characters of the text.
    """

    view: ClassVar[str] = "task"
    project: ProjectRef = NO_PROJECT
    task: str = ""
    paths: tuple[str, ...] = ()
    operation: str | None = None
    phase: str | None = None
    max_entries: int | None = None
    max_chars: int = 6000


@dataclass(frozen=True, slots=True)
class ManifestQuery(Asks["Explained"]):
    """As ``task``, for one memory: was it saved, does it match, is it delivered, and why."""

    view: ClassVar[str] = "manifest"
    id: str
    task: TaskQuery = field(default_factory=TaskQuery)


@dataclass(frozen=True, slots=True)
class ManageQuery(Asks["Listing"]):
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
class SearchQuery(Asks["Listing"]):
    """The memories that fit some words, the best first."""

    view: ClassVar[str] = "search"
    words: str
    project: ProjectRef = NO_PROJECT
    limit: int = 20


@dataclass(frozen=True, slots=True)
class ExpandQuery(Asks["Entry"]):
    """One memory, whole: by id, unique prefix or exact title.

    A ``project`` keeps the answer to its own memories and the global ones.
    """

    view: ClassVar[str] = "expand"
    id: str
    project: ProjectRef = NO_PROJECT


@dataclass(frozen=True, slots=True)
class HistoryQuery(Asks["History"]):
    """The versions of one memory, newest first; with ``diff_to``, what two of them differ in.

    ``diff_from`` absent means the version before ``diff_to``; ``current`` is the file as it is.
    """

    view: ClassVar[str] = "history"
    id: str
    limit: int | None = None
    diff_from: str | None = None
    diff_to: str | None = None


@dataclass(frozen=True, slots=True)
class ConflictsQuery(Asks["Listing"]):
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
