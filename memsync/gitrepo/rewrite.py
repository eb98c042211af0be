"""Rewriting history without some blobs, commit by commit, under a new root.

``git fast-export`` without contents, a filter, ``git fast-import``: all other blobs are kept as
they are, so that the cost is that of the commits and not of their contents.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import IO, NamedTuple

from memsync import errors
from memsync.gitrepo.memory import SEEN, MemoryRepo
from memsync.gitrepo.run import (
    OPTIONS,
    Git,
    scrubbed,
    stop_group,
    tells_full,
    without_credentials,
)

#: Where the new history grows until it is complete.
_GROWING = b"refs/memsync/rewrite/"
_ROOT_MARK = b":999999999"
#: Refs that tell of another repository's history; a rewrite drops them.
_FOREIGN_REFS = ("refs/remotes/", "refs/prefetch/")
_TAGS_GROWING = "refs/tags/memsync-rewrite/"
#: What git leaves of messages and commits that were.
_LEFTOVERS = (
    *("ORIG_HEAD", "FETCH_HEAD", "COMMIT_EDITMSG", "TAG_EDITMSG", "NOTES_EDITMSG"),
    *("MERGE_MSG", "SQUASH_MSG", "AUTO_MERGE"),
)


@dataclass(frozen=True, slots=True)
class Rewrite:
    """What a rewrite changes.

    ``dropped`` are the blobs that must not stay, ``replaced`` maps blobs to others, ``message``
    gives a commit's new message from its old one and whether it touched a dropped blob,
    ``root_blob`` is the settings file of the new root.
    """

    dropped: frozenset[str]
    replaced: Mapping[str, str]
    message: Callable[[bytes, bool], bytes]
    settings_path: str
    root_blob: str
    root_message: str
    when: int


def refuse_stashes(repo: MemoryRepo) -> None:
    """Raise OddState where stashes exist: they would keep the text, or be lost."""
    if repo.resolve("refs/stash"):
        raise errors.OddState(state="there are git stashes, which a rewrite would have to drop")


def blobs_in_history(repo: MemoryRepo, ending: str = ".md") -> list[tuple[str, str]]:
    """(blob, path) of every file version that any ref reaches, one path for each blob."""
    out = repo.git.run("rev-list", "--objects", "--all")
    found = []
    for line in out.decode("utf-8", "surrogateescape").splitlines():
        oid, _, path = line.partition(" ")
        if path.endswith(ending):
            found.append((oid, path))
    return found


class Stored(NamedTuple):
    """An object of Git's store; ``kind`` is blob, commit or tag."""

    oid: str
    kind: str
    content: bytes

    @property
    def name(self) -> str:
        """The name of a tag."""
        found = re.search(rb"(?m)^tag (.*)$", self.content)
        return found[1].decode("utf-8", "surrogateescape") if found else self.oid[:12]


def object_kinds(repo: MemoryRepo) -> dict[str, str]:
    """oid -> kind of everything in Git's object store but trees; ``missing`` for rotten ones."""
    out = repo.git.text(
        "cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype)"
    )
    kinds = dict(line.split(" ") for line in out.splitlines())
    return {oid: kind for oid, kind in kinds.items() if kind != "tree"}


def every_object(repo: MemoryRepo) -> Iterator[Stored]:
    """Everything in Git's object store but trees, whatever leads to it."""
    kinds = object_kinds(repo)
    for oid, content in repo.read_blobs(kinds):
        yield Stored(oid, kinds[oid], content)


def store_blob(repo: MemoryRepo, content: bytes) -> str:
    """Put a content into Git's object store; returns its blob."""
    return repo.git.run("hash-object", "-w", "--stdin", stdin=content).decode().strip()


def rewrite(repo: MemoryRepo, change: Rewrite) -> str:
    """Grow the new history beside the old one. Returns the new commit of HEAD's branch.

    Nothing of the old history is touched. Raises GitFailed, DiskFull.
    """
    refs = _refs(repo)
    discard_growth(repo)
    _pipe(repo, [*refs], change)
    branch = repo.state().branch or ""
    tip = repo.resolve(_grown(f"refs/heads/{branch}"))
    if tip is None:
        raise errors.GitFailed(command="fast-import", status=0, detail="no new history came out")
    return tip


