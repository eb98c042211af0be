"""The memory repository as Git sees it: its state, its changes, its blobs, its history."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from memsync import errors, files
from memsync.gitrepo.run import Git

#: Who commits where the person told git no name.
FALLBACK_IDENTITY = ("user.name=memsync", "user.email=memsync@localhost")
#: The last commit whose content memsync has taken in.
SEEN = "refs/memsync/seen"
#: Of more paths than these git is asked for everything: a command line has its end.
MOST_NAMED = 200

_UNDER_WAY = {
    "MERGE_HEAD": "merge",
    "rebase-merge": "rebase",
    "rebase-apply": "rebase",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
    "BISECT_LOG": "bisect",
}


class State(NamedTuple):
    """Where the repository stands. ``problem`` is empty where memsync may write."""

    branch: str | None
    head: str | None
    problem: str = ""


class Change(NamedTuple):
    """One path that differs from HEAD: ``added``, ``modified`` or ``deleted`` in the work tree.

    ``dropped`` is HEAD's blob of a file that stands in the work tree, where Git's index was told
    to drop it; such a file may be as HEAD has it.
    """

    path: str
    kind: str
    conflicted: bool = False
    dropped: str = ""


class Commit(NamedTuple):
    """One commit that touched a path. ``blob`` is None where it removed it."""

    oid: str
    when: str
    author: str
    subject: str
    path: str
    blob: str | None
    parents: tuple[str, ...]


def owner_of(path: str) -> int:
    """The user id that owns a path."""
    return os.lstat(path).st_uid


def git_dir_of(home: str) -> str | None:
    """The Git folder of the work tree at ``home``; None where there is none."""
    dot = os.path.join(home, ".git")
    if os.path.isdir(dot):
        return dot
    if os.path.isfile(dot):
        with open(dot, encoding="utf-8", errors="surrogateescape") as stream:
            first = stream.readline().strip()
        if first.startswith("gitdir: "):
            target = os.path.normpath(os.path.join(home, first.removeprefix("gitdir: ")))
            return target if os.path.isdir(target) else None
    return None


def enclosing_work_tree(path: str) -> str | None:
    """The nearest work tree around ``path``, the folder itself left out."""
    folder = os.path.dirname(os.path.abspath(path))
    while True:
        if os.path.lexists(os.path.join(folder, ".git")):
            return folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent


@dataclass(frozen=True)
class MemoryRepo:
    """Git in the memory repository."""

    home: str
    git_dir: str
    git: Git

    @classmethod
    def at(cls, home: str, environment: Mapping[str, str], timeout: float = 120.0) -> MemoryRepo:
        """The repository at ``home``. Raises NotARepository, OwnedByOther."""
        git_dir = git_dir_of(home)
        if git_dir is None:
            raise errors.NotARepository(path=home)
        _refuse_foreign(home)
        return cls(home, git_dir, Git(home, environment, timeout))

    @property
    def real_git_dir(self) -> str:
        """The Git folder, with all links followed."""
        return os.path.realpath(self.git_dir)

    # --- state ---------------------------------------------------------------------------

    def state(self) -> State:
        """Where HEAD is and whether something is under way.

        Raises RepositoryDamaged where HEAD names nothing, or a commit that is not there.
        """
        branch, head = self.named_by_head()
        for name, what in _UNDER_WAY.items():
            if os.path.lexists(os.path.join(self.git_dir, name)):
                return State(None, None, f"a {what} is under way")
        if branch is None:
            return State(None, head, "HEAD is detached")
        expected = self.setting("memsync.branch")
        if expected and branch != expected:
            return State(branch, None, f"branch {branch} is checked out, not {expected}")
        commit = self.resolve("HEAD")
        if commit is None and self.resolve(SEEN):
            told = f"branch {branch} has lost its commits"
            raise errors.RepositoryDamaged(path=self.home, detail=told)
        return State(branch, commit)

    def named_by_head(self) -> tuple[str | None, str | None]:
        """The branch that HEAD names, or the commit. Raises RepositoryDamaged for neither."""
        try:
            head = files.read(os.path.join(self.git_dir, "HEAD")).decode().strip()
        except (errors.CannotRead, UnicodeDecodeError) as error:
            raise errors.RepositoryDamaged(path=self.home, detail="HEAD cannot be read") from error
        if head.startswith("ref: refs/heads/"):
            return head.removeprefix("ref: refs/heads/"), None
        if not re.fullmatch("[0-9a-f]{40,64}", head):
            raise errors.RepositoryDamaged(path=self.home, detail="HEAD names nothing")
        return None, head

    def resolve(self, revision: str) -> str | None:
        """The commit that a revision names, or None."""
        found = self.git.text(
            "rev-parse", "-q", "--verify", f"{revision}^{{commit}}", ok=(0, 1, 128)
        )
        return found or None

    def is_sparse(self) -> bool:
        """Whether the work tree is a sparse checkout."""
        return self.git.text("config", "--bool", "core.sparseCheckout", ok=(0, 1)) == "true"

    def setting(self, name: str) -> str | None:
        """A value of this repository's own Git configuration."""
        return self.git.text("config", "--local", "--get", name, ok=(0, 1)) or None

    def editor(self) -> str | None:
        """The editor that the person's Git configuration names."""
        return self.git.text("config", "--get", "core.editor", ok=(0, 1)) or None

    def set_setting(self, name: str, value: str) -> None:
        """Write a value into this repository's own Git configuration."""
        self.git.run("config", "--local", name, value)

    def remotes(self) -> tuple[str, ...]:
        """The names of the remotes."""
        return tuple(self.git.text("remote").split())

    # --- work tree -----------------------------------------------------------------------

    def changes(self, tops: Sequence[str], read_only: bool = False) -> tuple[Change, ...]:
        """The paths below ``tops`` that differ from HEAD, renames taken apart.

        With ``read_only`` git does not note what it found in its own index.
        """
        out = self.git.run(
            *("status", "--porcelain=v2", "-z", "--untracked-files=all", "--no-renames"),
            *("--ignored=traditional", "--ignore-submodules=all", "--", *tops),
            environment={"GIT_OPTIONAL_LOCKS": "0" if read_only else "1"},
        )
        found: dict[str, Change] = {}
        for line in out.decode("utf-8", "surrogateescape").split("\0"):
            if line[:2] in ("? ", "! "):  # these come last; what was dropped is among them again
                found.setdefault(line[2:], Change(line[2:], "added"))
            elif line.startswith("1 "):
                _, code, _, _, _, _, head, _, path = line.split(" ", 8)
                there = os.path.lexists(os.path.join(self.home, path))
                known = not head.startswith("000000000000")
                if not there and not known:
                    continue
                kind = "deleted" if not there else "modified" if known else "added"
                dropped = head if there and code[0] == "D" else ""
                found[path] = Change(path, kind, "U" in code, dropped)
            elif line.startswith("u "):
                path = line.split(" ", 10)[10]
                found[path] = Change(path, "modified", conflicted=True)
        return tuple(found.values())

    def commit(self, paths: Sequence[str], message: str) -> str | None:
        """Commit exactly these paths as they stand in the work tree; None if nothing changed.

        What the person has staged of other paths stays staged.
        """
        if not paths:
            return None
        present = [p for p in paths if os.path.lexists(os.path.join(self.home, p))]
        paths = self._known(paths, set(present))
        if not paths:
            return None
        if present:
            listed = "\0".join(present).encode("utf-8", "surrogateescape")
            self.git.run("update-index", "--add", "-z", "--stdin", stdin=listed)
        listed = "\0".join(paths).encode("utf-8", "surrogateescape")
        arguments = (
            *("commit", "--quiet", "--no-verify", "--no-edit", "--cleanup=verbatim", "--only"),
            *("--no-gpg-sign", "--pathspec-from-file=-", "--pathspec-file-nul", "-m", message),
        )
        exact = {"GIT_LITERAL_PATHSPECS": "1"}
        try:
            self.git.run(*arguments, stdin=listed, environment=exact)
        except errors.GitFailed as error:
            detail = str(error.facts.get("detail"))
            if "auto-detection is disabled" in detail or "empty ident name" in detail:
                self.git.run(
                    *arguments, stdin=listed, settings=FALLBACK_IDENTITY, environment=exact
                )
            elif not self._differs(paths):
                return None
            else:
                raise
        return self.resolve("HEAD")

    def _known(self, paths: Sequence[str], present: set[str]) -> list[str]:
        """The paths without those that are gone and that Git never knew: it refuses those."""
        absent = [path for path in paths if path not in present]
        known = set(self.blobs_at(absent)) if absent and self.resolve("HEAD") else set()
        if len(known) < len(absent):
            listed = self.git.run("ls-files", "-z").decode("utf-8", "surrogateescape")
            known |= set(listed.split("\0"))
        return [path for path in paths if path in present or path in known]

    def _differs(self, paths: Sequence[str]) -> bool:
        listed = [f":(literal){path}" for path in paths]
        if self.resolve("HEAD") is None:
            return True
        return not self.git.succeeds("diff", "--quiet", "HEAD", "--", *listed)

    def restore(self, paths: Sequence[str], commit: str) -> None:
        """Put paths of a commit back into Git's index (the files are the caller's to write)."""
        self.git.run(
            *("reset", "--quiet", "--pathspec-from-file=-", "--pathspec-file-nul", commit),
            stdin="\0".join(paths).encode("utf-8", "surrogateescape"),
            environment={"GIT_LITERAL_PATHSPECS": "1"},
        )

    def has_index(self) -> bool:
        """Whether Git's own index is there."""
        return os.path.lexists(os.path.join(self.git_dir, "index"))

    def make_index(self) -> None:
        """Make Git's own index anew from HEAD. Without one, all files look removed to Git."""
        if self.resolve("HEAD"):
            self.git.run("read-tree", "HEAD")

    # --- blobs ---------------------------------------------------------------------------

    def tree(self, revision: str = "HEAD", tops: Sequence[str] = ()) -> dict[str, str]:
        """path -> blob of every file of a commit (below ``tops``); empty for an unborn branch."""
        if self.resolve(revision) is None:
            return {}
        out = self.git.run("ls-tree", "-r", "-z", "--full-tree", revision, "--", *tops)
        found = {}
        for line in out.decode("utf-8", "surrogateescape").split("\0"):
            if line:
                head, _, path = line.partition("\t")
                mode, kind, oid = head.split(" ")
                if kind == "blob" and not stat.S_ISLNK(int(mode, 8)):
                    found[path] = oid
        return found

    def blobs_at(self, paths: Iterable[str], revision: str = "HEAD") -> dict[str, str]:
        """path -> blob for the paths that a commit has."""
        every = [*paths]
        asked = [path for path in every if "\n" not in path]
        broken = [path for path in every if "\n" in path]  # these cannot be asked line by line
        found = self.tree(revision, broken) if broken else {}
        if not asked:
            return found
        wanted = "\n".join(f"{revision}:{path}" for path in asked)
        out = self.git.run(
            "cat-file",
            "--batch-check=%(objectname) %(objecttype)",
            stdin=(wanted + "\n").encode("utf-8", "surrogateescape"),
        )
        lines = out.decode("utf-8", "surrogateescape").splitlines()
        return found | {
            path: line[:-5]
            for path, line in zip(asked, lines, strict=False)
            if line.endswith(" blob")
        }

    def read_blobs(self, oids: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """The contents of blobs, in the order asked; missing ones are left out."""
        asked = list(dict.fromkeys(oids))
        for start in range(0, len(asked), 5000):
            chunk = asked[start : start + 5000]
            out = self.git.run("cat-file", "--batch", stdin="\n".join(chunk).encode() + b"\n")
            position = 0
            while position < len(out):
                end = out.index(b"\n", position)
                words = out[position:end].split(b" ")
                position = end + 1
                if len(words) == 3:
                    size = int(words[2])
                    yield words[0].decode(), out[position : position + size]
                    position += size + 1

    def read_blob(self, oid: str) -> bytes:
        """One blob's content. Raises GitFailed."""
        return self.git.run("cat-file", "blob", oid)

    def paths_with_text(
        self, text: str, revision: str, tops: Sequence[str]
    ) -> list[tuple[str, str]]:
        """(path, blob) of the files of a commit, below ``tops``, that hold this exact text."""
        out = self.git.run(
            *("grep", "-l", "-z", "-F", "-e", text, "--full-name", revision, "--", *tops), ok=(0, 1)
        )
        named = out.decode("utf-8", "surrogateescape").split("\0")
        paths = [name.partition(":")[2] for name in named if name]
        return [*self.blobs_at(paths, revision).items()]

    # --- history -------------------------------------------------------------------------

    def path_log(self, path: str, start: str = "HEAD", limit: int | None = None) -> list[Commit]:
        """The commits that touched ``path``, newest first, from ``start`` back.

        Quick in a long history through the changed-path filters of ``write_commit_graph``.
        """
        if self.resolve(start) is None:
            return []
        most = ("-n", str(limit)) if limit else ()
        out = self.git.run(
            *("log", "-z", "--raw", "--no-abbrev", "--no-renames", "-m", "--first-parent", *most),
            *("--format=%x01%H%x02%cI%x02%an%x02%P%x02%s", start, "--", f":(literal){path}"),
        )
        return [*_commits(out.decode("utf-8", "surrogateescape"), path)]

    def first_commit_of(self, paths: Sequence[str]) -> dict[str, tuple[str, str]]:
        """path -> (time, blob) of the commit that first added it; untracked ones are left out.

        One look at the history, however many paths are asked about.
        """
        if not paths or self.resolve("HEAD") is None:
            return {}
        named = [f":(literal){path}" for path in paths] if len(paths) <= MOST_NAMED else []
        out = self.git.text(
            *("log", "-z", "--raw", "--no-abbrev", "--no-renames", "-m", "--first-parent"),
            *("--diff-filter=A", "--format=%x01%cI%x02", "HEAD", "--", *named),
        )
        wanted = frozenset(paths)
        found: dict[str, tuple[str, str]] = {}
        for part in out.split("\x01")[1:]:
            when = part.partition("\x02")[0]
            for blob, path in re.findall(_ADDED, part):
                if path in wanted:
                    found[path] = (when, blob)  # from the newest on: the oldest one stays
        return found

    def diff_texts(self, old: bytes, new: bytes) -> str:
        """The lines in which two contents differ, in unified form; empty where they are equal."""
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            for name, content in (("before", old), ("after", new)):
                with open(os.path.join(folder, name), "wb") as stream:
                    stream.write(content)
            out = replace(self.git, folder=folder).run(
                *("diff", "--no-index", "--no-color", "--no-ext-diff", "--no-textconv", "--text"),
                *("before", "after"),
                ok=(0, 1),
            )
        text = out.decode("utf-8", "replace")
        return text[text.index("--- ") :] if "--- " in text else ""

    def changed_between(self, old: str, new: str, tops: Sequence[str]) -> dict[str, str]:
        """path -> letter (A, M, D, T) of what differs between two commits below ``tops``."""
        out = self.git.run(
            "diff-tree", "-r", "-z", "--no-renames", "--name-status", old, new, "--", *tops
        )
        parts = out.decode("utf-8", "surrogateescape").split("\0")
        return dict(zip(parts[1::2], parts[0::2], strict=False))

    def changed_by_commits(self, old: str, new: str, tops: Sequence[str]) -> dict[str, str]:
        """path -> letters of what the commits since ``old`` did to it; merges are left out."""
        out = self.git.run(
            *("log", "-z", "--no-merges", "--no-renames", "--name-status", "--format="),
            *(f"{old}..{new}", "--", *tops),
        )
        parts = out.decode("utf-8", "surrogateescape").split("\0")
        found: dict[str, str] = {}
        for letter, path in zip(parts[0::2], parts[1::2], strict=False):
            found[path] = found.get(path, "") + letter
        return found

    def is_ancestor(self, old: str, new: str) -> bool:
        """Whether a commit is part of another one's history."""
        return self.git.succeeds("merge-base", "--is-ancestor", old, new)

    def set_ref(self, name: str, commit: str) -> None:
        """Point a ref of memsync's own at a commit."""
        self.git.run("update-ref", name, commit)

    # --- upkeep --------------------------------------------------------------------------

    def has_commit_graph(self) -> bool:
        """Whether Git has a commit graph here."""
        info = os.path.join(self.git_dir, "objects", "info")
        return any(os.path.exists(os.path.join(info, n)) for n in ("commit-graph", "commit-graphs"))

    def loose_objects(self) -> int:
        """About how many loose objects there are, from one of their 256 folders."""
        try:
            return len(os.listdir(os.path.join(self.git_dir, "objects", "17"))) * 256
        except OSError:
            return 0

    def write_commit_graph(self) -> None:
        """Write the commit graph with changed-path filters, which makes ``path_log`` quick."""
        self.git.run(
            *("commit-graph", "write", "--reachable", "--changed-paths", "--split", "--no-progress")
        )

    def pack(self) -> None:
        """Pack loose objects; nothing that is reachable or recent is dropped."""
        slow = replace(self.git, timeout=600)
        slow.run("repack", "-d", "-l", "-q", "--no-write-bitmap-index")
        slow.run("prune-packed", "-q")


def _refuse_foreign(home: str) -> None:
    owner, me = owner_of(home), os.geteuid()
    if owner != me:
        import pwd

        try:
            name = pwd.getpwuid(owner).pw_name
        except KeyError:
            name = f"user {owner}"
        raise errors.OwnedByOther(path=home, owner=name)


_HEADER = r"\x01([0-9a-f]+)\x02([^\x02]*)\x02([^\x02]*)\x02([^\x02]*)\x02([^\0\n]*)"


_ADDED = r":\d+ \d+ [0-9a-f]+ ([0-9a-f]+) A\0([^\0]+)"


def _commits(out: str, path: str) -> Iterator[Commit]:
    """Read ``git log -z --raw``: each header, then its one line for the path asked about."""
    for part in out.split("\x01")[1:]:
        header = re.match(_HEADER, "\x01" + part)
        if header is None:
            continue
        raw = re.search(r":\d+ \d+ [0-9a-f]+ ([0-9a-f]+) ([A-Z])", part)
        blob = raw[1] if raw and raw[2] != "D" else None
        oid, when, author, parents, subject = header.groups()
        yield Commit(oid, when, author, subject, path, blob, tuple(parents.split()))
