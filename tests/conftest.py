"""A memory repository in a temporary folder, driven in-process or as a real program."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from memsync.config import Environment
from memsync.contract.changes import RememberInput
from memsync.contract.shared import Entry, ProjectRef
from memsync.errors import Problem
from memsync.providers.local import LocalProvider
from memsync.record import Scope
from memsync.store.beginning import begin
from memsync.store.writing import Store

#: The moment at which tests begin.
START = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)


@dataclass
class Clock:
    """A clock that only moves when it is told to, or by a step at each look."""

    now: datetime = START
    step: timedelta = timedelta(0)

    def __call__(self) -> datetime:
        moment = self.now
        self.now += self.step
        return moment


@dataclass
class Memory:
    """One machine: its home folder, its memory, its clock."""

    root: Path
    variables: dict[str, str]
    clock: Clock = field(default_factory=Clock)

    @property
    def home(self) -> Path:
        return Path(self.variables["MEMSYNC_HOME"])

    @property
    def environment(self) -> Environment:
        import time

        return Environment(
            self.variables, self.clock, time.time_ns, os.urandom, os.getpid(), sys.executable
        )

    def begin(self) -> Memory:
        begin(str(self.home), self.environment, "en")
        return self

    def provider(self) -> LocalProvider:
        return LocalProvider(str(self.home), self.environment)

    def store(self) -> Store:
        return Store.open(str(self.home), self.environment)

    def remember(self, text: str, project: Path | None = None, **options: Any) -> Entry:
        """Keep a text: in a project's folder, else for everywhere."""
        if project is None:
            options.setdefault("scope", Scope.GLOBAL)
        ref = ProjectRef(path=str(project)) if project else ProjectRef()
        entry = self.provider().apply(RememberInput(text, ref, **options)).entry
        assert entry is not None
        return entry

    def run(
        self,
        *arguments: str,
        stdin: bytes = b"",
        folder: Path | None = None,
        variables: Mapping[str, str] | None = None,
        timeout: float = 60,
    ) -> subprocess.CompletedProcess[bytes]:
        """Run the real program in a process of its own."""
        return subprocess.run(
            [sys.executable, "-m", "memsync", *arguments],
            input=stdin,
            capture_output=True,
            cwd=folder or self.root,
            env={**self.variables, **(variables or {})},
            timeout=timeout,
        )

    def json(self, *arguments: str, **options: Any) -> Any:
        """Run the program with ``--json`` and read its answer."""
        done = self.run(*arguments, "--json", **options)
        assert done.returncode in (0, 4), done.stderr.decode()
        return json.loads(done.stdout)

    def git(self, *arguments: str, folder: Path | None = None) -> str:
        """Run git as the person would."""
        done = subprocess.run(
            ["git", *arguments],
            capture_output=True,
            cwd=folder or self.home,
            env=self.variables,
            check=True,
        )
        return done.stdout.decode("utf-8", "replace").rstrip("\n")

    def store_problems(self) -> tuple[Problem, ...]:
        """What a fresh look at the files finds wrong."""
        store = self.store()
        store.reader.refresh()
        return store.reader.problems()

    def write(self, path: str, text: str | bytes) -> Path:
        """Save a file of the memory as a person does."""
        full = self.home / path
        full.parent.mkdir(parents=True, exist_ok=True)
        full.write_bytes(text if isinstance(text, bytes) else text.encode())
        return full

    def read(self, path: str) -> str:
        return (self.home / path).read_text(encoding="utf-8")

    def commits(self) -> int:
        return int(self.git("rev-list", "--count", "HEAD"))


def variables_for(root: Path) -> dict[str, str]:
    """The variables of a person's shell, without anything of this one's git."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(root),
        "MEMSYNC_HOME": str(root / "memory"),
        "LANG": "C.UTF-8",
        "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
        "GIT_CONFIG_NOSYSTEM": "1",
    }


@pytest.fixture
def machine(tmp_path: Path) -> Memory:
    """A machine without a memory yet; git knows the person's name."""
    (tmp_path / ".gitconfig").write_text(
        "[user]\n\tname = Mona\n\temail = mona@example.invalid\n[init]\n\tdefaultBranch = main\n"
    )
    return Memory(tmp_path, variables_for(tmp_path))


@pytest.fixture
def memory(machine: Memory) -> Memory:
    """A machine with an empty memory."""
    return machine.begin()


@pytest.fixture
def project(memory: Memory) -> Path:
    """A code project with a remote."""
    return make_project(memory, "api", "git@github.com:acme/api.git")


def make_project(memory: Memory, name: str, remote: str | None = None) -> Path:
    """A code project: a Git repository beside the memory."""
    folder = memory.root / name
    folder.mkdir()
    memory.git("init", "-q", folder=folder)
    if remote:
        memory.git("remote", "add", "origin", remote, folder=folder)
    return folder


@pytest.fixture
def snapshot() -> Callable[[Path], dict[str, bytes]]:
    """Everything below a folder but ``.git``: path -> content."""

    def take(folder: Path) -> dict[str, bytes]:
        return {
            str(path.relative_to(folder)): path.read_bytes()
            for path in sorted(folder.rglob("*"))
            if path.is_file() and ".git" not in path.relative_to(folder).parts
        }

    return take