def publish(repo: MemoryRepo, new_tip: str) -> None:
    """Let all refs point into the new history, at once; drop refs that cannot follow."""
    refs = _refs(repo)
    grown = _all_refs(repo)
    lines = []
    for name, old in refs.items():
        new = grown.get(_grown(name)) or (new_tip if name == SEEN else None)
        if new and name.startswith("refs/tags/"):
            new = _named_again(repo, new)
        lines.append(f"update {name} {new} {old}" if new else f"delete {name} {old}")
    # The name itself goes, not what it may stand for: a clone has a name for the remote's HEAD.
    for name in _all_refs(repo):
        if name.startswith(_FOREIGN_REFS):
            lines += ["option no-deref", f"delete {name}"]
    script = "start\n" + "\n".join(lines) + "\nprepare\ncommit\n"
    repo.git.run("update-ref", "--stdin", stdin=script.encode("utf-8", "surrogateescape"))
    discard_growth(repo)


def _named_again(repo: MemoryRepo, oid: str) -> str:
    """A tag that grew under another name, with its own name again; light tags are as they are."""
    if repo.git.text("cat-file", "-t", oid) != "tag":
        return oid
    content = repo.git.run("cat-file", "tag", oid)
    own = content.replace(b"\ntag memsync-rewrite/", b"\ntag ", 1)
    return repo.git.run("hash-object", "-t", "tag", "-w", "--stdin", stdin=own).decode().strip()


def sweep(repo: MemoryRepo) -> None:
    """Remove everything from Git's object store that no ref reaches any more."""
    for name in _LEFTOVERS:
        path = os.path.join(repo.git_dir, name)
        if os.path.exists(path):
            os.unlink(path)
    slow = replace(repo.git, timeout=1800)
    slow.run("reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all")
    slow.run("repack", "-a", "-d", "-f", "-q", "--no-write-bitmap-index")
    slow.run("prune", "--expire=now")
    info = os.path.join(repo.git_dir, "objects", "info")
    graph = os.path.join(info, "commit-graph")
    chain = os.path.join(info, "commit-graphs")
    if os.path.exists(graph):
        os.unlink(graph)
    if os.path.isdir(chain):
        for name in os.listdir(chain):
            os.unlink(os.path.join(chain, name))
    repo.write_commit_graph()


def discard_growth(repo: MemoryRepo) -> None:
    """Remove what an interrupted rewrite left."""
    for name in _all_refs(repo):
        if name.startswith((_GROWING.decode(), _TAGS_GROWING)):
            repo.git.run("update-ref", "-d", name)


def _all_refs(repo: MemoryRepo) -> dict[str, str]:
    """ref -> object: the tag itself where it is an annotated one."""
    out = repo.git.text("for-each-ref", "--format=%(refname) %(objectname)")
    return dict(line.split(" ") for line in out.splitlines())


def _refs(repo: MemoryRepo) -> dict[str, str]:
    """The refs that follow a rewrite: all that lead to commits of this memory.

    Notes lead to commits of their own, which hold no records. A ref that stands for another one
    follows it by itself.
    """
    left = (*_FOREIGN_REFS, _GROWING.decode(), _TAGS_GROWING, "refs/notes/")
    out = repo.git.text(
        *(
            "for-each-ref",
            "--format=%(refname) %(objectname) %(objecttype) %(*objecttype) %(symref)",
        )
    )
    found = {}
    for line in out.splitlines():
        name, oid, kind, peeled, stands_for = line.split(" ")
        if not stands_for and (peeled or kind) in ("commit", "tag") and not name.startswith(left):
            found[name] = oid
    return found


def _grown(name: str) -> str:
    if name.startswith("refs/tags/"):
        return "refs/tags/memsync-rewrite/" + name.removeprefix("refs/tags/")
    return _GROWING.decode() + name.removeprefix("refs/")


def _pipe(repo: MemoryRepo, refs: list[str], change: Rewrite) -> None:
    export = _start(
        repo.git,
        *("fast-export", "--no-data", "--signed-tags=strip", "--tag-of-filtered-object=rewrite"),
        *("--reencode=no", "--use-done-feature", *refs),
    )
    source = _start(repo.git, "fast-import", "--quiet", "--force", "--done", "--date-format=raw")
    try:
        assert export.stdout is not None
        assert source.stdin is not None
        for part in filtered(export.stdout, change):
            source.stdin.write(part)
        source.stdin.close()
        for process, name in ((export, "fast-export"), (source, "fast-import")):
            status = process.wait(timeout=600)
            if status:
                raise _failure(repo.git, process, name, status)
    except BrokenPipeError as error:
        raise _failure(repo.git, source, "fast-import", source.wait(timeout=60)) from error
    finally:
        for process in (export, source):
            if process.poll() is None:
                stop_group(process)
            for stream in (process.stdout, process.stderr, process.stdin):
                if stream is not None and not stream.closed:
                    stream.close()


