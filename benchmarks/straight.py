"""The straight-line limits: the least that any program would have to do for the same end.

Each function does its work ``rounds`` times and returns the seconds of each. The caller
interleaves them with what it compares, so that both meet the same machine.
"""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import yaml


def timed(act: Callable[[], object], rounds: int = 1) -> list[float]:
    """The seconds that ``act`` takes, once for each round."""
    seconds = []
    for _ in range(rounds):
        start = time.perf_counter()
        act()
        seconds.append(time.perf_counter() - start)
    return seconds


def command(
    words: Sequence[str],
    rounds: int = 1,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> list[float]:
    """The seconds of a child process; CalledProcessError where it ends with an error."""

    def run() -> None:
        subprocess.run(
            words,
            cwd=folder,
            env=environment,
            check=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )

    return timed(run, rounds)


def interpreter(rounds: int = 1) -> list[float]:
    """The interpreter that runs this, doing nothing. (A ``python3`` on PATH may be a shim.)"""
    return command([sys.executable, "-c", "pass"], rounds)


def sh(rounds: int = 1) -> list[float]:
    """A shell that does nothing."""
    return command(["sh", "-c", ":"], rounds)


def git(folder: Path, *arguments: str, rounds: int = 1) -> list[float]:
    """A bare git command in ``folder``."""
    return command(["git", *arguments], rounds, folder)


def walk(folder: Path, rounds: int = 1) -> list[float]:
    """A look at every file below ``folder``: scandir and stat, Git's own folder apart."""
    return timed(lambda: count_files(str(folder)), rounds)


def read_all(folder: Path, rounds: int = 1) -> list[float]:
    """Read every Markdown file, load its front matter, and insert it into a fresh FTS5 table."""
    seconds = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as place:
            seconds += timed(partial(fill, os.path.join(place, "fts.sqlite"), str(folder)))
    return seconds


def count_files(folder: str) -> int:
    """How many files lie below ``folder``, each of them looked at."""
    count = 0
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if entry.name != ".git":
                    count += count_files(entry.path)
            else:
                entry.stat(follow_symlinks=False)
                count += 1
    return count


def fill(database: str, folder: str) -> int:
    """Fill a new database with the Markdown files below ``folder``; how many there were."""
    connection = sqlite3.connect(database)
    try:
        connection.execute("CREATE VIRTUAL TABLE texts USING fts5(title, body, tags)")
        with connection:
            done = connection.executemany("INSERT INTO texts VALUES (?, ?, ?)", _rows(folder))
        return done.rowcount
    finally:
        connection.close()


def _rows(folder: str) -> Iterator[tuple[str, str, str]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if entry.name != ".git":
                    yield from _rows(entry.path)
            elif entry.name.endswith(".md"):
                with open(entry.path, encoding="utf-8") as file:
                    text = file.read()
                if text.startswith("---\n"):
                    front, _, body = text[4:].partition("\n---\n")
                    data = yaml.load(front, Loader=yaml.CSafeLoader)
                    yield data.get("title", ""), body, " ".join(data.get("tags", ()))
