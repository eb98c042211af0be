"""Doing something in a child process that is disturbed at every act it does to the world.

An act is what the interpreter itself announces before it happens: a file opened for writing, a
rename, a link, a removal, a folder made, a git process that writes. Nothing of the product is
replaced: the child runs it as it is.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from memsync import errors
from tests.conftest import Memory

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_GIT_WRITES = {
    *("commit", "commit-graph", "config", "fast-import", "hash-object", "prune", "prune-packed"),
    *("reflog", "repack", "reset", "rm", "update-index", "update-ref"),
}
_FILE_ACTS = {"os.rename", "os.remove", "os.link", "os.mkdir", "os.rmdir", "os.truncate"}


@dataclass
class _Watch:
    """Counts acts below a folder and strikes before act ``at`` (from 1; 0 never)."""

    root: str
    at: int
    strike: Callable[[], None]
    count: int = 0

    def __post_init__(self) -> None:
        self.names: list[str] = []
        self.over = False

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        name = None if self.over else _name_of(event, arguments, self.root)
        if name is None:
            return
        self.count += 1
        self.names.append(name)
        if self.count == self.at:
            self.strike()


def _name_of(event: str, arguments: tuple[Any, ...], root: str) -> str | None:
    if event == "open":
        path, _, flags = arguments
        if not isinstance(path, str) or not path.startswith(root) or not flags & _WRITING:
            return None
        return f"open {path.removeprefix(root)}"
    if event in _FILE_ACTS:
        # A path below an open folder comes as a bare name, from the removal of a whole tree.
        path = arguments[0]
        if not isinstance(path, str) or (path.startswith("/") and not path.startswith(root)):
            return None
        if event == "os.mkdir" and os.path.isdir(path):
            return None
        return f"{event} {path.removeprefix(root)}"
    if event == "subprocess.Popen":
        words = [w for w in arguments[1][1:] if w in _GIT_WRITES]
        return f"git {words[0]}" if words and "--get" not in arguments[1] else None
    return None


def acts_of(root: Path, work: Callable[[], object]) -> list[str]:
    """The acts that ``work`` does below ``root``, undisturbed, in a child process."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        with _leaving():
            watch = _Watch(str(root), 0, _kill)
            sys.addaudithook(watch)
            work()
            watch.over = True
            os.write(write, json.dumps(watch.names).encode())
    os.close(write)
    with os.fdopen(read, "rb") as stream:
        told = stream.read()
    _, status = os.waitpid(child, 0)
    assert status == 0, "the undisturbed run failed"
    return [str(name) for name in json.loads(told)]


def killed_at(root: Path, number: int, work: Callable[[], object]) -> bool:
    """Run ``work`` in a child that is killed before its act ``number``; False: it had ended."""
    child = os.fork()
    if child == 0:
        with _leaving():
            sys.addaudithook(_Watch(str(root), number, _kill))
            work()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL
        return True
    assert status == 0, "the child failed before it was killed"
    return False


@dataclass
class Outcome:
    """What became of a disturbed run: ``code`` of the error, or empty where it was done."""

    code: str
    exit_status: int
    struck: bool


def failing_at(root: Path, numbers: range, error: int, work: Callable[[], object]) -> Outcome:
    """Run ``work`` in a child whose acts ``numbers`` are refused by the system with ``error``.

    Renames and removals need no space: they are spared where the disk is full.
    """
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        with _leaving():
            refusing = _Refusing(str(root), 0, _kill, numbers=numbers, error=error)
            sys.addaudithook(refusing)
            code, exit_status = "", 0
            try:
                work()
            except errors.MemsyncError as error_told:
                code, exit_status = error_told.code, int(error_told.exit_status)
            refusing.over = True
            os.write(write, json.dumps([code, exit_status, refusing.struck]).encode())
    os.close(write)
    with os.fdopen(read, "rb") as stream:
        told = stream.read()
    _, status = os.waitpid(child, 0)
    assert status == 0, "an error without a code"
    return Outcome(*json.loads(told))


@dataclass
class _Refusing(_Watch):
    """Refuses some acts instead of killing the process."""

    numbers: range = range(0)
    error: int = errno.EIO

    def __post_init__(self) -> None:
        super().__post_init__()
        self.struck = False

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        before = self.count
        super().__call__(event, arguments)
        if self.count == before or self.count not in self.numbers:
            return
        needs_space = event in ("open", "os.mkdir", "os.link", "subprocess.Popen")
        if needs_space or self.error != errno.ENOSPC:
            self.struck = True
            raise OSError(self.error, os.strerror(self.error))


def meanwhile(root: Path, number: int, deed: Callable[[], None], work: Callable[[], object]) -> str:
    """Run ``work`` in a child in which somebody does ``deed`` just before its act ``number``.

    Returns the code of the error that it ended with, or an empty text.
    """
    watch = _Watch(str(root), number, deed)

    def deed_once() -> None:
        watch.over = True
        deed()

    watch.strike = deed_once
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        with _leaving():
            sys.addaudithook(watch)
            code = ""
            try:
                work()
            except errors.MemsyncError as told:
                code = told.code
            os.write(write, code.encode())
    os.close(write)
    with os.fdopen(read, "rb") as stream:
        code = stream.read().decode()
    assert os.waitpid(child, 0)[1] == 0
    return code


def _kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@contextlib.contextmanager
def _leaving() -> Iterator[None]:
    """End the child without running anything of the test's own."""
    try:
        yield
    except BaseException:  # noqa: BLE001 - the child must not go on as a second test run
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)
    os._exit(0)


@contextlib.contextmanager
def quick_folder() -> Iterator[Path]:
    """A new folder in memory where the system offers one: a kill needs no durable disk."""
    shared = "/dev/shm"
    usable = os.path.isdir(shared) and os.access(shared, os.W_OK)
    with tempfile.TemporaryDirectory(dir=shared if usable else None) as folder:
        yield Path(folder)


def copy_of(root: Path, target: Path) -> None:
    """Put a copy of a machine's whole folder at ``target``, in place of what is there."""
    if target.exists():
        shutil.rmtree(target)
    shutil.copytree(root, target, symlinks=True, copy_function=_copy)


def _copy(source: str, target: str) -> None:
    """Git never writes into an object again, so that a link is a copy of it."""
    if "/.git/objects/" in source:
        os.link(source, target)
    else:
        shutil.copy2(source, target)


_CAPBSET_DROP, _DAC_OVERRIDE, _DAC_READ_SEARCH = 24, 1, 2


def as_mortal(memory: Memory, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """Run the program as somebody whom the permissions of files bind: the superuser's do not."""

    def drop() -> None:
        system = ctypes.CDLL(None)
        for capability in (_DAC_OVERRIDE, _DAC_READ_SEARCH):
            system.prctl(_CAPBSET_DROP, capability, 0, 0, 0)

    superuser = os.geteuid() == 0
    if superuser and sys.platform != "linux":
        pytest.skip("this system cannot bind the superuser to permissions")
    return subprocess.run(
        [sys.executable, "-m", "memsync", *arguments],
        capture_output=True,
        cwd=memory.root,
        env=memory.variables,
        preexec_fn=drop if superuser else None,
        timeout=60,
    )
