"""A disk that is full, a folder that cannot be written, a git that fails."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from memsync import errors
from tests.conftest import Memory
from tests.disturbed import acts_of, as_mortal, copy_of, failing_at, quick_folder
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
    wrapped_git,
)

Snapshot = Callable[[Path], dict[str, bytes]]
#: What the system may say, and the codes that a command may then end with.
REFUSALS = {
    errno.ENOSPC: {"disk-full", "cannot-read"},
    errno.EIO: {"cannot-write", "cannot-read"},
}


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


def state(memory: Memory, snapshot: Snapshot) -> list[object]:
    """All that a failed change must leave as it was."""
    return [
        snapshot(memory.home),
        memory.git("rev-parse", "HEAD"),
        memory.git("ls-files", "--stage"),
        memory.git("status", "--porcelain"),
    ]


def begun(template: Path, place: Path, name: str) -> Steady:
    copy_of(template, place)
    memory = at(place)
    if name == "take in hand edits":
        by_hand(memory)
    return memory


@pytest.mark.parametrize(
    ("name", "refusal"),
    [
        ("remember", errno.ENOSPC),
        ("take in hand edits", errno.ENOSPC),
        ("supersede", errno.EIO),
        ("forget", errno.EIO),
    ],
)
def test_an_act_that_is_refused_leaves_nothing_changed(
    template: Path, place: Path, snapshot: Snapshot, name: str, refusal: int
) -> None:
    operation = OPERATIONS[name]
    memory = begun(template, place, name)
    acts = acts_of(place, partial(operation, memory))
    every = committed(memory)
    refused = 0
    for number, act in enumerate(acts, 1):
        memory = begun(template, place, name)
        before = state(memory, snapshot)
        outcome = failing_at(place, range(number, number + 1), refusal, partial(operation, memory))
        if outcome.code:
            refused += 1
            assert outcome.code in REFUSALS[refusal], act
            assert outcome.exit_status == 1
            assert state(memory, snapshot) == before, act
            operation(memory)
        assert committed(memory) == every, act
    assert refused > 3
    later(memory)
    assert_whole(memory)


@pytest.mark.parametrize("name", ["supersede"])
def test_a_disk_that_stays_full_leaves_nothing_changed(
    template: Path, place: Path, snapshot: Snapshot, name: str
) -> None:
    operation = OPERATIONS[name]
    memory = begun(template, place, name)
    acts = acts_of(place, partial(operation, memory))
    later(memory)
    every = committed(memory)
    for number, act in enumerate(acts, 1):
        memory = begun(template, place, name)
        before = state(memory, snapshot)
        full = range(number, 10_000)
        outcome = failing_at(place, full, errno.ENOSPC, partial(operation, memory))
        if outcome.code:
            # Git could not be started to take the paths out of its index: the next write does it.
            assert state(memory, snapshot)[:2] == before[:2], act
            operation(memory)
        later(memory)
        assert committed(memory) == every, act
        assert_whole(memory)


def test_two_acts_that_are_refused_one_after_the_other_heal_with_the_next_write(
    template: Path, place: Path
) -> None:
    """The second refusal meets the undoing of the first."""
    operation = OPERATIONS["supersede"]
    memory = begun(template, place, "")
    later(memory)
    none = committed(memory)
    memory = begun(template, place, "")
    acts = acts_of(place, partial(operation, memory))
    later(memory)
    every = committed(memory)
    reached = set()
    for number, act in enumerate(acts, 1):
        memory = begun(template, place, "")
        both = range(number, number + 2)
        outcome = failing_at(place, both, errno.EIO, partial(operation, memory))
        later(memory)
        result = committed(memory)
        assert result in (none, every), act
        assert result == every or outcome.code, act
        reached.add((outcome.code, result == every))
        assert_whole(memory)
    assert reached >= {("", True), ("cannot-write", False)}


@pytest.mark.parametrize("verb", ["update-index", "commit"])
def test_a_git_that_finds_no_space_is_a_full_disk_and_changes_nothing(
    template: Path, place: Path, snapshot: Snapshot, verb: str
) -> None:
    memory = begun(template, place, "")
    before = state(memory, snapshot)
    said = "fatal: sha1 file write error: No space left on device"
    wrapped_git(memory, f'case " $* " in *" {verb} "*) echo "{said}" >&2; exit 128 ;; esac')
    for name in ("remember", "correct", "forget", "rollback of a forget"):
        with pytest.raises(errors.DiskFull):
            OPERATIONS[name](memory)
    real_git(memory)
    assert state(memory, snapshot) == before


# --- a real disk that is full, a real folder that cannot be written --------------------------


@contextlib.contextmanager
def mounted(folder: Path, *arguments: str) -> Iterator[None]:
    """Mount something over a folder; skips where this user may not."""
    done = subprocess.run(["mount", *arguments, str(folder)], capture_output=True)
    if done.returncode:
        pytest.skip("mounting is not allowed here")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_command_on_a_full_disk_changes_nothing_and_works_when_there_is_space(
    template: Path, tmp_path: Path, snapshot: Snapshot
) -> None:
    root = tmp_path / "disk"
    root.mkdir()
    with mounted(root, "-t", "tmpfs", "-o", "size=3m", "tmpfs"):
        shutil.copytree(template, root / "machine")
        memory = at(root / "machine")
        memory.remember("There is still space")
        before = state(memory, snapshot)
        filling = root / "filling"
        filling.touch()
        told = set()
        for left in (0, 4096, 12288, 28672, 61440):
            fill(filling, left)
            done = memory.run("remember", "No space for this", "--scope", "global", "--json")
            if done.returncode:
                told.add(json.loads(done.stderr.splitlines()[-1])["error"]["message"])
                listed = memory.run("list", "--json")
                assert listed.returncode == 0, listed.stderr
                assert "There is still space" in listed.stdout.decode()
                os.truncate(filling, 0)
                assert state(memory, snapshot) == before, left
            else:
                os.truncate(filling, 0)
                break
        assert {text.partition(" for ")[0] for text in told} == {"no space is left"}
        assert memory.run("remember", "Now there is", "--scope", "global").returncode == 0
        assert_whole(memory)


def fill(path: Path, left: int) -> None:
    """Write a file until only ``left`` bytes are free."""
    handle = os.open(path, os.O_WRONLY)
    with contextlib.suppress(OSError):
        while os.write(handle, b"0" * 4096):
            pass
    os.ftruncate(handle, max(os.fstat(handle).st_size - left, 0))
    os.close(handle)


READS: tuple[tuple[str, ...], ...] = (
    ("list",),
    ("search", "tabs"),
    ("status",),
    ("retrieve", "--task", "write code"),
    ("history", IDS["tabs"]),
    ("diff", IDS["tabs"]),
    ("show", IDS["tabs"]),
    ("tombstones",),
    ("lint",),
    ("doctor",),
)
WRITES: tuple[tuple[str, ...], ...] = (
    ("remember", "one more", "--scope", "global"),
    ("correct", IDS["tabs"], "another"),
    ("forget", IDS["tabs"]),
    ("rollback", IDS["gone"]),
    ("pause",),
)


@pytest.mark.parametrize("index", ["stale", "none"])
def test_on_a_read_only_disk_reads_work_and_writes_say_why(
    template: Path, tmp_path: Path, snapshot: Snapshot, index: str
) -> None:
    shutil.copytree(template, tmp_path / "machine")
    memory = at(tmp_path / "machine")
    if index != "none":
        memory.run("list")
    else:
        for path in (memory.home / ".git/memsync").glob("index.sqlite*"):
            path.unlink()
    if index == "stale":
        memory.write("global/unseen.md", "A thought that no index has seen\n")
    before = state(memory, snapshot)
    with mounted(memory.home, "--bind", str(memory.home)), read_only(memory.home):
        for arguments in READS if index == "stale" else READS[:2]:
            done = memory.run(*arguments)
            assert done.returncode in (0, 4), (arguments, done.stderr)
        assert ("no index has seen" in memory.run("list").stdout.decode()) == (index == "stale")
        for arguments in WRITES if index == "stale" else WRITES[:1]:
            done = memory.run(*arguments, "--json")
            assert done.returncode == 1, arguments
            assert json.loads(done.stderr)["error"]["code"] == "cannot-write"
    assert state(memory, snapshot) == before
    later(memory)


@contextlib.contextmanager
def read_only(folder: Path) -> Iterator[None]:
    subprocess.run(["mount", "-o", "remount,bind,ro", str(folder)], check=True)
    yield


def test_in_a_folder_without_write_permission_reads_work_and_writes_say_why(
    template: Path, tmp_path: Path, snapshot: Snapshot
) -> None:
    shutil.copytree(template, tmp_path / "machine")
    memory = at(tmp_path / "machine")
    memory.run("list")
    before = state(memory, snapshot)
    subprocess.run(["chmod", "-R", "a-w", str(memory.home)], check=True)
    try:
        for arguments in READS[:4]:
            done = as_mortal(memory, *arguments)
            assert done.returncode in (0, 4), (arguments, done.stderr)
        for arguments in WRITES[:2]:
            done = as_mortal(memory, *arguments, "--json")
            assert done.returncode == 1, arguments
            assert json.loads(done.stderr)["error"]["code"] == "cannot-write"
    finally:
        subprocess.run(["chmod", "-R", "u+w", str(memory.home)], check=True)
    assert state(memory, snapshot) == before
