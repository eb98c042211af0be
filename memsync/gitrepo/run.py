"""Running git: one scrubbed environment, one time-out, one reading of what went wrong.

git is run by a plain subprocess throughout. GitPython's command interface copies the process's
whole environment, ``GIT_DIR`` and its kin included, has no way to leave a variable out, and
costs a cold command its import; docs/architecture.md has the measurement.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from memsync import errors
from memsync.gitrepo import locks

if TYPE_CHECKING:
    import subprocess

#: The oldest git that memsync works with (design, section 9).
OLDEST = (2, 34)

# What the person's configuration must not do to memsync's own commands: run hooks, sign,
# rewrite line ends, start a long clean-up, watch files, write in another encoding, or open
# another transport.
_FIXED = (
    "core.hooksPath=/dev/null",
    "core.quotePath=false",
    "core.autocrlf=false",
    "core.safecrlf=false",
    "core.fsmonitor=false",
    "core.excludesFile=",
    "commit.gpgSign=false",
    "tag.gpgSign=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "user.useConfigOnly=true",
    "log.showSignature=false",
    "i18n.commitEncoding=UTF-8",
    "i18n.logOutputEncoding=UTF-8",
    "protocol.ext.allow=never",
)
OPTIONS = tuple(part for setting in _FIXED for part in ("-c", setting))

_LOCKED = r"(?:Unable to create '|could not lock config file )(?P<path>[^'\n]+?)'?: File exists"
#: What git says where there is no space; of some writes it tells no cause.
_FULL = "No space left on device|Out of diskspace|disk is not full|quota exceeded"
_NOT_WRITTEN = "couldn't write|unable to write|failed to write|write error"
#: What git says of a repository whose own files are damaged or missing.
_DAMAGED = (
    r"not a git repository|inside a git repository|index file (?:smaller|corrupt)|bad index file"
    r"|index file open failed|bad signature 0x|bad index version|unknown index entry format"
    r"|malformed name field|unordered stage entries|reference broken|broken ref|bad object"
    r"|invalid object|bad tree|unable to read (?:tree|sha1|[0-9a-f]{7,})|cannot read object"
    r"|[Cc]ould not (?:read|parse|get) .*[0-9a-f]{40}|[Ff]ailed to (?:read|traverse)"
    r"|object file .* is empty|is corrupt|inflate:|unable to unpack|missing (?:blob|tree|commit)"
    r"|packfile .* (?:cannot|does not|index)|unable to (?:find|resolve) (?:[0-9a-f]{40}|reference)"
)
#: With fewer free bytes a write that failed without a cause is taken to have found no space.
_ROOM = 128 * 1024
_CREDENTIALS = r"(?<=://)[^/\s]+@"


def scrubbed(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment for a git process: nothing of git's own from outside, no prompts."""
    clean = {k: v for k, v in environment.items() if not k.startswith("GIT_")}
    for name in ("SSH_ASKPASS", "LANGUAGE", "LANG"):
        clean.pop(name, None)
    clean.update(
        LC_ALL="C.UTF-8",
        GIT_TERMINAL_PROMPT="0",
        GIT_ASKPASS="true",
        GIT_SSH_COMMAND="ssh -oBatchMode=yes",
        GIT_OPTIONAL_LOCKS="0",
        GIT_EDITOR="true",
        GIT_PAGER="cat",
    )
    return clean


def without_credentials(text: str) -> str:
    """``text`` with user names and passwords taken out of its URLs."""
    return re.sub(_CREDENTIALS, "", text)


