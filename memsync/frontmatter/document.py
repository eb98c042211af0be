"""A file taken apart: fences, front matter, body, and what is wrong with the whole of it."""

from __future__ import annotations

import re

from memsync.errors import Problem, problem
from memsync.frontmatter.model import Document
from memsync.frontmatter.strict import Reading, read
from memsync.record import FILE_BYTES, plain_breaks

_BOM = "\ufeff"
_OPENING = re.compile(r"---[ \t]*\r?\n")
_CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*\r?(?:\n|\Z)", re.MULTILINE)
#: A line that is hardly prose: `key:`, or the beginning of a YAML flow mapping, anchor or tag.
_KEY_LINE = re.compile(r"\s*(?:[\"']?[A-Za-z_][\w.-]*[\"']?[ \t]*:(?:\s|\Z)|\{|&\w|!!\w|\?\s)")
_CONTROL = re.compile("[\x01-\x08\x0b\x0c\x0e-\x1f\x7f]")
_CONTROL_PROBLEMS = 20
_MARKER = re.compile(r"^(<{7}|={7}|>{7})(?: [^\n]*)?\r?$", re.MULTILINE)
_LFS = b"version https://git-lfs.github.com/spec/"


def parse(raw: bytes, path: str) -> Document:
    """Take a Markdown file apart. Never raises on content: what is wrong is in ``problems``."""
    text, bom, problems = _text(raw, path)
    if text is None:
        return _nothing(raw, path, problems)
    newline = _newline_of(text)
    opening = _OPENING.match(text)
    if opening is None:
        return _all_body(raw, path, text, newline, bom, problems)
    start = opening.end()
    closing = _CLOSING.search(text, start)
    if closing is None:
        if _KEY_LINE.match(text, start):
            problems.append(problem("unclosed-front-matter", path, 1))
        return _all_body(raw, path, text, newline, bom, problems)
    front = text[start : closing.start()]
    reading = read(front, 2, path)
    if reading.kind == "other" or not (reading.complete or _looks_meant(front)):
        problems.append(problem("front-matter-not-mapping", path, 1, level="notice"))
        return _all_body(raw, path, text, newline, bom, problems, refused=True)
    body = text[closing.end() :]
    body_line = 1 + text.count("\n", 0, closing.end())
    problems += _body_problems(body, body_line, path)
    return Document(
        raw=raw,
        path=path,
        data=reading.data,
        lines=reading.lines,
        body=plain_breaks(body),
        body_line=body_line,
        newline=newline,
        bom=bom,
        has_front_matter=True,
        problems=_in_order(problems, reading),
        front=front,
        front_line=2,
        complete=reading.complete,
    )


def parse_yaml(raw: bytes, path: str) -> Document:
    """Take a whole YAML file apart, by the same strict rules. ``body`` is empty."""
    text, bom, problems = _text(raw, path)
    if text is None:
        return _nothing(raw, path, problems)
    reading = read(text, 1, path)
    if reading.kind == "other":
        problems.append(problem("wrong-type", path, 1, key="the file", expected="`key: value`"))
    return Document(
        raw=raw,
        path=path,
        data=reading.data,
        lines=reading.lines,
        body="",
        body_line=0,
        newline=_newline_of(text),
        bom=bom,
        has_front_matter=True,
        problems=_in_order(problems, reading),
        front=text,
        front_line=1,
        complete=reading.complete,
    )


def text_problems(text: str, line: int, path: str) -> list[Problem]:
    """Why a text could not be read back from a file: NUL, lone surrogates, conflict markers."""
    found: list[Problem] = []
    if "\0" in text:
        at = line + text.count("\n", 0, text.index("\0"))
        found.append(problem("not-text", path, at, detail="it holds a NUL byte"))
    try:
        text.encode()
    except UnicodeEncodeError as error:
        at = line + text.count("\n", 0, error.start)
        found.append(problem("not-text", path, at, detail="it holds half of a character"))
    if "<<<<<<<" in text:
        for start in _conflicts(text):
            at = line + text.count("\n", 0, start)
            found.append(problem("conflict-markers", path, at))
    return found


def _newline_of(text: str) -> str:
    """The line break of a file: that of its first line."""
    at = text.find("\n")
    return "\r\n" if at > 0 and text[at - 1] == "\r" else "\n"


def _conflicts(text: str) -> list[int]:
    """Where conflicts begin: each has its three markers, in order."""
    found: list[int] = []
    start, parted = -1, False
    for marker in _MARKER.finditer(text):
        sign = marker.group(1)[0]
        if sign == "<":
            start, parted = marker.start(), False
        elif sign == "=":
            parted = start >= 0
        elif parted:
            found.append(start)
            start, parted = -1, False
    return found


def _looks_meant(front: str) -> bool:
    """Whether YAML that cannot be read was meant as a front matter, and is not prose."""
    for line in front.splitlines():
        bare = line.strip()
        if bare and not bare.startswith(("#", "<<<<<<<")):
            return _KEY_LINE.match(line) is not None
    return False


def _text(raw: bytes, path: str) -> tuple[str | None, bool, list[Problem]]:
    """The text without its byte order mark, and what is wrong with the file as a whole."""
    if len(raw) > FILE_BYTES:
        size = problem("file-too-large", path, 0, size=len(raw), limit=FILE_BYTES)
        return None, False, [size]
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        return None, False, [problem("not-text", path, 1, detail="it looks like UTF-16")]
    if b"\0" in raw:
        line = 1 + raw.count(b"\n", 0, raw.index(b"\0"))
        return None, False, [problem("not-text", path, line, detail="it holds a NUL byte")]
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = 1 + raw.count(b"\n", 0, error.start)
        detail = f"byte 0x{raw[error.start]:02x} is not UTF-8"
        return None, False, [problem("not-text", path, line, detail=detail)]
    bom = text.startswith(_BOM)
    if bom:
        text = text[1:]
    if raw.startswith(_LFS):
        return None, bom, [problem("lfs-pointer", path, 1)]
    return text, bom, text_problems(text, 1, path) if "<<<<<<<" in text else []


def _body_problems(body: str, line: int, path: str) -> list[Problem]:
    if not _CONTROL.search(body):
        return []
    return [
        problem(
            "control-character",
            path,
            line + body.count("\n", 0, found.start()),
            level="notice",
            char=f"U+{ord(found.group()):04X}",
        )
        for found in list(_CONTROL.finditer(body))[:_CONTROL_PROBLEMS]
    ]


def _in_order(problems: list[Problem], reading: Reading) -> tuple[Problem, ...]:
    if not problems and not reading.problems:
        return ()
    markers = any(p.code == "conflict-markers" for p in problems)
    # a marker makes nonsense of the YAML around it: what the parser says of that helps nobody
    seen = () if markers and not reading.complete else reading.problems
    return tuple(sorted((*problems, *seen), key=lambda p: p.line))


def _nothing(raw: bytes, path: str, problems: list[Problem]) -> Document:
    return Document(raw, path, {}, {}, "", 1, "\n", False, False, tuple(problems), complete=False)


def _all_body(
    raw: bytes,
    path: str,
    text: str,
    newline: str,
    bom: bool,
    problems: list[Problem],
    refused: bool = False,
) -> Document:
    problems = [*problems, *_body_problems(text, 1, path)]
    problems.sort(key=lambda p: p.line)
    body = plain_breaks(text)
    return Document(
        raw, path, {}, {}, body, 1, newline, bom, False, tuple(problems), refused=refused
    )
