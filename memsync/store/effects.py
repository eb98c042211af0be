"""All that the store does to the world, one small act each, so that a test can fail any of them.

A change of files and its commit belong together. The acts that carry it out are written down
first, in an intent:

1. ``stage``: the new contents, and the old files (as links), in ``intent.new/``
2. ``decide``: that folder is renamed to ``intent/``; from here on the change happens, also
   through a crash: the next command that writes finishes it
3. ``put``: each file is renamed into its place
4. ``commit``
5. ``settle``: the intent is removed

Where a step fails without a crash, ``undo`` renames the old files back, which needs no space.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass

from memsync import errors, files
from memsync.files import telling
from memsync.gitrepo import SEEN, MemoryRepo


@dataclass(frozen=True, slots=True)
class Plan:
    """A change that is decided: what every path will hold (None: nothing), and its commit."""

    message: str
    files: Mapping[str, bytes | None]
    ids: tuple[str, ...] = ()

    def full_message(self) -> str:
        """The commit message: a line for a person, then the ids for the machine."""
        trailers = "".join(f"Memsync-Id: {wanted}\n" for wanted in self.ids[:50])
        return f"{self.message}\n\n{trailers}" if trailers else self.message + "\n"


@dataclass(frozen=True, slots=True)
class Step:
    """One path of an intent, with the Git blobs it had and will have (empty: no file)."""

    path: str
    number: int
    old: str
    new: str


class Effects:
    """The acts of the store on one repository."""

    def __init__(self, repo: MemoryRepo) -> None:
        self.repo = repo
        self.home = repo.home
        #: Whether something that was committed still waits for the person's answer.
        self.holding = False
        self.folder = os.path.join(repo.git_dir, "memsync")
        self.intent = os.path.join(self.folder, "intent")
        self.undoing = os.path.join(self.folder, "undo")
        self._staged = os.path.join(self.folder, "intent.new")
        self._done = os.path.join(self.folder, "intent.done")
        self._scratch = os.path.join(self.folder, "tmp")

    def at(self, path: str) -> str:
        """The absolute path of a file of the memory."""
        return os.path.join(self.home, path)

    # --- the intent ------------------------------------------------------------------------

    def begin(self) -> None:
        """Start an intent; what an interrupted one left undecided or done is dropped."""
        with telling(self._staged):
            for leftover in (self._staged, self._done, self._scratch):
                shutil.rmtree(leftover, ignore_errors=True)
            os.makedirs(self._staged)

    def stage(self, number: int, path: str, content: bytes | None) -> None:
        """Write the new content of one path aside, and link the old file beside it."""
        self._refuse_links(path)
        target = os.path.join(self._staged, f"{number}.new")
        if content is not None:
            files.write(target, content, self._scratch)
        current = self.at(path)
        if os.path.lexists(current):
            kept = os.path.join(self._staged, f"{number}.old")
            with telling(kept):
                try:
                    os.link(current, kept, follow_symlinks=False)
                except OSError:
                    shutil.copy2(current, kept, follow_symlinks=False)
            if content is not None:
                with telling(target):
                    shutil.copymode(current, target)

    def _refuse_links(self, path: str) -> None:
        """Raise CannotWrite where a link stands on the way to a path: it may lead anywhere."""
        folder = os.path.dirname(path)
        while folder:
            if os.path.islink(self.at(folder)):
                raise errors.CannotWrite(path=path, detail="a symbolic link is on the way")
            folder = os.path.dirname(folder)

    def decide(self, plan: Plan, steps: tuple[Step, ...]) -> None:
        """Write the intent down for good: from here on the change happens."""
        told = {
            "message": plan.full_message(),
            "steps": [[s.path, s.number, s.old, s.new] for s in steps],
        }
        content = json.dumps(told, ensure_ascii=True).encode()
        files.write(os.path.join(self._staged, "intent.json"), content, self._scratch)
        with telling(self.intent):
            os.rename(self._staged, self.intent)
            files.sync_folder(self.folder)

    def put(self, step: Step) -> None:
        """Give one path its new content, or remove its file."""
        target = self.at(step.path)
        if not step.new:
            files.remove(target)
            files.prune_empty(os.path.dirname(target), self.home)
            return
        with telling(target):
            os.makedirs(os.path.dirname(target), exist_ok=True)
            os.replace(os.path.join(self.intent, f"{step.number}.new"), target)
            files.sync_folder(os.path.dirname(target))

    def commit(self, message: str, paths: tuple[str, ...]) -> str | None:
        """Commit the paths as they stand."""
        return self.repo.commit(paths, message)

    def landed(self, steps: tuple[Step, ...]) -> str | None:
        """The commit that has all that the steps want, though committing was said to fail.

        A git that is stopped, or finds no space for its index, may have moved the ref before.
        """
        try:
            head = self.repo.resolve("HEAD")
            there = self.repo.blobs_at([step.path for step in steps]) if head else {}
        except errors.MemsyncError:
            return None
        wanted = any(step.old != step.new for step in steps)
        done = all(there.get(step.path, "") == step.new for step in steps)
        return head if wanted and done else None

    def see(self, commit: str) -> None:
        """Note that memsync has taken in everything up to this commit."""
        if not self.holding:
            self.repo.set_ref(SEEN, commit)

    def keep_commit(self, commit: str) -> None:
        """Keep a commit reachable that a reset or an amend has left out of the history."""
        self.repo.set_ref(f"refs/memsync/kept/{commit[:12]}", commit)

    def settle(self) -> None:
        """Remove the intent: all of it is done."""
        self._drop(self.intent)

    def _drop(self, folder: str) -> None:
        """Remove a folder so that a crash leaves it whole or not at all under its name."""
        shutil.rmtree(self._done, ignore_errors=True)
        with contextlib.suppress(OSError):  # where it stays, it is found done and dropped again
            os.rename(folder, self._done)
            shutil.rmtree(self._done, ignore_errors=True)

    def pending(self) -> tuple[str, str, tuple[Step, ...]] | None:
        """(folder, message, steps) of an intent that a crash left, or None."""
        for folder in (self.intent, self.undoing):
            with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                with open(os.path.join(folder, "intent.json"), encoding="ascii") as stream:
                    told = json.load(stream)
                steps = tuple(Step(*item) for item in told["steps"])
                return folder, told["message"], steps
        return None

    def waiting(self, step: Step) -> str | None:
        """Where the new content of a path still waits to be put; None once it was."""
        path = os.path.join(self.intent, f"{step.number}.new")
        return path if step.new and os.path.lexists(path) else None

    def begin_undo(self) -> bool:
        """Turn the intent into an undo: from here on, also through a crash, nothing happened.

        False where nothing was decided, so that there is nothing to undo.
        """
        if not os.path.isdir(self.intent):
            return False
        with telling(self.undoing):
            shutil.rmtree(self.undoing, ignore_errors=True)
            os.rename(self.intent, self.undoing)
            files.sync_folder(self.folder)
        return True

    def put_back(self, step: Step) -> None:
        """Give one path its old content again."""
        target = self.at(step.path)
        kept = os.path.join(self.undoing, f"{step.number}.old")
        if not step.old:
            files.remove(target)
            files.prune_empty(os.path.dirname(target), self.home)
        elif os.path.lexists(kept):
            with telling(target):
                os.makedirs(os.path.dirname(target), exist_ok=True)
                os.replace(kept, target)
                files.sync_folder(os.path.dirname(target))

    def unstage(self, paths: tuple[str, ...]) -> None:
        """Take the paths of a commit that did not happen out of Git's index again."""
        head = self.repo.resolve("HEAD")
        if head:
            self.repo.restore(paths, head)
        else:
            self.repo.git.run("rm", "--cached", "-q", "--ignore-unmatch", "--", *paths)

    def end_undo(self) -> None:
        """Remove the undo: everything is as it was."""
        self._drop(self.undoing)

    # --- files of memsync's own --------------------------------------------------------------

    def keep_aside(self, name: str, content: bytes) -> str:
        """Keep a content that would otherwise be lost; returns its path."""
        self.write_own(f"kept/{name}", content)
        return os.path.join(self.folder, "kept", name)

    def write_own(self, name: str, content: bytes) -> None:
        """Write a file of memsync's own, which is no part of the memory."""
        files.write(os.path.join(self.folder, name), content, self._scratch)

    def write_generated(self, path: str, content: bytes) -> None:
        """Write a generated file (the profile), which Git ignores."""
        files.write(self.at(path), content, self._scratch)
