"""The operations of the local provider that add and change memories and settings."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from dataclasses import dataclass, replace

from memsync import config, errors, files, identity, record
from memsync.config import Environment
from memsync.contract.changes import (
    Applied,
    CorrectInput,
    PauseInput,
    RememberInput,
    ResolveInput,
    SettingsInput,
)
from memsync.contract.shared import ProjectRef, Why
from memsync.frontmatter.codec import dump_yaml
from memsync.frontmatter.edits import edit_yaml
from memsync.frontmatter.model import Writable
from memsync.gitrepo import code
from memsync.identity import Project
from memsync.index import Mark, telling_damage
from memsync.providers.local import details, likeness
from memsync.providers.local.reads import Reads, find_to_change
from memsync.record import MemoryClass, Record, Scope, Source
from memsync.store import layout, plans
from memsync.store.effects import Plan
from memsync.store.writing import Store, Transaction
from memsync.tombstone import text_hash


@dataclass
class Work:
    """What an operation works with."""

    store: Store
    environment: Environment
    progress: Callable[[str], None]

    @property
    def reads(self) -> Reads:
        """Reading from inside a transaction."""
        return Reads(self.store.reader, self.environment)

    def current(
        self,
        transaction: Transaction,
        wanted: str,
        expected: str | None,
        here: ProjectRef | None = None,
    ) -> plans.Current:
        """A record as it stands, found from where the caller is.

        Raises RevisionMoved where the caller expects another one, RecordElsewhere.
        """
        row = find_to_change(self.reads, wanted, here or ProjectRef())
        if expected and not row.blob.startswith(expected):
            raise errors.RevisionMoved(id=row.id, expected=expected, actual=row.blob[:12])
        return plans.current(row, transaction.reader.raw(row))

    def done(
        self,
        transaction: Transaction,
        operation: str,
        plan: Plan,
        show: str | None,
        notices: tuple[Why, ...] = (),
    ) -> Applied:
        """Carry out a plan and tell what was done."""
        commit = transaction.commit(plan)
        notices = (*transaction.notices, *notices)
        entry = None
        # It is done: what goes wrong in telling it must not look as if it were not.
        with contextlib.suppress(errors.IndexDamaged, errors.IndexBusy), telling_damage():
            notices = (*notices, *refresh_profile(self, transaction))
            row = transaction.reader.index.by_id(show) if show else None
            if row:
                entry = transaction.reader.entry(row, plan.files.get(row.path))
        return Applied(
            operation=operation,
            entry=entry,
            commit=commit[:12] if commit else None,
            changed=tuple(plan.files),
            taken_in=transaction.taken_in,
            notices=notices,
            ids=plan.ids,
        )


def refresh_profile(work: Work, transaction: Transaction) -> tuple[Why, ...]:
    """Write ``profile.md`` anew where it changed; a hand edit in it is kept aside and told."""
    from memsync.director.profile import as_file, is_untouched, profile

    language = work.reads.language()
    effects = transaction.effects
    try:
        wanted = as_file(profile(transaction.reader, 2000, language), language)
        current = files.read_if_there(effects.at(layout.PROFILE))
        if current == wanted:
            return ()
        told: tuple[Why, ...] = ()
        if current is not None and not is_untouched(current):
            stamp = record.stamp(work.environment.now()).replace(":", "")
            kept = effects.keep_aside(f"profile-{stamp}.md", current)
            told = (Why("profile-edit-kept", (kept,)),)
        effects.write_generated(layout.PROFILE, wanted)
        return told
    except (errors.CannotWrite, errors.CannotRead, errors.DiskFull, errors.RevisionMoved) as error:
        # The memory itself is safe; the profile is derived and the next write makes it.
        return (Why("profile-not-written", (str(error),)),)


# --- remember ------------------------------------------------------------------------------


def remember(work: Work, wanted: RememberInput) -> Applied:
    """Keep what the user said, as an explicit and proven record."""
    title, body = titled(wanted.text, wanted.title)
    with work.store.transaction("remember") as transaction:
        project = work.reads.resolved(wanted.project)
        scope = _scope(wanted, project)
        also: dict[str, bytes | None] = {}
        key = None
        if scope is Scope.PROJECT:
            key, also = project_for_write(work, wanted.project, project)
        item = _new_record(work, wanted, title, body, scope, key)
        near = likeness.nearest(transaction, item)
        known = likeness.known(transaction, near, item, wanted)
        if known is not None:
            return _remember_again(work, transaction, known, wanted)
        back = _forgotten_same(transaction, item)
        if back is not None:
            item = replace(item, id=back.id, epoch=back.epoch + 1)
        alike = likeness.resembling(near, item)
        plan = plans.create(item, transaction.reader.path_for(item), also, "remember")
        if project is not None and key is not None:
            bind(work, project, key)
        notices = tuple(Why("resembles", (row.id, row.title)) for row in alike)
        if back is not None:
            notices = (*notices, Why("remembered-again", (back.forgotten_at,)))
        return work.done(transaction, "remember", plan, item.id, notices)


def titled(text: str, title: str | None = None) -> tuple[str, str]:
    """A text as title and body: the first line is the title where none is given.

    Raises TextEmpty, TextNotReadable.
    """
    if "\0" in text:
        raise errors.TextNotReadable(detail="it holds a NUL character")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise errors.TextNotReadable(detail="it is not valid Unicode") from None
    body = record.canonical_body(text).strip()
    if not body:
        raise errors.TextEmpty()
    if title is not None:
        return stated_title(title), body
    first, _, rest = body.partition("\n")
    short = record.title_from(body)
    if short and len(first) <= record.TITLE_CHARACTERS and record.title_from(first) == short:
        return short, rest.strip("\n")
    return short or record.shorten(" ".join(body.split()), record.TITLE_CHARACTERS), body


def stated_title(title: str) -> str:
    """A title in one line. Raises InvalidValue where nothing is left."""
    stated = " ".join(title.split())
    if not stated:
        raise errors.InvalidValue(field="title", value=title, allowed="a text")
    return stated


def _scope(wanted: RememberInput, project: Project | None) -> Scope:
    """The scope asked for; without one the project's, where there is a project."""
    named = project is not None or wanted.project.key or wanted.project.aliases
    scope = wanted.scope or (Scope.PROJECT if named else Scope.GLOBAL)
    if scope is Scope.PROJECT and not named:
        raise errors.NotAProject(path=wanted.project.path or ".")
    return scope


