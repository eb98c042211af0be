"""A process that is killed at any moment: the next command heals, and nothing is lost."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from memsync import errors
from memsync.config import Environment
from memsync.contract.requests import (
    CorrectInput,
    ForgetInput,
    ManageQuery,
    PauseInput,
    ProjectRef,
    RememberInput,
    ResolveInput,
    RollbackInput,
    SearchQuery,
)
from memsync.index import Index
from memsync.record import MemoryType, Scope
from memsync.store.scan import scan
from tests.conftest import START, Memory, make_project, variables_for
from tests.disturbed import acts_of, copy_of, killed_at, quick_folder

IDS = {name: f"m-{n:0>16}" for n, name in enumerate(("tabs", "trial", "open", "gone"))}


@dataclass
class Steady(Memory):
    """A machine whose randomness repeats, so that two runs make the same files."""

    seed: int = 1

    @property
    def environment(self) -> Environment:
        entropy = random.Random(self.seed).randbytes  # noqa: S311 - it has to repeat
        return Environment(self.variables, self.clock, time.time_ns, entropy, os.getpid())


def at(root: Path) -> Steady:
    return Steady(root, variables_for(root))


def written(name: str, *keys: str, body: str) -> str:
    stamp = "2026-11-01T08:00:00Z"
    lines = [f"id: {IDS[name]}", *keys, f"created: {stamp}", f"updated: {stamp}"]
    return "---\n" + "\n".join(lines) + f"\n---\n{body}\n"


@pytest.fixture(scope="module")
def quick() -> Iterator[Path]:
    with quick_folder() as folder:
        yield folder


@pytest.fixture(scope="module")
def template(quick: Path) -> Path:
    """A memory with something of every kind, everything committed."""
    root = quick / "template"
    root.mkdir()
    (root / ".gitconfig").write_text("[user]\n\tname = Mona\n\temail = mona@example.invalid\n")
    memory = at(root)
    memory.begin()
    make_project(memory, "plain")
    memory.write("global/tabs.md", written("tabs", "title: Prefer tabs", body="first"))
    inferred = ("title: Runs lint first", "authority: inferred", "lifecycle: trial")
    memory.write("projects/other/trial.md", written("trial", *inferred, body="seen twice"))
    conflict = ("conflict:", "  - field: body", "    text: the other text")
    memory.write("global/open.md", written("open", "title: Open", *conflict, body="one text"))
    memory.write("global/gone.md", written("gone", "title: Old habit", body="no longer"))
    memory.store().ingest()
    memory.clock.now = START.replace(hour=13)
    memory.provider().apply(CorrectInput(IDS["tabs"], "second", title="Prefer tabs"))
    memory.provider().apply(ForgetInput(IDS["gone"]))
    for sample in (memory.home / ".git/hooks").glob("*.sample"):
        sample.unlink()
    memory.git("repack", "-a", "-d", "-q")
    assert memory.git("status", "--porcelain") == ""
    return root


def _by_hand(memory: Memory) -> None:
    """Edits of every kind that a command then takes in."""
    memory.write("global/new.md", "# A new thought\n\nwritten by hand\n")
    path = memory.home / "projects/other/trial.md"
    path.write_text(path.read_text().replace("seen twice", "seen often"))
    (memory.home / "global/tabs.md").unlink()


Operation = Callable[[Memory], object]
PROFILE = MemoryType.CORE_PROFILE
OPERATIONS: dict[str, Operation] = {
    "remember": lambda m: m.provider().apply(
        RememberInput("A fact\nabout me", scope=Scope.GLOBAL, memory_type=PROFILE)
    ),
    "remember in a new project": lambda m: m.provider().apply(
        RememberInput("Use pnpm", ProjectRef(path=str(m.root / "plain")))
    ),
    "correct": lambda m: m.provider().apply(CorrectInput(IDS["tabs"], "third")),
    "supersede": lambda m: m.provider().apply(CorrectInput(IDS["tabs"], "new", supersede=True)),
    "forget": lambda m: m.provider().apply(ForgetInput(IDS["tabs"])),
    "rollback of a version": lambda m: m.provider().apply(RollbackInput(IDS["tabs"])),
    "rollback of a forget": lambda m: m.provider().apply(RollbackInput(IDS["gone"])),
    "resolve": lambda m: m.provider().apply(ResolveInput(IDS["open"], take=1)),
    "pause": lambda m: m.provider().apply(PauseInput(id=IDS["tabs"])),
    "take in hand edits": lambda m: m.store().ingest(),
}


def later(memory: Steady) -> None:
    """A different change, made after the crash."""
    memory.seed = 2
    memory.provider().apply(RememberInput("A later thought", scope=Scope.GLOBAL))


def committed(memory: Memory, *but: str) -> dict[str, str]:
    """path -> blob of HEAD."""
    lines = memory.git("ls-tree", "-r", "HEAD").splitlines()
    found = {line.split("\t")[1]: line.split("\t")[0] for line in lines}
    return {path: blob for path, blob in found.items() if path not in but}


def texts(memory: Memory) -> set[tuple[str, str]]:
    provider = memory.provider()
    listing = provider.query(ManageQuery())
    assert provider.query(SearchQuery("habit thought open")).records
    provider.close()
    return {(entry.record.title, entry.record.body) for entry in listing.records}


def assert_whole(memory: Memory) -> None:
    """Git has nothing to complain of or to commit, nothing is left over, the index is right."""
    done = subprocess.run(
        ["git", "fsck", "--strict", "--no-dangling"],
        cwd=memory.home,
        env=memory.variables,
        capture_output=True,
    )
    assert done.returncode == 0, done.stderr
    assert memory.git("status", "--porcelain") == ""
    left = {path.name for path in (memory.home / ".git/memsync").iterdir()}
    assert not left & {"intent", "intent.new", "undo", "purge.json"}
    assert_index_is_right(memory)


def assert_index_is_right(memory: Memory) -> None:
    store = memory.store()
    store.reader.refresh()
    fresh = Index.in_memory()
    scan(str(memory.home), store.repo, fresh, store.reader.now_ns)
    assert [*store.reader.index.content()] == [*fresh.content()]
    store.reader.close()


@pytest.fixture
def place(quick: Path) -> Path:
    return quick / "machine"


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_kill_at_any_act_leaves_the_whole_change_or_none(
    template: Path, place: Path, name: str
) -> None:
    operation = OPERATIONS[name]

    def start() -> Steady:
        copy_of(template, place)
        memory = at(place)
        if name == "take in hand edits":
            _by_hand(memory)
        return memory

    memory = start()
    none = texts(memory)
    later(memory)
    allowed = [committed(memory)]
    memory = start()
    acts = acts_of(place, lambda: operation(memory))
    every = texts(memory)
    later(memory)
    allowed.append(committed(memory))
    assert len(acts) > 8
    reached = [0, 0]
    for number, act in enumerate(acts, 1):
        memory = start()
        assert killed_at(place, number, partial(operation, memory)), act
        seen = texts(memory)
        assert none & every <= seen <= none | every, act
        later(memory)
        result = committed(memory)
        assert result in allowed, act
        reached[allowed.index(result)] += 1
        assert_whole(memory)
    assert sum(reached) == len(acts)
    assert min(reached) > 3 or allowed[0] == allowed[1]


# --- git itself is killed ------------------------------------------------------------------


def wrapped_git(memory: Memory, script: str) -> None:
    """Put a program named ``git`` first on PATH: shell lines, then the real git."""
    folder = memory.root / "bin"
    folder.mkdir(exist_ok=True)
    real = shutil.which("git")
    (folder / "git").write_text(f'#!/bin/sh\nreal={real}\n{script}\nexec "$real" "$@"\n')
    (folder / "git").chmod(0o755)
    memory.variables["PATH"] = f"{folder}{os.pathsep}{os.environ['PATH']}"


def real_git(memory: Memory) -> None:
    memory.variables["PATH"] = os.environ["PATH"]


COMMITTING = 'case " $* " in *" commit "*) {} ;; esac'


def test_a_git_that_dies_at_the_commit_leaves_nothing_changed(
    template: Path, place: Path, snapshot: Callable[[Path], dict[str, bytes]]
) -> None:
    copy_of(template, place)
    memory = at(place)
    before, head, index = snapshot(memory.home), memory.git("rev-parse", "HEAD"), _staged(memory)
    wrapped_git(memory, COMMITTING.format("kill -9 $$"))
    for name in ("remember", "correct", "forget", "rollback of a forget"):
        with pytest.raises(errors.GitFailed):
            OPERATIONS[name](memory)
        assert snapshot(memory.home) == before, name
        assert memory.git("rev-parse", "HEAD") == head
        assert _staged(memory) == index
    real_git(memory)
    OPERATIONS["remember"](memory)
    assert_whole(memory)


def _staged(memory: Memory) -> str:
    return memory.git("ls-files", "--stage")


def test_a_commit_that_landed_before_git_died_counts(template: Path, place: Path) -> None:
    copy_of(template, place)
    memory = at(place)
    wrapped_git(memory, COMMITTING.format('"$real" "$@"; kill -9 $$'))
    before = memory.commits()
    for name in ("remember", "correct", "forget", "rollback of a forget"):
        OPERATIONS[name](memory)
        before += 1
        assert memory.commits() == before, name
    real_git(memory)
    assert_whole(memory)


def test_a_git_that_goes_on_after_memsync_was_killed_is_no_second_change(
    template: Path, place: Path
) -> None:
    copy_of(template, place)
    memory = at(place)
    # The shell is the child of memsync: it kills its parent and lives on.
    wrapped_git(memory, COMMITTING.format("kill -9 $PPID; sleep 0.3"))
    child = os.fork()
    if child == 0:
        OPERATIONS["forget"](memory)
        os._exit(0)
    assert os.WIFSIGNALED(os.waitpid(child, 0)[1])
    real_git(memory)
    later(memory)
    assert memory.git("log", "--format=%s", "-2").splitlines() == [
        "remember: A later thought",
        "forget: Prefer tabs",
    ]
    time.sleep(0.5)
    assert_whole(memory)


def test_a_lock_that_a_killed_git_left_is_removed_after_a_minute(
    template: Path, place: Path
) -> None:
    copy_of(template, place)
    memory = at(place)
    lock = memory.home / ".git/index.lock"
    lock.write_bytes(b"half")
    before = memory.commits()
    with pytest.raises(errors.GitLocked) as caught:
        later(memory)
    assert caught.value.facts["holder"] == "nobody"
    assert (memory.commits(), lock.exists()) == (before, True)
    old = time.time() - 120
    os.utime(lock, (old, old))
    with subprocess.Popen(["sleep", "60"], stdin=lock.open("rb")) as holder:
        with pytest.raises(errors.GitLocked) as caught:
            later(memory)
        assert caught.value.facts["holder"] == f"process {holder.pid} (sleep)"
        assert int(str(caught.value.facts["seconds"])) >= 120
        holder.kill()
    assert lock.exists()
    later(memory)
    assert not lock.exists()
    assert_whole(memory)


def test_what_a_person_saved_over_an_interrupted_change_stays(template: Path, place: Path) -> None:
    """The change was decided and not yet put; then the person edits or restores the file."""
    copy_of(template, place)
    memory = at(place)
    acts = acts_of(place, lambda: OPERATIONS["correct"](memory))
    decided = next(n for n, act in enumerate(acts, 1) if act.endswith("intent/0.new"))
    committing = acts.index("git commit") + 1
    path = memory.home / "global/tabs.md"
    original = (template / "memory/global/tabs.md").read_text()
    for number in (decided, committing):
        for text in (original.replace("second", "by hand"), original):
            copy_of(template, place)
            assert killed_at(place, number, lambda: OPERATIONS["correct"](memory))
            path.write_text(text)
            later(memory)
            by_hand = "by hand" in text
            assert ("by hand" in path.read_text()) == by_hand
            kept = [k.read_text() for k in (memory.home / ".git/memsync").glob("kept/*")]
            if number == decided:
                # What was about to be written is in the history, or kept aside.
                told = kept if by_hand else [memory.git("log", "-1", "-p", "HEAD~1")]
                assert ["third" in one for one in told] == [True]
            else:
                assert path.read_text() == original or by_hand
            assert_whole(memory)
