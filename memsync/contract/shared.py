"""What all parts of the contract share: the project, a memory, a reason."""

from __future__ import annotations

from typing import ClassVar, Generic, NamedTuple, TypeVar

from memsync.record import Record

R_co = TypeVar("R_co", covariant=True)


class Asks(Generic[R_co]):
    """A query, and the type of its answer."""

    __slots__ = ()
    view: ClassVar[str]


class ProjectRef(NamedTuple):
    """The code project that a request is about.

    ``path`` is a folder on the caller's disk, which only a local provider can look at; ``key``
    or ``aliases`` (normalised remotes) name the project anywhere. All empty: no project.
    """

    path: str | None = None
    key: str | None = None
    aliases: tuple[str, ...] = ()


#: No project.
NO_PROJECT = ProjectRef()


class Why(NamedTuple):
    """One reason of a match or an exclusion: a code and the facts that fill its words in."""

    code: str
    facts: tuple[str, ...] = ()


class Entry(NamedTuple):
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
