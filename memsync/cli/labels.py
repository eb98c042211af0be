"""Words for what the files spell as codes: people never see an internal name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memsync.cli import phrases
from memsync.language import Translate
from memsync.record import Record, Scope, instant

if TYPE_CHECKING:
    from memsync.contract.memories import Forgotten
    from memsync.contract.shared import Entry, Why
    from memsync.errors import Problem


def classes(_: Translate) -> dict[str, str]:
    """What a memory is about."""
    return {
        "user-fact": _("fact about you"),
        "user-preference": _("preference"),
        "collaboration-habit": _("habit"),
        "project-convention": _("convention"),
    }


def types(_: Translate) -> dict[str, str]:
    """What kind of memory it is."""
    return {
        "core-profile": _("core profile"),
        "collaboration-policy": _("how to work"),
        "personal-episode": _("episode"),
    }


def states(_: Translate) -> dict[str, str]:
    """How a memory stands."""
    return {
        "active": _("active"),
        "candidate": _("candidate: too little evidence yet"),
        "superseded": _("superseded"),
        "conflict": _("open conflict"),
        "paused": _("paused"),
        "expired": _("expired"),
        "not-yet-valid": _("not yet valid"),
        "forgotten": _("forgotten"),
    }


def lifecycles(_: Translate) -> dict[str, str]:
    """How far a memory is established."""
    return {"trial": _("on trial"), "proven": _("proven"), "superseded": _("superseded")}


def authorities(_: Translate) -> dict[str, str]:
    """Who says it."""
    return {"explicit": _("you said so"), "inferred": _("learned from work")}


def fields(_: Translate) -> dict[str, str]:
    """What two machines can disagree on."""
    return {"body": _("text"), "title": _("title")}


def forget_reasons(_: Translate) -> dict[str, str]:
    """Why something was forgotten."""
    return {
        "user-forget": _("you asked for it"),
        "file-deleted": _("its file was deleted"),
        "review-forget": _("a review found it wrong"),
    }


def notices(_: Translate) -> dict[str, str]:
    """What a command should tell beside its result; the facts fill the places."""
    return {
        "resembles": _("it resembles {0} ({1})"),
        "already-known": _("nothing was written: {0} says this already"),
        "known-before": _("{0} was known before; now it is your word, and in use"),
        "went-back-to": _("it is again as in revision {0} of {1}: {2}"),
        "remembered-again": _("this was forgotten on {0}; now it is remembered again"),
        "scope-follows-folder": _("{0} was moved by hand: its scope is now {1}"),
        "too-many-deletions": _(
            "{0} memories' files are missing at once; nothing was forgotten. "
            "`memsync rollback --missing` puts them back, `memsync forget --missing` forgets them"
        ),
        "history-left": _("the history no longer has {0}; it is kept as refs/memsync/kept/{0}"),
        "tombstone-restored": _("{0} was put back: a mark of forgetting never expires"),
        "edit-would-damage": _("{0} cannot be edited safely by a machine ({1}); it stays as it is"),
        "forgotten-for-good": _("{0} states {1}, which was forgotten for good; it is not used"),
        "settings-missing": _("{0} is missing; until it is back, deleted files are not forgotten"),
        "broken-file-kept": _("what stood in {0} was kept as {1}"),
        "profile-edit-kept": _("profile.md is generated; your edit was kept as {0}"),
        "profile-not-written": _("profile.md could not be written: {0}"),
        "remote-not-reached": _("the remote {0} still has the old history"),
        "tag-not-reached": _("not reached: the tag {0} still has some of the text"),
        "message-not-reached": _(
            "not reached: the message of the commit {0} still has some of the text"
        ),
        "note-not-reached": _("not reached: a git note on {0} still has some of the text"),
        "file-not-reached": _("not reached: {0} still has some of the text, here or in history"),
        "more-not-reached": _("not reached: {0} more places"),
        "put-back-in-index": _(
            "Git's index did not have {0}, whose file is still there; it was put back. "
            "`memsync forget` forgets a memory"
        ),
        "taken-from-index": _(
            "Git's index does not have {0}, whose file is still there; the next write puts it "
            "back. `memsync forget` forgets a memory"
        ),
        "index-missing": _("Git's index is missing; the next write makes it anew"),
        "repository-damaged": _("the Git repository is damaged ({0}); `memsync doctor` tells more"),
        "repository-state": _("{0}; memsync does not write until that is over"),
        "open-conflict": _("{0} has an open conflict: {1}"),
        "project-paused": _("the project {0} is paused: its tasks get nothing"),
        "learning-off": _("learning is switched off in {0}"),
        "retrieval-off": _("retrieval is switched off in {0}: tasks get nothing"),
        "purge-unfinished": _(
            "forgetting {0} for good is not finished; the next write finishes it"
        ),
    }


def notice(why: Why, _: Translate) -> str:
    """One notice in words."""
    text = notices(_).get(why.code, why.code)
    for position, fact in enumerate(why.facts):
        text = text.replace(f"{{{position}}}", _notice_fact(why.code, fact, _))
    return text


def _notice_fact(code: str, fact: str, _: Translate) -> str:
    if code in ("repository-state", "repository-damaged", "taken-from-index", "put-back-in-index"):
        return phrases.said(fact, _)
    if code == "scope-follows-folder":
        return {"global": _("global"), "project": _("project")}.get(fact, fact)
    if code == "went-back-to" and instant(fact):
        return fact[:16].replace("T", " ")
    return day(fact) if code == "remembered-again" else fact


def scope_of(item: Record, _: Translate) -> str:
    """Where a memory holds."""
    if item.scope is Scope.GLOBAL:
        return _("everywhere")
    return _("project {}").replace("{}", item.project_key or "?")


def day(moment: str | None) -> str:
    """The day of a time, as it is shown."""
    return (moment or "")[:10]


def evidence(count: int, _: Translate) -> str:
    """How much evidence there is."""
    return _.counted("{} piece of evidence", "{} pieces of evidence", count)


def card(entry: Entry, _: Translate) -> str:
    """The line below a title: what it is, who says it, evidence, when last confirmed."""
    item = entry.record
    parts = [classes(_)[item.memory_class]]
    if item.category:
        parts.append(item.category)
    parts.append(authorities(_)[item.authority])
    if entry.evidence_count:
        parts.append(_("evidence: {}").replace("{}", str(entry.evidence_count)))
    if entry.confirmed:
        parts.append(_("confirmed {}").replace("{}", day(entry.confirmed)))
    if entry.state != "active":
        parts.insert(0, states(_)[entry.state])
    return " · ".join(parts)


def forgotten(item: Forgotten, _: Translate) -> str:
    """One forgotten memory in words."""
    told = forget_reasons(_).get(item.reason, item.reason)
    for_good = " · " + _("for good") if item.permanent else ""
    where = _("everywhere") if item.scope is Scope.GLOBAL else item.project_key or ""
    return f"{day(item.forgotten_at)} · {told}{for_good} · {where}"


def problem(found: Problem, _: Translate) -> tuple[str, str]:
    """Where a problem is, and what it is with what would be right."""
    where = f"{found.path}:{found.line}" if found.line else found.path
    message, remedy = phrases.problem(found, _)
    return where, f"{message}; {remedy} [{found.code}]"
