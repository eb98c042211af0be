"""Checks: of the files of a memory (``lint``) and of an installation (``doctor``)."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

from memsync import errors, files, resources
from memsync.config import Environment
from memsync.errors import Problem, problem
from memsync.gitrepo import MemoryRepo, driver, soundness
from memsync.gitrepo.run import OLDEST
from memsync.index import Damaged, Index
from memsync.store import layout, purging
from memsync.store.effects import Effects, Plan
from memsync.store.reading import Reader
from memsync.store.scan import blob_of, scan
from memsync.store.writing import Store

_SHIPPED = {
    ".gitattributes": "templates/repository/gitattributes",
    ".gitignore": "templates/repository/gitignore",
}


def lint(reader: Reader) -> tuple[Problem, ...]:
    """All problems of a memory's files, and of how they refer to each other."""
    found = [*reader.problems(), *_references(reader)]
    if not os.path.isfile(os.path.join(reader.home, layout.SETTINGS)):
        found.append(problem("settings-missing", layout.SETTINGS, 0))
    return tuple(sorted(found, key=lambda p: (p.path, p.line, p.code)))


def reader_of_folder(home: str, environment: Environment) -> Reader:
    """A fresh reader of any folder laid out as a memory, also one that is no repository."""
    if not os.path.isfile(os.path.join(home, layout.SETTINGS)):
        raise errors.NotARepository(path=home)
    reader = Reader(home, None, Index.in_memory(), environment.now, environment.now_ns)
    reader.refresh()
    return reader


def _references(reader: Reader) -> list[Problem]:
    """References to records that neither live nor were forgotten."""
    index = reader.index
    known = {row.id for row in index.rows()} | {mark.id for mark in index.marks()}
    found = []
    rows = index.rows("r.n IN (SELECT n FROM wholes WHERE json LIKE '%\"supersede%')")
    for row, data in zip(rows, index.json_of(rows).values(), strict=True):
        named = [*data.get("supersedes", []), *filter(None, [data.get("supersededBy")])]
        found += [
            problem("reference-unknown", row.path, 0, "notice", id=wanted)
            for wanted in named
            if wanted not in known
        ]
    return found


@dataclass(frozen=True, slots=True)
class Check:
    """One check of ``doctor``: ``state`` is ``ok``, ``attention`` or ``failed``."""

    name: str
    state: str
    evidence: str
    remedy: str = ""
    fixable: bool = False


def examine(store: Store) -> list[Check]:
    """Every check of an installation, each with its evidence.

    One that cannot be made has failed; it does not keep the others from being made. Raises
    GitMissing.
    """
    repo, reader = store.repo, store.reader
    checks: dict[str, Callable[[], Check]] = {
        "git": lambda: _git(repo),
        "branch": lambda: _state(repo),
        "git-index": lambda: _git_index(repo),
        "git-objects": lambda: _objects(repo),
        "git-locks": lambda: _locks(store),
        "sparse-checkout": lambda: _sparse(repo),
        "merge-driver": lambda: _driver(store),
        ".gitattributes": lambda: _shipped(store, ".gitattributes"),
        ".gitignore": lambda: _shipped(store, ".gitignore"),
        "index": lambda: _index(reader),
        "files": lambda: _files(reader),
        "crash": lambda: _unfinished(store),
        "commit-graph": lambda: _graph(repo),
    }
    return [_made(name, check) for name, check in checks.items()]


def _made(name: str, check: Callable[[], Check]) -> Check:
    try:
        return check()
    except errors.GitMissing:
        raise
    except errors.RepositoryDamaged as error:
        return _damaged(name, str(error.facts["detail"]))
    except errors.MemsyncError as error:
        return Check(name, "failed", str(error))


def _damaged(name: str, evidence: str) -> Check:
    told = "keep the folder as it is; fetch what is missing from another copy with git"
    return Check(name, "failed", evidence, told)


def mend(store: Store) -> list[str]:
    """Do what is safe: it only ever adds commits and rebuilds what is derived."""
    done = _mend_git(store)
    with store.transaction("doctor") as transaction:
        wanted: dict[str, bytes | None] = {}
        for name in _SHIPPED:
            lines = _missing_lines(store, name)
            if lines:
                path = os.path.join(store.reader.home, name)
                current = files.read_if_there(path) or b""
                begin = current if current.endswith(b"\n") or not current else current + b"\n"
                wanted[name] = begin + "\n".join(lines).encode() + b"\n"
        if wanted:
            transaction.commit(Plan("doctor: complete the repository's files", wanted))
            done += [*wanted]
        if _index(store.reader).state != "ok":
            store.reader.index.clear()
            store.reader.refresh()
            done.append("index")
        if not store.repo.has_commit_graph() and store.repo.resolve("HEAD"):
            store.repo.write_commit_graph()
            done.append("commit-graph")
    return done


