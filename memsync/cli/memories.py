"""remember, list, show, search, edit."""

from __future__ import annotations

import os
from typing import Any

import click

from memsync import errors
from memsync.cli import labels
from memsync.cli.answers import (
    apart,
    entry_json,
    show_card,
    show_entry,
    tell_applied,
    tell_left_out,
    text_from,
    text_of,
)
from memsync.cli.details import detail_options, typed, values
from memsync.cli.editor import edit
from memsync.cli.screen import give, note, safe, say, style
from memsync.cli.session import MemoryId, ProjectKey, Session, with_session
from memsync.contract.changes import RememberInput
from memsync.contract.memories import ExpandQuery, Listing, ManageQuery, SearchQuery
from memsync.contract.shared import ProjectRef
from memsync.record import Lifecycle, MemoryClass, MemoryType, Scope

#: The states that living memories have.
STATES = ("active", "candidate", "superseded", "conflict", "paused", "expired", "not-yet-valid")


@click.command("remember")
@click.argument("text", required=False)
@click.option("--text", "text_option", help="The text, instead of TEXT.")
@click.option("--scope", type=click.Choice(values(Scope)), help="Where it holds; default: here.")
@click.option("--project", type=ProjectKey(), help="A known project, instead of the folder's.")
@detail_options
@click.option("--language", help="The language of the text, such as zh-CN.")
@click.option("--allow", multiple=True, help="A finding to accept; the memory notes it.")
@with_session
def remember_command(
    session: Session,
    text: str | None,
    text_option: str | None,
    scope: str | None,
    project: str | None,
    **options: Any,
) -> int:
    """Keep TEXT: its first line is the title. Without TEXT it is read from standard input.

    What is known already in the same words, and with all that is given beside them, is not
    written twice; what was only concluded, or paused, comes into use.
    """
    apart("--scope global", scope == Scope.GLOBAL, ("--project", project))
    reference = ProjectRef(key=project) if project else session.project()
    wanted = RememberInput(
        text=text_from(text, text_option),
        project=reference if scope != Scope.GLOBAL else ProjectRef(),
        scope=Scope(scope) if scope else None,
        **typed(options),
    )
    applied = session.provider.apply(wanted)
    _ = session.translate
    assert applied.entry is not None
    item = applied.entry.record
    told = _("Remembered {}: {}") if applied.changed else _("Known already: {}: {}")
    sentence = told.format(item.id, labels.scope_of(item, _))
    return tell_applied(session, applied, f"{sentence}\n  {item.title}")


def query_options(command: Any) -> Any:
    """The options that narrow a list."""
    for option in reversed(
        (
            click.option("--all", "everything", is_flag=True, help="All projects, not only here."),
            click.option("--scope", type=click.Choice(values(Scope)), help="Only this scope."),
            click.option("--project", type=ProjectKey(), help="Another project than here."),
            click.option(
                "--type",
                "memory_type",
                type=click.Choice(values(MemoryType)),
                help="Only this type.",
            ),
            click.option(
                "--class",
                "memory_class",
                type=click.Choice(values(MemoryClass)),
                help="Only this class.",
            ),
            click.option(
                "--lifecycle",
                type=click.Choice(values(Lifecycle)),
                help="Only this lifecycle.",
            ),
            click.option("--category", help="Only this category."),
            click.option("--tag", help="Only with this tag."),
            click.option("--state", type=click.Choice(STATES), help="Only in this state."),
            click.option("--limit", type=click.IntRange(min=1), help="At most so many."),
        )
    ):
        command = option(command)
    return command


