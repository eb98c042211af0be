"""Asking the program and judging its answer: refusals, JSON, and what stayed as it was.

``call`` is the program without the start of a process, which costs more than most commands;
``Memory.run`` is the real process, for what only a process shows.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
import unicodedata
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from memsync.cli.app import run
from tests.conftest import Memory


@contextlib.contextmanager
def _as_process(memory: Memory, folder: Path, variables: Mapping[str, str]) -> Iterator[None]:
    environment, cwd = dict(os.environ), os.getcwd()
    streams = sys.stdin, sys.stdout, sys.stderr
    try:
        os.environ.clear()
        os.environ.update({**memory.variables, **variables})
        os.chdir(folder)
        yield
    finally:
        sys.stdin, sys.stdout, sys.stderr = streams
        os.chdir(cwd)
        os.environ.clear()
        os.environ.update(environment)


def call(
    memory: Memory,
    *arguments: str,
    stdin: bytes = b"",
    folder: Path | None = None,
    variables: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """Call the program in this process, with the environment and streams of one of its own."""
    out, err = io.BytesIO(), io.BytesIO()
    with _as_process(memory, folder or memory.root, variables or {}):
        sys.stdin = io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8")
        sys.stdout = io.TextIOWrapper(out, encoding="utf-8")
        sys.stderr = io.TextIOWrapper(err, encoding="utf-8")
        status = run(arguments)
        sys.stdout.flush()
        sys.stderr.flush()
        return subprocess.CompletedProcess([*arguments], status, out.getvalue(), err.getvalue())


def answer(memory: Memory, *arguments: str, **options: Any) -> Any:
    """The one JSON object that a call answers with."""
    done = call(memory, "--json", *arguments, **options)
    assert done.returncode in (0, 4), done.stderr.decode()
    return json.loads(done.stdout)


def standing(memory: Memory, folder: Path | None = None) -> tuple[object, ...]:
    """All that a person has in a folder: every file but Git's own, HEAD, and what Git sees."""
    where = folder or memory.home
    if not os.path.lexists(where):
        return ("nothing",)
    if where.is_file():
        return ("file", where.read_bytes())
    content = {
        str(path.relative_to(where)): path.read_bytes()
        for path in sorted(where.rglob("*"))
        if path.is_file() and ".git" not in path.relative_to(where).parts
    }
    if not (where / ".git").is_dir():
        return ("folder", content)
    head = (where / ".git" / "HEAD").read_text()
    refs = {
        str(path.relative_to(where)): path.read_bytes()
        for path in sorted((where / ".git" / "refs").rglob("*"))
        if path.is_file()
    }
    return ("repository", content, head, refs, sorted(os.listdir(where / ".git" / "hooks")))


def refused(
    memory: Memory,
    *arguments: str,
    code: str,
    status: int,
    where: Path | None = None,
    **options: Any,
) -> dict[str, Any]:
    """The error of a call that must be refused: in JSON, alone, with nothing changed."""
    before = standing(memory, where)
    done = call(memory, *arguments, "--json", **options)
    assert done.stdout == b""
    told = json.loads(done.stderr)
    assert list(told) == ["error"]
    error: dict[str, Any] = told["error"]
    assert sorted(error) == ["code", "facts", "message"]
    assert (error["code"], done.returncode) == (code, status), error
    assert standing(memory, where) == before
    return error


def widths(text: str) -> list[int]:
    """How many columns of a terminal each line takes, worked out apart from the product."""
    found = []
    for line in text.splitlines():
        taken = 0
        for character in line:
            if unicodedata.category(character) in ("Mn", "Me", "Cf"):
                continue
            taken += 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1
        found.append(taken)
    return found
