"""The part of the contract about tasks: what a task is told, and why."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

from memsync.contract.shared import NO_PROJECT, Asks, Entry, ProjectRef, Why
from memsync.record import Scope


class ManifestItem(NamedTuple):
    """One memory that a task may want: ``delivered`` is ``full`` or ``manifest``."""

    id: str
    title: str
    summary: str
    why_applied: tuple[Why, ...]
    lifecycle: str
    delivered: str
    scope: Scope
    score: float = 0.0


class Excluded(NamedTuple):
    """One memory that a task does not get, and why."""

    id: str
    title: str
    why: Why


class Manifest(NamedTuple):
    """What a task gets: the text for the agent, the memories in it, and those left out.

    ``broken`` are the files that cannot be read, of any project.
    """

    text: str
    full: tuple[Entry, ...] = ()
    manifest: tuple[ManifestItem, ...] = ()
    excluded: tuple[Excluded, ...] = ()
    excluded_total: int = 0
    truncated: bool = False
    project_key: str | None = None
    broken: tuple[str, ...] = ()


class Explained(NamedTuple):
    """The three links of one memory and one task: saved? matched? delivered?"""

    entry: Entry | None
    saved: Why
    matched: tuple[Why, ...]
    delivered: Why
    levels: tuple[tuple[str, str], ...] = ()


class Profile(NamedTuple):
    """The core profile as text, and the memories in it."""

    text: str
    entries: tuple[Entry, ...] = ()
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class TaskQuery(Asks[Manifest]):
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
class ManifestQuery(Asks[Explained]):
    """As ``task``, for one memory: was it saved, does it match, is it delivered, and why."""

    view: ClassVar[str] = "manifest"
    id: str
    task: TaskQuery = field(default_factory=TaskQuery)


@dataclass(frozen=True, slots=True)
class ProfileQuery(Asks[Profile]):
    """The core profile: what holds everywhere, ready for an agent."""

    view: ClassVar[str] = "profile"
    max_chars: int = 2000
