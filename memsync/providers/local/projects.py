"""Changes to the projects of this machine's repository, which are outside the contract."""

from __future__ import annotations

import os

from memsync import errors, files, identity
from memsync.contract.changes import Applied
from memsync.contract.shared import ProjectRef
from memsync.frontmatter.edits import edit_yaml
from memsync.gitrepo.run import without_credentials
from memsync.identity import Project
from memsync.providers.local.writes import Work, bind, project_for_write
from memsync.store import layout
from memsync.store.effects import Plan


def add_alias(work: Work, project: Project, remote: str) -> Applied:
    """Record one more remote for a project. ``ids`` of the answer are the alias and the key.

    Raises InvalidValue, AliasTaken.
    """
    alias = identity.canonical_alias(remote)
    if alias is None:
        shown = without_credentials(remote)
        raise errors.InvalidValue(field="remote", value=shown, allowed="a URL or host/path")
    with work.store.transaction("project alias") as transaction:
        for known in work.store.reader.known_projects():
            if alias in known.aliases and known.key != project.key:
                raise errors.AliasTaken(alias=alias, projectKey=known.key)
        key, also = project_for_write(work, ProjectRef(), project)
        path = layout.project_file(key)
        current = also.get(path) or files.read_if_there(os.path.join(work.store.reader.home, path))
        assert current is not None
        listed = _aliases(current, path)
        if alias in listed:
            return Applied("project", ids=(alias, key), taken_in=transaction.taken_in)
        content = edit_yaml(current, path, {"aliases": [*listed, alias]})
        bind(work, project, key)
        applied = work.done(
            transaction, "project", Plan(f"project: {key} is also {alias}", {path: content}), None
        )
        return Applied(
            "project",
            None,
            applied.commit,
            applied.changed,
            applied.taken_in,
            applied.notices,
            (alias, key),
        )


def _aliases(content: bytes, path: str) -> list[str]:
    from memsync.frontmatter.document import parse_yaml

    found = parse_yaml(content, path).data.get("aliases")
    if isinstance(found, str):
        return [found]
    return [item for item in found if isinstance(item, str)] if isinstance(found, list) else []
