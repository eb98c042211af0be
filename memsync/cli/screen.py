"""What the person sees: text for a terminal, JSON for a program, errors with advice."""

from __future__ import annotations

import json
import os
import re
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import click

from memsync import config, errors
from memsync.language import Translate, translator

if TYPE_CHECKING:
    from memsync.contract.shared import Why

SCHEMA = "memsync.cli.v1"
#: More columns than any line has.
_UNBROKEN = 1_000_000
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
#: How a line begins that is indented or quoted.
_LEAD = re.compile(r"\s*(?:> )*")
#: A byte of a name that is no text, as the system's names bring it.
_BYTE = re.compile("[\udc80-\udcff]")


def words() -> Translate:
    """Labels for what is shown before any memory is opened, and for errors."""
    return translator(config.early_language(os.environ))


# --- text ----------------------------------------------------------------------------------


def safe(text: str) -> str:
    """A text without what a terminal would obey: control characters are shown, not sent."""
    text = _BYTE.sub(_spelled, text.replace("\r\n", "\n"))
    return _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def _spelled(found: re.Match[str]) -> str:
    return f"\\x{ord(found[0]) & 0xFF:02x}"


def width() -> int:
    """The columns of a line: those of the terminal or of COLUMNS, at most 100.

    Anything else gets whole lines, which can be searched line by line.
    """
    if not sys.stdout.isatty() and not os.environ.get("COLUMNS"):
        return _UNBROKEN
    import shutil

    return min(shutil.get_terminal_size((80, 24)).columns, 100)


def columns(text: str) -> int:
    """How many columns a text takes: East Asian wide characters take two."""
    taken = 0
    for character in text:
        if unicodedata.combining(character) or character in "\u200b\u200d\ufe0f":
            continue
        taken += 2 if unicodedata.east_asian_width(character) in "WF" else 1
    return taken


def cut(text: str, room: int) -> str:
    """The beginning of a text that takes at most ``room`` columns, but at least one character."""
    taken = 0
    for position, character in enumerate(text):
        taken += columns(character)
        if taken > room and position:
            return text[:position]
    return text


def fit(text: str, room: int) -> str:
    """A text within ``room`` columns, with an ellipsis where it is cut."""
    return text if columns(text) <= room else cut(text, room - 1).rstrip() + "…"


def wrapped(text: str, room: int, indent: str = "") -> str:
    """A text broken into lines of at most ``room`` columns, between words where there are any.

    Lines that are broken go on as they begin: indented, quoted.
    """
    lines = []
    for line in text.expandtabs(4).splitlines():
        found = _LEAD.match(line)
        lead = found[0] if found else ""
        begins = (indent + lead)[: room // 2]
        current = begins
        for word in re.findall(
            r"\s*[^\s\u2e80-\uffef]+|\s*[\u2e80-\uffef][，。、；：？！）」』》”’…]*",
            line[len(lead) :].strip(),
        ):
            if columns(current + word) > room and current != begins:
                lines.append(current.rstrip())
                current = begins + word.lstrip()
            else:
                current += word
            while columns(current) > room:
                head = cut(current, room)
                lines.append(head)
                current = begins + current[len(head) :]
        lines.append(current.rstrip())
    return "\n".join(lines)


def style(text: str, **how: Any) -> str:
    """A text in colour, where the terminal allows it and NO_COLOR does not forbid it."""
    return click.style(text, **how) if coloured() else text


def coloured() -> bool:
    """Whether standard output shows colours."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return sys.stdout.isatty()


def say(text: str = "") -> None:
    """Print a line of the answer."""
    click.echo(text, color=coloured())


def tell(text: str, **how: Any) -> None:
    """Print lines of the answer in a style, broken at the width of the terminal."""
    room = width()
    say(style(text if room == _UNBROKEN else wrapped(text, room), **how))


def note(text: str | bytes) -> None:
    """Print a line that is not the answer; where nobody can read it, the work goes on."""
    try:
        click.echo(text, err=True)
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def progress(step: str) -> None:
    """Tell a terminal what long work is at; a pipe gets nothing."""
    if sys.stderr.isatty():
        note(f"… {step}")


# --- JSON ----------------------------------------------------------------------------------


def give(**fields: Any) -> None:
    """Print the one JSON object of a call."""
    click.echo(_object({"schema": SCHEMA, **fields}))


def _object(value: dict[str, Any]) -> bytes:
    """An object as JSON, which is UTF-8 whatever the terminal speaks."""
    text = json.dumps(value, ensure_ascii=False)
    return _BYTE.sub(lambda found: "\\" + _spelled(found), text).encode("utf-8", "backslashreplace")


def whys(found: Iterable[Why]) -> list[dict[str, Any]]:
    """Reasons as JSON."""
    return [{"code": why.code, "facts": [*why.facts]} for why in found]


# --- errors --------------------------------------------------------------------------------


def tell_error(error: errors.MemsyncError, as_json: bool) -> None:
    """Tell an error on standard error: its code, its sentence, what helps."""
    if as_json:
        told = {"code": error.code, "message": str(error), "facts": _jsonable(error.facts)}
        note(_object({"error": told}))
        return
    from memsync.cli import phrases
    from memsync.cli.advice import advice

    _ = words()
    head = f"error[{error.code}]"
    if sys.stderr.isatty() and not os.environ.get("NO_COLOR"):
        head = click.style(head, fg="red", bold=True)
    note(f"{head} {safe(phrases.error(error, _))}")
    told_advice = advice(error.code, _)
    if told_advice:
        note(f"  {told_advice}")


def _jsonable(facts: dict[str, object]) -> dict[str, object]:
    plain = (str, int, float, bool, list, type(None))
    return {key: value if isinstance(value, plain) else str(value) for key, value in facts.items()}


def table(rows: Sequence[Sequence[str]], gap: int = 2) -> list[str]:
    """Rows as aligned columns; the last one takes what is left of the line."""
    if not rows:
        return []
    widths = [max(columns(row[n]) for row in rows) for n in range(len(rows[0]) - 1)]
    lines = []
    for row in rows:
        cells = [cell + " " * (widths[n] - columns(cell)) for n, cell in enumerate(row[:-1])]
        left = (" " * gap).join(cells)
        lines.append(left + " " * gap + fit(row[-1], max(width() - columns(left) - gap, 20)))
    return lines
