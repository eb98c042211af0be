"""The versions of a record, from Git's own history of its path, followed by its id."""

from __future__ import annotations

from dataclasses import dataclass

from memsync import errors, record
from memsync.contract.memories import Revision
from memsync.gitrepo import Commit, MemoryRepo
from memsync.store import layout

#: From so many commits on, a missing commit graph is written before paths are asked about.
MANY_COMMITS = 2000


@dataclass(frozen=True, slots=True)
class Version:
    """One version of a record: its revision, and the blob that holds it (None: removed)."""

    revision: Revision
    blob: str | None


def versions(
    repo: MemoryRepo, record_id: str, place: str | None, limit: int | None = None
) -> list[Version]:
    """The versions of a record, newest first; those before a move or a forget are among them.

    ``place`` is the path at which the record stands; None where it was forgotten.
    """
    _prepare(repo)
    path, start = (place, "HEAD") if place else _last_place(repo, record_id)
    found: list[Version] = []
    asked: set[tuple[str, str]] = set()
    while path and (path, start) not in asked:
        asked.add((path, start))
        log = _of_record(repo, repo.path_log(path, start, limit), record_id)
        found += [_version(commit) for commit in log]
        if limit and len(found) >= limit:
            return found[:limit]
        path, start = _earlier_place(repo, log, record_id)
    return found


def _prepare(repo: MemoryRepo) -> None:
    """Path history is quick with Git's changed-path filters; they are derived, like an index."""
    if repo.has_commit_graph() or repo.resolve("HEAD") is None:
        return
    counted = repo.git.text("rev-list", "--count", "-n", str(MANY_COMMITS), "HEAD")
    if int(counted) >= MANY_COMMITS:
        try:
            repo.write_commit_graph()
        except errors.MemsyncError:
            return  # a read-only disk: slower, not wrong


def _version(commit: Commit) -> Version:
    revision = commit.blob[:12] if commit.blob else None
    told = Revision(
        revision, commit.oid[:12], commit.when, commit.author, commit.subject, commit.path
    )
    return Version(told, commit.blob)


def _of_record(repo: MemoryRepo, log: list[Commit], record_id: str) -> list[Commit]:
    """The part of a path's log that is about this record: others may have had the path."""
    contents = dict(repo.read_blobs([c.blob for c in log if c.blob]))
    kept: list[Commit] = []
    removals: list[Commit] = []
    for commit in log:
        if commit.blob is None:
            removals.append(commit)  # of what: the version before it tells
            continue
        if _stated(contents.get(commit.blob, b""), commit.path) not in (None, record_id):
            break
        kept += [*removals, commit]
        removals.clear()
    return kept


def _stated(raw: bytes, path: str) -> str | None:
    from memsync.frontmatter.document import parse

    found = parse(raw, path).data.get("id")
    return found if isinstance(found, str) and record.is_id(found) else None


def _earlier_place(repo: MemoryRepo, log: list[Commit], record_id: str) -> tuple[str, str]:
    """Where the record was before the oldest commit of its path: moved, or forgotten."""
    if not log or not log[-1].parents:
        return "", ""
    oldest = log[-1]
    moved = _removed_with_id(repo, oldest, record_id)
    if moved:
        return moved, oldest.parents[0]
    place, start = _last_place(repo, record_id, before=oldest.parents[0])
    return place, start


def _removed_with_id(repo: MemoryRepo, commit: Commit, record_id: str) -> str:
    """The other path at which the record stood before this commit; two may have swapped theirs."""
    parent = commit.parents[0]
    letters = repo.changed_between(parent, commit.oid, layout.TOPS)
    gone = [
        path
        for path, letter in letters.items()
        if letter in ("D", "M") and path != commit.path and layout.is_record(path)
    ]
    blobs = repo.blobs_at(gone, parent)
    contents = dict(repo.read_blobs(blobs.values()))
    for path, blob in blobs.items():
        if _stated(contents.get(blob, b""), path) == record_id:
            return path
    return ""


def _last_place(repo: MemoryRepo, record_id: str, before: str = "HEAD") -> tuple[str, str]:
    """(path, commit) where a forgotten record stood just before it was forgotten."""
    for commit in repo.path_log(layout.tombstone_file(record_id), before):
        if commit.blob and commit.parents:
            path = _removed_with_id(repo, commit, record_id)
            if path:
                return path, commit.parents[0]
    return "", ""


def pick(found: list[Version], wanted: str, record_id: str) -> Version:
    """The version that a revision or commit prefix names. Raises RevisionNotFound."""
    if len(wanted) >= 4:
        fits = [
            v
            for v in found
            if v.blob and (v.blob.startswith(wanted) or v.revision.commit.startswith(wanted[:12]))
        ]
        if fits:
            return fits[0]
    raise errors.RevisionNotFound(id=record_id, revision=wanted)


def before(found: list[Version], current_blob: str) -> Version | None:
    """The newest version that is not the current one."""
    past = found
    for position, version in enumerate(found):
        if version.blob == current_blob:
            past = found[position + 1 :]
            break
    return next((v for v in past if v.blob and v.blob != current_blob), None)
