"""Reading for the local provider: a reader, the project at hand, names resolved."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from memsync import config, errors, identity, language, record
from memsync.config import Environment
from memsync.contract.shared import NO_PROJECT, ProjectRef, Why
from memsync.gitrepo import MemoryRepo
from memsync.store import layout
from memsync.store.reading import Reader

if TYPE_CHECKING:
    from memsync.director.select import Director
    from memsync.identity import Project
    from memsync.index import Row


@dataclass
class Reads:
    """A reader with what answering needs beside it."""

    reader: Reader
    environment: Environment

    @cached_property
    def director(self) -> Director:
        """The director over this reader."""
        from memsync.director.select import Director

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
        known = self.reader.known_projects()
        return identity.resolve(ref.path, known, self.environment.variables, self.repo.real_git_dir)

    def located(self, ref: ProjectRef) -> Project | None:
        """The code project of a folder, as far as a read needs it: often without asking git."""
        if ref.path is None:
            return None
        found = identity.resolve_bound(ref.path, self.reader.known_projects())
        if found is None or found.common == self.repo.real_git_dir:
            return self.resolved(ref)
        return found

    def key_of(self, ref: ProjectRef) -> str | None:
        """The key of the project a request is about, or None.

        Raises ProjectNotFound where a key or name is given and the memory has none such.
        """
        if ref.key is not None:
            return project_named(self.reader, ref.key)
        found = self.located(ref)
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


def switched_off(reads: Reads, project: Project | None, key: str | None) -> tuple[Why, ...]:
    """What is switched off for a project, each with the file that says so."""
    settings: list[tuple[str, config.Settings | config.ProjectSettings]]
    settings = [(layout.SETTINGS, reads.reader.settings)]
    if project is not None:
        settings.append((config.PROJECT_FILE, config.project_settings(project.root)))
    found = [
        Why(code, (place,))
        for place, given in settings
        for code, on in (("learning-off", given.learning), ("retrieval-off", given.retrieval))
        if not on
    ]
    if any(known.paused for known in reads.reader.known_projects() if known.key == key):
        found.append(Why("project-paused", (key or "",)))
    return tuple(found)


def find(reads: Reads, wanted: str, ref: ProjectRef) -> Row:
    """A record by id, prefix or title; a project keeps the answer to its own and the global."""
    projects = None
    if ref != NO_PROJECT:
        key = reads.key_of(ref)
        projects = [key] if key else []
    try:
        return reads.reader.find(wanted, projects)
    except errors.RecordNotFound:
        from memsync.store.unreadable import last_good

        good = last_good(reads.reader, reads.repo, wanted)
        broken = good.problems if good else reads.reader.broken(wanted)
        if not broken:
            raise
        named = {"id": good.record.id} if good else {}
        raise errors.BrokenFile(
            path=broken[0].path,
            summary=errors.summarise(broken),
            problems=errors.problem_facts(broken),
            **named,
        ) from None


def find_to_change(reads: Reads, wanted: str, ref: ProjectRef) -> Row:
    """A record to change. A whole id reaches every record; a title or the beginning of an id only
    those of the caller's project and the global ones, so that no work in one project changes what
    was kept for another. Where the caller is in no project, they reach all.

    Raises RecordElsewhere beside what ``find`` raises.
    """
    project = reads.resolved(ref)
    if record.is_id(wanted) or ref == NO_PROJECT or (ref.path and project is None):
        return find(reads, wanted, NO_PROJECT)
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
        row = find(reads, wanted, NO_PROJECT)
        raise errors.RecordElsewhere(wanted=wanted, id=row.id, projectKey=row.project) from None
