"""Bringing the index up to the files: walk, compare, read what changed.

A scan reads files and writes the index; it never writes a file of the memory.
"""

from __future__ import annotations

import json
import marshal
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from memsync import errors, files, record
from memsync.errors import Problem, problem
from memsync.files import Stat, Walk
from memsync.gitrepo import MemoryRepo
from memsync.index import Facts, Index, Mark, Update
from memsync.store import layout

if TYPE_CHECKING:
    from memsync.tombstone import Tombstone

# A file that changed this shortly before it was seen may change again without a new stat: its
# content is compared next time. File systems with whole-second times get two seconds.
_RACY = 50_000_000
_RACY_COARSE = 2_000_000_000
#: The newest repository format that this memsync knows.
FORMAT = 1
#: How long the name of a Git blob is.
BLOB_DIGITS = 40


@dataclass(slots=True)
class Seen:
    """What a scan saw that the index does not keep: odd files, unreadable folders, changes.

    At and below the ``blind`` paths nothing can be seen: the index says nothing of them, and that
    something is not there means nothing.
    """

    problems: tuple[Problem, ...] = ()
    blind: tuple[str, ...] = ()
    changed: int = 0


@dataclass(slots=True)
class _Found:
    """What differs from the index."""

    gone: list[str] = field(default_factory=list)
    touched: list[str] = field(default_factory=list)
    folders: dict[str, bytes | None] = field(default_factory=dict)


def blob_of(content: bytes) -> str:
    """The Git blob id of a content."""
    import hashlib

    head = b"blob %d\0" % len(content)
    return hashlib.sha1(head + content, usedforsecurity=False).hexdigest()


def scan(home: str, repo: MemoryRepo | None, index: Index, now_ns: Callable[[], int]) -> Seen:
    """Bring ``index`` up to the files below ``home``.

    ``repo`` answers for the identity of files that state none; without one (a folder that is no
    repository) such files go by their path and content.

    Raises NewerFormat, IndexBusy.
    """
    walked = files.walk(home, layout.TOPS, layout.WANTED)
    _add_settings(home, walked)
    found = _differences(walked, index, now_ns())
    if found.folders or found.gone or found.touched:
        _take_in(home, repo, index, found)
    check_format(home, index)
    return Seen(
        tuple(_told(walked)),
        tuple(path for path, _ in (*walked.unreadable, *walked.odd)),
        len(found.gone) + len(found.touched),
    )


def check_format(home: str, index: Index) -> None:
    """Raise NewerFormat where the settings say that a newer memsync wrote the repository."""
    refuse_newer(home, json.loads(index.meta().get("settings", "{}")).get("format"))


def refuse_newer(home: str, stated: object) -> None:
    """Raise NewerFormat for any format but those that this memsync knows; none is the first."""
    if stated is None or stated == "":
        return
    number = isinstance(stated, str) and stated.isdecimal() and len(stated) < 10
    if not number or int(str(stated)) > FORMAT:
        found = int(str(stated)) if number else str(stated)
        raise errors.NewerFormat(path=home, found=found, known=FORMAT)


def _add_settings(home: str, walked: Walk) -> None:
    """The settings file lies at the root, which is not walked: there may be anything there."""
    try:
        info = os.lstat(os.path.join(home, layout.SETTINGS))
    except OSError:
        return
    walked.folders[""] = [(layout.SETTINGS, info.st_size, info.st_mtime_ns, info.st_ino)]


def _told(walked: Walk) -> Iterable[Problem]:
    for path, code in sorted(walked.odd):
        yield problem(code, path, 0)
    for path in sorted(walked.passed):
        yield problem("not-taken", path, 0, "notice")
    for folder, detail in sorted(walked.unreadable):
        yield problem("unreadable", folder, 0, detail=detail)


def _differences(walked: Walk, index: Index, now_ns: int) -> _Found:
    """Compare the walk with the last one, folder by folder, then file by file."""
    known = index.snapshots()
    found = _Found()
    for folder, listing in walked.folders.items():
        seen = marshal.dumps(listing, 2)
        old = known.pop(folder, None)
        if seen != old:
            before = _remembered(old) if old else []
            touched, steady = _in_folder(folder, listing, before, index, now_ns, found.gone)
            found.touched += touched
            if steady != before or old is None:
                found.folders[folder] = marshal.dumps(steady, 2)
    for folder in known:
        found.gone += index.files_in(folder)
        found.folders[folder] = None
    return found


