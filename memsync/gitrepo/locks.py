"""The lock files of git: who holds one, and whether a git that was killed left it behind."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

#: A lock that nothing holds and that has not changed for so many seconds was left behind.
STALE_SECONDS = 60.0


def age_of(path: str, now: float) -> float | None:
    """For how many seconds a lock has stood unchanged; None where it is gone."""
    try:
        return max(now - os.lstat(path).st_mtime, 0.0)
    except OSError:
        return None


def holder_of(path: str, folder: str) -> str | None:
    """Who may hold a lock: a process that has it open, or a git that works in ``folder``.

    Empty: nobody. None: this system does not tell.
    """
    if not os.path.isdir("/proc/self/fd"):
        return None
    wanted, place = os.path.realpath(path), os.path.realpath(folder)
    for process in _processes():
        if process == str(os.getpid()):
            continue
        name = _name_of(process)
        works_here = _link(f"/proc/{process}/cwd") == place and name.startswith("git")
        if works_here or any(target == wanted for target in _open_files(process)):
            return f"process {process} ({name})"
    return ""


def remove_stale(path: str, folder: str, now: float) -> bool:
    """Remove a lock that was left behind; whether it is gone."""
    age = age_of(path, now)
    if age is None:
        return True
    if age < STALE_SECONDS or holder_of(path, folder) != "":
        return False
    with contextlib.suppress(OSError):
        os.unlink(path)
        return True
    return False


def _processes() -> Iterator[str]:
    yield from (name for name in os.listdir("/proc") if name.isdigit())


def _name_of(process: str) -> str:
    try:
        with open(f"/proc/{process}/comm", encoding="utf-8", errors="replace") as stream:
            return stream.read().strip()
    except OSError:
        return ""


def _open_files(process: str) -> Iterator[str]:
    folder = f"/proc/{process}/fd"
    with contextlib.suppress(OSError):  # it ended, or belongs to somebody else
        for number in os.listdir(folder):
            yield _link(f"{folder}/{number}")


def _link(path: str) -> str:
    try:
        return os.readlink(path)
    except OSError:
        return ""