def project_for_write(
    work: Work, ref: ProjectRef, project: Project | None
) -> tuple[str, dict[str, bytes | None]]:
    """The project's key, made if need be, and the files that record what is new about it."""
    if project is None:
        key = work.reads.key_of(ref)
        if key is None:
            raise errors.ProjectNotFound(wanted=ref.key or ", ".join(ref.aliases))
        return key, {}
    key = project.key or identity.random_key(project.name, work.environment.entropy(8))
    path = layout.project_file(key)
    current = files.read_if_there(os.path.join(work.store.reader.home, path))
    if current is None:
        return key, {path: plans.project_file(project.name, project.aliases)}
    known = {k.key: k for k in work.store.reader.known_projects()}.get(key)
    listed = known.aliases if known else ()
    new = [alias for alias in project.aliases if alias not in listed]
    if not new:
        return key, {}
    return key, {path: edit_yaml(current, path, {"aliases": [*listed, *new]})}


def bind(work: Work, project: Project, key: str) -> None:
    """Note the key in the project's common configuration: it stays when remotes move or appear.

    A key that can be found again by its remote need not be noted; a random one must.
    """
    if project.how == "bound":
        return
    try:
        code.bind(project.common, key, work.environment.variables)
    except errors.MemsyncError:
        if project.how == "unbound":
            raise


