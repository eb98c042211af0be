"""Which project a folder belongs to: real repositories, real git."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import pytest

from memsync import errors, identity
from memsync.gitrepo import code
from memsync.identity import Known, Project, derived_key

ROOT = Path(__file__).parent.parent
ACME = "github.com/acme/api"
ACME_KEY = derived_key("api", ACME)
NOBODY = 65534


@dataclass
class Place:
    """A folder with a home of its own, in which git believes nobody."""

    path: Path

    @property
    def environment(self) -> dict[str, str]:
        return {"HOME": str(self.path / "home"), "PATH": os.environ["PATH"]}

    def git(self, where: str | Path, *arguments: str) -> str:
        extra = ("-c", "user.name=t", "-c", "user.email=t@t", "-c", "protocol.file.allow=always")
        done = subprocess.run(
            ["git", *extra, *arguments],
            cwd=self.path / where,
            env={**self.environment, "GIT_CONFIG_NOSYSTEM": "1"},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def repo(self, name: str, *remotes: str, commit: bool = True) -> Path:
        """A new repository with remotes given as ``name=url``."""
        folder = self.path / name
        folder.mkdir(parents=True)
        self.git(name, "init", "-q", "-b", "main")
        for remote in remotes:
            label, _, url = remote.partition("=")
            self.git(name, "config", f"remote.{label}.url", url)
        if commit:
            (folder / "src").mkdir()
            (folder / "src" / "a.py").write_text("a = 1\n")
            self.git(name, "add", "src")
            self.git(name, "commit", "-q", "-m", "first")
        return folder

    def resolve(
        self,
        path: str | Path,
        known: Sequence[Known] = (),
        more: Mapping[str, str] = MappingProxyType({}),
    ) -> Project:
        found = identity.resolve(str(path), known, {**self.environment, **more})
        assert found is not None
        assert {step for step, _ in found.steps} <= identity.STEPS
        return found

    @contextlib.contextmanager
    def counting(self) -> Iterator[Mapping[str, str]]:
        """An environment in which git may be started once."""
        programs, calls = self.path / "bin", self.path / "calls"
        programs.mkdir()
        real = shutil.which("git")
        program = programs / "git"
        program.write_text(f'#!/bin/sh\necho "$*" >> {calls}\nexec {real} "$@"\n')
        program.chmod(0o755)
        yield {"PATH": f"{programs}:{os.environ['PATH']}"}
        assert len(calls.read_text().splitlines()) == 1


@pytest.fixture
def place() -> Iterator[Place]:
    # Not tmp_path: another user must be able to reach it.
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        (Path(folder) / "home").mkdir()
        yield Place(Path(folder).resolve())


@contextlib.contextmanager
def without_rights() -> Iterator[None]:
    """Root may read everything; somebody else may not."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


def facts(project: Project, code: str) -> list[str]:
    return [fact for step, fact in project.steps if step == code]


# --- where a folder lies -------------------------------------------------------------------


def test_a_clone_is_one_project_from_everywhere(place: Place) -> None:
    top = place.repo("api", "origin=git@github.com:Acme/API.git")
    (place.path / "link").symlink_to("api/src")
    place.git("api", "worktree", "add", "-q", "../linked", "-b", "side")
    seen = {
        "top": place.resolve(top),
        "below": place.resolve(top / "src"),
        "file": place.resolve(top / "src" / "a.py"),
        "link": place.resolve(place.path / "link"),
        "worktree": place.resolve(place.path / "linked" / "src"),
        "git folder": place.resolve(top / ".git" / "refs"),
        "its folder": place.resolve(top / ".git" / "worktrees" / "linked"),
    }
    assert {(p.key, p.how, p.common, p.known, p.aliases, p.name) for p in seen.values()} == {
        (ACME_KEY, "derived", str(top / ".git"), False, (ACME,), "api")
    }
    linked = str(place.path / "linked")
    assert {name: (p.root, p.within) for name, p in seen.items()} == {
        "top": (str(top), ""),
        "below": (str(top), "src"),
        "file": (str(top), "src/a.py"),
        "link": (str(top), "src"),
        "worktree": (linked, "src"),
        "git folder": (None, ""),
        "its folder": (None, ""),
    }


