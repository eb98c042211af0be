"""What Git says of a code project: its common folder, its top, its remotes. Nothing is written
but, when asked, ``memsync.project`` in the project's common configuration."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping
from typing import NamedTuple

from memsync import errors
from memsync.gitrepo.run import Git

_ASKED = r"^(memsync\.project|remote\..*\.url|url\..*\.insteadof|core\.bare)$"
_REFUSED = r"Permission denied|Read-only file system|Operation not permitted"
_HEAD = r"ref: ?\S|[0-9a-f]{40}"


# `[memsync]` with `project = key` as its first line, as git writes it.
_BOUND = r"(?m)^\[memsync\]\n\tproject = ([a-z0-9][a-z0-9._-]*)$"
_CONFIG_CHARACTERS = 65_536


class CodeRepo(NamedTuple):
    """A code project on this disk.

    ``common`` is the real path of its common Git folder, ``top`` its work tree (None in a bare
    repository and inside the Git folder), ``within`` the asked path below ``top``, with ``/``.
    ``folder`` is what a person takes for the project, the same from all its worktrees.
    ``remotes`` are (name, fetch URL) as configured, in the configuration's order; ``rewrites``
    are (base, prefix) of ``url.<base>.insteadOf``. URLs may carry credentials.
    """

    common: str
    top: str | None
    within: str
    folder: str
    bound_key: str | None
    remotes: tuple[tuple[str, str], ...]
    rewrites: tuple[tuple[str, str], ...]


def find(path: str, environment: Mapping[str, str]) -> CodeRepo | None:
    """The code project around ``path``, or None. Starts one git process where there is one.

    Raises PathNotFound, CannotRead (a folder on the way lets nobody look), GitFailed (a broken
    configuration), GitMissing.
    """
    try:
        os.stat(path)
        asked = os.path.realpath(path)
    except PermissionError as error:
        raise errors.CannotRead(path=path, detail=error.strerror) from error
    except (OSError, ValueError) as error:
        raise errors.PathNotFound(path=path) from error
    located = _locate(asked)
    if located is None:
        return None
    git_dir, common, top = located
    bound, bare = None, False
    remotes: dict[str, str] = {}
    rewrites: list[tuple[str, str]] = []
    for scope, key, value in _configuration(common, environment):
        if key == "memsync.project":
            # Set for all repositories at once it would make one project of them.
            bound = (value or None) if scope == "local" else bound
        elif key == "core.bare":
            bare = value.lower() in ("true", "yes", "on", "1")
        elif key.startswith("remote."):
            _add_url(remotes, key[len("remote.") : -len(".url")], value)
        else:
            rewrites.append((key[len("url.") : -len(".insteadof")], value))
    linked = os.path.realpath(git_dir) != common
    if bare and not linked:
        top = None
    within = os.path.relpath(asked, top).replace(os.sep, "/") if top else ""
    return CodeRepo(
        common,
        top,
        "" if within == "." else within,
        top if top and not linked else _outside(common),
        bound,
        tuple(remotes.items()),
        tuple(rewrites),
    )


def find_bound(path: str) -> CodeRepo | None:
    """The code project around ``path`` where its own configuration plainly binds a key.

    Read from the file, so that a command that only reads starts no process. None where there is
    anything that only git can read: includes, quotes, continued lines; then ``find`` asks git.
    Remotes are not looked at.
    """
    try:
        located = _locate(os.path.realpath(path))
        if located is None or os.path.realpath(located[0]) != located[1] or located[2] is None:
            return None
        with open(os.path.join(located[1], "config"), encoding="utf-8") as stream:
            text = stream.read(_CONFIG_CHARACTERS)
    except (OSError, ValueError):
        return None
    keys = re.findall(_BOUND, text)
    odd = "include" in text or "\\" in text or "bare = true" in text
    if len(keys) != 1 or odd or len(text) == _CONFIG_CHARACTERS:
        return None
    common, top = located[1], located[2]
    within = os.path.relpath(os.path.realpath(path), top).replace(os.sep, "/")
    return CodeRepo(common, top, "" if within == "." else within, top, keys[0], (), ())


def bind(common: str, key: str, environment: Mapping[str, str]) -> None:
    """Write the project key into the common configuration, which all worktrees share.

    ``common`` is ``CodeRepo.common``. Nothing else of the project changes.

    Raises CannotWrite (a read-only disk, no rights), DiskFull, GitFailed, GitLocked.
    """
    config = os.path.join(common, "config")
    git = Git(common, environment, timeout=20)
    try:
        git.run("config", "--file", config, "memsync.project", key)
    except errors.GitFailed as error:
        refused = re.search(_REFUSED, str(error.facts.get("detail")))
        if refused:
            raise errors.CannotWrite(path=config, detail=refused[0]) from error
        raise


def _outside(common: str) -> str:
    """The folder around a hidden common folder (``.git``, ``.bare``), else the common folder."""
    folder, name = os.path.split(common)
    return folder if name.startswith(".") else common


def _add_url(remotes: dict[str, str], name: str, url: str) -> None:
    # As git does: the first URL is the one to fetch from, an empty one takes back the earlier.
    if not url:
        remotes.pop(name, None)
    else:
        remotes.setdefault(name, url)


def _locate(path: str) -> tuple[str, str, str | None] | None:
    """(Git folder, common folder, work tree) of the repository around a real path.

    Read from the files: git itself refuses to tell this of a repository that another user owns,
    and inside a hook it would believe ``GIT_DIR``. The few files that say it have been stable
    since worktrees exist. Where a ``.git`` file leads nowhere the search ends, as git's does:
    what lies further out is another project.
    """
    folder = path if os.path.isdir(path) else os.path.dirname(path)
    while True:
        dot = os.path.join(folder, ".git")
        found = _stat(dot)
        if found and stat.S_ISREG(found.st_mode):
            target = _pointed(dot, folder)
            return (target, _common(target), folder) if target else None
        if found and _is_git_dir(dot):
            return dot, _common(dot), folder
        if _stat(os.path.join(folder, "HEAD")) and _is_git_dir(folder):
            return folder, _common(folder), None
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent


def _is_git_dir(folder: str) -> bool:
    head = os.path.join(folder, "HEAD")
    if not (os.path.islink(head) or re.match(_HEAD, _first_line(head))):
        return False
    common = _common(folder)
    return all(_stat(os.path.join(common, name)) for name in ("objects", "refs"))


def _pointed(dot: str, folder: str) -> str | None:
    first = _first_line(dot)
    if not first.startswith("gitdir: "):
        return None
    target = os.path.normpath(os.path.join(folder, first.removeprefix("gitdir: ")))
    return target if _is_git_dir(target) else None


def _common(git_dir: str) -> str:
    shared = os.path.join(git_dir, "commondir")
    if _stat(shared):
        git_dir = os.path.join(git_dir, _first_line(shared))
    return os.path.realpath(git_dir)


def _stat(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except PermissionError as error:
        raise errors.CannotRead(path=path, detail=error.strerror) from error
    except (OSError, ValueError):
        return None


def _first_line(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as stream:
            return stream.readline(8192).rstrip("\r\n")
    except PermissionError as error:
        raise errors.CannotRead(path=path, detail=error.strerror) from error
    except OSError:
        return ""


def _configuration(common: str, environment: Mapping[str, str]) -> list[tuple[str, str, str]]:
    """(scope, key, value) of what was asked for, of all of git's configuration files.

    The Git folder is named, so git neither searches nor asks who owns it; ``config`` runs
    nothing of what the files say.
    """
    git = Git(common, environment, timeout=20)
    asked = ("-z", "--get-regexp", _ASKED)
    out = git.run("config", "--show-scope", *asked, ok=(0, 1), environment={"GIT_DIR": common})
    parts = out.decode("utf-8", "surrogateescape").split("\0")
    found = [(scope, *_pair(item)) for scope, item in zip(parts[0::2], parts[1::2], strict=False)]
    if all(scope != "local" for scope, _, _ in found):
        # A repository of a format newer than this git: its own file is read by name.
        own = os.path.join(common, "config")
        if _stat(own):
            out = git.run("config", "--file", own, "--includes", *asked, ok=(0, 1))
            lines = out.decode("utf-8", "surrogateescape").split("\0")
            found += [("local", *_pair(item)) for item in lines if item]
    return found


def _pair(item: str) -> tuple[str, str]:
    key, _, value = item.partition("\n")
    return key, value
