"""A memory with something of every kind, what can be done to it, and what must hold after."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from memsync.config import Environment
from memsync.contract.changes import (
    CorrectInput,
    ForgetInput,
    PauseInput,
    RememberInput,
    ResolveInput,
    RollbackInput,
)
from memsync.contract.memories import ManageQuery, SearchQuery
from memsync.contract.shared import ProjectRef
from memsync.index import Index
from memsync.record import MemoryType, Scope
from memsync.store.scan import scan
from tests.conftest import START, Memory, make_project, variables_for

IDS = {name: f"m-{n:0>16}" for n, name in enumerate(("tabs", "trial", "open", "gone"))}


@dataclass
class Steady(Memory):
    """A machine whose randomness repeats, so that two runs make the same files."""

    seed: int = 1

    @property
    def environment(self) -> Environment:
        entropy = random.Random(self.seed).randbytes  # noqa: S311 - it has to repeat
        return Environment(self.variables, self.clock, time.time_ns, entropy, os.getpid())


def at(root: Path) -> Steady:
    return Steady(root, variables_for(root))


def written(name: str, *keys: str, body: str) -> str:
    stamp = "2026-11-01T08:00:00Z"
    lines = [f"id: {IDS[name]}", *keys, f"created: {stamp}", f"updated: {stamp}"]
    return "---\n" + "\n".join(lines) + f"\n---\n{body}\n"


def make_template(root: Path) -> Path:
    """A memory with something of every kind, everything committed."""
    root.mkdir()
    (root / ".gitconfig").write_text("[user]\n\tname = Mona\n\temail = mona@example.invalid\n")
    memory = at(root)
    memory.begin()
    make_project(memory, "plain")
    memory.write("global/tabs.md", written("tabs", "title: Prefer tabs", body="first"))
    inferred = ("title: Runs lint first", "authority: inferred", "lifecycle: trial")
    memory.write("projects/other/trial.md", written("trial", *inferred, body="seen twice"))
    conflict = ("conflict:", "  - field: body", "    text: the other text")
    memory.write("global/open.md", written("open", "title: Open", *conflict, body="one text"))
    memory.write("global/gone.md", written("gone", "title: Old habit", body="no longer"))
    memory.store().ingest()
    memory.clock.now = START.replace(hour=13)
    memory.provider().apply(CorrectInput(IDS["tabs"], "second", title="Prefer tabs"))
    memory.provider().apply(ForgetInput(IDS["gone"]))
    for sample in (memory.home / ".git/hooks").glob("*.sample"):
        sample.unlink()
    memory.git("repack", "-a", "-d", "-q")
    assert memory.git("status", "--porcelain") == ""
    return root


def by_hand(memory: Memory) -> None:
    """Edits of every kind that a command then takes in."""
    memory.write("global/new.md", "# A new thought\n\nwritten by hand\n")
    path = memory.home / "projects/other/trial.md"
    path.write_text(path.read_text().replace("seen twice", "seen often"))
    (memory.home / "global/tabs.md").unlink()


Operation = Callable[[Memory], object]
PROFILE = MemoryType.CORE_PROFILE
OPERATIONS: dict[str, Operation] = {
    "remember": lambda m: m.provider().apply(
        RememberInput("A fact\nabout me", scope=Scope.GLOBAL, memory_type=PROFILE)
    ),
    "remember in a new project": lambda m: m.provider().apply(
        RememberInput("Use pnpm", ProjectRef(path=str(m.root / "plain")))
    ),
    "correct": lambda m: m.provider().apply(CorrectInput(IDS["tabs"], "third")),
    "supersede": lambda m: m.provider().apply(CorrectInput(IDS["tabs"], "new", supersede=True)),
    "forget": lambda m: m.provider().apply(ForgetInput(IDS["tabs"])),
    "rollback of a version": lambda m: m.provider().apply(RollbackInput(IDS["tabs"])),
    "rollback of a forget": lambda m: m.provider().apply(RollbackInput(IDS["gone"])),
    "resolve": lambda m: m.provider().apply(ResolveInput(IDS["open"], take=1)),
    "pause": lambda m: m.provider().apply(PauseInput(id=IDS["tabs"])),
    "take in hand edits": lambda m: m.store().ingest(),
}


def later(memory: Steady) -> None:
    """A different change, made after the crash."""
    memory.seed = 2
    memory.provider().apply(RememberInput("A later thought", scope=Scope.GLOBAL))


def committed(memory: Memory, *but: str) -> dict[str, str]:
    """path -> blob of HEAD."""
    lines = memory.git("ls-tree", "-r", "HEAD").splitlines()
    found = {line.split("\t")[1]: line.split("\t")[0] for line in lines}
    return {path: blob for path, blob in found.items() if path not in but}


def texts(memory: Memory) -> set[tuple[str, str]]:
    provider = memory.provider()
    listing = provider.query(ManageQuery())
    assert provider.query(SearchQuery("habit thought open")).records
    provider.close()
    return {(entry.record.title, entry.record.body) for entry in listing.records}


def assert_whole(memory: Memory) -> None:
    """Git has nothing to complain of or to commit, nothing is left over, the index is right."""
    done = subprocess.run(
        ["git", "fsck", "--strict", "--no-dangling"],
        cwd=memory.home,
        env=memory.variables,
        capture_output=True,
    )
    assert done.returncode == 0, done.stderr
    assert memory.git("status", "--porcelain") == ""
    left = {path.name for path in (memory.home / ".git/memsync").iterdir()}
    assert not left & {"intent", "intent.new", "undo", "purge.json"}
    assert_index_is_right(memory)


def assert_index_is_right(memory: Memory) -> None:
    store = memory.store()
    store.reader.refresh()
    fresh = Index.in_memory()
    scan(str(memory.home), store.repo, fresh, store.reader.now_ns)
    assert [*store.reader.index.content()] == [*fresh.content()]
    store.reader.close()


def wrapped_git(memory: Memory, script: str) -> None:
    """Put a program named ``git`` first on PATH: shell lines, then the real git."""
    folder = memory.root / "bin"
    folder.mkdir(exist_ok=True)
    real = shutil.which("git")
    (folder / "git").write_text(f'#!/bin/sh\nreal={real}\n{script}\nexec "$real" "$@"\n')
    (folder / "git").chmod(0o755)
    memory.variables["PATH"] = f"{folder}{os.pathsep}{os.environ['PATH']}"


def real_git(memory: Memory) -> None:
    memory.variables["PATH"] = os.environ["PATH"]
