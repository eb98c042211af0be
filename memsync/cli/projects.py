"""project show, list, alias."""

from __future__ import annotations

import click

from memsync import errors, identity
from memsync.cli.answers import tell_applied
from memsync.cli.screen import give, safe, say, style, table
from memsync.cli.session import Session, with_session
from memsync.identity import Project
from memsync.language import Translate


def steps(_: Translate) -> dict[str, str]:
    """What each step of a resolution says."""
    return {
        "common-folder": _("its common Git folder is {}"),
        "remote": _("its remote is {}"),
        "remote-unusable": _("its remote {} gives no name to go by"),
        "remote-not-asked": _("its remote {} is not asked"),
        "no-remote": _("it has no remote"),
        "bound-key": _("its Git configuration is bound to {}"),
        "bound-key-unusable": _("the bound key {} cannot be a key, so it does not count"),
        "no-bound-key": _("its Git configuration binds no key"),
        "alias-of": _("the memory knows this remote as {}"),
        "alias-of-several": _("several projects claim this remote: {}"),
        "alias-of-other": _("this remote belongs to another project: {}"),
        "derived-from": _("the key is derived from {}"),
        "merged-into": _("that project was merged into {}"),
        "merge-ring": _("projects were merged in a ring; the smallest key counts: {}"),
        "merge-target-missing": _("the merge target {} does not exist, so it does not count"),
        "key-known": _("the memory has this project"),
        "key-new": _("the memory does not have this project yet; the first memory adds it"),
    }


@click.group("project")
def project_command() -> None:
    """Show which project a folder belongs to, list the known ones, add an alias."""


@project_command.command("show")
@click.argument("path", required=False)
@with_session
def show(session: Session, path: str | None) -> int:
    """Show which project PATH belongs to, and how that was found."""
    found, known = _resolve(session, path)
    if session.as_json:
        give(
            projectKey=found.key,
            name=found.name,
            how=found.how,
            aliases=[*found.aliases],
            root=found.root,
            within=found.within,
            known=found.known,
            steps=[{"code": code, "fact": fact} for code, fact in found.steps],
        )
        return 0
    _ = session.translate
    say(style(safe(found.name), bold=True))
    say(safe(_("Key: {}").replace("{}", found.key or _("none yet; the first memory makes one"))))
    words = steps(_)
    for code, fact in found.steps:
        say(safe("  " + words.get(code, code).replace("{}", fact)))
    del known
    return 0


def _resolve(session: Session, path: str | None) -> tuple[Project, list[identity.Known]]:
    reader = session.machine.reader()
    known = reader.known_projects()
    folder = session.project(path).path or "."
    home = reader.repo.real_git_dir if reader.repo else ""
    found = identity.resolve(folder, known, session.variables, home)
    if found is None:
        raise errors.NotAProject(path=folder)
    return found, known


@project_command.command("list")
@with_session
def list_known(session: Session) -> int:
    """List the projects that the memory knows."""
    reader = session.machine.reader()
    known = reader.known_projects()
    counted: dict[str | None, int] = {}
    for row in reader.index.rows("r.project IS NOT NULL"):
        counted[row.project] = counted.get(row.project, 0) + 1
    if session.as_json:
        give(
            projects=[
                {
                    "projectKey": k.key,
                    "name": k.name,
                    "aliases": [*k.aliases],
                    "mergedInto": k.merged_into,
                    "records": counted.get(k.key, 0),
                }
                for k in known
            ]
        )
        return 0
    _ = session.translate
    rows = [
        (
            k.key,
            safe(k.name),
            _.counted("{} memory", "{} memories", counted.get(k.key, 0)),
            safe(", ".join(k.aliases)) or "–",
        )
        for k in known
    ]
    for line in table(rows):
        say(line)
    if not rows:
        say(_("No projects yet."))
    return 0


@project_command.command("alias")
@click.argument("remote")
@click.argument("path", required=False)
@with_session
def alias(session: Session, remote: str, path: str | None) -> int:
    """Let PATH's project also be known by REMOTE: a URL, or host/path."""
    from memsync.providers.local.projects import add_alias

    found, _known = _resolve(session, path)
    applied = session.machine.local.changing(lambda work: add_alias(work, found, remote))
    told = session.translate("{} is now an alias of {}")
    first = applied.ids[0] if applied.ids else remote
    told = told.replace("{}", first, 1).replace("{}", applied.ids[1], 1)
    return tell_applied(session, applied, told)
