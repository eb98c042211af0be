"""The person's editor: which one it is, and what becomes of a text that it leaves."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys

from memsync import errors
from memsync.cli.session import Session


def edit(session: Session, path: str) -> bytes:
    """Open a file in the person's editor; gives what it holds then.

    What the editor saved stays in the file, also where it failed.

    Raises EditorUnknown, EditorFailed.
    """
    chosen = _chosen(session)
    before = content(path)
    try:
        command = shlex.split(chosen)
        status = subprocess.run([*command, path], check=False).returncode
    except (OSError, ValueError) as error:
        raise errors.EditorFailed(editor=chosen, detail=str(error)) from error
    after = content(path)
    if status and after != before:
        detail = f"status {status}; what it saved is kept in {path}"
        raise errors.EditorFailed(editor=chosen, detail=detail)
    if status:
        raise errors.EditorFailed(editor=chosen, detail=f"status {status}")
    return after


def _chosen(session: Session) -> str:
    """VISUAL, EDITOR, git's ``core.editor``, and on a terminal ``vi``. Raises EditorUnknown."""
    for name in ("VISUAL", "EDITOR"):
        if session.variables.get(name):
            return session.variables[name]
    configured = session.machine.store().repo.editor()
    if configured:
        return configured
    if sys.stdin.isatty() and shutil.which("vi", path=session.variables.get("PATH")):
        return "vi"
    raise errors.EditorUnknown()


def content(path: str) -> bytes:
    """What a file holds; nothing where it is gone."""
    try:
        with open(path, "rb") as stream:
            return stream.read()
    except OSError:
        return b""
