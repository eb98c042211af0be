"""One memory and one task: was it saved, does it match, is it delivered, and if not, why not."""

from __future__ import annotations

from memsync.contract.shared import Why
from memsync.contract.tasks import Explained, ManifestQuery
from memsync.director.select import Considered, Director, request_of, why
from memsync.index import Row


def explain(
    director: Director, query: ManifestQuery, row: Row, project: str | None, language: str
) -> Explained:
    """Walk the three links for a living memory in scope."""
    entry = director.reader.entry(row)
    saved = Why("saved", (row.path,))
    request = request_of(query.task)
    found = director.consider(row, request, project)
    return Explained(
        entry,
        saved,
        why(found, row, director.said(request, project)),
        _delivered(director, query, found, project, language),
        found.match.levels,
    )


def elsewhere(row: Row) -> Explained:
    """Of a memory of another project only that is told: neither its title nor its text."""
    owner = row.project or ""
    return Explained(None, Why("saved", (f"projects/{owner}",)), (), Why("wrong-project", (owner,)))


def _delivered(
    director: Director,
    query: ManifestQuery,
    found: Considered,
    project: str | None,
    language: str,
) -> Why:
    if found.excluded is not None:
        return found.excluded
    manifest = director.direct(query.task, project, language)
    for item in manifest.manifest:
        if item.id == found.prepared.row.id:
            if item.delivered == "full":
                return Why("delivered-in-full")
            return Why("delivered-as-line", (_why_only_a_line(found),))
    return Why("over-budget")


def _why_only_a_line(found: Considered) -> str:
    """Why a memory is offered but not given in full."""
    if not found.prepared.standing:
        return "episode"
    if found.prepared.row.lifecycle != "proven":
        return "trial"
    level = found.match.first("not-asked")
    return f"{level}-not-given" if level else "over-budget"
