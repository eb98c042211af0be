"""correct, forget, rollback, history, diff, conflicts, resolve, tombstones."""

from __future__ import annotations

import contextlib
import os
from dataclasses import replace
from typing import Any

import click

from memsync import errors, record
from memsync.cli import labels
from memsync.cli.answers import apart, decoded, entry_json, show_card, tell_applied, text_from
from memsync.cli.details import detail_options, typed
from memsync.cli.editor import content, edit
from memsync.cli.screen import columns, give, note, safe, say, style, table, width, wrapped
from memsync.cli.session import MemoryId, Session, with_session
from memsync.contract.changes import (
    Applied,
    CorrectInput,
    ForgetInput,
    ResolveInput,
    RollbackInput,
)
from memsync.contract.codec import to_json
from memsync.contract.memories import ConflictsQuery, ExpandQuery, HistoryQuery, ManageQuery

_EXPECT = click.option("--expect", metavar="REV", help="Refuse if the memory is not at REV.")


@click.command("correct")
@click.argument("memory", metavar="ID", type=MemoryId())
@click.argument("text", required=False)
@click.option("--text", "text_option", help="The text, instead of TEXT.")
@detail_options
@click.option("--supersede", is_flag=True, help="Keep the old memory as superseded.")
@_EXPECT
@with_session
def correct_command(
    session: Session,
    memory: str,
    text: str | None,
    text_option: str | None,
    supersede: bool,
    expect: str | None,
    **options: Any,
) -> int:
    """Put TEXT, or what the options say, in the place of what a memory holds.

    The old version stays in its history. Options change only what they name; a list takes the
    place of the old one, and an empty value ('') takes it away. With neither TEXT nor such an
    option, the text is read from standard input.
    """
    more = any(given not in (None, ()) for given in options.values())
    given = None if more and text is None and text_option is None else text_from(text, text_option)
    wanted = CorrectInput(
        memory,
        given,
        supersede=supersede,
        expected_revision=expect,
        project=session.here(memory),
        **typed(options),
    )
    applied = session.provider.apply(wanted)
    assert applied.entry is not None
    sentence = session.translate("Corrected {}").replace("{}", applied.entry.record.id)
    return tell_applied(session, applied, sentence)


@click.command("forget")
@click.argument("memory", metavar="[ID]", required=False, type=MemoryId())
@click.option("--permanent", is_flag=True, help="Also remove it from history, for good.")
@click.option("--missing", is_flag=True, help="Forget all memories whose files are gone.")
@_EXPECT
@with_session
def forget_command(
    session: Session, memory: str | None, permanent: bool, missing: bool, expect: str | None
) -> int:
    """Forget a memory. `rollback` brings it back, unless it was forgotten with --permanent."""
    _one_of(memory, missing)
    apart("--missing", missing, ("--permanent", permanent), ("--expect", expect))
    wanted = ForgetInput(memory, permanent, missing, expect, session.here(memory))
    applied = session.provider.apply(wanted)
    _ = session.translate
    if missing:
        told = _.counted(
            "Forgot {} memory whose file was gone",
            "Forgot {} memories whose files were gone",
            len(applied.ids),
        )
        return tell_applied(session, applied, told)
    told = _("Forgot {} for good") if permanent else _("Forgot {}")
    status = tell_applied(session, applied, told.replace("{}", applied.ids[0]))
    unfinished = any(why.code == "purge-unfinished" for why in applied.notices)
    if permanent and not unfinished and not session.as_json:
        say(_("Removed here from files, history, index and caches. Not reached: other clones,"))
        say(_("backups, and what a Git host keeps of earlier pushes."))
    return status


def _one_of(memory: str | None, missing: bool) -> None:
    if (memory is None) == (not missing):
        raise errors.UsageWrong(detail="give one ID, or --missing")


@click.command("rollback")
@click.argument("memory", metavar="[ID]", required=False, type=MemoryId())
@click.option("--to", metavar="REV", help="The revision to go back to; default: the one before.")
@click.option("--missing", is_flag=True, help="Put back all files that are gone.")
@_EXPECT
@with_session
def rollback_command(
    session: Session, memory: str | None, to: str | None, missing: bool, expect: str | None
) -> int:
    """Bring back an earlier version of a memory, or a forgotten memory.

    This makes a new version, so a second rollback goes back again; --to goes further back.
    """
    _one_of(memory, missing)
    apart("--missing", missing, ("--to", to), ("--expect", expect))
    wanted = RollbackInput(memory, to, missing, expect, session.here(memory))
    applied = session.provider.apply(wanted)
    _ = session.translate
    if missing:
        told = _.counted("Put back {} file", "Put back {} files", len(applied.changed))
    else:
        told = _("Brought back {}").replace("{}", applied.ids[0])
    return tell_applied(session, applied, told)


@click.command("history")
@click.argument("memory", metavar="ID", type=MemoryId())
@click.option("--limit", type=click.IntRange(min=1), help="At most so many versions.")
@with_session
def history_command(session: Session, memory: str, limit: int | None) -> int:
    """Show the versions of a memory, newest first, also of a forgotten one."""
    found = session.provider.query(HistoryQuery(memory, limit))
    if session.as_json:
        give(
            id=found.id,
            revisions=[to_json(revision) for revision in found.revisions],
            uncommitted=found.uncommitted,
        )
        return 0
    _ = session.translate
    if found.uncommitted:
        say(_("The file has changes that are not taken in yet."))
    rows = [
        (r.revision or "-" * 12, r.when[:16].replace("T", " "), safe(r.subject))
        for r in found.revisions
    ]
    for line in table(rows):
        say(line)
    if not rows:
        say(_("It has no history yet."))
    return 0


