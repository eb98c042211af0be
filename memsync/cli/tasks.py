"""retrieve, expand, explain."""

from __future__ import annotations

from typing import Any

import click

from memsync.cli import labels
from memsync.cli.answers import entry_json, show_entry, tell_left_out, text_of
from memsync.cli.screen import give, note, safe, say, style, tell, whys
from memsync.cli.session import MemoryId, Session, with_session
from memsync.contract.codec import to_json
from memsync.contract.shared import Why
from memsync.contract.tasks import Explained, Manifest, ManifestQuery, TaskQuery
from memsync.director.rendering import exclusions, reasons, word
from memsync.language import Translate


def task_options(command: Any) -> Any:
    """The options that say what a task is about."""
    for option in reversed(
        (
            click.option("--task", default="", help="What the task is, in a sentence."),
            click.option("--path", "paths", multiple=True, help="A path it touches; repeatable."),
            click.option("--operation", help="What is done, such as install or review."),
            click.option("--phase", help="The phase of work, such as build."),
            click.option("--max-entries", type=click.IntRange(min=0), help="At most so many."),
            click.option(
                "--max-chars",
                type=click.IntRange(min=0),
                default=6000,
                show_default=True,
                help="The longest text.",
            ),
        )
    ):
        command = option(command)
    return command


@click.command("retrieve")
@click.argument("path", required=False)
@task_options
@click.option("--why-not", is_flag=True, help="Also say what was left out, and why.")
@with_session
def retrieve_command(session: Session, path: str | None, why_not: bool, **options: Any) -> int:
    """What the memory says about a task in PATH's project, each with the reason."""
    query = TaskQuery(project=session.project(path), **options)
    found = session.provider.query(query)
    if session.as_json:
        give(
            text=found.text,
            full=[entry_json(entry) for entry in found.full],
            manifest=[_item_json(item, session) for item in found.manifest],
            excluded=[
                {"id": item.id, "title": item.title, **_why_json(item.why, session)}
                for item in found.excluded
            ],
            excludedTotal=found.excluded_total,
            truncated=found.truncated,
            projectKey=found.project_key,
            broken=[*found.broken],
        )
        return 0
    _ = session.translate
    if found.text:
        tell(safe(found.text.rstrip("\n")))
    elif found.excluded and found.excluded[0].why.code == "retrieval-off":
        note(word(found.excluded[0].why, exclusions(_), _))
    elif found.truncated:
        note(_("Something applies, and there is no room for it; --max-chars gives more."))
    else:
        note(_("Nothing in the memory applies to this task."))
    if why_not:
        _show_left_out(session, found)
    tell_left_out(session, found.broken)
    return 0


def _item_json(item: Any, session: Session) -> dict[str, Any]:
    told = to_json(item)
    told["whyApplied"] = whys(item.why_applied)
    told["why"] = [word(w, reasons(session.translate), session.translate) for w in item.why_applied]
    return dict(told)


def _why_json(why: Why, session: Session) -> dict[str, Any]:
    words = word(why, exclusions(session.translate), session.translate)
    return {"reason": why.code, "facts": [*why.facts], "why": words}


def _show_left_out(session: Session, found: Manifest) -> None:
    _ = session.translate
    say()
    say(style(_("Left out"), bold=True))
    for item in found.excluded:
        why = word(item.why, exclusions(_), _)
        tell(safe(f"- {item.id} {item.title}: {why}" if item.id else f"- {why}"))
    if found.excluded_total > len(found.excluded):
        left = found.excluded_total - len(found.excluded)
        say(_("… and {} more").replace("{}", str(left)))
    if not found.excluded:
        say(_("Nothing."))


@click.command("expand")
@click.argument("memory", metavar="ID", type=MemoryId())
@click.argument("path", required=False)
@with_session
def expand_command(session: Session, memory: str, path: str | None) -> int:
    """Give the text, source and evidence of a memory of this project, or a global one."""
    from memsync.contract.memories import ExpandQuery

    entry = session.provider.query(ExpandQuery(memory, session.project(path)))
    if session.as_json:
        give(record=entry_json(entry), text=text_of(entry))
    else:
        show_entry(session, entry)
    return 0


@click.command("explain")
@click.argument("memory", metavar="ID", type=MemoryId())
@click.argument("path", required=False)
@task_options
@with_session
def explain_command(session: Session, memory: str, path: str | None, **options: Any) -> int:
    """Say of one memory and one task: was it saved, does it match, is it delivered?"""
    task = TaskQuery(project=session.project(path), **options)
    found = session.provider.query(ManifestQuery(memory, task))
    if session.as_json:
        give(
            record=entry_json(found.entry) if found.entry else None,
            saved={"code": found.saved.code, "facts": [*found.saved.facts]},
            matched=whys(found.matched),
            levels=dict(found.levels),
            delivered={"code": found.delivered.code, "facts": [*found.delivered.facts]},
        )
        return 0
    _ = session.translate
    if found.entry:
        tell(safe(found.entry.record.title), bold=True)
    rows = (
        (_("Saved?"), _saved(found, _)),
        (_("Matched?"), _matched(found, _)),
        (_("Delivered?"), _delivered(found.delivered, _)),
    )
    for label, told in rows:
        tell(safe(f"  {label} {told}"))
    return 0


def _saved(found: Explained, _: Translate) -> str:
    facts = found.saved.facts
    if found.saved.code == "saved":
        return _("yes, in {}").replace("{}", facts[0])
    if found.saved.code == "forgotten":
        return _("no, it was forgotten on {}").replace("{}", labels.day(facts[0]))
    return _("its file {} cannot be read").replace("{}", ":".join(facts[:2]))


def _matched(found: Explained, _: Translate) -> str:
    if found.saved.code != "saved" or found.delivered.code in ("wrong-project", "retrieval-off"):
        return "–"
    words = {
        "matched": _("fits"),
        "failed": _("does not fit"),
        "not-asked": _("the task does not say"),
    }
    levels = {
        "path": _("path"),
        "task": _("task"),
        "operation": _("operation"),
        "phase": _("phase"),
    }
    told = [f"{levels[level]}: {words[state]}" for level, state in found.levels]
    told += [word(why, reasons(_), _) for why in found.matched]
    return _("; ").join(told) or _("it holds everywhere")


def _delivered(why: Why, _: Translate) -> str:
    lines = {
        "trial": _("it is still on trial"),
        "episode": _("episodes are offered, not told"),
        "path-not-given": _("the task names no path"),
        "task-not-given": _("the task is not described"),
        "operation-not-given": _("the task names no operation"),
        "phase-not-given": _("the task names no phase"),
        "over-budget": _("there was no room left for it"),
    }
    if why.code == "delivered-in-full":
        return _("yes, in full")
    if why.code == "delivered-as-line":
        reason = lines.get(why.facts[0], why.facts[0])
        return _("as one line: {}").replace("{}", reason)
    return _("no: {}").replace("{}", word(why, exclusions(_), _))
