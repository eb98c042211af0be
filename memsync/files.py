"""Files: durable writes, the walk, the lock. The only room that touches the disk directly."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from memsync import errors

#: A stat line of the walk: name, size in bytes, mtime in nanoseconds, inode.
Stat = tuple[str, int, int, int]


#: Endings of texts, in any case of letters, that may be meant for the ones that are wanted.
PASSED = (".md", ".markdown", ".mdown", ".mkd", ".text", ".txt")

# Of a mode, the bits that say what kind of file it is, and their value for a regular one.
_KIND, _REGULAR = 0o170000, 0o100000


@dataclass(slots=True)
class Walk:
    """What lies below some folders of a root.

    ``folders`` maps a folder's relative path (``""`` is the root) to its files, sorted by name.
    ``odd`` lists paths that are there and are no regular files, with the problem's code.
    ``unreadable`` lists folders whose content could not be listed: what lies there is unknown,
    which is not the same as absent. ``passed`` lists files that a person may well take for
    wanted ones, by the endings of ``PASSED``.
    """

    folders: dict[str, list[Stat]] = field(default_factory=dict)
    odd: list[tuple[str, str]] = field(default_factory=list)
    unreadable: list[tuple[str, str]] = field(default_factory=list)
    passed: list[str] = field(default_factory=list)


def is_junk(name: str) -> bool:
    """Whether a name is hidden, or what an editor leaves beside a file that it saves."""
    return name[0] in ".#" or name[-1] == "~" or name == "4913" or name.endswith((".tmp", ".swp"))


def walk(root: str, tops: tuple[str, ...], wanted: tuple[str, ...]) -> Walk:
    """List the files below the folders ``tops`` whose names end in one of ``wanted``.

    Hidden names and editors' junk are passed over below the root (the root itself may be
    hidden). Links are never followed.
    """
    found = Walk()
    pending = []
    for top in tops:
        if os.path.islink(os.path.join(root, top)):
            found.odd.append((top, "symbolic-link"))
        else:
            pending.append(top)
    while pending:
        folder = pending.pop()
        try:
            # By its handle: the system need not find its way to the folder for each of its files.
            with _opened(os.path.join(root, folder)) as handle:
                files = _listed(handle, folder, wanted, found, pending)
        except FileNotFoundError:
            continue
        except NotADirectoryError:
            found.odd.append((folder, "not-a-file"))
            continue
        except OSError as error:
            found.unreadable.append((folder, error.strerror or str(error)))
            continue
        files.sort()
        found.folders[folder] = files
    return found


@contextlib.contextmanager
def _opened(folder: str) -> Iterator[int]:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield handle
    finally:
        os.close(handle)


def _listed(
    handle: int, folder: str, wanted: tuple[str, ...], found: Walk, pending: list[str]
) -> list[Stat]:
    """The wanted files of one folder; its sub-folders join ``pending``, odd things ``found``."""
    files: list[Stat] = []
    with os.scandir(handle) as entries:
        for entry in entries:
            name = entry.name
            if not (name.isascii() or is_text(name)):
                if not is_junk(name):
                    found.odd.append((_join(folder, name), "name-not-text"))
            elif name.endswith(wanted):
                if name[0] in ".#":
                    continue
                info = entry.stat(follow_symlinks=False)
                # The mode tells what kind it is; asking the entry again costs as much as this.
                if info.st_mode & _KIND == _REGULAR:
                    files.append((name, info.st_size, info.st_mtime_ns, info.st_ino))
                else:
                    code = "symbolic-link" if entry.is_symlink() else "not-a-file"
                    found.odd.append((_join(folder, name), code))
            elif not is_junk(name):
                if entry.is_dir(follow_symlinks=False):
                    pending.append(_join(folder, name))
                elif entry.is_symlink():
                    found.odd.append((_join(folder, name), "symbolic-link"))
                elif name.lower().endswith(PASSED):
                    found.passed.append(_join(folder, name))
    return files


def is_text(name: str) -> bool:
    """Whether a name is text: a name of other bytes comes as halves of characters."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def read(path: str, limit: int | None = None) -> bytes:
    """The content of a regular file; at most ``limit`` bytes of it. Links are refused.

    Raises CannotRead.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        raise errors.CannotRead(path=path, detail=error.strerror or str(error)) from error
    try:
        info = os.fstat(handle)
        if not stat.S_ISREG(info.st_mode):
            raise errors.CannotRead(path=path, detail="not a regular file")
        return _read_all(handle, info.st_size, limit)
    except OSError as error:
        raise errors.CannotRead(path=path, detail=error.strerror or str(error)) from error
    finally:
        os.close(handle)


def _read_all(handle: int, size: int, limit: int | None) -> bytes:
    """All bytes of an open file, or ``limit`` of them; ``size`` is what it was said to have."""
    parts = []
    left = limit if limit is not None else -1
    while left:
        # One byte more than there should be: an ordinary file is read by one call.
        wanted = size + 1 if left < 0 else min(size + 1, left)
        part = os.read(handle, max(wanted, 1))
        parts.append(part)
        left -= len(part) if left > 0 else 0
        if len(part) < wanted:
            break
    return b"".join(parts)


def read_if_there(path: str, limit: int | None = None) -> bytes | None:
    """As ``read``; None where nothing stands at the path."""
    if not os.path.lexists(path):
        return None
    return read(path, limit)


def write(path: str, content: bytes, staging: str) -> None:
    """Put ``content`` at ``path`` so that a crash leaves the old file or the new one, whole.

    The new file is written in ``staging`` (a folder on the same file system that only memsync
    uses), made durable, and renamed. An existing file keeps its mode. Missing folders are made.

    Raises DiskFull, CannotWrite.
    """
    with telling(path):
        folder = os.path.dirname(path)
        os.makedirs(folder, exist_ok=True)
        os.makedirs(staging, exist_ok=True)
        mode = _mode_of(path)
        temporary = os.path.join(staging, os.urandom(8).hex())
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(content)
                stream.flush()
                if mode is not None:
                    os.fchmod(stream.fileno(), mode)
                os.fsync(stream.fileno())
            _replace(temporary, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
        sync_folder(folder)


def _mode_of(path: str) -> int | None:
    try:
        return stat.S_IMODE(os.lstat(path).st_mode)
    except FileNotFoundError:
        return None


def _replace(temporary: str, path: str) -> None:
    try:
        os.replace(temporary, path)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        # The staging folder is on another file system: stage beside the file instead.
        beside = os.path.join(os.path.dirname(path), f".{os.urandom(8).hex()}.tmp")
        with open(temporary, "rb") as source, open(beside, "xb") as target:
            target.write(source.read())
            target.flush()
            os.fsync(target.fileno())
        os.replace(beside, path)
        os.unlink(temporary)


def remove(path: str) -> None:
    """Remove a file and make that durable; a file that is gone already is fine."""
    with telling(path), contextlib.suppress(FileNotFoundError):
        os.unlink(path)
        sync_folder(os.path.dirname(path))


def sync_folder(folder: str) -> None:
    """Make a folder's entries durable, where the file system can."""
    with _opened(folder) as handle:
        try:
            os.fsync(handle)
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.EROFS, errno.ENOTSUP):
                raise


