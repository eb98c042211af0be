"""inbox: what the system concluded and the person has not confirmed yet."""

from __future__ import annotations

import click

from memsync import errors
from memsync.cli.answers import entry_json, show_card, tell_applied
from memsync.cli.screen import give, say
from memsync.cli.session import MemoryId, Session, with_session
from memsync.contract.shared import Entry


@click.group("inbox", invoke_without_command=True)
@with_session
def inbox_command(session: Session) -> int:
    """What was concluded from work and waits: for more evidence, or for your word.

    Without a command it lists. `accept` makes a memory your own word; `reject` forgets it.
    """
    if click.get_current_context().invoked_subcommand is not None:
        return 0
    return _list(session)


@inbox_command.command("list")
@with_session
def list_waiting(session: Session) -> int:
    """List what waits."""
    return _list(session)


def _list(session: Session) -> int:
    from memsync.contract.memories import ManageQuery

    found = session.provider.query(ManageQuery(state="candidate"))
    if session.as_json:
        give(records=[entry_json(entry) for entry in found.records])
        return 0
    for entry in found.records:
        show_card(session, entry)
    if not found.records:
        say(session.translate("Nothing waits for you."))
    return 0


def _waiting(session: Session, memory: str) -> Entry:
    """The memory, if it waits. Raises InvalidValue where it does not."""
    from memsync.contract.memories import ExpandQuery

    entry = session.provider.query(ExpandQuery(memory))
    if entry.state != "candidate":
        allowed = "a memory that waits in the inbox"
        raise errors.InvalidValue(field="ID", value=memory, allowed=allowed)
    return entry


@inbox_command.command("accept")
@click.argument("memory", metavar="ID", type=MemoryId())
@with_session
def accept(session: Session, memory: str) -> int:
    """Confirm what was concluded: it becomes your own word, and tasks get it at once."""
    from memsync.contract.changes import CorrectInput

    session.machine.store().ingest()  # what was edited by hand is what is accepted
    entry = _waiting(session, memory)
    item = entry.record
    applied = session.provider.apply(
        CorrectInput(
            item.id,
            item.body or item.title,
            title=item.title if item.body else None,
            expected_revision=entry.revision,
        )
    )
    told = session.translate("Confirmed {}").replace("{}", item.id)
    return tell_applied(session, applied, told)


@inbox_command.command("reject")
@click.argument("memory", metavar="ID", type=MemoryId())
@with_session
def reject(session: Session, memory: str) -> int:
    """Forget what was concluded; the same conclusion does not come back from the same evidence."""
    from memsync.contract.changes import ForgetInput

    applied = session.provider.apply(ForgetInput(_waiting(session, memory).record.id))
    told = session.translate("Forgot {}").replace("{}", applied.ids[0])
    return tell_applied(session, applied, told)
