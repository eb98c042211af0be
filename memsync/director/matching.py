"""Whether a memory's conditions fit a request, level by level. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

from memsync import record, tokens
from memsync.director.globs import covers

#: The levels below the project, in the order in which they are asked.
LEVELS = ("path", "task", "operation", "phase")
#: level -> its key in the front matter.
SELECTOR_KEYS = {"path": "paths", "task": "tasks", "operation": "operations", "phase": "phases"}


@dataclass(frozen=True)
class Request:
    """What a task says of itself, prepared for matching."""

    paths: tuple[str, ...] = ()
    task: str = ""
    operation: str | None = None
    phase: str | None = None

    @cached_property
    def task_words(self) -> frozenset[str]:
        """The words of the task, stemmed lightly."""
        return _stems(self.task)

    @cached_property
    def task_clues(self) -> frozenset[str]:
        """What the task offers to selectors that look for one of several clues."""
        dense = any(ord(character) > 0x2E80 for character in self.task)
        return self.task_words | {DENSE} if dense else self.task_words

    @cached_property
    def task_text(self) -> str:
        """The task as normalised text without blanks, for scripts that have none."""
        return record.normalised_text(self.task).replace(" ", "")

    @cached_property
    def states(self) -> dict[tuple[str, tuple[str, ...]], str]:
        """What was found out already: memories share their selectors."""
        return {}

    @cached_property
    def given(self) -> frozenset[str]:
        """The levels of which the request says anything."""
        said = (self.paths, self.task.strip(), self.operation, self.phase)
        return frozenset(level for level, word in zip(LEVELS, said, strict=True) if word)


class Match(NamedTuple):
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


#: The clue of a selector in a script that puts no blanks between words.
DENSE = "\0dense"
#: How a memory without conditions matches.
NOTHING = Match()
#: What a memory asks for, level by level.
Wanted = tuple[tuple[str, ...], ...]


def match(wanted: Wanted, request: Request) -> Match:
    """Compare one memory's selectors with a request."""
    pairs = zip(LEVELS, wanted, strict=False)
    return Match(tuple([(lv, state(lv, asked, request)) for lv, asked in pairs if asked]))


def state(level: str, selectors: tuple[str, ...], request: Request) -> str:
    """How the selectors of one level fit: ``matched``, ``failed`` or ``not-asked``."""
    key = (level, selectors)
    found = request.states.get(key)
    if found is None:
        found = request.states[key] = _state(level, selectors, request)
    return found


def _state(level: str, selectors: tuple[str, ...], request: Request) -> str:
    if level not in request.given:
        return "not-asked"
    if level == "path":
        fits = any(path_matches(selectors, path) for path in request.paths)
    elif level == "task":
        fits = any(_task_matches(selector, request) for selector in selectors)
    else:
        said = record.path_key((request.operation if level == "operation" else request.phase) or "")
        fits = any(record.path_key(selector) == said for selector in selectors)
    return "matched" if fits else "failed"


def task_clues(selectors: tuple[str, ...]) -> frozenset[str]:
    """Words of which a task must have one for these selectors to match; "" stands for any.

    ``DENSE`` stands for any word of a script that puts no blanks between them.
    """
    clues: set[str] = set()
    for selector in selectors:
        words = _stems(selector)
        if _dense_text(selector):
            clues.add(DENSE)
        clues |= words or {""}
    return frozenset(clues)


def path_clues(selectors: tuple[str, ...]) -> frozenset[str]:
    """Top folders of which a path must have one for these to match; "" stands for any."""
    clues = set()
    for selector in selectors:
        rule = _rule(selector)
        clues.add(top_of(rule[0]) if rule and rule[1] else "")
    return frozenset(clues)


def word_clues(selectors: tuple[str, ...]) -> frozenset[str]:
    """The words, one of which an operation or a phase must be, for these to match."""
    return frozenset(record.path_key(selector) for selector in selectors)


def clues_given(level: str, request: Request) -> Iterable[str]:
    """What a request offers to the selectors of a level."""
    if level == "task":
        return request.task_clues
    if level == "path":
        return {top_of(path) for path in request.paths}
    said = request.operation if level == "operation" else request.phase
    return (record.path_key(said or ""),)


def top_of(path: str) -> str:
    """The first part of a path."""
    return path.partition("/")[0]


# --- paths ---------------------------------------------------------------------------------


def normal_path(path: str) -> str:
    """A path as selectors see it: relative, with ``/``, without ``./`` and a last slash."""
    parts = [p for p in path.replace("\\", "/").split("/") if p not in ("", ".")]
    return "/".join(parts)


@lru_cache(maxsize=16_384)
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
        literal, includes = rule
        if literal and not (path + "/").startswith(literal) and not literal.startswith(path + "/"):
            continue
        pattern = selector.strip().lstrip("!")
        if covers(pattern, path) or covers(pattern, path + "/\x01"):
            covered = includes
    return covered


@lru_cache(maxsize=4096)
def _rule(selector: str) -> tuple[str, bool] | None:
    """(literal beginning, whether it includes) of one selector."""
    text = selector.strip()
    includes = not text.startswith("!")
    text = text.lstrip("!")
    if not text or text.startswith("#"):
        return None
    literal = ""
    if "/" in text.rstrip("/"):
        # Anchored: its beginning up to the first wildcard has to be the path's, which is a cheap
        # first question.
        head = re.split(r"[*?\[\\]", text.lstrip("/"), maxsplit=1)[0]
        literal = head[: head.rfind("/") + 1]
    return literal, includes


# --- words ---------------------------------------------------------------------------------


def _task_matches(selector: str, request: Request) -> bool:
    wanted = _stems(selector)
    if wanted and wanted <= request.task_words:
        return True
    dense = _dense_text(selector)
    return bool(dense) and dense in request.task_text


@lru_cache(maxsize=4096)
def _dense_text(selector: str) -> str:
    """A selector as text without blanks where its script has none; empty for other scripts."""
    if any(ord(character) > 0x2E80 for character in selector):
        return record.normalised_text(selector).replace(" ", "")
    return ""


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
