"""A process that is killed at any moment: the next command heals, and nothing is lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from memsync import errors
from memsync.contract.changes import CorrectInput
from memsync.contract.memories import ManageQuery
from tests.conftest import Memory
from tests.disturbed import acts_of, copy_of, killed_at, quick_folder
from tests.operations import (
    IDS,
    OPERATIONS,
    Steady,
    assert_whole,
    at,
    by_hand,
    committed,
    later,
    make_template,
    real_git,
    texts,
    wrapped_git,
)


@pytest.fixture(scope="module")
def quick() -> Iterator[Path]:
    with quick_folder() as folder:
        yield folder


@pytest.fixture(scope="module")
def template(quick: Path) -> Path:
    return make_template(quick / "template")


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
            by_hand(memory)
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


def test_a_folder_in_the_place_of_a_file_does_not_stop_an_undo(template: Path, place: Path) -> None:
    copy_of(template, place)
    memory = at(place)
    entry = memory.provider().query(ManageQuery()).records[0]
    path = memory.home / entry.path
    script = f'rm "{path}"; mkdir "{path}"; touch "{path}/mine"; exit 1'
    wrapped_git(memory, COMMITTING.format(script))
    with pytest.raises(errors.GitFailed):
        memory.provider().apply(CorrectInput(entry.record.id, "another text"))
    assert (path / "mine").exists()
    assert not (memory.home / ".git/memsync/intent").exists()
    assert not (memory.home / ".git/memsync/undo").exists()
    real_git(memory)
    OPERATIONS["remember"](memory)
    assert (path / "mine").exists()


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


def test_a_command_that_is_stopped_after_its_commit_landed_leaves_the_change_whole(
    template: Path, place: Path
) -> None:
    """Ctrl-C while git is still busy with what follows the commit."""
    copy_of(template, place)
    memory = at(place)
    wrapped_git(memory, COMMITTING.format('"$real" "$@"; sleep 20'))
    before = memory.commits()
    command = [sys.executable, "-m", "memsync", "remember", "Stopped late", "--scope", "global"]
    process = subprocess.Popen(command, cwd=place, env=memory.variables, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 30
    while memory.commits() == before and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=30)
    assert process.returncode == 5, told
    assert (memory.home / "global/stopped-late.md").exists()
    real_git(memory)
    assert memory.git("status", "--porcelain") == ""
    later(memory)
    assert ("Stopped late", "") in texts(memory)
    assert_whole(memory)


def test_a_command_that_is_stopped_before_its_commit_changes_nothing(
    template: Path, place: Path, snapshot: Callable[[Path], dict[str, bytes]]
) -> None:
    copy_of(template, place)
    memory = at(place)
    before, index = snapshot(memory.home), _staged(memory)
    mark = memory.root / "committing"
    wrapped_git(memory, COMMITTING.format(f"touch {mark}; sleep 20"))
    command = [sys.executable, "-m", "memsync", "forget", IDS["tabs"]]
    process = subprocess.Popen(command, cwd=place, env=memory.variables, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 30
    while not mark.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=30)
    assert process.returncode == 5, told
    assert snapshot(memory.home) == before
    assert _staged(memory) == index
    real_git(memory)
    later(memory)
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
