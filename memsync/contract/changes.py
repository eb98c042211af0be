"""The part of the contract about changes: the operations of ``apply``, and what they did."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from memsync.contract.shared import NO_PROJECT, Entry, ProjectRef, Why
from memsync.record import MemoryClass, MemoryType, Scope


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
class RememberInput:
    """Keep a text that the user said. ``scope`` absent: the project, where there is one."""

    operation: ClassVar[str] = "remember"
    text: str
    project: ProjectRef = NO_PROJECT
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
    """Put another text in a memory's place: the same id, or with ``supersede`` a new one.

    What is absent stays. A list takes the place of the old one; an empty text takes a value, or
    as the only entry a list, away.
    """

    operation: ClassVar[str] = "correct"
    id: str
    text: str | None = None
    title: str | None = None
    supersede: bool = False
    expected_revision: str | None = None
    project: ProjectRef = NO_PROJECT
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


@dataclass(frozen=True, slots=True)
class ForgetInput:
    """Forget a memory. ``missing`` instead of an id: all whose files are gone."""

    operation: ClassVar[str] = "forget"
    id: str | None = None
    permanent: bool = False
    missing: bool = False
    expected_revision: str | None = None
    project: ProjectRef = NO_PROJECT


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
    project: ProjectRef = NO_PROJECT


@dataclass(frozen=True, slots=True)
class ResolveInput:
    """Settle a conflict: take entry ``take`` (from 1; 0 keeps what stands), or give a text."""

    operation: ClassVar[str] = "resolve"
    id: str
    take: int | None = None
    text: str | None = None
    expected_revision: str | None = None
    project: ProjectRef = NO_PROJECT


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
