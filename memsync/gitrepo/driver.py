"""What makes git merge memories by meaning: the merge driver in the repository's configuration."""

from __future__ import annotations

import shlex

from memsync.gitrepo.memory import MemoryRepo
from memsync.merge import LEFT, MERGED

# An interpreter that is gone, a package that is gone, a process that was killed: each ends with a
# status that the driver never gives, and git's own merge takes over, so that no side is dropped.
_LINE = (
    "{program} merge-driver %O %A %B %P; "
    f"case $? in {MERGED}) exit 0;; {LEFT}) exit 1;; esac; "
    "git merge-file -L ours -L base -L theirs %A %O %B"
)
#: What ``-m memsync`` would do, without its search for the module.
_START = "from memsync.__main__ import main; main()"
#: Detecting renames by likeness would carry an edit into another memory that resembles it.
_OPTIONS = {"merge.renames": "false", "merge.directoryRenames": "false"}


def started(program: str) -> str:
    """How a shell starts memsync with this interpreter; by its name, where none is given."""
    # -P: what lies in the folder where git starts it is not to be taken for the package.
    return f"{shlex.quote(program)} -P -c {shlex.quote(_START)}" if program else "memsync"


def settings(program: str) -> dict[str, str]:
    """The settings of a memory repository by name. ``program`` is the interpreter to start."""
    return {
        "merge.memsync.name": "memories by meaning",
        "merge.memsync.driver": _LINE.replace("{program}", started(program)),
        **_OPTIONS,
    }


def lacking(repo: MemoryRepo, program: str) -> list[str]:
    """The names of the settings that are not there, or not as they should be."""
    return [name for name, value in settings(program).items() if repo.setting(name) != value]


def install(repo: MemoryRepo, program: str) -> None:
    """Write the settings that are lacking. Raises CannotWrite, GitFailed, GitLocked."""
    wanted = settings(program)
    for name in lacking(repo, program):
        repo.set_setting(name, wanted[name])