def _mend_git(store: Store) -> list[str]:
    """Mend what keeps git itself from working; it needs no transaction and allows none."""
    done = []
    with store.lock("doctor"):
        if soundness.put_branch_back(store.repo):
            done.append("branch")
        if soundness.index_fault(store.repo):
            damaged = soundness.replace_index(store.repo)
            if damaged:
                name = f"git-index-{blob_of(damaged)[:12]}"
                store.effects.keep_aside(name, damaged)
            done.append("git-index")
        if driver.lacking(store.repo, store.environment.program):
            driver.install(store.repo, store.environment.program)
            done.append("merge-driver")
    return done


def _git(repo: MemoryRepo) -> Check:
    found = repo.git.version()
    shown = ".".join(map(str, found))
    if found < OLDEST:
        return Check("git", "failed", shown, "install a newer git")
    return Check("git", "ok", shown)


def _state(repo: MemoryRepo) -> Check:
    try:
        state = repo.state()
    except errors.RepositoryDamaged as error:
        if not soundness.lost_branch(repo):
            raise
        told = "memsync doctor --fix goes back to the last commit that memsync saw"
        return Check("branch", "failed", str(error.facts["detail"]), told, True)
    if state.problem:
        return Check("branch", "attention", state.problem, "finish or leave that with git")
    return Check("branch", "ok", state.branch or "")


def _git_index(repo: MemoryRepo) -> Check:
    fault = soundness.index_fault(repo)
    if fault:
        told = "memsync doctor --fix makes it anew from the last commit"
        return Check("git-index", "failed", fault, told, True)
    return Check("git-index", "ok", "it can be read")


def _objects(repo: MemoryRepo) -> Check:
    found = soundness.object_faults(repo)
    if found:
        return _damaged("git-objects", errors.listed(found, 5))
    return Check("git-objects", "ok", "git fsck finds nothing wrong")


def _locks(store: Store) -> Check:
    found = soundness.standing_locks(store.repo, lambda: store.environment.now_ns() / 1e9)
    left = [f"{lock.path} ({lock.seconds} s)" for lock in found if lock.is_left_behind]
    if left:
        told = "the next write that meets it removes it"
        return Check("git-locks", "attention", errors.listed(left), told)
    return Check("git-locks", "ok", errors.listed([lock.path for lock in found]) or "none")


def _sparse(repo: MemoryRepo) -> Check:
    if repo.is_sparse():
        told = "deleted files are not taken for forgotten ones here"
        return Check("sparse-checkout", "attention", "on", told)
    return Check("sparse-checkout", "ok", "off")


def _driver(store: Store) -> Check:
    lacking = driver.lacking(store.repo, store.environment.program)
    if lacking:
        told = "memsync doctor --fix sets it"
        return Check("merge-driver", "attention", f"lacks {errors.listed(lacking)}", told, True)
    return Check("merge-driver", "ok", "git merges memories by meaning")


def _shipped(store: Store, name: str) -> Check:
    lines = _missing_lines(store, name)
    if lines:
        return Check(name, "attention", f"lacks {lines[0]}", "memsync doctor --fix adds it", True)
    return Check(name, "ok", "complete")


def _missing_lines(store: Store, name: str) -> list[str]:
    """The lines of a shipped file that the repository's own file lacks."""
    current = files.read_if_there(os.path.join(store.reader.home, name)) or b""
    has = set(current.decode("utf-8", "replace").splitlines())
    wanted = [
        line for line in resources.text(_SHIPPED[name]).splitlines() if line and line[0] != "#"
    ]
    return [line for line in wanted if line not in has]


def _index(reader: Reader) -> Check:
    """Compare the index with one that is built anew from the files."""
    fresh = Index.in_memory()
    try:
        scan(reader.home, reader.repo, fresh, reader.now_ns)
        same = [*fresh.content()] == [*reader.index.content()]
    except (Damaged, errors.MemsyncError) as error:
        return Check("index", "failed", str(error), "memsync doctor --fix rebuilds it", True)
    finally:
        fresh.close()
    if not same:
        told = "it differs from the files"
        return Check("index", "attention", told, "memsync doctor --fix rebuilds it", True)
    return Check("index", "ok", f"{reader.index.count()} indexed, equal to the files")


def _files(reader: Reader) -> Check:
    broken = [p for p in lint(reader) if p.level == "error"]
    if broken:
        places = [f"{p.path}:{p.line}" if p.line else p.path for p in broken]
        where = [f"{place} [{p.code}]" for place, p in zip(places, broken, strict=True)]
        told = "mend them; memsync lint says what is wrong"
        return Check("files", "attention", errors.listed(where), told)
    return Check("files", "ok", "all can be read")


def _unfinished(store: Store) -> Check:
    left = purging.pending(Effects(store.repo))
    if left:
        return Check("purge", "attention", ", ".join(left), "the next write finishes it")
    if store.effects.pending():
        return Check("crash", "attention", "an interrupted change", "the next write finishes it")
    return Check("crash", "ok", "nothing is unfinished")


def _graph(repo: MemoryRepo) -> Check:
    if repo.has_commit_graph():
        return Check("commit-graph", "ok", "present")
    return Check("commit-graph", "ok", "not yet needed")
