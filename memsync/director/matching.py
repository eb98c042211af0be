"""Whether a memory's conditions fit a request, level by level. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from memsync import record, tokens

#: The levels below the project, in the order in which they are asked.
LEVELS = ("path", "task", "operation", "phase")
_KEYS = {"path": "paths", "task": "tasks", "operation": "operations", "phase": "phases"}


@dataclass(frozen=True)
class Request:
    """What a task says of itself, prepared for matching."""

    paths: tuple[str, ...] = ()
    task: str = ""
    operation: str | None = None
    phase: str | None = None

    @property
    def task_words(self) -> frozenset[str]:
        """The words of the task, stemmed lightly."""
        return _stems(self.task)

    @property
    def task_text(self) -> str:
        """The task as normalised text, for words without blanks between them."""
        return record.normalised_text(self.task)

    def gives(self, level: str) -> bool:
        """Whether the request says anything of a level."""
        return bool({"path": self.paths, "task": self.task.strip()}.get(level, self._word(level)))

    def _word(self, level: str) -> str | None:
        return self.operation if level == "operation" else self.phase


@dataclass(frozen=True, slots=True)
class Match:
    """level -> ``matched``, ``failed`` or ``not-asked``; levels without selectors are absent.

    ``fits`` holds where nothing failed, ``whole`` where every selector was asked and matched.
    """

    levels: tuple[tuple[str, str], ...] = ()

    @property
    def fits(self) -> bool:
        """Whether no level contradicts the request."""
        return all(state != "failed" for _, state in self.levels)

    @property
    def whole(self) -> bool:
        """Whether every level that the memory asks about is confirmed."""
        return all(state == "matched" for _, state in self.levels)

    def matched(self) -> tuple[str, ...]:
        """The levels that matched."""
        return tuple(level for level, state in self.levels if state == "matched")

    def first(self, wanted: str) -> str:
        """The first level in this state, or an empty text."""
        return next((level for level, state in self.levels if state == wanted), "")


def match(selectors: Mapping[str, Sequence[str]], request: Request) -> Match:
    """Compare a memory's selectors with a request."""
    levels = []
    for level in LEVELS:
        wanted = selectors.get(_KEYS[level])
        if wanted:
            if not request.gives(level):
                state = "not-asked"
            else:
                state = "matched" if _level(level, tuple(wanted), request) else "failed"
            levels.append((level, state))
    return Match(tuple(levels))


def _level(level: str, wanted: tuple[str, ...], request: Request) -> bool:
    if level == "path":
        return any(path_matches(wanted, path) for path in request.paths)
    if level == "task":
        return any(_task_matches(selector, request) for selector in wanted)
    said = record.path_key((request.operation if level == "operation" else request.phase) or "")
    return any(record.path_key(selector) == said for selector in wanted)


# --- paths ---------------------------------------------------------------------------------


def normal_path(path: str) -> str:
    """A path as selectors see it: relative, with ``/``, without ``./`` and a last slash."""
    parts = [p for p in path.replace("\\", "/").split("/") if p not in ("", ".")]
    return "/".join(parts)


def path_matches(selectors: tuple[str, ...], path: str) -> bool:
    """Whether gitignore-style selectors cover a path. A folder covers what is in it.

    The path of a folder is covered by what covers anything directly in it (``web`` by
    ``web/**``). Later selectors win over earlier ones; ``!`` takes away.
    """
    if not path:
        return False
    covered = False
    for selector in selectors:
        rule = _rule(selector)
        if rule is None:
            continue
        pattern, literal, includes = rule
        if literal and not (path + "/").startswith(literal) and not literal.startswith(path + "/"):
            continue
        if pattern is None:
            pattern = _pattern(selector)
        if pattern.search(path) or pattern.search(path + "/\x01"):
            covered = includes
    return covered


@lru_cache(maxsize=4096)
def _rule(selector: str) -> tuple[re.Pattern[str] | None, str, bool] | None:
    """(compiled pattern or None, literal beginning, whether it includes) of one selector."""
    text = selector.strip()
    includes = not text.startswith("!")
    text = text.lstrip("!")
    if not text or text.startswith("#"):
        return None
    literal = ""
    if "/" in text.rstrip("/"):
        # Anchored: its beginning up to the first wildcard has to be the path's, which is a cheap
        # first question before the pattern is compiled.
        head = re.split(r"[*?\[\\]", text.lstrip("/"), maxsplit=1)[0]
        literal = head[: head.rfind("/") + 1]
    return None, literal, includes


@lru_cache(maxsize=4096)
def _pattern(selector: str) -> re.Pattern[str]:
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

    text = selector.strip().lstrip("!")
    try:
        expression, _ = GitIgnoreSpecPattern.pattern_to_regex(text)
    except ValueError:
        expression = None
    return re.compile(expression) if isinstance(expression, str) else re.compile(r"(?!)")


# --- words ---------------------------------------------------------------------------------


def _task_matches(selector: str, request: Request) -> bool:
    wanted = _stems(selector)
    if wanted and wanted <= request.task_words:
        return True
    text = record.normalised_text(selector)
    if text and any(ord(character) > 0x2E80 for character in text):
        return text.replace(" ", "") in request.task_text.replace(" ", "")
    return False


@lru_cache(maxsize=4096)
def _stems(text: str) -> frozenset[str]:
    found = set()
    for word in tokens.words(text):
        found.add(_stem(word))
        found.update(_stem(part) for part in re.split(r"[^\w]+|_", word) if part)
    return frozenset(found)


def _stem(word: str) -> str:
    """A word without the endings that the same word takes in a sentence."""
    for ending in ("ations", "ation", "ings", "ing", "ers", "ies", "ed", "es", "er", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and word.isascii():
            return word[: -len(ending)]
    return word
