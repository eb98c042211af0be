"""``memsync merge-driver``: what git calls for each memory that two sides of a merge changed.

Git hands over three files and the path, and takes what stands in ours afterwards. The program
starts for every such file, so it imports what it needs and no more.
"""

from __future__ import annotations

from collections.abc import Sequence

from memsync import errors, files, record
from memsync.frontmatter.model import Decoded
from memsync.merge import LEFT, MERGED, Held, Version, merge
from memsync.store import layout

#: Nothing was done: git is to merge the lines by itself.
UNABLE = 128


def run(arguments: Sequence[str]) -> int:
    """Merge ``BASE OURS THEIRS PATH``, three files and the path that they stand for, into OURS.

    Returns how git is to take it: MERGED; LEFT, where two memories met in one path and neither
    may go into the other; UNABLE, where a side cannot be read by meaning.
    """
    if len(arguments) != 4:
        return UNABLE
    *places, path = arguments
    try:
        base, ours, theirs = (files.read(place, record.FILE_BYTES + 1) for place in places)
        if _are_two(path, base, ours, theirs):
            return LEFT
        merged = merged_file(path, base, ours, theirs)
        if merged is None:
            return UNABLE
        with open(places[1], "wb") as stream:
            stream.write(merged)
    except (OSError, errors.MemsyncError):
        return UNABLE  # the line in git's configuration goes on with git's own merge
    return MERGED


def merged_file(path: str, base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    """The file that two sides become; None where it cannot be read by meaning.

    ``base`` is empty where the sides began apart. ``path`` is that of the file in the memory.
    """
    if max(map(len, (base, ours, theirs))) > record.FILE_BYTES:
        return None
    kind = layout.kind_of(path)
    if kind in ("record", "candidate"):
        return _record(path, base, ours, theirs)
    if kind == "tombstone":
        return _tombstone(path, ours, theirs)
    if kind in ("project", "settings"):
        from memsync.merge.settings import merge_yaml

        return merge_yaml(base or None, ours, theirs, path)
    return None


def _are_two(path: str, base: bytes, ours: bytes, theirs: bytes) -> bool:
    return layout.is_record(path) and len(_ids(path, base, ours, theirs)) > 1


def _ids(path: str, *contents: bytes) -> set[str]:
    """The ids that two sides state, else that of their base.

    A file that lost its front matter is still the memory that it was.
    """
    from memsync.frontmatter.document import parse

    base, *sides = (str(parse(raw, path).data.get("id") or "") for raw in contents)
    return {stated for stated in sides if stated} or ({base} if base else set())


def _record(path: str, *contents: bytes) -> bytes | None:
    from memsync.frontmatter.schema import decode

    ids = _ids(path, *contents)
    if len(ids) != 1:
        return None
    place = layout.place_of(path)
    base, ours, theirs = (_held(decode(raw, path, place, *ids), path) for raw in contents)
    if ours.record is None or theirs.record is None:
        return None
    if base.record is not None and base.record.record.id not in ids:
        base = Held()
    return merge(base, ours, theirs).content


def _held(decoded: Decoded, path: str) -> Held:
    return Held(Version(path, decoded) if decoded.record is not None else None)


def _tombstone(path: str, *contents: bytes) -> bytes | None:
    from memsync import tombstone

    marks = [tombstone.decode(raw, path).tombstone for raw in contents]
    if marks[0] is None or marks[1] is None or marks[0].id != marks[1].id:
        return None
    kept = merge(Held(), Held(None, marks[0]), Held(None, marks[1])).tombstone
    return contents[marks.index(kept)]
