"""The queries of the local provider."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

from memsync import config, errors, identity, language, record, tokens
from memsync.config import Environment
from memsync.contract.requests import (
    ConflictsQuery,
    ExpandQuery,
    HistoryQuery,
    ManageQuery,
    ManifestQuery,
    ProfileQuery,
    ProjectRef,
    Query,
    SearchQuery,
    TaskQuery,
)
from memsync.contract.results import (
    Entry,
    Excluded,
    Explained,
    History,
    Listing,
    Manifest,
    Profile,
    Result,
    Status,
    Why,
)
from memsync.director.select import Director
from memsync.gitrepo import Change, MemoryRepo
from memsync.identity import Project
from memsync.index import Row, scope_word
from memsync.record import Scope
from memsync.store import layout
from memsync.store.reading import Reader

if TYPE_CHECKING:
    from memsync.store.history import Version


@dataclass
class Reads:
    """A reader with what answering needs beside it."""

    reader: Reader
    environment: Environment

    @cached_property
    def director(self) -> Director:
        """The director over this reader."""
        return Director(self.reader)

    @property
    def repo(self) -> MemoryRepo:
        """The repository."""
        assert self.reader.repo is not None
        return self.reader.repo

    def resolved(self, ref: ProjectRef) -> Project | None:
        """The code project of a folder on this disk, or None."""
        if ref.path is None:
            return None
        return identity.resolve(ref.path, self.reader.known_projects(), self.environment.variables)

    def key_of(self, ref: ProjectRef) -> str | None:
        """The key of the project a request is about, or None.

        Raises ProjectNotFound where a key or name is given and the memory has none such.
        """
        if ref.key is not None:
            return project_named(self.reader, ref.key)
        found = self.resolved(ref)
        if found is not None:
            return found.key
        for known in self.reader.known_projects():
            if set(ref.aliases) & set(known.aliases):
                return known.key
        return None

    def language(self, project: Project | None = None) -> str:
        """The language of labels: project, shared settings, locale."""
        own = config.project_settings(project.root).language if project else None
        return language.choose(
            own, self.reader.settings.language, self.environment.locale_language()
        )


def project_named(reader: Reader, wanted: str) -> str:
    """The key of the project of this key or name. Raises ProjectNotFound."""
    known = reader.known_projects()
    for project in known:
        if project.key == wanted:
            return project.merged_into or project.key
    named = [p.key for p in known if p.name == wanted]
    if len(named) == 1:
        return named[0]
    raise errors.ProjectNotFound(wanted=wanted)


def answer(reads: Reads, query: Query) -> Result:
    """Answer one query from fresh files."""
    reads.reader.refresh()
    match query:
        case TaskQuery():
            return _task(reads, query)
        case ProfileQuery():
            return _profile(reads, query)
        case ManifestQuery():
            return _explained(reads, query)
        case ManageQuery():
            return _listing(reads, query)
        case SearchQuery():
            return _found(reads, query)
        case ExpandQuery():
            return _expanded(reads, query)
        case HistoryQuery():
            return _history(reads, query)
        case ConflictsQuery():
            rows = reads.reader.index.rows("r.conflict = 1", order="r.updated DESC, r.id")
            return Listing(reads.reader.entries(rows))


# --- tasks ---------------------------------------------------------------------------------


def _task(reads: Reads, query: TaskQuery) -> Manifest:
    project = reads.resolved(query.project)
    key = project.key if project else reads.key_of(query.project)
    if not _retrieval_on(reads, project, key):
        off = Excluded("", "", Why("retrieval-off"))
        return Manifest("", excluded=(off,), excluded_total=1, project_key=key)
    query = replace(query, paths=tuple(_within(project, path) for path in query.paths))
    return reads.director.direct(query, key, reads.language(project))


def _within(project: Project | None, path: str) -> str:
    """A path as the project sees it: what is given is relative to the folder asked about."""
    import os

    if project is None or project.root is None:
        return path
    if os.path.isabs(path):
        return os.path.relpath(os.path.realpath(path), project.root)
    return os.path.normpath(os.path.join(project.within, path))


def _retrieval_on(reads: Reads, project: Project | None, key: str | None) -> bool:
    if not reads.reader.settings.retrieval:
        return False
    if any(known.paused for known in reads.reader.known_projects() if known.key == key):
        return False
    return project is None or config.project_settings(project.root).retrieval


def _profile(reads: Reads, query: ProfileQuery) -> Profile:
    from memsync.director.profile import profile

    return profile(reads.reader, query.max_chars, reads.language())


def _explained(reads: Reads, query: ManifestQuery) -> Explained:
    from memsync.director.explaining import explain

    project = reads.resolved(query.task.project)
    key = project.key if project else reads.key_of(query.task.project)
    try:
        row = reads.reader.find(query.id)
    except errors.RecordForgotten as error:
        told = (str(error.facts["forgottenAt"]),)
        return Explained(None, Why("forgotten", told), (), Why("forgotten", told))
    except errors.RecordNotFound:
        broken = reads.reader.broken(query.id)
        if not broken:
            raise
        place = (broken[0].path, str(broken[0].line), broken[0].code)
        return Explained(None, Why("broken-file", place), (), Why("broken-file", place))
    paths = tuple(_within(project, path) for path in query.task.paths)
    query = replace(query, task=replace(query.task, paths=paths))
    if not _retrieval_on(reads, project, key):
        entry = reads.reader.entry(row)
        return Explained(entry, Why("saved", (row.path,)), (), Why("retrieval-off"))
    return explain(reads.director, query, row, key, reads.language(project))


# --- management ----------------------------------------------------------------------------


def _listing(reads: Reads, query: ManageQuery) -> Listing:
    if query.forgotten:
        return Listing(forgotten=reads.reader.forgotten())
    conditions: list[str] = []
    arguments: list[object] = []
    asked = query.project != ProjectRef()
    key = reads.key_of(query.project) if asked else None
    for column, value in (
        ("scope", query.scope),
        ("type", query.memory_type),
        ("class", query.memory_class),
        ("authority", query.authority),
        ("lifecycle", query.lifecycle),
        ("category", query.category),
    ):
        if value is not None:
            conditions.append(f"r.{column} = ?")
            arguments.append(str(value))
    if query.tag is not None:
        conditions.append("EXISTS (SELECT 1 FROM json_each(r.json, '$.tags') WHERE value = ?)")
        arguments.append(query.tag)
    where = " AND ".join(conditions) or "1"
    rows = reads.reader.index.rows(where, arguments, "r.project IS NOT NULL, r.updated DESC, r.id")
    here = [row for row in rows if not asked or row.project in (None, key)]
    elsewhere = len(rows) - len(here)
    if query.state is not None:
        now = reads.reader.now_text
        here = [row for row in here if row.state(now) == query.state]
    truncated = query.limit is not None and len(here) > query.limit
    shown = here[: query.limit] if query.limit is not None else here
    return Listing(reads.reader.entries(shown), (), elsewhere, truncated)


def _found(reads: Reads, query: SearchQuery) -> Listing:
    scopes = None
    if query.project != ProjectRef():
        key = reads.key_of(query.project)
        scopes = [scope_word(Scope.GLOBAL, None)]
        if key:
            scopes.append(scope_word(Scope.PROJECT, key))
    expression = tokens.match_expression(tokens.query_terms(query.words))
    index = reads.reader.index
    hits = index.search(expression, scopes, query.limit + 1)
    living = index.by_number([n for n, _ in hits])
    rows = [living[n] for n, _ in hits if n in living]
    return Listing(reads.reader.entries(rows[: query.limit]), truncated=len(hits) > query.limit)


def _expanded(reads: Reads, query: ExpandQuery) -> Entry:
    return reads.reader.entry(find(reads, query.id, query.project))


def find(reads: Reads, wanted: str, ref: ProjectRef) -> Row:
    """A record by id, prefix or title; a project keeps the answer to its own and the global."""
    projects = None
    if ref != ProjectRef():
        key = reads.key_of(ref)
        projects = [key] if key else []
    try:
        return reads.reader.find(wanted, projects)
    except errors.RecordNotFound:
        broken = reads.reader.broken(wanted)
        if broken:
            raise errors.BrokenFile(
                path=broken[0].path,
                summary=errors.summarise(broken),
                problems=errors.problem_facts(broken),
            ) from None
        raise


def find_to_change(reads: Reads, wanted: str, ref: ProjectRef) -> Row:
    """A record to change. A whole id reaches every record; a title or the beginning of an id only
    those of the caller's project and the global ones, so that no work in one project changes what
    was kept for another. Where the caller is in no project, they reach all.

    Raises RecordElsewhere beside what ``find`` raises.
    """
    project = reads.resolved(ref)
    if record.is_id(wanted) or ref == ProjectRef() or (ref.path and project is None):
        return find(reads, wanted, ProjectRef())
    key = project.key if project else reads.key_of(ref)
    try:
        return reads.reader.find(wanted, [key] if key else [])
    except errors.RecordForgotten as error:
        mark = reads.reader.find_mark(wanted)
        if mark is None or mark.project in (None, key):
            raise
        elsewhere, owner = mark.id, mark.project
        raise errors.RecordElsewhere(wanted=wanted, id=elsewhere, projectKey=owner) from error
    except errors.RecordNotFound:
        row = find(reads, wanted, ProjectRef())
        raise errors.RecordElsewhere(wanted=wanted, id=row.id, projectKey=row.project) from None


def _history(reads: Reads, query: HistoryQuery) -> History:
    from memsync.store import history

    reader, repo = reads.reader, reads.repo
    row: Row | None
    try:
        row = reader.find(query.id)
        record_id = row.id
    except errors.RecordForgotten as error:
        row, record_id = None, str(error.facts["id"])
    found = history.versions(repo, record_id, row, query.limit)
    unsaved = row is not None and (not found or found[0].blob != row.blob)
    diff = None
    if query.diff_to is not None or query.diff_from is not None:
        diff = _diff(reads, found, query, row, record_id)
    return History(record_id, tuple(v.revision for v in found), diff, unsaved)


def _diff(
    reads: Reads,
    versions: list[Version],
    query: HistoryQuery,
    row: Row | None,
    record_id: str,
) -> str:
    from memsync.store import history

    wanted = query.diff_to or "current"
    current = row.blob if row else ""
    if wanted == "current" and row is not None:
        new = current
    else:
        picked = history.pick(versions, wanted, record_id) if wanted != "current" else versions[0]
        new = picked.blob or ""
    if query.diff_from is not None:
        old = history.pick(versions, query.diff_from, record_id).blob
    else:
        earlier = history.before(versions, new)
        old = earlier.blob if earlier else None
    return reads.repo.diff_texts(
        reads.repo.read_blob(old) if old else b"", _content(reads, new, row)
    )


def _content(reads: Reads, blob: str, row: Row | None) -> bytes:
    """A version's content; the current file may not be in Git yet."""
    if row is not None and blob == row.blob:
        return reads.reader.raw(row)
    return reads.repo.read_blob(blob) if blob else b""


