"""init, status, lint, doctor, config, pause, resume."""

from __future__ import annotations

import os

import click

from memsync import config, errors
from memsync.cli import labels, phrases
from memsync.cli.answers import apart, tell_applied
from memsync.cli.screen import (
    columns,
    give,
    note,
    safe,
    say,
    style,
    table,
    tell,
    whys,
    width,
    wrapped,
)
from memsync.cli.session import F, MemoryId, ProjectKey, Session, with_session
from memsync.contract.changes import PauseInput, SettingsInput
from memsync.contract.memories import Status
from memsync.contract.shared import ProjectRef
from memsync.errors import Exit, Problem, problem_facts


@click.command("init")
@with_session
def init_command(session: Session) -> int:
    """Begin a memory repository in MEMSYNC_HOME (default ~/.memsync), or complete one."""
    from memsync.store.beginning import begin

    machine = session.machine
    begun = begin(machine.home, machine.environment, config.early_language(session.variables))
    session.changed = begun.created or bool(begun.written)
    if session.as_json:
        give(
            home=begun.home,
            branch=begun.branch,
            created=begun.created,
            changed=[*begun.written],
        )
        return 0
    _ = session.translate
    if begun.created:
        say(safe(_("A memory repository begins in {}").replace("{}", begun.home)))
        say(_('Try: memsync remember "I prefer short answers" --scope global'))
    elif begun.written:
        say(safe(_("Completed the memory repository in {}").replace("{}", begun.home)))
    else:
        say(safe(_("The memory repository in {} is complete").replace("{}", begun.home)))
    for path in begun.written:
        say(f"  {path}")
    return 0


@click.command("status")
@click.argument("path", required=False)
@with_session
def status_command(session: Session, path: str | None) -> int:
    """How the memory stands, what is pending, and what needs you."""
    found = session.provider.status(session.project(path))
    broken = [p for p in found.problems if p.level == "error"]
    attention = bool(broken or found.attention)
    if session.as_json:
        give(
            home=found.home,
            branch=found.branch,
            head=found.head,
            counts=found.counts,
            pending=found.pending,
            problems=problem_facts(found.problems),
            attention=whys(found.attention),
            projectKey=found.project,
            projectName=found.project_name,
            learning=found.learning,
            retrieval=found.retrieval,
            switchedOff=whys(found.switched_off),
            language=found.language,
        )
    else:
        _show_status(session, found)
    return int(Exit.ATTENTION) if attention else 0


def _show_status(session: Session, found: Status) -> None:
    _ = session.translate
    names = labels.states(_)
    tell(safe(_("Memory in {}").replace("{}", found.home)))
    counted = [(names.get(state, state), str(n)) for state, n in found.counts.items() if n]
    for line in table([(f"  {label}", number) for label, number in counted]):
        say(line)
    if not counted:
        say("  " + _("empty"))
    project = found.project_name or _("none: this folder is in no code project")
    if found.project:
        project = f"{project} ({found.project})"
    tell(safe(_("Project here: {}").replace("{}", project)))
    if found.pending:
        told = _("Edited by hand and not yet taken in: {}").replace("{}", str(found.pending))
        say(told)
    if found.switched_off:
        say(style(_("Switched off:"), bold=True))
    for why in found.switched_off:
        tell(safe(f"  {labels.notice(why, _)}"))
    if found.attention or found.problems:
        say(style(_("Needs you:"), bold=True))
    for why in found.attention:
        tell(safe(f"  {labels.notice(why, _)}"))
    show_problems(session, found.problems)


def show_problems(session: Session, problems: tuple[Problem, ...]) -> None:
    """Problems with their places; what is only worth knowing is dimmed."""
    for found in problems:
        where, what = labels.problem(found, session.translate)
        tell(safe(f"  {where}: {what}"), dim=found.level != "error")


@click.command("lint")
@click.argument("path", required=False)
@with_session
def lint_command(session: Session, path: str | None) -> int:
    """Check every file of the memory, or of the memory folder at PATH."""
    from memsync.store.health import lint, reader_of_folder

    chosen = path or session.folder
    folder = chosen if chosen and os.path.isfile(os.path.join(chosen, "memsync.yaml")) else None
    if path and folder is None and not os.path.isdir(path):
        raise errors.PathNotFound(path=path)
    if folder is not None:
        reader = reader_of_folder(os.path.abspath(folder), session.machine.environment)
    else:
        reader = session.machine.reader()
    problems = lint(reader)
    broken = [p for p in problems if p.level == "error"]
    if session.as_json:
        give(problems=problem_facts(problems), records=reader.index.count())
    else:
        _ = session.translate
        show_problems(session, problems)
        counted = (
            _.counted("{} memory", "{} memories", reader.index.count()),
            _.counted("{} error", "{} errors", len(broken)),
            _.counted("{} notice", "{} notices", len(problems) - len(broken)),
        )
        note(_("{0}, {1}, {2}").format(*counted))
    return int(Exit.ATTENTION) if broken else 0


