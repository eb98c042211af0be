"""The nouns of this room: values as typed, a document taken apart, a record with its findings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from memsync.errors import Problem
    from memsync.record import Record, Scope

#: What a file says. Every scalar is the text that was typed; None is a plain ``~``, ``null`` or
#: nothing at all.
Value: TypeAlias = "str | list[Value] | dict[str, Value] | None"
#: What may be written to a file or to JSON.
Writable: TypeAlias = (
    "str | bool | int | float | Sequence[Writable] | Mapping[str, Writable] | None"
)

#: Keys whose value is a time and is written without quotes.
TIME_KEYS = frozenset(
    ("created", "updated", "validFrom", "validUntil", "observedAt", "at", "forgottenAt")
)


class Document(NamedTuple):
    """A text file taken apart; ``raw`` has the same bytes.

    ``lines`` gives the line of each top-level key, counted from 1 in the file. ``body`` is the
    text after the front matter with ``\\n`` line breaks and without a byte order mark, and begins
    in ``body_line``. ``front`` is the YAML as it stands, and begins in ``front_line``. With
    ``refused`` the file begins with something that looks like a front matter and is none: it is
    text, and no front matter may be put on top of it. A problem of level ``error`` means that the
    file is broken.
    """

    raw: bytes
    path: str
    data: dict[str, Value]
    lines: dict[str, int]
    body: str
    body_line: int
    newline: str
    bom: bool
    has_front_matter: bool
    problems: tuple[Problem, ...]
    front: str = ""
    front_line: int = 1
    refused: bool = False
    complete: bool = True

    @property
    def broken(self) -> bool:
        """Whether some problem keeps the file from being used."""
        return any(p.level == "error" for p in self.problems)


class Place(NamedTuple):
    """What the folder of a file decides; nothing in ``candidates/``, where the file says it."""

    scope: Scope | None = None
    project_key: str | None = None


class Decoded(NamedTuple):
    """A file read as a record.

    ``record`` is None when the file is broken. ``problems`` has all errors and notices by line.
    ``stated_id`` is the id that the file itself states; None means that ``record.id`` is the
    provisional one.
    """

    record: Record | None
    problems: tuple[Problem, ...]
    stated_id: str | None
    document: Document