# --- status --------------------------------------------------------------------------------


def status(reads: Reads, ref: ProjectRef | None) -> Status:
    """How the memory stands: counts, what is pending, what needs the person."""
    reader, repo = reads.reader, reads.repo
    reader.refresh()
    state = repo.state(repo.setting("memsync.branch"))
    now = reader.now_text
    rows = reader.index.rows()
    counts = Counter(row.state(now) for row in rows)
    counts["forgotten"] = len(reader.index.marks_in_force())
    problems = reader.problems()
    changes = repo.changes(layout.COMMITTED, read_only=True)
    project = reads.resolved(ref) if ref else None
    pending = [c for c in changes if layout.kind_of(c.path) or c.path in layout.COMPANIONS]
    attention = tuple(
        chain(
            (Why("repository-state", (state.problem,)) for _ in [0] if state.problem),
            (
                Why("open-conflict", (row.id, row.title))
                for row in rows
                if row.state(now) == "conflict"
            ),
            _missing(pending, len(rows)),
            _purge_pending(repo),
        )
    )
    settings = reader.settings
    return Status(
        home=reader.home,
        branch=state.branch,
        head=state.head[:12] if state.head else None,
        counts=dict(counts),
        pending=len(pending),
        problems=problems,
        attention=attention,
        project=project.key if project else None,
        project_name=project.name if project else None,
        learning=settings.learning,
        retrieval=settings.retrieval,
        language=reads.language(project),
    )


def _missing(pending: list[Change], living: int) -> list[Why]:
    from memsync.store.ingest import is_too_many

    gone = sum(1 for c in pending if c.kind == "deleted" and layout.is_record(c.path))
    return [Why("too-many-deletions", (str(gone),))] if is_too_many(gone, living + gone) else []


def _purge_pending(repo: MemoryRepo) -> list[Why]:
    from memsync.store import purging
    from memsync.store.effects import Effects

    left = purging.pending(Effects(repo))
    return [Why("purge-unfinished", tuple(left))] if left else []