def _new_record(
    work: Work,
    wanted: RememberInput,
    title: str,
    body: str,
    scope: Scope,
    key: str | None,
) -> Record:
    stamp = record.stamp(work.environment.now())
    usual = (
        MemoryClass.PROJECT_CONVENTION if scope is Scope.PROJECT else MemoryClass.USER_PREFERENCE
    )
    details.refuse_over(wanted.valid_until, work.environment.now())
    plain = Record(
        id=record.random_id(work.environment.entropy(10)),
        title=title,
        body=body,
        scope=scope,
        project_key=key,
        memory_class=usual,
        language=wanted.language,
        evidence=(plans.user_evidence(stamp, "said by the user"),),
        created=stamp,
        updated=stamp,
        source=Source(kind="cli"),
        allow=wanted.allow,
    )
    return details.laid_over(plain, wanted)


def _forgotten_same(transaction: Transaction, item: Record) -> Mark | None:
    """The tombstone of the same text in the same scope: remembering it again brings it back."""
    wanted = text_hash(item.title, item.body)
    for mark in transaction.reader.index.marks_in_force():
        same_scope = mark.scope == item.scope and mark.project == item.project_key
        if same_scope and not mark.permanent and mark.text_hash == wanted:
            return mark
    return None


def _remember_again(
    work: Work, transaction: Transaction, known: plans.Current, wanted: RememberInput
) -> Applied:
    """What was concluded becomes the person's own word, what was paused goes on; else nothing."""
    item, row = known.record, known.row
    own = item.authority is record.Authority.EXPLICIT and item.lifecycle == "proven"
    if item.conflict or (own and not item.paused):
        notices = [*transaction.notices, Why("already-known", (row.id,))]
        if item.conflict:
            notices.append(Why("open-conflict", (row.id, row.title)))
        return Applied(
            "remember",
            transaction.reader.entry(row),
            taken_in=transaction.taken_in,
            notices=tuple(notices),
            ids=(row.id,),
        )
    moment = work.environment.now()
    new = details.laid_over(replace(item, paused=False), wanted)
    new = plans.correct(new, item.title, item.body, moment, "said by the user")
    path = transaction.reader.settled_path(row.path, new)
    plan = plans.revise(known, new, moment, "remember", path)
    told = (Why("known-before", (row.id,)),)
    return work.done(transaction, "remember", plan, row.id, told)


# --- change --------------------------------------------------------------------------------


def correct(work: Work, wanted: CorrectInput) -> Applied:
    """Put another text, or other details, in a record's place."""
    said = titled(wanted.text, wanted.title) if wanted.text is not None else None
    if said is None and wanted.supersede:
        raise errors.TextEmpty()
    moment = work.environment.now()
    with work.store.transaction("correct") as transaction:
        now = work.current(transaction, wanted.id, wanted.expected_revision, wanted.project)
        item = details.laid_over(now.record, wanted)
        if said is None and wanted.title is not None:
            said = stated_title(wanted.title), item.body
        title, body = said or (item.title, item.body)
        if not wanted.supersede:
            if said is not None:
                item = plans.correct(item, title, body, moment)
            if wanted.text is None:  # the text is not what the person settled
                open_ = [c for c in now.record.conflict if c.field != "title" or said is None]
                item = replace(item, conflict=tuple(open_))
            path = transaction.reader.settled_path(now.row.path, item)
            plan = plans.revise(now, item, moment, "correct", path)
            return work.done(transaction, "correct", plan, now.row.id)
        stamp = record.stamp(moment)
        new = replace(
            item,
            id=record.random_id(work.environment.entropy(10)),
            title=title,
            body=body,
            authority=record.Authority.EXPLICIT,
            lifecycle=record.Lifecycle.PROVEN,
            evidence=(plans.user_evidence(stamp, "corrected by the user"),),
            created=stamp,
            updated=stamp,
            supersedes=(now.row.id,),
            candidate_key=None,
            application=None,
            conflict=(),
            epoch=0,
            extra={},
        )
        path = transaction.reader.path_for(new)
        plan = plans.supersede(now, new, path, moment)
        return work.done(transaction, "correct", plan, new.id)


