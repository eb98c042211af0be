"""YAML read strictly: events in, text out; no type is guessed and no tree is expanded.

The event stream of libyaml is read in one loop with a depth limit, so that neither nesting nor
aliases can cost more than the file is long.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from memsync.errors import Problem, problem

if TYPE_CHECKING:
    from memsync.frontmatter.model import Value

try:
    from yaml.cyaml import CParser as _Parser  # type: ignore[attr-defined]
except ImportError:  # PyYAML without libyaml: slower, the same events

    class _Parser(  # type: ignore[no-redef]
        yaml.reader.Reader, yaml.scanner.Scanner, yaml.parser.Parser
    ):
        """The parser in Python."""

        def __init__(self, stream: str) -> None:
            yaml.reader.Reader.__init__(self, stream)
            yaml.scanner.Scanner.__init__(self)
            yaml.parser.Parser.__init__(self)


DEPTH = 16
KEY_CHARACTERS = 128
_NULLS = frozenset(("", "~", "null"))
#: Characters that YAML cannot hold, and those that it takes for a line break unseen.
#: (Named one by one: a set that goes on to the last character takes ten times as long to compile.)
_FOREIGN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]"
)
_LONE_CR = re.compile(r"\r(?!\n)")
_CONTROL_PROBLEMS = 20
#: What libyaml says, in words that tell what to do.
_PLAINER = {
    "mapping values are not allowed in this context": "a value that holds ': ' needs quotes",
    "could not find expected ':'": "a line of the form 'key: value' was expected",
    "did not find expected key": "a line of the form 'key: value' was expected",
    "found unexpected end of stream": "a quote is not closed",
}
#: In these contexts the mistake is where the thing begins, not where the parser gave up.
_BEGINNING = ("while scanning a quoted", "while scanning a simple key", "while parsing a flow")


class Reading(NamedTuple):
    """What a YAML text says. ``kind`` is ``mapping``, ``empty`` or ``other``.

    With ``complete`` false the reading stopped at an error and ``data`` has what came before.
    """

    kind: str
    data: dict[str, Value]
    lines: dict[str, int]
    problems: tuple[Problem, ...]
    complete: bool


def read(text: str, first_line: int, path: str) -> Reading:
    """Read one YAML mapping; ``first_line`` is the line of the file where ``text`` begins."""
    problems: list[Problem] = []
    if _FOREIGN.search(text):
        for found in list(_FOREIGN.finditer(text))[:_CONTROL_PROBLEMS]:
            line = first_line + text.count("\n", 0, found.start())
            char = f"U+{ord(found.group()):04X}"
            problems.append(problem("control-character", path, line, char=char))
        text = _FOREIGN.sub("\ufffd", text)  # as long as before, so that the marks still fit
    reader = _Reader(text, first_line, path, problems)
    try:
        complete = reader.run()
    except yaml.YAMLError as error:
        complete = False
        problems.append(_syntax(error, text, first_line, path))
    reader.data.pop("", None)
    return Reading(reader.kind, reader.data, reader.lines, tuple(problems), complete)


class _Reader:
    """One pass over the events of one text."""

    def __init__(self, text: str, first_line: int, path: str, problems: list[Problem]) -> None:
        self.text = text
        self.path = path
        self.first_line = first_line
        self.odd_lines = _LONE_CR.search(text) is not None
        self.problems = problems
        self.kind = "empty"
        self.data: dict[str, Value] = {}
        self.lines: dict[str, int] = {}

    def line(self, mark: Any) -> int:
        """The line of the file at a mark; a lone CR is a line for libyaml and none for editors."""
        if self.odd_lines:
            return self.first_line + self.text.count("\n", 0, mark.index)
        return self.first_line + int(mark.line)

    def tell(self, code: str, mark: Any, **facts: object) -> None:
        self.problems.append(problem(code, self.path, self.line(mark), "error", **facts))

    def run(self) -> bool:  # noqa: C901 - one flat loop: a call per event would double its cost
        """Build ``data`` and ``lines``; whether all was read. Raises YAMLError."""
        get: Any = _Parser(self.text).get_event
        first_line, odd_lines = self.first_line, self.odd_lines
        stack: list[tuple[Any, Any, str | None]] = []
        box: Any = None  # the list or dict being filled
        seen: dict[str, int] | None = None  # key -> line, of a dict
        key: str | None = None  # the key that waits for its value; "" throws the value away
        while True:
            event = get()
            kind = type(event)
            if kind is ScalarEvent:
                if event.tag is not None or event.anchor is not None:
                    self.decorated(event)
                value = event.value
                if seen is not None:
                    if key is None:
                        mark = event.start_mark
                        line = self.line(mark) if odd_lines else first_line + mark.line
                        key = self.key(value, seen, event)
                        if key:
                            seen[key] = line
                    else:
                        box[key] = None if not event.style and value in _NULLS else value
                        key = None
                elif box is not None:
                    box.append(None if not event.style and value in _NULLS else value)
                else:
                    self.kind = "other"
            elif kind is MappingStartEvent or kind is SequenceStartEvent:
                if event.tag is not None or event.anchor is not None:
                    self.decorated(event)
                if len(stack) >= DEPTH:
                    self.tell("yaml-depth", event.start_mark, limit=DEPTH)
                    return False
                after: str | None = None
                fresh: Any = {} if kind is MappingStartEvent else []
                if box is None:
                    fresh = self.root(kind)
                elif seen is None:
                    box.append(fresh)
                elif key is None:
                    self.tell("yaml-key", event.start_mark)
                    after = ""
                else:
                    box[key] = fresh
                stack.append((box, seen, after))
                box, key = fresh, None
                seen = None if kind is SequenceStartEvent else {} if len(stack) > 1 else self.lines
            elif kind is MappingEndEvent or kind is SequenceEndEvent:
                box, seen, key = stack.pop()
            elif kind is AliasEvent:
                self.tell("yaml-alias", event.start_mark)
                if seen is None:
                    if box is not None:
                        box.append(None)
                elif key is None:
                    key = ""
                else:
                    box[key], key = None, None
            elif kind is StreamEndEvent:
                return True
            elif kind is DocumentStartEvent and self.kind != "empty":
                detail = "a second YAML document begins here"
                self.tell("yaml-syntax", event.start_mark, detail=detail)
                return False

    def root(self, kind: Any) -> Any:
        self.kind = "mapping" if kind is MappingStartEvent else "other"
        return self.data if kind is MappingStartEvent else []

    def key(self, text: str, seen: dict[str, int], event: Any) -> str:
        """The key if it is a usable, new one, else ""."""
        if not text or len(text) > KEY_CHARACTERS or "\n" in text:
            self.tell("yaml-key", event.start_mark)
            return ""
        if text in seen:
            self.tell("duplicate-key", event.start_mark, key=text, first=seen[text])
            return ""
        return text

    def decorated(self, event: Any) -> None:
        """Tell a tag or an anchor."""
        if event.tag is not None:
            self.tell("yaml-tag", event.start_mark, tag=event.tag)
        if event.anchor is not None:
            self.tell("yaml-alias", event.start_mark)


def _syntax(error: yaml.YAMLError, text: str, first_line: int, path: str) -> Problem:
    mark = getattr(error, "problem_mark", None)
    context = getattr(error, "context", None) or ""
    if context.startswith(_BEGINNING) and getattr(error, "context_mark", None):
        mark = error.context_mark  # type: ignore[attr-defined]
    said = str(getattr(error, "problem", None) or error)
    index = min(mark.index, len(text)) if mark else 0
    line = first_line + text.count("\n", 0, index)
    source = text[text.rfind("\n", 0, index) + 1 :].split("\n", 1)[0]
    if said == "exceeded maximum nesting depth":
        return problem("yaml-depth", path, line, limit=DEPTH)
    if source.lstrip(" ").startswith("\t"):
        return problem("yaml-tab", path, line)
    return problem("yaml-syntax", path, line, detail=_PLAINER.get(said, said))


# --- where things stand --------------------------------------------------------------------

Way = tuple[str | int, ...]


class Step(NamedTuple):
    """One event with its way from the root: a key, a leaf, or the opening or end of a box."""

    way: Way
    role: str
    start: int
    end: int
    style: str


def walk(text: str) -> Iterator[Step]:
    """The events of a text that ``read`` found in order, with their ways and spans."""
    get: Any = _Parser(text).get_event
    stack: list[list[Any]] = []  # [way, "map" or "list", key or next index]
    while True:
        event = get()
        kind = type(event)
        if kind is StreamEndEvent:
            return
        start, end = event.start_mark.index, event.end_mark.index
        if kind is MappingEndEvent or kind is SequenceEndEvent:
            yield Step(stack.pop()[0], "end", start, end, "")
            continue
        if kind not in (ScalarEvent, AliasEvent, MappingStartEvent, SequenceStartEvent):
            continue
        way: Way = ()
        if stack:
            top = stack[-1]
            waits_for_key = top[1] == "map" and top[2] is None
            if waits_for_key and kind is ScalarEvent:
                top[2] = event.value
                yield Step((*top[0], event.value), "key", start, end, event.style or "")
                continue
            way = (*top[0], "" if waits_for_key else top[2])
            top[2] = "" if waits_for_key else None if top[1] == "map" else top[2] + 1
        if kind is AliasEvent:
            continue
        if kind is ScalarEvent:
            yield Step(way, "leaf", start, end, event.style or "")
            continue
        yield Step(way, "open", start, end, "flow" if event.flow_style else "")
        stack.append([way, "map", None] if kind is MappingStartEvent else [way, "list", 0])


def line_of(text: str, first_line: int, way: Way) -> int:
    """The line where the value at ``way`` begins, or its nearest parent that can be found."""
    line = first_line
    longest = 0
    try:
        for step in walk(text):
            size = len(step.way)
            if longest < size <= len(way) and step.way == way[:size]:
                line, longest = first_line + text.count("\n", 0, step.start), size
    except yaml.YAMLError:
        pass  # the text is broken further down: the nearest parent found so far serves
    return line