def _remembered(snapshot: bytes) -> list[Stat]:
    try:
        return list(marshal.loads(snapshot))  # noqa: S302 - written by us, below .git
    except (EOFError, TypeError, ValueError) as error:
        raise errors.IndexDamaged(detail=str(error)) from error


def _in_folder(
    folder: str,
    listing: list[Stat],
    before: list[Stat],
    index: Index,
    now_ns: int,
    gone: list[str],
) -> tuple[list[str], list[Stat]]:
    """The paths of one folder whose content must be looked at, and the listing to remember."""
    old = {entry[0]: entry for entry in before}
    top = folder + "/" if folder else ""
    touched = []
    steady = []
    for entry in listing:
        name, size, mtime, inode = entry
        window = _RACY_COARSE if mtime % 1_000_000_000 == 0 else _RACY
        if old.get(name) != entry:
            touched.append(top + name)
        racy = now_ns - mtime < window
        steady.append((name, size, 0, inode) if racy else entry)
    present = {top + entry[0] for entry in listing}
    gone += [path for path in index.files_in(folder) if path not in present]
    return touched, steady


def _take_in(home: str, repo: MemoryRepo | None, index: Index, found: _Found) -> None:
    """Read what was touched, settle identities, write the index."""
    reader = FileReader(home)
    facts: dict[str, Facts] = {}
    blank = index.is_blank()
    for path in found.touched:
        kind = layout.kind_of(path)
        if kind is None:
            continue
        known = None if blank else index.facts_of(path)
        fact = reader.facts(path, kind, known[1] if known else None)
        if fact is not None:
            facts[path] = fact
    _settle(None if blank else index, repo, reader, facts, found.gone)
    meta = {}
    if layout.SETTINGS in facts:
        meta["settings"] = json.dumps(reader.settings, ensure_ascii=False)
    elif layout.SETTINGS in found.gone:
        meta["settings"] = "{}"
    index.apply(Update(found.gone, [*facts.values()], found.folders, meta))


class FileReader:
    """Reads files of a memory into facts."""

    def __init__(self, home: str) -> None:
        self._home = home
        self.settings: dict[str, Any] = {}

    def facts(self, path: str, kind: str, known_blob: str | None) -> Facts | None:
        """What a file says; None where its content is the one already known."""
        try:
            raw = files.read(os.path.join(self._home, path), record.FILE_BYTES + 1)
        except errors.CannotRead as error:
            told = problem("unreadable", path, 0, detail=error.facts["detail"])
            return Facts(path, kind, "", problems=(told,))
        if len(raw) > record.FILE_BYTES:
            return self._too_large(path, kind, known_blob)
        blob = blob_of(raw)
        if blob == known_blob:
            return None
        return self.read(raw, blob, path, kind)

    def _too_large(self, path: str, kind: str, known_blob: str | None) -> Facts | None:
        size = os.lstat(os.path.join(self._home, path)).st_size
        blob = f"large:{size}"
        if blob == known_blob:
            return None
        told = problem("file-too-large", path, 0, size=size, limit=record.FILE_BYTES)
        return Facts(path, kind, blob, problems=(told,))

    def read(self, raw: bytes, blob: str, path: str, kind: str) -> Facts:
        """The facts of a content; a record without an id of its own gets a provisional one."""
        from memsync.frontmatter.document import parse_yaml
        from memsync.frontmatter.schema import decode

        if kind == "tombstone":
            return _tombstone_facts(raw, blob, path)
        if kind in ("project", "settings"):
            document = parse_yaml(raw, path)
            data = None if document.broken else document.data
            if kind == "settings":
                self.settings = data or {}
                told = document.problems
                if not data and not told:
                    # An emptied file is what a full disk leaves; it must not pass for settings.
                    told = (problem("settings-empty", path, 0),)
                return Facts(path, kind, blob, problems=told)
            key = layout.project_key_of(path)
            return Facts(path, kind, blob, key, key, document.problems, project=data)
        place = layout.place_of(path)
        decoded = decode(raw, path, place, record.provisional_id(path, blob))
        found = decoded.record
        return Facts(
            path,
            kind,
            blob,
            decoded.stated_id,
            found.id if found else decoded.stated_id,
            decoded.problems,
            record=found,
            body_at=_start_of_line(raw, decoded.document.body_line),
        )


