"""The folders and files of a memory repository, and what a path in it means."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from memsync import files
from memsync.record import Record, Scope, slug

if TYPE_CHECKING:
    from memsync.frontmatter.model import Place

#: The folders that hold memory.
TOPS = ("global", "projects", "candidates", "tombstones")
SETTINGS = "memsync.yaml"
PROFILE = "profile.md"
#: Files beside the memory that belong to the repository and are committed with it.
COMPANIONS = ("README.md", ".gitattributes", ".gitignore")
#: All that memsync commits.
COMMITTED = (*TOPS, SETTINGS, *COMPANIONS)
#: Names that the walk lists.
WANTED = (".md", "project.yaml")

_PROJECT_FILE = r"projects/([^/]+)/project\.yaml"


def kind_of(path: str) -> str | None:
    """``record``, ``candidate``, ``tombstone``, ``project`` or ``settings``; None for others."""
    if path == SETTINGS:
        return "settings"
    if _is_passed_over(path):
        return None
    if re.fullmatch(_PROJECT_FILE, path):
        return "project"
    top, _, rest = path.partition("/")
    if not rest or not path.endswith(".md"):
        return None
    if top == "global":
        return "record"
    if top == "projects":
        return "record" if "/" in rest else None
    return {"candidates": "candidate", "tombstones": "tombstone"}.get(top)


def _is_passed_over(path: str) -> bool:
    """Whether the walk passes a path over: hidden or an editor's junk, or a name of no text."""
    return any(not part or files.is_junk(part) for part in path.split("/")) or not (
        path.isascii() or files.is_text(path)
    )


def is_record(path: str) -> bool:
    """Whether the path is one of a record or a candidate."""
    return kind_of(path) in ("record", "candidate")


def place_of(path: str) -> Place:
    """The scope and project that the folder decides; in ``candidates/`` it decides neither."""
    from memsync.frontmatter.model import Place

    top, _, rest = path.partition("/")
    if top == "global":
        return Place(Scope.GLOBAL, None)
    if top == "projects":
        return Place(Scope.PROJECT, rest.partition("/")[0])
    return Place(None, None)


def project_file(key: str) -> str:
    """The path of a project's own file."""
    return f"projects/{key}/project.yaml"


def project_key_of(path: str) -> str:
    """The project whose own file this is."""
    return path.split("/")[1]


def tombstone_file(record_id: str) -> str:
    """The path of a tombstone."""
    return f"tombstones/{record_id}.md"


def folder_of(record: Record) -> str:
    """The folder where an active record of this scope is put."""
    if record.scope is Scope.PROJECT and record.project_key:
        return f"projects/{record.project_key}"
    return "global"


def new_path(record: Record, taken: set[str]) -> str:
    """A readable path for a new record; ``taken`` are the file names of its folder."""
    stems = {name.removesuffix(".md") for name in taken}
    return f"{folder_of(record)}/{slug(record.title, stems, record.id[2:6])}.md"
