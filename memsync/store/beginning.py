"""Beginning a memory repository, or completing one that lacks something."""

from __future__ import annotations

import os
from dataclasses import dataclass

from memsync import errors, files, resources
from memsync.config import Environment
from memsync.frontmatter.codec import dump_yaml
from memsync.frontmatter.document import parse_yaml
from memsync.gitrepo import MemoryRepo, driver
from memsync.gitrepo.memory import enclosing_work_tree, git_dir_of
from memsync.gitrepo.run import Git
from memsync.store import layout
from memsync.store.effects import Effects, Plan
from memsync.store.scan import refuse_newer
from memsync.store.writing import carry_out, recover

#: Bytes of randomness in a salt.
SALT_BYTES = 16


@dataclass(frozen=True, slots=True)
class Begun:
    """What ``init`` did: ``created`` says whether the repository is new."""

    home: str
    branch: str
    created: bool
    written: tuple[str, ...]


def begin(home: str, environment: Environment, language: str) -> Begun:
    """Make ``home`` a memory repository, or complete the one that is there.

    A file that is there already stays as it is. ``language`` is that of the README; it becomes no
    setting, so that the locale of each machine counts until the person chooses. Raises
    AlreadyInitialised for a folder that is in use for something else, InsideOtherWorkTree,
    NewerFormat, OwnedByOther, CannotWrite, GitMissing, GitTooOld.
    """
    _refuse_place(home)
    Git(os.sep, environment.variables).check_version()
    with files.telling(home):
        os.makedirs(home, exist_ok=True)
    git = Git(home, environment.variables)
    created = git_dir_of(home) is None
    if created:
        git.run("init", "--quiet", "--initial-branch=main", "--object-format=sha1")
    repo = MemoryRepo.at(home, environment.variables)
    effects = Effects(repo)
    lock = os.path.join(effects.folder, "lock")
    with files.lock(lock, 15.0, f"process {environment.process}: init\n"):
        state = repo.state()
        if state.problem:
            raise errors.OddState(state=state.problem)
        branch = state.branch or "main"
        if repo.setting("memsync.branch") is None:
            repo.set_setting("memsync.branch", branch)
        driver.install(repo, environment.program)
        recover(effects)
        wanted = _missing_files(home, environment, language)
        if wanted:
            message = "init: begin the memory" if created else "init: complete the repository"
            carry_out(effects, Plan(message, wanted))
    return Begun(home, branch, created, tuple(wanted))


def _refuse_place(home: str) -> None:
    if os.path.lexists(home) and not os.path.isdir(home):
        raise errors.AlreadyInitialised(path=home, detail="it is not a folder")
    outer = enclosing_work_tree(os.path.realpath(home))
    if outer and git_dir_of(home) is None:
        raise errors.InsideOtherWorkTree(path=home, outer=outer)
    if not os.path.isdir(home):
        return
    try:
        names = set(os.listdir(home))
    except OSError as error:
        raise errors.CannotRead(path=home, detail=error.strerror or "") from error
    ours = layout.SETTINGS in names or not names or names == {".git"}
    if not ours:
        shown = ", ".join(sorted(names)[:5])
        raise errors.AlreadyInitialised(path=home, detail=f"it holds {shown}")
    if layout.SETTINGS in names:
        settings = parse_yaml(files.read(os.path.join(home, layout.SETTINGS)), layout.SETTINGS)
        refuse_newer(home, settings.data.get("format"))


def _missing_files(home: str, environment: Environment, language: str) -> dict[str, bytes | None]:
    wanted: dict[str, bytes | None] = {}
    if not os.path.lexists(os.path.join(home, layout.SETTINGS)):
        wanted[layout.SETTINGS] = dump_yaml(
            {
                "format": 1,
                "generation": 1,
                "salts": [environment.entropy(SALT_BYTES).hex()],
            }
        )
    shipped = {
        ".gitattributes": "templates/repository/gitattributes",
        ".gitignore": "templates/repository/gitignore",
        "README.md": _readme(language),
    }
    for path, source in shipped.items():
        if not os.path.lexists(os.path.join(home, path)):
            wanted[path] = resources.text(source).encode()
    return wanted


def _readme(language: str) -> str:
    ending = ".zh-CN.md" if language == "zh-CN" else ".md"
    return f"templates/repository/README{ending}"