def resolve(work: Work, wanted: ResolveInput) -> Applied:
    """Settle one conflict of a record."""
    with work.store.transaction("resolve") as transaction:
        now = work.current(transaction, wanted.id, wanted.expected_revision, wanted.project)
        text = record.canonical_body(wanted.text) if wanted.text is not None else None
        plan = plans.resolve(now, wanted.take, text, work.environment.now())
        return work.done(transaction, "resolve", plan, now.row.id)


def pause(work: Work, wanted: PauseInput) -> Applied:
    """Pause or resume a record, a project, or a switch for everything."""
    verb = "pause" if wanted.paused else "resume"
    with work.store.transaction(verb) as transaction:
        if wanted.id is not None:
            now = work.current(transaction, wanted.id, None, wanted.project)
            item = replace(now.record, paused=wanted.paused)
            plan = plans.revise(now, item, work.environment.now(), verb)
            return work.done(transaction, verb, plan, now.row.id)
        if wanted.project is not None:
            return work.done(transaction, verb, _pause_project(work, wanted, verb), None)
        both = not (wanted.learning or wanted.retrieval)
        value = None if not wanted.paused else False
        changes = {}
        if wanted.learning or both:
            changes["learning"] = value
        if wanted.retrieval or both:
            changes["retrieval"] = value
        plan = _settings_plan(work, {("memory", k): v for k, v in changes.items()}, verb)
        return work.done(transaction, verb, plan, None)


def _pause_project(work: Work, wanted: PauseInput, verb: str) -> Plan:
    assert wanted.project is not None
    project = work.reads.resolved(wanted.project)
    if project is None and wanted.project.key is None:
        raise errors.NotAProject(path=wanted.project.path or ".")
    key, also = project_for_write(work, wanted.project, project)
    path = layout.project_file(key)
    current = also.get(path) or files.read_if_there(os.path.join(work.store.reader.home, path))
    content = current if current is not None else dump_yaml({"name": key})
    value = "true" if wanted.paused else None
    changed = edit_yaml(content, path, {"paused": True if value else None})
    return Plan(f"{verb}: project {key}", {path: changed})


def settings(work: Work, wanted: SettingsInput) -> Applied:
    """Set one shared setting, or go back to its default."""
    if wanted.name not in config.NAMES:
        raise errors.SettingUnknown(name=wanted.name, known=sorted(config.NAMES))
    value = config.checked(wanted.name, wanted.value) if wanted.value is not None else None
    way = tuple(wanted.name.split("."))
    with work.store.transaction("config") as transaction:
        shown = wanted.name if wanted.value is None else f"{wanted.name} = {wanted.value}"
        plan = _settings_plan(work, {way: value}, f"config {shown}")
        return work.done(transaction, "settings", plan, None)


def _settings_plan(
    work: Work, changes: dict[tuple[str, ...], str | bool | None], message: str
) -> Plan:
    """Change values of the shared settings; nested ones go with their mapping."""
    from memsync.frontmatter.document import parse_yaml

    path = os.path.join(work.store.reader.home, layout.SETTINGS)
    content = files.read_if_there(path)
    content = content if content is not None else dump_yaml({"format": 1})
    document = parse_yaml(content, layout.SETTINGS)
    if document.broken:
        raise errors.ConfigBroken(
            path=layout.SETTINGS,
            summary=errors.summarise(document.problems),
            problems=errors.problem_facts(document.problems),
        )
    top: dict[str, Writable] = {}
    for way, value in changes.items():
        if len(way) == 1:
            top[way[0]] = value
            continue
        inner = top.get(way[0], document.data.get(way[0]))
        nested = dict(inner) if isinstance(inner, dict) else {}
        if value is None:
            nested.pop(way[1], None)
        else:
            nested[way[1]] = value
        top[way[0]] = nested or None
    return Plan(message, {layout.SETTINGS: edit_yaml(content, layout.SETTINGS, top)})