def test_a_bare_repository_and_its_worktrees(place: Place) -> None:
    place.repo("seed")
    place.git(".", "clone", "-q", "--bare", "seed", "box/.bare")
    place.git("box/.bare", "remote", "set-url", "origin", "https://github.com/acme/api")
    (place.path / "box" / ".git").write_text("gitdir: ./.bare\n")
    place.git("box", "worktree", "add", "-q", "main", "main")
    roots = {
        where: place.resolve(place.path / "box" / where).root for where in ("", ".bare", "main")
    }
    assert roots == {"": None, ".bare": None, "main": str(place.path / "box" / "main")}
    projects = [place.resolve(place.path / "box" / w) for w in ("", ".bare", "main/src")]
    assert {p.common for p in projects} == {str(place.path / "box" / ".bare")}
    assert {p.key for p in projects} == {ACME_KEY}
    place.git("box/.bare", "remote", "remove", "origin")
    assert place.resolve(place.path / "box" / "main").name == "box"


def test_a_submodule_is_its_own_project(place: Place) -> None:
    place.repo("library")
    outer = place.repo("outer")
    place.git("outer", "submodule", "--quiet", "add", "../library", "libs/one")
    inner = place.resolve(outer / "libs" / "one" / "src")
    assert inner.root == str(outer / "libs" / "one")
    assert inner.aliases == (f"file:{place.path}/library",)
    shutil.rmtree(outer / ".git" / "modules")
    assert identity.resolve(str(outer / "libs" / "one"), (), place.environment) is None


def test_a_git_folder_kept_elsewhere(place: Place) -> None:
    (place.path / "work").mkdir()
    place.git("work", "init", "-q", f"--separate-git-dir={place.path}/kept ")
    found = place.resolve(place.path / "work")
    assert (found.common, found.name, found.root) == (
        str(place.path / "kept "),
        "work",
        str(place.path / "work"),
    )


def test_no_repository_and_no_such_path(place: Place) -> None:
    outside = place.path / "outside"
    (outside / "in").mkdir(parents=True)
    assert identity.resolve(str(outside), (), place.environment) is None
    inner = place.repo("outer") / "inner"
    inner.mkdir()
    (inner / ".git").write_text("gitdir: /nowhere/at/all\n")
    assert identity.resolve(str(inner), (), place.environment) is None
    (inner / ".git").unlink()
    (inner / ".git").mkdir()  # git takes an empty folder for nothing, so the outer one is it
    assert place.resolve(inner).root == str(place.path / "outer")
    for missing in (str(outside / "not"), "", "a\0b", "x" * 5000):
        with pytest.raises(errors.PathNotFound):
            identity.resolve(missing, (), place.environment)