def _start(git: Git, *arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        ["git", *OPTIONS, *arguments],
        cwd=git.folder,
        env=scrubbed(git.environment),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def _failure(
    git: Git, process: subprocess.Popen[bytes], name: str, status: int
) -> errors.MemsyncError:
    told = process.stderr.read().decode("utf-8", "replace") if process.stderr else ""
    if tells_full(told, git.folder):
        return errors.DiskFull(path=git.folder)
    detail = without_credentials(" ".join(told.split()))[:400]
    return errors.GitFailed(command=name, status=status, detail=detail)


# --- the filter ----------------------------------------------------------------------------


@dataclass(slots=True)
class _Block:
    """One commit of the stream, collected until it is whole: its message depends on its files."""

    head: list[bytes] = field(default_factory=list)
    message: bytes = b""
    parents: list[bytes] = field(default_factory=list)
    changes: list[bytes] = field(default_factory=list)


_MODIFY = re.compile(rb"M (\d+) ([0-9a-f]{40,64}) (.*)\n")


def filtered(stream: IO[bytes], change: Rewrite) -> Iterator[bytes]:
    """The stream of ``git fast-export --no-data``, without what must not stay."""
    yield b"feature done\n"
    yield from _new_root(change)
    block: _Block | None = None
    for line in stream:
        if block is not None and _belongs(line, block, stream):
            continue
        if block is not None:
            yield from _closed(block, change)
            block = None
        if line.startswith(b"commit "):
            block = _Block([b"commit " + _renamed(line[7:-1]) + b"\n"])
        elif line.startswith(b"reset "):
            yield b"reset " + _renamed(line[6:-1]) + b"\n"
        elif line.startswith(b"tag "):
            yield b"tag memsync-rewrite/" + line[4:]
        elif line.startswith(b"data "):
            message = change.message(stream.read(int(line[5:])), False)
            yield b"data %d\n%s" % (len(message), message)
        elif not line.startswith(b"feature "):
            yield line
    if block is not None:
        yield from _closed(block, change)


def _renamed(ref: bytes) -> bytes:
    if ref.startswith(b"refs/tags/"):
        return b"refs/tags/memsync-rewrite/" + ref[len(b"refs/tags/") :]
    return _GROWING + ref[len(b"refs/") :]


def _belongs(line: bytes, block: _Block, stream: IO[bytes]) -> bool:
    """Add a line to the commit that is being collected; False where it begins something else."""
    word = line.split(b" ", 1)[0]
    if word in (b"mark", b"author", b"committer", b"encoding", b"original-oid"):
        block.head.append(line)
    elif word == b"data":
        block.message = stream.read(int(line[5:]))
    elif word in (b"from", b"merge"):
        block.parents.append(line)
    elif word in (b"M", b"D", b"R", b"C", b"deleteall\n"):
        block.changes.append(line)
    elif line == b"\n":
        pass
    else:
        return False
    return True


def _new_root(change: Rewrite) -> Iterator[bytes]:
    message = change.root_message.encode()
    yield b"commit " + _GROWING + b"root\nmark " + _ROOT_MARK + b"\n"
    yield b"committer memsync <memsync@localhost> %d +0000\n" % change.when
    yield b"data %d\n%s\n" % (len(message), message)
    yield b"M 100644 %s %s\n\n" % (change.root_blob.encode(), change.settings_path.encode())


def _closed(block: _Block, change: Rewrite) -> Iterator[bytes]:
    touched = False
    changes = []
    for line in block.changes:
        found = _MODIFY.match(line)
        blob = found[2].decode() if found else ""
        if found and blob in change.dropped:
            touched = True
            changes.append(b"D " + found[3] + b"\n")
        elif found and blob in change.replaced:
            new = change.replaced[blob].encode()
            changes.append(b"M %s %s %s\n" % (found[1], new, found[3]))
        else:
            changes.append(line)
    message = change.message(block.message, touched)
    yield b"".join(block.head)
    yield b"data %d\n%s\n" % (len(message), message)
    yield b"".join(block.parents) or b"from " + _ROOT_MARK + b"\n"
    yield b"".join(changes) + b"\n"