@click.command("doctor")
@click.option("--fix", is_flag=True, help="Mend what is safe to mend; it only adds commits.")
@with_session
def doctor_command(session: Session, fix: bool) -> int:
    """Check git, the repository, the index and the files, each with its evidence."""
    from memsync.store.health import examine, mend

    store = session.machine.store()
    mended = mend(store) if fix else []
    session.changed = bool(mended)
    store.reader.refresh()
    checks = examine(store)
    bad = [check for check in checks if check.state != "ok"]
    if session.as_json:
        give(
            checks=[
                {
                    "name": c.name,
                    "state": c.state,
                    "evidence": c.evidence,
                    "remedy": c.remedy,
                    "fixable": c.fixable,
                }
                for c in checks
            ],
            mended=mended,
        )
        return int(Exit.ATTENTION) if bad else 0
    _ = session.translate
    words = {"ok": _("ok"), "attention": _("look"), "failed": _("failed")}
    for check in checks:
        remedy = f" → {phrases.said(check.remedy, _)}" if check.remedy else ""
        mark = style(words[check.state], fg="green" if check.state == "ok" else "yellow")
        head = f"{check.name:<16} "
        room = width() - columns(head + words[check.state]) - 2
        told = wrapped(safe(f"{phrases.said(check.evidence, _)}{remedy}"), max(room, 20))
        first, *more = told.splitlines() or [""]
        say(f"{safe(head)}{mark}  {first}")
        for line in more:
            say(" " * len(head) + line)
    for name in mended:
        tell(safe(_("mended: {}").replace("{}", name)))
    return int(Exit.ATTENTION) if bad else 0


@click.command("config")
@click.argument("name", required=False)
@click.argument("value", required=False)
@click.option("--unset", is_flag=True, help="Go back to the default.")
@with_session
def config_command(session: Session, name: str | None, value: str | None, unset: bool) -> int:
    """Show all settings, show NAME, or set NAME to VALUE. All machines share them."""
    apart("--unset", unset, ("VALUE", value))
    if unset and name is None:
        raise errors.UsageWrong(detail="--unset needs a NAME")
    if name is not None and (value is not None or unset):
        applied = session.provider.apply(SettingsInput(name, None if unset else value))
        told = session.translate("Set {}").replace("{}", name)
        return tell_applied(session, applied, told)
    if name is not None and name not in config.NAMES:
        raise errors.SettingUnknown(name=name, known=sorted(config.NAMES))
    settings = session.machine.reader().settings
    values = {
        "language": settings.language or "",
        "memory.learning": str(settings.learning).lower(),
        "memory.retrieval": str(settings.retrieval).lower(),
    }
    chosen = {key: values[key] for key in ([name] if name else values)}
    if session.as_json:
        give(settings=chosen)
        return 0
    _ = session.translate
    if name is not None:
        say(values[name])
        return 0
    rows = [(key, shown or "–", _(config.NAMES[key])) for key, shown in chosen.items()]
    for line in table(rows):
        say(line)
    return 0


def _pausing(
    session: Session, paused: bool, memory: str | None, project: str | None, **on: bool
) -> int:
    switches = [(f"--{name}", chosen) for name, chosen in on.items()]
    apart("ID", memory, ("--project", project), *switches)
    apart("--project", project, *switches)
    reference = session.here(memory) if memory is not None else None
    if project is not None:
        reference = session.project() if project == "." else ProjectRef(key=project)
    wanted = PauseInput(paused, memory, reference, on["learning"], on["retrieval"])
    applied = session.provider.apply(wanted)
    _ = session.translate
    if memory is not None:
        what = memory
    elif project is not None:
        what = _("project {}").replace("{}", project)
    else:
        chosen = [
            n for n, k in ((_("Learning"), "learning"), (_("Retrieval"), "retrieval")) if on[k]
        ]
        what = ", ".join(chosen) or _("everything")
    told = _("Paused: {}") if paused else _("Resumed: {}")
    return tell_applied(session, applied, told.replace("{}", what))


def _pause_options(command: F) -> F:
    command = click.option("--retrieval", is_flag=True, help="Only what tasks get.")(command)
    command = click.option("--learning", is_flag=True, help="Only learning.")(command)
    command = click.option(
        "--project", type=ProjectKey(), help="One project: its key or name, or . for here."
    )(command)
    return click.argument("memory", metavar="[ID]", required=False, type=MemoryId())(command)


@click.command("pause")
@_pause_options
@with_session
def pause_command(
    session: Session, memory: str | None, project: str | None, learning: bool, retrieval: bool
) -> int:
    """Pause one memory, a project, learning, retrieval, or (with nothing named) both of these."""
    return _pausing(session, True, memory, project, learning=learning, retrieval=retrieval)


@click.command("resume")
@_pause_options
@with_session
def resume_command(
    session: Session, memory: str | None, project: str | None, learning: bool, retrieval: bool
) -> int:
    """Take a pause back."""
    return _pausing(session, False, memory, project, learning=learning, retrieval=retrieval)