@click.command("diff")
@click.argument("memory", metavar="ID", type=MemoryId())
@click.option("--from", "diff_from", metavar="REV", help="The older version; default: before it.")
@click.option("--to", "diff_to", metavar="REV", help="The newer version; default: as it is now.")
@with_session
def diff_command(session: Session, memory: str, diff_from: str | None, diff_to: str | None) -> int:
    """Show what changed in a memory between two revisions (see `history`)."""
    query = HistoryQuery(memory, diff_from=diff_from, diff_to=diff_to or "current")
    found = session.provider.query(query)
    if session.as_json:
        give(id=found.id, diff=found.diff)
        return 0
    colours: dict[str, dict[str, Any]] = {
        "+": {"fg": "green"},
        "-": {"fg": "red"},
        "@": {"fg": "cyan"},
    }
    for line in (found.diff or "").splitlines():
        say(style(safe(line), **colours.get(line[:1], {})))
    if not found.diff:
        say(session.translate("No difference."))
    return 0


@click.command("conflicts")
@with_session
def conflicts_command(session: Session) -> int:
    """List the memories with an open conflict and what stands against what."""
    found = session.provider.query(ConflictsQuery())
    if session.as_json:
        give(conflicts=[entry_json(entry) for entry in found.records])
    else:
        _ = session.translate
        for entry in found.records:
            show_card(session, entry)
            item = entry.record
            titles = all(other.field == "title" for other in item.conflict)
            _say_choice("    0  ", item.title if titles else item.body)
            for number, other in enumerate(item.conflict, 1):
                told = other.text or _("too long for the file; it is in commit {}").replace(
                    "{}", other.commit or "?"
                )
                field = labels.fields(_).get(other.field, other.field)
                _say_choice(f"    {number}  [{safe(field)}] ", told)
        if not found.records:
            say(_("No open conflicts."))
    return int(errors.Exit.ATTENTION) if found.records else 0


def _say_choice(head: str, text: str) -> None:
    """One side of a conflict, with its number before it."""
    taken = columns(head)
    lines = wrapped(safe(text), width() - taken).splitlines() or [""]
    say(head + lines[0])
    for line in lines[1:]:
        say(" " * taken + line)


@click.command("resolve")
@click.argument("memory", metavar="ID", type=MemoryId())
@click.option("--take", type=click.IntRange(min=0), help="0 keeps what stands, N takes entry N.")
@click.option("--text", help="Settle with this text.")
@click.option("--edit", "by_editor", is_flag=True, help="Settle with a text from your editor.")
@_EXPECT
@with_session
def resolve_command(
    session: Session,
    memory: str,
    take: int | None,
    text: str | None,
    by_editor: bool,
    expect: str | None,
) -> int:
    """Settle the conflict of a memory: --take N, --text TEXT or --edit."""
    apart("--edit", by_editor, ("--text", text))
    if take is None and text is None and not by_editor:
        raise errors.UsageWrong(detail="give --take, --text or --edit")
    wanted = ResolveInput(memory, take, text, expect, session.here(memory))
    applied = _by_editor(session, wanted) if by_editor else session.provider.apply(wanted)
    assert applied.entry is not None
    left = len(applied.entry.record.conflict)
    _ = session.translate
    told = _("Settled {}").replace("{}", applied.entry.record.id)
    if left:
        told += " · " + _("still open: {}").replace("{}", str(left))
    return tell_applied(session, applied, told)


def _by_editor(session: Session, wanted: ResolveInput) -> Applied:
    """Settle with a text from the person's editor, which starts with all sides.

    Where that fails, the text stays in a file that is named.
    """
    item = session.provider.query(ExpandQuery(wanted.id, wanted.project)).record
    sides = "\n\n".join([item.body, *(c.text or "" for c in item.conflict)]) + "\n"
    now = record.stamp(session.machine.environment.now()).replace(":", "")
    effects = session.machine.store().effects
    path = effects.keep_aside(f"resolve-{item.id}-{now}.md", sides.encode())
    left = b""
    try:
        left = edit(session, path)
        applied = session.provider.apply(replace(wanted, text=decoded(left)))
    except errors.MemsyncError:
        if content(path) == sides.encode():
            os.unlink(path)
        elif left and not session.as_json:
            note(safe(session.translate("your text is kept in {}").replace("{}", path)))
        raise
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    return applied


@click.command("tombstones")
@with_session
def tombstones_command(session: Session) -> int:
    """List what was forgotten: the marks, never the texts."""
    found = session.provider.query(ManageQuery(forgotten=True))
    if session.as_json:
        give(tombstones=[to_json(item) for item in found.forgotten])
        return 0
    _ = session.translate
    for line in table([(item.id, labels.forgotten(item, _)) for item in found.forgotten]):
        say(line)
    if not found.forgotten:
        say(_("Nothing was forgotten."))
    return 0
