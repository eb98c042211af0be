"""YAML written so that every reader of YAML 1.1 or 1.2 reads the same."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from memsync.frontmatter.model import TIME_KEYS, Value, Writable
from memsync.record import instant

WIDTH = 90
#: Plain in every context: begins with no indicator, holds nothing that ends a plain scalar.
_PLAIN = re.compile(r"[^\W_](?:[^:#\s]|:(?=\S)|#| (?=[^\s#]))*")
_PATH_LIKE = re.compile(r"[./_][\w./*+-]*")
_FLOW_ENDS = re.compile(r"[,\[\]{}:#\"']")
#: What some reader takes for a truth value, nothing, or a merge.
_WORDS = frozenset(
    ("y", "n", "yes", "no", "true", "false", "on", "off", "null", "nan", ".nan", ".inf", "inf")
)
#: Everything that a number, a time or a date of some reader could be made of.
_NUMBER = re.compile(r"[-+.0-9][-+.0-9a-fA-FoOxX_:tTzZ]*(?:[ \t]+[-+.0-9:zZ]+)*")
_TIME = re.compile(r"[0-9T:.+Z-]+")
_PRINTABLE = re.compile(
    "[^\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]*"
)
_ESCAPES = {"\0": "\\0", "\t": "\\t", "\n": "\\n", "\r": "\\r", '"': '\\"', "\\": "\\\\"}


def strict(value: Writable) -> Value:
    """What the strict reader will say of a value once it is written."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, Mapping):
        return {key: strict(item) for key, item in value.items()}
    return [strict(item) for item in value]


def scalar(value: Writable, key: str = "", flow: bool = False, style: str = "") -> str:
    """A scalar in one line. ``style`` is the quote that it had and keeps where it can."""
    if value is None:
        return "null"
    if not isinstance(value, str):
        return str(strict(value))
    if style == '"':
        return _double(value)
    printable = _PRINTABLE.fullmatch(value) is not None
    if style == "'" and printable:
        return _single(value)
    if _is_plain(value, flow) or (key in TIME_KEYS and _is_time(value)):
        return value
    if not printable or ("'" in value and '"' not in value and "\\" not in value):
        return _double(value)
    return _single(value)


def block(
    value: Writable, indent: str, key: str = "", room: int = WIDTH, literal: bool = True
) -> tuple[str, list[str]]:
    """A value below a key: what stands on the key's line, and the lines that follow.

    ``indent`` is the indentation of the key's line, ``room`` what is left of that line.
    Without ``literal`` a text of several lines is quoted: what follows it might be indented, and
    would then belong to it.
    """
    if isinstance(value, str):
        if literal and _is_literal(value):
            head = "|" if value.endswith("\n") else "|-"
            lines = value.removesuffix("\n").split("\n")
            return head, [f"{indent}  {line}" if line else "" for line in lines]
        return scalar(value, key), []
    if isinstance(value, Mapping):
        if not value:
            return "{}", []
        return "", mapping(value, indent + "  ", literal)
    if isinstance(value, Sequence):
        if all(not isinstance(v, Mapping | Sequence) or isinstance(v, str) for v in value):
            line = flow(value)
            if not value or (len(line) <= room and not any(_is_broken(v) for v in value)):
                return line, []
        return "", [line for item in value for line in _item(item, indent + "  ", literal)]
    return scalar(value), []


def mapping(values: Mapping[str, Writable], indent: str = "", literal: bool = True) -> list[str]:
    """A mapping in block style, as lines without line breaks."""
    return [line for key, value in values.items() for line in entry(key, value, indent, literal)]


def entry(key: str, value: Writable, indent: str = "", literal: bool = True) -> list[str]:
    """One key and its value in block style, as lines."""
    start = f"{indent}{scalar(key)}:"
    head, rest = block(value, indent, key, WIDTH - len(start) - 1, literal)
    return [f"{start} {head}" if head else start, *rest]


def flow(value: Writable) -> str:
    """A value in one line, in flow style."""
    if isinstance(value, Mapping):
        inner = (f"{scalar(key, flow=True)}: {flow(item)}" for key, item in value.items())
        return "{" + ", ".join(inner) + "}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "[" + ", ".join(flow(item) for item in value) + "]"
    return scalar(value, flow=True)


def _item(value: Writable, indent: str, literal: bool) -> list[str]:
    if isinstance(value, Mapping) and value:
        lines = mapping(value, indent + "  ", literal)
        return [f"{indent}- {lines[0][len(indent) + 2 :]}", *lines[1:]]
    head, rest = block(value, indent, "", WIDTH - len(indent) - 2, literal)
    return [f"{indent}- {head}" if head else f"{indent}-", *rest]


def _is_broken(value: Writable) -> bool:
    return isinstance(value, str) and "\n" in value


def _is_plain(text: str, in_flow: bool) -> bool:
    if text.lower() in _WORDS or _NUMBER.fullmatch(text) or not _PRINTABLE.fullmatch(text):
        return False
    if not (_PLAIN.fullmatch(text) or _PATH_LIKE.fullmatch(text)):
        return False
    if text.endswith((":", " ")):
        return False
    return not in_flow or not _FLOW_ENDS.search(text)


def _is_time(text: str) -> bool:
    return _TIME.fullmatch(text) is not None and instant(text) is not None


def _is_literal(text: str) -> bool:
    """Whether a text of several lines can stand as it is, below ``|`` or ``|-``."""
    return (
        "\n" in text
        and text[0] not in " \t\n"
        and not text.endswith(("\n\n", " \n", "\t\n"))
        and not text.rsplit("\n", 1)[-1].isspace()
        and all(_PRINTABLE.fullmatch(line) for line in text.split("\n"))
    )


def _single(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _double(text: str) -> str:
    out = []
    for char in text:
        if char in _ESCAPES:
            out.append(_ESCAPES[char])
        elif char != "\t" and _PRINTABLE.fullmatch(char):
            out.append(char)
        else:
            code = ord(char)
            out.append(f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}")
    return '"' + "".join(out) + '"'
