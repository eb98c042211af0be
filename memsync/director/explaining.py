"""One memory and one task: was it saved, does it match, is it delivered, and if not, why not."""

from __future__ import annotations

from memsync.contract.requests import ManifestQuery
from memsync.contract.results import Explained, Why
from memsync.director.select import Considered, Director, request_of
from memsync.index import Row


def explain(
    director: Director, query: ManifestQuery, row: Row, project: str | None, language: str
) -> Explained:
    """Walk the three links for a living memory."""
    entry = director.reader.entry(row)
    saved = Why("saved", (row.path,))
    request = request_of(query.task)
    if row.project is not None and row.project != project:
        return Explained(entry, saved, (), Why("wrong-project", (row.project,)))
    found = next((c for c in director.weigh(request, project) if c.row.n == row.n), None)
    if found is None:
        return Explained(entry, saved, (), Why("not-relevant"))
    return Explained(
        entry,
        saved,
        director.why(found, request),
        _delivered(director, query, found, project, language),
        found.match.levels,
    )


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
        if item.id == found.row.id:
            if item.delivered == "full":
                return Why("delivered-in-full")
            return Why("delivered-as-line", (_why_only_a_line(found),))
    return Why("over-budget")


def _why_only_a_line(found: Considered) -> str:
    """Why a memory is offered but not given in full."""
    if not found.prepared.standing:
        return "episode"
    if found.row.lifecycle != "proven":
        return "trial"
    level = found.match.first("not-asked")
    return f"{level}-not-given" if level else "over-budget"
