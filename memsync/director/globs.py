"""Path patterns with the meaning that gitignore gives them, matched in bounded time.

A memory's patterns come from files that anybody may have written. A regular expression for a whole
pattern, as the usual library makes it, takes hours for ``*a*a*a*a*a*a*b`` and a long name; here a
star never looks twice at the same place. The tests hold it against that library.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

#: Between two stars the first place that fits is as good as any later one: it is not given up.
_BETWEEN = "(?>.*?{})"
_CLASS = re.compile(r"\[([!^]?)(\]?[^\]\\/]*)\]")


def covers(pattern: str, path: str) -> bool:
    """Whether a pattern covers a path: it fits the path, or a folder that the path lies in.

    ``path`` is relative, with ``/``. A pattern that gitignore does not allow covers nothing.
    """
    parts = _parts(pattern)
    return parts is not None and _fits(parts, path.split("/"))


#: What one part of a pattern asks of a name; None for any number of folders.
_Part = re.Pattern[str] | None


@lru_cache(maxsize=4096)
def _parts(pattern: str) -> tuple[_Part, ...] | None:
    """The parts of a pattern, from the project's top on; None where it is not allowed."""
    names = pattern.split("/")
    folders_only = names[-1] == "" and len(names) > 1
    if folders_only:
        names.pop()
    if names[0] == "" and len(names) > 1:
        names.pop(0)  # it begins at the top
    elif len(names) == 1 and names != ["**"]:
        names.insert(0, "**")  # a bare name may lie anywhere
    if folders_only and set(names) == {"**"}:
        names = ["*", "**"]  # any folder
    elif folders_only and names[-1] != "**":
        names.append("**")
    parts: list[_Part] = []
    for place, name in enumerate(names):
        if name == "**":
            if place == len(names) - 1:
                parts.append(_ANY)  # what is in a folder, not the folder itself
            elif not parts or parts[-1] is not None:
                parts.append(None)
            continue
        expression = _expression(name)
        if not expression:
            return None
        parts.append(expression)
    return tuple(parts)


_ANY = re.compile(r"(?s:.+)\Z")


def _expression(name: str) -> re.Pattern[str] | None:
    """What matches one name; None where it is not allowed."""
    pieces = [""]
    place = 0
    while place < len(name):
        character = name[place]
        place += 1
        if character == "*":
            if pieces[-1] or len(pieces) == 1:
                pieces.append("")
        elif character == "?":
            pieces[-1] += "."
        elif character == "\\":
            if place == len(name):
                return None
            pieces[-1] += re.escape(name[place])
            place += 1
        elif character == "[":
            found = _CLASS.match(name, place - 1)
            if found is None:
                return None
            pieces[-1] += f"[{'^' if found[1] else ''}{_escaped(found[2])}]"
            place = found.end()
        else:
            pieces[-1] += re.escape(character)
    if not name:
        return None
    first, *rest = pieces
    text = first + "".join(map(_BETWEEN.format, rest[:-1]))
    text += f".*{rest[-1]}" if rest else ""
    try:
        return re.compile(rf"(?s:{text})\Z")
    except re.error:
        return None  # a range that ends before it begins


def _escaped(members: str) -> str:
    """The members of a class, without what only regular expressions know."""
    return re.sub(r"([\[\]^&~|])", r"\\\1", members)


def _fits(parts: Sequence[_Part], names: Sequence[str]) -> bool:
    """Whether the parts fit the beginning of a path. Only the last ``**`` is tried again."""
    part = at = 0
    again: tuple[int, int] | None = None
    while part < len(parts):
        wanted = parts[part]
        if wanted is None:
            part += 1
            again = (part, at)
        elif at < len(names) and wanted.match(names[at]):
            part, at = part + 1, at + 1
        elif again is not None and again[1] < len(names):
            again = (again[0], again[1] + 1)
            part, at = again
        else:
            return False
    return True