def _start_of_line(raw: bytes, line: int) -> int:
    """The byte at which a line (from 1) begins; a byte order mark belongs to no text."""
    position = 3 if raw.startswith(b"\xef\xbb\xbf") else 0
    for _ in range(line - 1):
        end = raw.find(b"\n", position)
        if end < 0:
            return len(raw)
        position = end + 1
    return position


def _tombstone_facts(raw: bytes, blob: str, path: str) -> Facts:
    from memsync import tombstone

    decoded = tombstone.decode(raw, path)
    found = decoded.tombstone
    if found is None:
        return Facts(path, "tombstone", blob, problems=decoded.problems)
    return Facts(
        path, "tombstone", blob, found.id, found.id, decoded.problems, mark=mark_of(found, path)
    )


def mark_of(found: Tombstone, path: str) -> Mark:
    """A tombstone as the index keeps it."""
    return Mark(
        found.id,
        path,
        found.epoch,
        int(found.permanent),
        found.scope.value,
        found.project_key,
        found.forgotten_at,
        found.reason.value,
        found.text_hash,
        found.candidate_key,
    )


# --- identity of files ---------------------------------------------------------------------


def _settle(
    index: Index | None,
    repo: MemoryRepo | None,
    reader: FileReader,
    facts: dict[str, Facts],
    gone: list[str],
) -> None:
    """Give every record file its identity: lost ids, provisional ids, copies."""
    nameless = [f.path for f in facts.values() if f.record is not None and f.stated is None]
    for path, found in _kept_ids(repo, nameless).items():
        fact = facts[path]
        if fact.record is not None:
            facts[path] = _with_id(fact, found)
    if index is not None:
        _reread_siblings(index, reader, facts, gone)
    claims: dict[str, list[str]] = {}
    for fact in facts.values():
        if fact.stated and fact.record is not None:
            claims.setdefault(fact.stated, []).append(fact.path)
    shared = {wanted: paths for wanted, paths in claims.items() if len(paths) > 1}
    every = [path for paths in shared.values() for path in paths]
    first = repo.first_commit_of(every) if repo else {}
    for wanted, paths in shared.items():
        owner = _owner(first, paths)
        for path in paths:
            if path != owner:
                facts[path] = _as_copy(facts[path], wanted, owner)


def _kept_ids(repo: MemoryRepo | None, paths: list[str]) -> dict[str, str]:
    """The ids of files that state none: what HEAD has there, else from the adding commit."""
    if repo is None or not paths:
        return {}
    from memsync.frontmatter.schema import decode

    found: dict[str, str] = {}
    blobs = repo.blobs_at(paths)
    contents = dict(repo.read_blobs(blobs.values()))
    unnamed = []
    for path, blob in blobs.items():
        raw = contents.get(blob, b"")
        stated = decode(raw, path, layout.place_of(path), "").stated_id
        if stated:
            found[path] = stated
        else:
            unnamed.append(path)
    for path, (_, blob) in repo.first_commit_of(unnamed).items():
        found[path] = record.provisional_id(path, blob)
    return found


def _reread_siblings(
    index: Index, reader: FileReader, facts: dict[str, Facts], gone: list[str]
) -> None:
    """Read again the files that share an id with one that came, changed or went.

    Who owns an id depends on all files that state it, so that an index grown step by step says
    the same as one built at once.
    """
    ids = {f.stated for f in facts.values() if f.stated and f.record is not None}
    for path in [*gone, *facts]:
        before = index.facts_of(path)
        if before and before[2]:
            ids.add(before[2])
    gone_set = set(gone)
    for _, path in index.paths_stating(sorted(ids)):
        kind = layout.kind_of(path)
        if path not in facts and path not in gone_set and kind in ("record", "candidate"):
            fact = reader.facts(path, kind, None)
            if fact is not None:
                facts[path] = fact


def _owner(first: Mapping[str, tuple[str, str]], paths: list[str]) -> str:
    """Of several files with one id, the one that keeps it: the older, then by path."""
    return min(paths, key=lambda p: (p not in first, first.get(p, ("",))[0], p))


def _as_copy(fact: Facts, original: str, owner: str) -> Facts:
    told = problem("id-taken", fact.path, 0, "notice", id=original, other=owner)
    changed = _with_id(fact, record.copy_id(original, fact.path))
    return changed._replace(problems=(*fact.problems, told))


def _with_id(fact: Facts, new: str) -> Facts:
    if fact.record is None:
        return fact
    return fact._replace(id=new, record=fact.record.replacing(id=new))
