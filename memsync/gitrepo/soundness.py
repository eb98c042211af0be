"""Whether the memory repository's own parts are sound, as Git and the disk tell it."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from memsync import errors, files
from memsync.gitrepo import locks
from memsync.gitrepo.memory import SEEN, MemoryRepo
from memsync.gitrepo.rewrite import object_kinds

#: Checking every object of a large repository takes its time.
_FSCK_SECONDS = 1800.0


class Standing(NamedTuple):
    """A lock file of git: for how long it has stood, and who holds it (None: not known)."""

    path: str
    seconds: int
    holder: str | None

    @property
    def is_left_behind(self) -> bool:
        """Whether no git is at work behind it any more."""
        return self.seconds >= locks.STALE_SECONDS and self.holder == ""


def index_fault(repo: MemoryRepo) -> str:
    """What is wrong with Git's own index; empty where it can be read.

    Raises RepositoryDamaged where Git sees no repository at all.
    """
    repo.git.run("rev-parse", "--git-dir")
    if not repo.has_index():
        told = "it is missing"
        return told if repo.resolve("HEAD") else ""
    try:
        repo.git.run("ls-files", "-z", "--stage")
    except errors.RepositoryDamaged as error:
        return str(error.facts["detail"])
    return ""


def object_faults(repo: MemoryRepo) -> list[str]:
    """What ``git fsck`` finds in the objects and the refs, a line for each; no index is asked.

    It only looks whether all is there: to take every version of a large folder apart costs five
    times as much. That the files and messages can be read is seen by reading them.

    Raises RepositoryDamaged where git gives up.
    """
    slow = replace(repo.git, timeout=_FSCK_SECONDS)
    none = {"GIT_INDEX_FILE": os.path.join(repo.git_dir, "memsync", "no-index")}
    told = slow.complaints(
        *("fsck", "--connectivity-only", "--no-dangling", "--no-progress"), environment=none
    )
    lines = [" ".join(line.split()) for line in told]
    found = [line for line in lines if not line.startswith(("notice: ", "Checking "))]
    every = object_kinds(repo)
    rotten = every.keys() - {oid for oid, _ in repo.read_blobs(every)}
    return found + [f"corrupt object {oid}" for oid in sorted(rotten)]


def standing_locks(repo: MemoryRepo, clock: Callable[[], float]) -> list[Standing]:
    """The lock files of git that stand in the repository, objects apart."""
    found = []
    for folder, below, names in os.walk(repo.git_dir):
        if folder == repo.git_dir:
            below[:] = [name for name in below if name not in ("objects", "memsync", "hooks")]
        for name in names:
            path = os.path.join(folder, name)
            age = locks.age_of(path, clock()) if name.endswith(".lock") else None
            if age is not None:
                shown = os.path.relpath(path, repo.home)
                found.append(Standing(shown, int(age), locks.holder_of(path, repo.home)))
    return sorted(found)


def lost_branch(repo: MemoryRepo) -> str | None:
    """The ref of memsync's own branch, where HEAD does not lead to a commit of it any more."""
    config = os.path.join(repo.git_dir, "config")
    own = repo.git.text("config", "--file", config, "--get", "memsync.branch", ok=(0, 1))
    try:
        branch, _ = repo.named_by_head()
    except errors.RepositoryDamaged:
        return f"refs/heads/{own}" if own else None
    lost = own and branch == own and repo.resolve("HEAD") is None and repo.resolve(SEEN)
    return f"refs/heads/{own}" if lost else None


def put_branch_back(repo: MemoryRepo) -> bool:
    """Let HEAD name memsync's own branch again, and that the last commit that memsync saw."""
    ref = lost_branch(repo)
    if ref is None:
        return False
    staging = os.path.join(repo.git_dir, "memsync", "tmp")
    files.write(os.path.join(repo.git_dir, "HEAD"), f"ref: {ref}\n".encode(), staging)
    last = repo.resolve(SEEN)
    if last and repo.resolve("HEAD") is None:
        loose = os.path.join(repo.home, repo.git.text("rev-parse", "--git-path", ref))
        if os.path.isfile(loose):
            os.unlink(loose)  # git refuses to write over a ref that it cannot read
        repo.set_ref(ref, last)
    return True


def replace_index(repo: MemoryRepo) -> bytes:
    """Make Git's own index anew from HEAD; returns the damaged one's content."""
    path = os.path.join(repo.git_dir, "index")
    content = b""
    if repo.has_index():
        with open(path, "rb") as stream:
            content = stream.read()
        os.unlink(path)
    repo.make_index()
    return content
