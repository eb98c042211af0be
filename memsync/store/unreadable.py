"""Records whose files cannot be read at the moment: who they were, by Git's last good version."""

from __future__ import annotations

from typing import NamedTuple

from memsync import record
from memsync.errors import Problem
from memsync.frontmatter.schema import decode
from memsync.gitrepo import MemoryRepo
from memsync.record import Record
from memsync.store import layout
from memsync.store.reading import Reader


class LastGood(NamedTuple):
    """A broken file and the last version of it that could be read."""

    path: str
    record: Record
    content: bytes
    problems: tuple[Problem, ...]


def last_good(reader: Reader, repo: MemoryRepo, wanted: str) -> LastGood | None:
    """The broken file of the record of this id, unique prefix or exact title; None for none."""
    broken: dict[str, list[Problem]] = {}
    for problem in reader.index.problems():
        if problem.level == "error" and layout.is_record(problem.path):
            broken.setdefault(problem.path, []).append(problem)
    found = []
    for path, problems in broken.items():
        good = _newest_readable(repo, path)
        if good is not None and _is_called(good[0], wanted):
            found.append(LastGood(path, *good, tuple(problems)))
    return found[0] if len(found) == 1 else None


def _newest_readable(repo: MemoryRepo, path: str) -> tuple[Record, bytes] | None:
    for commit in repo.path_log(path):
        if commit.blob:
            content = repo.read_blob(commit.blob)
            provisional = record.provisional_id(path, commit.blob)
            item = decode(content, path, layout.place_of(path), provisional).record
            if item is not None:
                return item, content
    return None


def _is_called(item: Record, wanted: str) -> bool:
    start = wanted if wanted.startswith("m-") else "m-" + wanted
    prefix = len(start) > 3 and item.id.startswith(start)
    return prefix or record.path_key(item.title) == record.path_key(wanted.strip())
