"""What commands share in answering: a memory as a card, whole, or as JSON; what was done."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from memsync import errors, record
from memsync.cli import labels, phrases
from memsync.cli.screen import give, note, safe, say, style, tell, whys, width, wrapped
from memsync.cli.session import Session
from memsync.contract.codec import to_json

if TYPE_CHECKING:
    from memsync.contract.changes import Applied
    from memsync.contract.shared import Entry

#: A text on standard input or from an editor is read up to this many bytes.
_INPUT_LIMIT = 1024 * 1024


def entry_json(entry: Entry) -> dict[str, Any]:
    """A memory in the spelling of the front matter, with what its file does not say."""
    return {
        **to_json(entry.record),
        "body": entry.record.body,
        "path": entry.path,
        "revision": entry.revision,
        "state": entry.state,
        "provisional": entry.provisional,
        "evidenceCount": entry.evidence_count,
        "confirmed": entry.confirmed,
    }


def text_of(entry: Entry) -> str:
    """A memory's title and text, as one text."""
    item = entry.record
    return "\n\n".join(part for part in (item.title, record.beyond_title(item)) if part)


def tell_applied(session: Session, applied: Applied, sentence: str) -> int:
    """Tell what an operation did; returns the exit status."""
    session.changed = bool(applied.commit or applied.changed or applied.taken_in)
    attention = [n for n in applied.notices if n.code in _NEEDS_ATTENTION]
    if session.as_json:
        entry = applied.entry
        give(
            operation=applied.operation,
            record=entry_json(entry) if entry else None,
            text=text_of(entry) if entry else None,
            commit=applied.commit,
            changed=[*applied.changed],
            takenIn=[*applied.taken_in],
            ids=[*applied.ids],
            notices=whys(applied.notices),
        )
    else:
        _ = session.translate
        say(safe(sentence))
        for path in applied.changed:
            say(safe(f"  {path}"))
        if applied.taken_in:
            listed = ", ".join(applied.taken_in)
            note(safe(_("first took in what you had edited by hand: {}").replace("{}", listed)))
        for found in applied.notices:
            note(safe(labels.notice(found, _)))
    return int(errors.Exit.ATTENTION) if attention else 0


def apart(name: str, given: object, *others: tuple[str, object]) -> None:
    """Refuse options that would be passed over beside another one. Raises UsageWrong."""
    for other, beside in others:
        if given not in (None, False) and beside not in (None, False):
            raise errors.UsageWrong(detail=f"{name} does not go with {other}")


_NEEDS_ATTENTION = {
    "too-many-deletions",
    "edit-would-damage",
    "forgotten-for-good",
    "profile-edit-kept",
    "remote-not-reached",
    "tag-not-reached",
    "message-not-reached",
    "note-not-reached",
    "file-not-reached",
    "more-not-reached",
    "purge-unfinished",
}


def text_from(argument: str | None, option: str | None) -> str:
    """The text of a command: its argument, ``--text``, or standard input.

    Raises TextEmpty, TextNotReadable, UsageWrong.
    """
    if argument is not None and option is not None:
        raise errors.UsageWrong(detail="give one text, not two")
    given = argument if argument is not None else option
    if given is not None and given != "-":
        return given
    if sys.stdin is None or (given is None and sys.stdin.isatty()):
        raise errors.TextEmpty()
    raw = sys.stdin.buffer.read(_INPUT_LIMIT + 1)
    if len(raw) > _INPUT_LIMIT:
        raise errors.TextNotReadable(detail=f"it has more than {_INPUT_LIMIT} bytes")
    return decoded(raw)


def decoded(raw: bytes) -> str:
    """Bytes as text. Raises TextNotReadable."""
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        detail = f"byte {error.start} is not UTF-8"
        raise errors.TextNotReadable(detail=detail) from error


def show_card(session: Session, entry: Entry, place: bool = True) -> None:
    """One memory in two lines; ``place`` says where it holds, too."""
    _ = session.translate
    title = wrapped(safe(entry.record.title), width() - 22).splitlines() or [""]
    say(f"  {style(entry.record.id, fg='cyan')}  {title[0]}")
    for line in title[1:]:
        say(" " * 22 + line)
    parts = [labels.scope_of(entry.record, _)] if place else []
    line = " · ".join([*parts, labels.card(entry, _)])
    tell(f"    {safe(line)}", dim=True)


def tell_left_out(session: Session, broken: Sequence[str]) -> None:
    """Say that files could not be read, so that an answer without them does not look whole."""
    if broken:
        told = session.translate.counted(
            "{} file cannot be read and is left out; `memsync status` names it",
            "{} files cannot be read and are left out; `memsync status` names them",
            len(broken),
        )
        note(told)


def show_entry(session: Session, entry: Entry) -> None:
    """A memory with all that is known of it, for a terminal."""
    _ = session.translate
    item = entry.record
    room = width()
    say(style(wrapped(safe(item.title), room), bold=True))
    text = record.beyond_title(item)
    if text:
        say(wrapped(safe(text), room))
    say()
    for label, value in _details(entry, session):
        lines = wrapped(safe(value), room - 18).splitlines() or [""]
        say(f"{label + ':':<18}{lines[0]}" if label.isascii() else f"{label}：{lines[0]}")
        for line in lines[1:]:
            say(" " * 18 + line)


def _details(entry: Entry, session: Session) -> list[tuple[str, str]]:
    _ = session.translate
    item = entry.record
    chosen = item.selectors
    listed = [
        (_("Id"), item.id),
        (_("State"), labels.states(_)[entry.state]),
        (_("Holds"), labels.scope_of(item, _)),
        (_("Kind"), f"{labels.types(_)[item.memory_type]}, {labels.classes(_)[item.memory_class]}"),
        (_("Category"), item.category or ""),
        (_("Tags"), ", ".join(item.tags)),
        (_("Only for paths"), ", ".join(chosen.paths)),
        (_("Only for tasks"), ", ".join(chosen.tasks)),
        (_("Operations"), ", ".join(chosen.operations)),
        (_("Phases"), ", ".join(chosen.phases)),
        (_("Says who"), labels.authorities(_)[item.authority]),
        (_("Established"), labels.lifecycles(_)[item.lifecycle]),
        (_("Evidence"), _evidence(entry, session)),
        (_("Valid"), " – ".join(filter(None, (item.valid_from, item.valid_until)))),
        (_("Takes place of"), ", ".join(item.supersedes)),
        (_("Replaced by"), item.superseded_by or ""),
        (_("Reason"), item.reason or ""),
        (_("Changed"), labels.day(item.updated)),
        (_("File"), entry.path),
    ]
    for number, conflict in enumerate(item.conflict, 1):
        told = conflict.text or conflict.commit or ""
        what = labels.fields(_).get(conflict.field, conflict.field)
        listed.append((_("Conflict {}").replace("{}", str(number)), f"{what}: {told}"))
    return [(label, value) for label, value in listed if value]


def _evidence(entry: Entry, session: Session) -> str:
    _ = session.translate
    if not entry.evidence_count:
        return ""
    told = labels.evidence(entry.evidence_count, _)
    confirmed = _("confirmed {}").replace("{}", labels.day(entry.confirmed))
    lines = [f"{told}, {confirmed}" if entry.confirmed else told]
    for item in entry.record.evidence[-5:]:
        said = phrases.said(item.summary, _) if item.summary else item.key
        mark = "+" if item.success else "-" if item.success is False else "·"
        lines.append(f"{mark} {labels.day(item.observed_at)} {said}")
    return "\n".join(lines)