def prune_empty(folder: str, root: str) -> None:
    """Remove ``folder`` and its parents below ``root`` as long as they are empty."""
    while folder.startswith(root + os.sep):
        try:
            os.rmdir(folder)
        except OSError:
            return
        folder = os.path.dirname(folder)


@contextlib.contextmanager
def telling(path: str) -> Iterator[None]:
    """Turn the system's refusals into ours."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise errors.DiskFull(path=path) from error
        raise errors.CannotWrite(path=path, detail=error.strerror or str(error)) from error


@contextlib.contextmanager
def lock(
    path: str,
    seconds: float,
    holder: str,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[None]:
    """Hold the lock file at ``path``; wait for it at most ``seconds``.

    The lock is the operating system's (``flock``): it ends with its process, however that ends.
    The text in the file only tells who holds it.

    Raises Locked, CannotWrite.
    """
    with telling(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        deadline = clock() + seconds
        pause = 0.005
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if clock() >= deadline:
                    told = os.pread(handle, 200, 0).decode("utf-8", "replace").strip()
                    raise errors.Locked(seconds=seconds, holder=told or "unknown") from None
                sleep(pause)
                pause = min(pause * 1.5, 0.1)
        with contextlib.suppress(OSError):  # the text is a courtesy: a full disk must not matter
            os.ftruncate(handle, 0)
            os.pwrite(handle, holder.encode(), 0)
        yield
    finally:
        os.close(handle)
