"""The queries of the local provider about tasks."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from memsync import errors
from memsync.contract.shared import Why
from memsync.contract.tasks import (
    Excluded,
    Explained,
    Manifest,
    ManifestQuery,
    Profile,
    ProfileQuery,
    TaskQuery,
)
from memsync.identity import Project
from memsync.providers.local.reads import Reads, switched_off


def answer(reads: Reads, query: Any) -> Manifest | Profile | Explained:
    """Answer a query of this part of the contract from fresh files."""
    reads.reader.refresh()
    if isinstance(query, TaskQuery):
        return _task(reads, query)
    if isinstance(query, ManifestQuery):
        return _explained(reads, query)
    return _profile(reads, query)


def _task(reads: Reads, query: TaskQuery) -> Manifest:
    project = reads.located(query.project)
    key = project.key if project else reads.key_of(query.project)
    if not _retrieval_on(reads, project, key):
        off = Excluded("", "", Why("retrieval-off"))
        return Manifest("", excluded=(off,), excluded_total=1, project_key=key)
    query = replace(query, paths=tuple(_within(project, path) for path in query.paths))
    found = reads.director.direct(query, key, reads.language(project))
    return found._replace(broken=reads.reader.out_of_action())


def _within(project: Project | None, path: str) -> str:
    """A path as the project sees it: what is given is relative to the folder asked about."""
    if project is None or project.root is None:
        return path
    if os.path.isabs(path):
        return os.path.relpath(os.path.realpath(path), project.root)
    return os.path.normpath(os.path.join(project.within, path))


def _retrieval_on(reads: Reads, project: Project | None, key: str | None) -> bool:
    off = ("project-paused", "retrieval-off")
    return not any(why.code in off for why in switched_off(reads, project, key))


def _profile(reads: Reads, query: ProfileQuery) -> Profile:
    from memsync.director.profile import profile

    return profile(reads.reader, query.max_chars, reads.language())


def _explained(reads: Reads, query: ManifestQuery) -> Explained:
    from memsync.director.explaining import elsewhere, explain

    project = reads.located(query.task.project)
    key = project.key if project else reads.key_of(query.task.project)
    try:
        row = reads.reader.find(query.id)
    except (errors.RecordForgotten, errors.ForgottenForGood) as error:
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
    if row.project not in (None, key):
        return elsewhere(row)
    if not _retrieval_on(reads, project, key):
        entry = reads.reader.entry(row)
        return Explained(entry, Why("saved", (row.path,)), (), Why("retrieval-off"))
    return explain(reads.director, query, row, key, reads.language(project))