def test_a_current_folder_that_was_removed(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = place.path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(errors.PathNotFound):
        identity.resolve(".", (), place.environment)


def test_a_folder_that_nobody_may_read_is_told(place: Place) -> None:
    top = place.repo("api", f"origin=https://{ACME}")
    (top / ".git").chmod(0)
    try:
        with without_rights(), pytest.raises(errors.CannotRead):
            identity.resolve(str(top / "src"), (), place.environment)
        (top / ".git").chmod(0o755)
        (top / "src").chmod(0)
        with without_rights(), pytest.raises(errors.CannotRead):
            identity.resolve(str(top / "src"), (), place.environment)
    finally:
        (top / ".git").chmod(0o755)
        (top / "src").chmod(0o755)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_repository_of_another_user_is_identified(place: Place) -> None:
    top = place.repo("api", f"origin=https://{ACME}")
    for folder, folders, files in os.walk(top):
        for name in (".", *folders, *files):
            os.chown(os.path.join(folder, name), NOBODY, NOBODY)
    refused = subprocess.run(
        ["git", "status"], cwd=top, env=place.environment, capture_output=True, text=True
    )
    assert "dubious ownership" in refused.stderr
    with place.counting() as calls:
        assert place.resolve(top, more=calls).key == ACME_KEY


# --- what git is told ----------------------------------------------------------------------


def test_rewrites_of_the_person_are_seen_through(place: Place) -> None:
    top = place.repo("work/api", "origin=gh:acme/api", "upstream=https://mona:hunter2@h/x")
    (place.path / "home" / ".gitconfig").write_text(
        f'[includeIf "gitdir:{place.path}/work/"]\n\tpath = work.config\n'
        '[url "https://wrong.example/"]\n\tpushInsteadOf = gh:\n'
    )
    (place.path / "home" / "work.config").write_text(
        '[url "https://mona:hunter2@github.com/"]\n\tinsteadOf = gh:\n'
    )
    found = place.resolve(top)
    assert (found.key, found.aliases) == (ACME_KEY, (ACME,))
    assert "hunter2" not in repr(found)


def test_a_hook_in_a_worktree_does_not_lead_away(place: Place) -> None:
    place.repo("hooked", "origin=https://github.com/other/thing")
    place.git("hooked", "worktree", "add", "-q", "../linked", "-b", "side")
    place.repo("api", f"origin=https://{ACME}")
    hook = place.path / "hooked" / ".git" / "hooks" / "post-commit"
    hook.write_text(
        f"#!/bin/sh\nenv | grep ^GIT_ > {place.path}/told\n"
        f"exec {sys.executable} -c 'import os, sys; sys.path.insert(0, sys.argv[3])\n"
        "from memsync import identity\n"
        'print(identity.resolve(sys.argv[1], (), os.environ).key, file=open(sys.argv[2], "w"))\''
        f" {place.path}/api/src {place.path}/answer {ROOT}\n"
    )
    hook.chmod(0o755)
    place.git("linked", "commit", "-q", "--allow-empty", "-m", "x")
    assert "GIT_DIR=" in (place.path / "told").read_text()
    assert (place.path / "answer").read_text().strip() == ACME_KEY
    leak = {"GIT_DIR": str(place.path / "hooked" / ".git"), "GIT_CONFIG_COUNT": "1"}
    leak |= {"GIT_CONFIG_KEY_0": "url.https://e/.insteadOf", "GIT_CONFIG_VALUE_0": "https://"}
    leak |= {"GIT_INDEX_FILE": "/nowhere", "GIT_CEILING_DIRECTORIES": str(place.path)}
    assert place.resolve(place.path / "api", more=leak).key == ACME_KEY


def test_a_repository_too_new_for_this_git(place: Place) -> None:
    top = place.repo("api", f"origin=https://{ACME}")
    place.git("api", "config", "core.repositoryFormatVersion", "1")
    place.git("api", "config", "extensions.unheardOf", "true")
    assert place.resolve(top).key == ACME_KEY


def test_a_broken_configuration_is_told_without_credentials(place: Place) -> None:
    top = place.repo("api", "origin=https://mona:hunter2@github.com/acme/api")
    with open(top / ".git" / "config", "a", encoding="utf-8") as stream:
        stream.write("[broken\n")
    with pytest.raises(errors.GitFailed) as told:
        place.resolve(top)
    assert "hunter2" not in str(told.value)


def test_looking_costs_one_process_and_changes_nothing(place: Place) -> None:
    top = place.repo("api", f"origin=https://{ACME}")
    (top / "src" / "a.py").write_text("a = 2\n")

    def all_bytes() -> dict[str, tuple[bytes, int]]:
        return {
            str(p): (p.read_bytes(), p.stat().st_mtime_ns) for p in top.rglob("*") if p.is_file()
        }

    before = all_bytes()
    with place.counting() as calls:
        place.resolve(top / "src", more=calls)
    assert all_bytes() == before


# --- which key -----------------------------------------------------------------------------


def test_a_bound_key_holds_in_all_worktrees_whatever_the_remotes_do(place: Place) -> None:
    top = place.repo("api", commit=True)
    place.git("api", "worktree", "add", "-q", "../linked", "-b", "side")
    new = place.resolve(place.path / "linked")
    assert (new.key, new.how, new.name, new.aliases) == (None, "unbound", "api", ())
    before = place.git("api", "config", "--local", "--list")
    code.bind(new.common, "api-12345678", place.environment)
    assert (
        place.git("api", "config", "--local", "--list") == before + "\nmemsync.project=api-12345678"
    )
    for where in (top / "src", place.path / "linked"):
        found = place.resolve(where)
        assert (found.key, found.how, found.known) == ("api-12345678", "bound", False)
    place.git("api", "remote", "add", "origin", f"https://{ACME}")
    known = [Known("api-12345678", "The API")]
    found = place.resolve(top, known)
    assert (found.key, found.name, found.aliases) == ("api-12345678", "The API", (ACME,))
    taken = place.resolve(top, [*known, Known("other", "Other", (ACME,))])
    assert (taken.key, taken.aliases) == ("api-12345678", ())
    assert facts(taken, "alias-of-other") == [f"{ACME} other"]


def test_ten_bind_at_once_and_a_read_only_folder_is_told(place: Place) -> None:
    top = place.repo("api")
    program = (
        "import os, sys; sys.path.insert(0, sys.argv[3])\n"
        "from memsync.gitrepo import code; code.bind(sys.argv[1], sys.argv[2], os.environ)"
    )
    command = [sys.executable, "-c", program, str(top / ".git")]
    running = [
        subprocess.Popen([*command, f"key-{n}", str(ROOT)], env=place.environment)
        for n in range(10)
    ]
    assert [process.wait() for process in running] == [0] * 10
    bound = place.git("api", "config", "--get-all", "memsync.project").splitlines()
    assert len(bound) == 1
    assert place.resolve(top).key == bound[0]
    (top / ".git").chmod(0o555)
    with without_rights(), pytest.raises(errors.CannotWrite):
        code.bind(str(top / ".git"), "x", place.environment)
    (top / ".git").chmod(0o755)


def test_another_writer_of_the_configuration_is_waited_for(place: Place) -> None:
    top = place.repo("api")
    lock = top / ".git" / "config.lock"
    lock.touch()
    soon = threading.Timer(0.15, lock.unlink)
    soon.start()
    code.bind(str(top / ".git"), "mine", place.environment)
    soon.join()
    assert place.resolve(top).key == "mine"
    lock.touch()
    with pytest.raises(errors.GitLocked):
        code.bind(str(top / ".git"), "other", place.environment)


def test_a_bound_key_that_is_no_folder_name_or_not_this_repositorys(place: Place) -> None:
    top = place.repo("api", f"origin=https://{ACME}")
    for bad in ("../../global", ".hidden", "a/b", "a\\b", "x" * 101, "a\tb", "C:x"):
        place.git("api", "config", "memsync.project", bad)
        found = place.resolve(top)
        assert (found.key, found.how) == (ACME_KEY, "derived"), bad
        assert facts(found, "bound-key-unusable") == [""]
    place.git("api", "config", "memsync.project", "团队 API")
    assert place.resolve(top).key == "团队 API"
    place.git("api", "config", "--unset", "memsync.project")
    place.git("api", "config", "--global", "memsync.project", "everything")
    assert place.resolve(top).key == ACME_KEY


def test_no_commits_are_needed(place: Place) -> None:
    assert place.resolve(place.repo("api", f"origin=https://{ACME}", commit=False)).key == ACME_KEY
    assert place.resolve(place.repo("bare one", commit=False)).name == "bare one"


def test_which_remote_speaks(place: Place) -> None:
    fork = place.repo("fork", "origin=git@github.com:mona/api.git", f"upstream=https://{ACME}")
    upstream = Known("acme", "Acme", (ACME,))
    found = place.resolve(fork, [upstream])
    assert (found.how, found.aliases) == ("derived", ("github.com/mona/api",))
    assert facts(found, "remote-not-asked") == ["upstream"]
    mirrors = place.repo("mirrors", "gitlab=git@gitlab.com:acme/api", f"github=https://{ACME}")
    assert place.resolve(mirrors).key == ACME_KEY
    lab = Known("lab", "Lab", ("gitlab.com/acme/api",))
    found = place.resolve(mirrors, [lab])
    assert (found.key, found.how, found.aliases) == ("lab", "alias", ("gitlab.com/acme/api",))
    only = place.repo("only", f"mine=https://{ACME}")
    assert place.resolve(only).key == ACME_KEY
    unusable = place.repo("unusable", "origin=ext::sh -c hunter2")
    found = place.resolve(unusable)
    assert (found.key, found.how, found.name) == (None, "unbound", "unusable")
    assert facts(found, "remote-unusable") == ["origin"]


def test_the_first_url_of_a_remote_counts(place: Place) -> None:
    top = place.repo("api", f"origin=https://{ACME}")
    place.git("api", "remote", "set-url", "--add", "origin", "https://mirror.example/x")
    place.git("api", "remote", "set-url", "--push", "origin", "https://push.example/x")
    assert place.resolve(top).aliases == (ACME,)


def test_known_aliases_however_they_are_spelt(place: Place) -> None:
    top = place.repo("api", f"origin=https://{ACME}")
    for spelling in (ACME, "GitHub.com/Acme/Api", "git@github.com:acme/api.git"):
        found = place.resolve(top, [Known("mine", "Mine", ("other/x", spelling))])
        assert (found.key, found.how, found.known, found.name) == ("mine", "alias", True, "Mine")
        assert facts(found, "alias-of") == [f"{ACME} mine"]
    derived = place.resolve(top, [Known(ACME_KEY, "By folder")])
    assert (derived.how, derived.known, derived.name) == ("derived", True, "By folder")


def test_several_that_claim_one_alias(place: Place) -> None:
    top = place.repo("api", f"origin=https://{ACME}")
    one, two = Known("bbb", "B", (ACME,)), Known("aaa", "A", (ACME,))
    for order in ([one, two], [two, one]):
        found = place.resolve(top, order)
        assert found.key == "aaa"
        assert facts(found, "alias-of-several") == ["aaa bbb"]
    natural = Known(ACME_KEY, "N", (ACME,))
    assert place.resolve(top, [two, natural, one]).key == ACME_KEY
    merged = Known("aaa", "A", (ACME,), merged_into="bbb")
    found = place.resolve(top, [merged, one])
    assert found.key == "bbb"
    assert not facts(found, "alias-of-several")


def test_merges_are_followed_and_rings_end(place: Place) -> None:
    top = place.repo("api", f"origin=https://{ACME}")
    chain = [
        Known(ACME_KEY, "A", (), "b"),
        Known("b", "B", (), "c"),
        Known("c", "C"),
    ]
    found = place.resolve(top, chain)
    assert (found.key, found.name, found.how) == ("c", "C", "derived")
    assert facts(found, "merged-into") == ["b", "c"]
    ring = [*chain[:2], Known("c", "C", (), "b")]
    for start in ("b", "c", ACME_KEY):
        place.git("api", "config", "memsync.project", start)
        found = place.resolve(top, ring)
        assert (found.key, facts(found, "merge-ring")) == ("b", ["b"])
    lost = place.resolve(top, [Known(ACME_KEY, "A", (), "not there")])
    assert (lost.key, facts(lost, "merge-target-missing")) == (ACME_KEY, ["not there"])
    itself = place.resolve(top, [Known(ACME_KEY, "A", (), ACME_KEY)])
    assert itself.key == ACME_KEY