@click.command("list")
@click.argument("path", required=False)
@query_options
@with_session
def list_command(
    session: Session,
    path: str | None,
    everything: bool,
    scope: str | None,
    project: str | None,
    memory_type: str | None,
    memory_class: str | None,
    lifecycle: str | None,
    **options: Any,
) -> int:
    """List the memories of PATH's project (default: here) and those that hold everywhere."""
    apart("--all", everything, ("--project", project), ("PATH", path))
    apart("--project", project, ("PATH", path))
    reference = ProjectRef(key=project) if project else session.project(path)
    listing = session.provider.query(
        ManageQuery(
            project=ProjectRef() if everything else reference,
            scope=Scope(scope) if scope else None,
            memory_type=MemoryType(memory_type) if memory_type else None,
            memory_class=MemoryClass(memory_class) if memory_class else None,
            lifecycle=Lifecycle(lifecycle) if lifecycle else None,
            **options,
        )
    )
    if session.as_json:
        give(
            records=[entry_json(entry) for entry in listing.records],
            elsewhere=listing.elsewhere,
            truncated=listing.truncated,
            broken=[*listing.broken],
        )
        return 0
    show_list(session, listing)
    tell_left_out(session, listing.broken)
    return 0


def show_list(session: Session, listing: Listing) -> None:
    """Memories as cards, under the scope they hold in."""
    _ = session.translate
    heading = None
    for entry in listing.records:
        where = labels.scope_of(entry.record, _)
        if where != heading:
            if heading is not None:
                say()
            say(style(safe(where), bold=True))
            heading = where
        show_card(session, entry, place=False)
    if not listing.records:
        say(_("No memories here yet."))
    if listing.truncated:
        say(_("… there are more; --limit shows more of them."))
    if listing.elsewhere:
        told = _("{} more in other projects; --all shows them.")
        note(told.replace("{}", str(listing.elsewhere)))


@click.command("search")
@click.argument("words", nargs=-1)
@click.option("--here", is_flag=True, help="Only this project and what holds everywhere.")
@click.option(
    "--limit", type=click.IntRange(min=1), default=20, show_default=True, help="At most so many."
)
@with_session
def search_command(session: Session, words: tuple[str, ...], here: bool, limit: int) -> int:
    """Find memories by WORDS, the best first. One word is enough."""
    reference = session.project() if here else ProjectRef()
    listing = session.provider.query(SearchQuery(" ".join(words), reference, limit))
    if session.as_json:
        give(
            records=[entry_json(entry) for entry in listing.records],
            truncated=listing.truncated,
            broken=[*listing.broken],
        )
        return 0
    if not listing.records:
        say(session.translate("Nothing found."))
    for entry in listing.records:
        show_card(session, entry)
    tell_left_out(session, listing.broken)
    return 0


@click.command("show")
@click.argument("memory", metavar="ID", type=MemoryId())
@with_session
def show_command(session: Session, memory: str) -> int:
    """Show one memory whole: an ID, a unique beginning of one, or an exact title."""
    entry = session.provider.query(ExpandQuery(memory))
    if session.as_json:
        give(record=entry_json(entry), text=text_of(entry))
        return 0
    show_entry(session, entry)
    return 0


@click.command("edit")
@click.argument("memory", metavar="ID", type=MemoryId())
@with_session
def edit_command(session: Session, memory: str) -> int:
    """Open the file of a memory in your editor, then take the edit in.

    The editor is $VISUAL, else $EDITOR, else git's core.editor, else vi.
    """
    try:
        entry = session.provider.query(ExpandQuery(memory))
        path = entry.path
    except errors.BrokenFile as error:
        path = str(error.facts["path"])  # a broken file is what one wants to edit
    full = os.path.join(session.machine.home, path)
    edit(session, full)
    store = session.machine.store()
    taken = store.ingest()
    problems = [p for p in store.reader.problems() if p.path == path]
    broken = [p for p in problems if p.level == "error"]
    gone = not os.path.lexists(full)
    _ = session.translate
    if session.as_json:
        row = store.reader.index.by_path(path)
        found = store.reader.entry(row) if row else None
        give(
            record=entry_json(found) if found else None,
            problems=errors.problem_facts(tuple(problems)),
            changed=path in taken.paths,
        )
    else:
        for found_problem in problems:
            where, what = labels.problem(found_problem, _)
            note(safe(f"{where}: {what}"))
        told = _("Saved {}") if path in taken.paths else _("{} is unchanged")
        if broken:
            told = _("{} is kept as you left it, and not used until it is mended")
        if gone:
            told = _("{} is gone, so the memory was forgotten; `memsync rollback` brings it back")
        say(safe(told.replace("{}", path)))
    return int(errors.Exit.ATTENTION) if broken or gone else 0
