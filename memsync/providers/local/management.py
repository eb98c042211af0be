"""The queries of the local provider about memories, and how the memory stands."""

from __future__ import annotations

import os
from collections import Counter
from itertools import chain
from typing import Any

from memsync import errors, tokens
from memsync.contract.memories import (
    ConflictsQuery,
    ExpandQuery,
    History,
    HistoryQuery,
    Listing,
    ManageQuery,
    SearchQuery,
    Status,
)
from memsync.contract.shared import NO_PROJECT, Entry, ProjectRef, Why
from memsync.gitrepo import MemoryRepo, State
from memsync.index import Row, scope_word
from memsync.providers.local.reads import Reads, find, switched_off
from memsync.record import Scope
from memsync.store import history, layout, purging
from memsync.store.absences import is_too_many, lost_records
from memsync.store.effects import Effects
from memsync.store.handwork import HandWork, gather
from memsync.store.history import Version


def answer(reads: Reads, query: Any) -> Listing | Entry | History:
    """Answer a query of this part of the contract from fresh files."""
    reads.reader.refresh()
    match query:
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
    raise errors.RequestInvalid(where="$.view", detail=f"unknown view {query.view!r}")


def _listing(reads: Reads, query: ManageQuery) -> Listing:
    if query.forgotten:
        return Listing(forgotten=reads.reader.forgotten())
    conditions: list[str] = []
    arguments: list[object] = []
    asked = query.project != NO_PROJECT
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
        tagged = "SELECT n FROM wholes, json_each(wholes.json, '$.tags') WHERE value = ?"
        conditions.append(f"r.n IN ({tagged})")
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
    return Listing(
        reads.reader.entries(shown), (), elsewhere, truncated, reads.reader.out_of_action()
    )


def _found(reads: Reads, query: SearchQuery) -> Listing:
    scopes = None
    if query.project != NO_PROJECT:
        key = reads.key_of(query.project)
        scopes = [scope_word(Scope.GLOBAL, None)]
        if key:
            scopes.append(scope_word(Scope.PROJECT, key))
    expression = tokens.match_expression(tokens.query_terms(query.words))
    index = reads.reader.index
    hits = index.search(expression, scopes, query.limit + 1)
    living = index.by_number([n for n, _ in hits])
    rows = [living[n] for n, _ in hits if n in living]
    return Listing(
        reads.reader.entries(rows[: query.limit]),
        truncated=len(hits) > query.limit,
        broken=reads.reader.out_of_action(),
    )


def _expanded(reads: Reads, query: ExpandQuery) -> Entry:
    return reads.reader.entry(find(reads, query.id, query.project))


def _history(reads: Reads, query: HistoryQuery) -> History:
    repo = reads.repo
    row: Row | None = None
    place: str | None = None
    try:
        row = find(reads, query.id, NO_PROJECT)
        record_id, place = row.id, row.path
    except errors.RecordForgotten as error:
        record_id = str(error.facts["id"])
    except errors.BrokenFile as error:
        if "id" not in error.facts:
            raise
        record_id, place = str(error.facts["id"]), str(error.facts["path"])
    found = history.versions(repo, record_id, place, query.limit)
    unsaved = place is not None and (row is None or not found or found[0].blob != row.blob)
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


# --- status ---------------------------------------------------------------------------------


def status(reads: Reads, ref: ProjectRef | None) -> Status:
    """How the memory stands: counts, what is pending, what needs the person."""
    reader, repo = reads.reader, reads.repo
    reader.refresh()
    now = reader.now_text
    rows = reader.index.rows()
    counts = Counter(row.state(now) for row in rows)
    counts["forgotten"] = len(reader.index.marks_in_force())
    problems = reader.problems()
    state, work, told = _from_git(reads)
    project = reads.located(ref) if ref else None
    attention = tuple(
        chain(
            told,
            (
                Why("open-conflict", (row.id, row.title))
                for row in rows
                if row.state(now) == "conflict"
            ),
            _missing(work) if work and not state.problem else (),
            _settings_missing(reader.home),
            _purge_pending(repo),
        )
    )
    off = switched_off(reads, project, project.key if project else None)
    codes = {why.code for why in off}
    return Status(
        home=reader.home,
        branch=state.branch,
        head=state.head[:12] if state.head else None,
        counts=dict(counts),
        pending=len(work.changes) if work else 0,
        problems=problems,
        attention=attention,
        project=project.key if project else None,
        project_name=project.name if project else None,
        learning="learning-off" not in codes,
        retrieval=not codes & {"retrieval-off", "project-paused"},
        switched_off=off,
        language=reads.language(project),
    )


def _from_git(reads: Reads) -> tuple[State, HandWork | None, list[Why]]:
    """What Git says of the repository, as far as it can, and what of it needs the person."""
    repo = reads.repo
    try:
        state = repo.state()
        work = gather(reads.reader, repo, reads.environment.now(), read_only=True)
    except errors.RepositoryDamaged as error:
        told = Why("repository-damaged", (str(error.facts["detail"]),))
        return State(None, None), None, [told]
    if state.problem:
        return state, work, [Why("repository-state", (state.problem,))]
    if not repo.has_index() and state.head:
        return state, work, [Why("index-missing")]
    if work.dropped:
        return state, work, [Why("taken-from-index", (errors.listed(work.dropped),))]
    return state, work, []


def _settings_missing(home: str) -> list[Why]:
    there = os.path.isfile(os.path.join(home, layout.SETTINGS))
    return [] if there else [Why("settings-missing", (layout.SETTINGS,))]


def _missing(work: HandWork) -> list[Why]:
    """What the next write will ask about."""
    gone = len(lost_records(work))
    too_many = is_too_many(gone, work.reader.index.count() + gone)
    return [Why("too-many-deletions", (str(gone),))] if too_many else []


def _purge_pending(repo: MemoryRepo) -> list[Why]:
    left = purging.pending(Effects(repo))
    return [Why("purge-unfinished", tuple(left))] if left else []