@dataclass(frozen=True)
class Git:
    """git in one folder. ``environment`` is that of the process, handed in."""

    folder: str
    environment: Mapping[str, str]
    timeout: float = 120.0
    extra: tuple[str, ...] = ()
    sleep: Callable[[float], None] = field(default=time.sleep, compare=False)
    clock: Callable[[], float] = field(default=time.time, compare=False)

    def run(
        self,
        *arguments: str,
        stdin: bytes = b"",
        ok: Iterable[int] = (0,),
        settings: tuple[str, ...] = (),
        environment: Mapping[str, str] | None = None,
    ) -> bytes:
        """Run ``git arguments`` and return what it prints.

        Another process that holds a git lock is waited for, about two seconds; a lock that a
        killed git left behind is removed.

        Raises GitFailed (a status not in ``ok``), RepositoryDamaged, DiskFull, GitTimeout,
        GitLocked, GitMissing, GitTooOld.
        """
        pause = 0.02
        while True:
            status, out, err = self._once(arguments, stdin, settings, environment)
            if status in ok:
                return out
            held = re.search(_LOCKED, err)
            if not held:
                raise self._failure(arguments, status, err)
            if pause > 1.0:
                if not self._unlocked(held["path"]):
                    raise self._locked(held["path"])
                pause = 0.5
            self.sleep(pause)
            pause *= 2

    def _unlocked(self, path: str) -> bool:
        return locks.remove_stale(self._whole(path), self.folder, self.clock())

    def _locked(self, path: str) -> errors.GitLocked:
        whole = self._whole(path)
        age = locks.age_of(whole, self.clock()) or 0.0
        holder = locks.holder_of(whole, self.folder)
        told = "unknown" if holder is None else holder or "nobody"
        return errors.GitLocked(path=path, seconds=int(age), holder=told)

    def _whole(self, path: str) -> str:
        """A lock's absolute path; of a ref or setting git tells the path of the file itself."""
        whole = os.path.join(self.folder, path)
        return whole if whole.endswith(".lock") else whole + ".lock"

    def text(self, *arguments: str, ok: Iterable[int] = (0,)) -> str:
        """As ``run``; decoded, without the last newline."""
        return self.run(*arguments, ok=ok).decode("utf-8", "surrogateescape").rstrip("\n")

    def succeeds(self, *arguments: str) -> bool:
        """Whether git ends with status 0."""
        return self._once(arguments, b"", (), None)[0] == 0

    def complaints(self, *arguments: str, environment: Mapping[str, str]) -> list[str]:
        """The lines that a checking git command prints, whatever its status."""
        _, out, err = self._once(arguments, b"", (), environment)
        told = without_credentials(out.decode("utf-8", "replace") + err)
        return [line for line in told.splitlines() if line.strip()]

    def _once(
        self,
        arguments: tuple[str, ...],
        stdin: bytes,
        settings: tuple[str, ...],
        environment: Mapping[str, str] | None,
    ) -> tuple[int, bytes, str]:
        import subprocess  # a read that needs no git does not pay for it

        chosen = tuple(part for setting in settings for part in ("-c", setting))
        command = ["git", *OPTIONS, *self.extra, *chosen, *arguments]
        clean = scrubbed(self.environment)
        clean.update(environment or {})
        try:
            process = subprocess.Popen(
                command,
                cwd=self.folder,
                env=clean,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except FileNotFoundError as error:
            import shutil

            if shutil.which("git", path=clean.get("PATH")):
                raise errors.PathNotFound(path=self.folder) from error
            raise errors.GitMissing() from error
        except OSError as error:
            raise errors.CannotRead(path=self.folder, detail=error.strerror) from error
        try:
            out, err = process.communicate(stdin, timeout=self.timeout)
        except subprocess.TimeoutExpired as error:
            stop_group(process)
            name = arguments[0] if arguments else ""
            raise errors.GitTimeout(command=name, seconds=self.timeout) from error
        except BaseException:
            stop_group(process)
            raise
        return process.returncode, out, err.decode("utf-8", "replace")

    def _failure(self, arguments: tuple[str, ...], status: int, err: str) -> errors.MemsyncError:
        version = self.version()
        if version < OLDEST:
            return errors.GitTooOld(found=_dotted(version), needed=_dotted(OLDEST))
        if tells_full(err, self.folder):
            return errors.DiskFull(path=self.folder)
        detail = without_credentials(" ".join(err.split()))[:400]
        if re.search(_DAMAGED, err):
            return errors.RepositoryDamaged(path=self.folder, detail=detail)
        return errors.GitFailed(command=arguments[0], status=status, detail=detail)

    def version(self) -> tuple[int, ...]:
        """The version of the git program, as numbers; (0,) where it tells none."""
        _, out, _ = self._once(("--version",), b"", (), None)
        found = re.search(rb"(\d+)\.(\d+)", out)
        return (int(found[1]), int(found[2])) if found else (0,)

    def check_version(self) -> None:
        """Raise GitTooOld or GitMissing where this git cannot be worked with."""
        found = self.version()
        if found < OLDEST:
            raise errors.GitTooOld(found=_dotted(found), needed=_dotted(OLDEST))


def tells_full(err: str, folder: str) -> bool:
    """Whether what git said means that no space is left."""
    if re.search(_FULL, err):
        return True
    try:
        room = os.statvfs(folder)
    except OSError:
        return False
    return bool(re.search(_NOT_WRITTEN, err)) and room.f_bavail * room.f_frsize < _ROOM


def stop_group(process: subprocess.Popen[bytes]) -> None:
    """End a process and all that it started; git is given the time to remove its locks.

    What it wrote is not read to the end: a program that left the group may hold the pipe open.
    """
    import signal
    import subprocess

    for number, patience in ((signal.SIGTERM, 2.0), (signal.SIGKILL, None)):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(patience)
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))
