"""What can be wrong in a file: every code, what it says, what would be right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Facts(dict[str, object]):
    """A missing fact shows as its own name: an error must not fail while it is told."""

    def __missing__(self, key: str) -> str:
        return "?" + key


class Problem(NamedTuple):
    """One thing that is wrong in a file: where, what, and what would be right.

    ``line`` counts from 1 and is 0 where the whole file is meant. ``level`` is ``error`` (the
    file is kept out of the context) or ``notice`` (the file works; the person may want to look).
    """

    code: str
    path: str
    line: int
    message: str
    remedy: str
    level: str = "error"

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.code}: {self.message}; {self.remedy}"


def summarise(problems: tuple[Problem, ...]) -> str:
    """The problems in one line, for an error's message."""
    told = (f"{p.message} ({p.code})" for p in problems)
    return " · ".join(
        f"line {p.line}: {text}" if p.line else text for p, text in zip(problems, told, strict=True)
    )


def listed(names: Sequence[str], most: int = 10) -> str:
    """Names in one line; from ``most`` on the rest is counted."""
    shown = ", ".join(names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown


def problem_facts(problems: tuple[Problem, ...]) -> list[dict[str, object]]:
    """The problems as facts of an error."""
    return [
        {"code": p.code, "path": p.path, "line": p.line, "message": p.message, "remedy": p.remedy}
        for p in problems
    ]


#: code -> (what it says, what would be right). Both are filled in by ``str.format``.
PROBLEMS: dict[str, tuple[str, str]] = {
    "yaml-syntax": ("the front matter is not valid YAML: {detail}", "mend the YAML at this line"),
    "yaml-tab": ("a tab is used to indent", "indent with spaces"),
    "yaml-alias": ("anchors and aliases (& and *) are not read", "write the value out"),
    "yaml-tag": ("the tag {tag} is not read", "remove the tag"),
    "yaml-depth": ("the values are nested deeper than {limit} levels", "flatten them"),
    "yaml-key": ("a key is not plain text", "use a plain word as key"),
    "duplicate-key": ("the key {key} stands twice (first in line {first})", "keep one of them"),
    "unclosed-front-matter": (
        "the front matter that begins in line 1 is never closed",
        "close it with a line ---",
    ),
    "front-matter-not-mapping": (
        "what stands between the --- lines is not a list of keys",
        "write `key: value` lines there, or begin the text with another line",
    ),
    "conflict-markers": ("a Git conflict marker stands here", "settle it and remove the markers"),
    "lfs-pointer": ("this is a Git LFS pointer, not a text", "fetch the file, or remove it"),
    "not-text": ("the file is not UTF-8 text: {detail}", "save it as UTF-8"),
    "control-character": (
        "the character {char} is not allowed in a memory",
        "remove the character",
    ),
    "file-too-large": ("the file has {size} bytes", "keep it at or below {limit} bytes"),
    "symbolic-link": ("a symbolic link is not followed", "put the file itself here"),
    "not-a-file": ("this is not a regular file", "put a Markdown file here"),
    "unreadable": ("it cannot be read: {detail}", "allow this user to read it"),
    "invalid-value": ("{key}: {value} is not allowed", "use {allowed}"),
    "wrong-type": ("{key} is not {expected}", "write it as {expected}"),
    "body-too-long": ("the text has {size} bytes", "keep it at or below {limit} bytes"),
    "title-too-long": ("the title has {size} characters", "keep it at or below {limit}"),
    "too-many-entries": ("{key} has {size} entries", "keep at most {limit}"),
    "text-missing": ("there is neither a title nor a text", "write what to remember"),
    "project-missing": (
        "scope is project, and no projectKey says which",
        "add projectKey, or move the file below projects/<key>/",
    ),
    "id-taken": ("the id {id} belongs to {other}", "remove the id line, or this file"),
    "path-moved": (
        "the folder says {found}, the front matter says {stated}",
        "nothing: the folder decides, and the front matter follows",
    ),
    "settings-empty": ("the file says nothing", "bring its last version back with git"),
    "settings-missing": ("the file is not there", "run `memsync init`, or restore it"),
    "reference-unknown": ("it names {id}, which is not known here", "name another memory, or none"),
    "name-collision": (
        "the name differs from {other} only in case or Unicode form",
        "rename one of the two: other systems see one file",
    ),
    "name-not-text": (
        "its name is not UTF-8, so that it is neither read nor committed",
        "rename it",
    ),
    "not-taken": ("only files whose names end in .md are read", "rename it to end in .md"),
}


def problem(code: str, path: str, line: int, level: str = "error", **facts: object) -> Problem:
    """Make the problem of this code from its facts."""
    message, remedy = PROBLEMS[code]
    filled = Facts(facts)
    return Problem(code, path, line, message.format_map(filled), remedy.format_map(filled), level)
