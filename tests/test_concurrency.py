"""Many processes at once on one memory: none is lost, and who must wait says so."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from memsync import errors, files
from memsync.contract.changes import CorrectInput, ForgetInput, RememberInput
from memsync.contract.memories import HistoryQuery, ManageQuery, SearchQuery
from memsync.errors import Exit
from memsync.providers.local import LocalProvider
from memsync.record import Scope
from tests.conftest import Memory, make_project
from tests.disturbed import acts_of, copy_of, meanwhile, quick_folder
from tests.operations import OPERATIONS, Steady, assert_whole, at, make_template


def start(memory: Memory, *arguments: str, folder: Path | None = None) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "memsync", *arguments],
        cwd=folder or memory.root,
        env=memory.variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def ended(processes: list[subprocess.Popen[bytes]]) -> list[tuple[int, str]]:
    """The exit status of each, and what it said."""
    found = []
    for process in processes:
        out, err = process.communicate(timeout=120)
        found.append((process.returncode, (out + err).decode()))
    return found


def test_ten_processes_that_remember_at_once_make_ten_records_and_ten_commits(
    memory: Memory,
) -> None:
    before = memory.commits()
    texts = [f"Thought number {number}" for number in range(10)]
    done = ended([start(memory, "remember", text, "--scope", "global") for text in texts])
    assert [status for status, _ in done] == [0] * 10, done
    assert memory.commits() == before + 10
    kept = {entry.record.title for entry in memory.provider().query(ManageQuery()).records}
    assert kept == set(texts)
    assert_whole(memory)


def test_ten_processes_that_remember_the_same_make_ten_files(memory: Memory) -> None:
    done = ended([start(memory, "remember", "The same", "--scope", "global") for _ in range(10)])
    assert [status for status, _ in done] == [0] * 10, done
    records = memory.provider().query(ManageQuery()).records
    assert len({entry.path for entry in records}) == len({e.record.id for e in records}) == 10
    assert_whole(memory)


def test_ten_processes_in_one_new_project_without_remotes_agree_on_its_key(memory: Memory) -> None:
    folder = make_project(memory, "plain")
    texts = [f"Thought number {number}" for number in range(10)]
    done = ended([start(memory, "remember", text, folder=folder) for text in texts])
    assert [status for status, _ in done] == [0] * 10, done
    records = memory.provider().query(ManageQuery()).records
    keys = {entry.record.project_key for entry in records}
    assert len(records) == 10
    assert len(keys) == 1
    bound = memory.git("config", "memsync.project", folder=folder)
    assert keys == {bound}
    assert [p.name for p in (memory.home / "projects").iterdir()] == [bound]
    assert_whole(memory)


def test_twenty_searches_and_five_saves_at_once_all_succeed(memory: Memory) -> None:
    for number in range(5):
        memory.write(f"global/n{number}.md", f"# Note {number}\n\nabout tabs\n")
    memory.store().ingest()
    saving = threading.Event()

    def save() -> None:
        """A person whose editor saves all the while."""
        rounds = 0
        while not saving.is_set():
            rounds += 1
            path = memory.home / f"global/n{rounds % 5}.md"
            beside = path.with_suffix(".tmp")
            beside.write_text(path.read_text() + f"line {rounds}\n")
            beside.replace(path)
            time.sleep(0.002)

    editor = threading.Thread(target=save)
    editor.start()
    try:
        searches = [start(memory, "search", "tabs", "--json") for _ in range(20)]
        saves = [start(memory, "remember", f"Saved {n}", "--scope", "global") for n in range(5)]
        done = ended([*searches, *saves])
    finally:
        saving.set()
        editor.join()
    assert [status for status, _ in done] == [0] * 25, [text for status, text in done if status]
    titles = {entry.record.title for entry in memory.provider().query(ManageQuery()).records}
    assert titles >= {f"Saved {n}" for n in range(5)}
    memory.store().ingest()
    assert_whole(memory)


def test_no_save_is_lost_that_comes_while_memsync_writes(memory: Memory) -> None:
    """An editor saves the very record that is corrected, forgotten and taken in."""
    entry = memory.remember("Prefer tabs\nbody")
    path = memory.home / entry.path
    stop = threading.Event()
    saved: list[str] = []

    def save() -> None:
        while not stop.is_set():
            time.sleep(0.1)
            if not path.exists():
                continue
            beside = path.with_suffix(".tmp")
            word = f"saved{len(saved):04}"
            try:
                beside.write_text(path.read_text() + word + "\n")
            except FileNotFoundError:
                continue
            if path.exists():
                beside.replace(path)
                saved.append(word)

    editor = threading.Thread(target=save)
    editor.start()
    done = 0
    try:
        for number in range(200):
            if done > 2 and len(saved) > 8:
                break
            try:
                wanted = CorrectInput(entry.record.id, f"machine{number:03}", title="Prefer tabs")
                memory.provider().apply(wanted)
                done += 1
            except errors.RevisionMoved:
                continue
    finally:
        stop.set()
        editor.join()
    memory.store().ingest()
    assert done > 2
    assert len(saved) > 5
    # The last text of the person stands or was replaced by a machine that had seen it.
    everything = memory.git("log", "-p", "--format=")
    lost = [word for word in saved if word not in everything]
    # A word may be missing only where the next save of the same editor came before a commit.
    followed = {word: saved[i + 1] for i, word in enumerate(saved[:-1])}
    assert saved[-1] in everything
    assert all(word in followed for word in lost)
    assert_whole(memory)


@pytest.fixture(scope="module")
def quick() -> Iterator[Path]:
    with quick_folder() as folder:
        make_template(folder / "template")
        yield folder


@pytest.mark.parametrize("name", ["correct", "forget", "by hand"])
def test_a_save_at_any_moment_of_a_write_is_not_lost(quick: Path, name: str) -> None:
    template, place = quick / "template", quick / "machine"

    def begun() -> Steady:
        copy_of(template, place)
        memory = at(place)
        if name == "by hand":
            memory.write("global/tabs.md", memory.read("global/tabs.md") + "first save\n")
        return memory

    def act(memory: Memory) -> object:
        return memory.store().ingest() if name == "by hand" else OPERATIONS[name](memory)

    def save() -> None:
        path = place / "memory/global/tabs.md"
        text = path.read_text() if path.exists() else "gone already\n"
        beside = place / "saved.tmp"
        beside.write_text(text + "saved meanwhile\n")
        path.parent.mkdir(exist_ok=True)
        beside.replace(path)

    memory = begun()
    acts = acts_of(place, partial(act, memory))
    codes = set()
    # The last look at the file and the act that replaces it are two steps of the system: a save
    # exactly between the two is the one that cannot be seen.
    replacing = ("intent/0.new", "global/tabs.md", "intent/1.new")
    for number, done in enumerate(acts, 1):
        if done.endswith(replacing) and not done.startswith("os.link"):
            continue
        memory = begun()
        codes.add(meanwhile(place, number, save, partial(act, memory)))
        memory.seed = 3
        memory.store().ingest()
        path = memory.home / "global/tabs.md"
        here = path.read_text() if path.exists() else ""
        assert "saved meanwhile" in here + memory.git("log", "-p", "--format="), done
        assert_whole(memory)
    assert codes <= {"", "revision-moved"}


def test_a_person_who_commits_with_git_meanwhile_loses_nothing(memory: Memory) -> None:
    stop = threading.Event()
    made: list[str] = []

    def commit() -> None:
        while not stop.is_set():
            name = f"notes-{len(made)}.txt"
            memory.write(name, "mine")
            for arguments in (("add", name), ("commit", "-q", "-m", name, "--", name)):
                done = subprocess.run(
                    ["git", *arguments],
                    cwd=memory.home,
                    env=memory.variables,
                    capture_output=True,
                )
                if done.returncode:
                    break
            else:
                made.append(name)
            time.sleep(0.01)

    person = threading.Thread(target=commit)
    person.start()
    try:
        for number in range(8):
            memory.remember(f"Thought number {number}")
    finally:
        stop.set()
        person.join()
    tracked = memory.git("ls-tree", "-r", "--name-only", "HEAD").splitlines()
    assert len(made) > 3
    assert set(made) <= set(tracked)
    assert sum(path.startswith("global/") for path in tracked) == 8
    memory.git("log", "--format=%s")
    assert memory.git("fsck", "--strict", "--no-dangling") == ""


def test_a_lock_that_is_held_is_told_within_the_time_that_was_given(memory: Memory) -> None:
    before = memory.commits()
    provider = LocalProvider(str(memory.home), memory.environment, lock_seconds=0.2)
    with files.lock(str(memory.home / ".git/memsync/lock"), 1.0, "process 1: a test\n"):
        begun = time.monotonic()
        with pytest.raises(errors.Locked) as caught:
            provider.apply(RememberInput("Prefer tabs", scope=Scope.GLOBAL))
        assert 0.2 <= time.monotonic() - begun < 5
        assert provider.query(ManageQuery()).records == ()
    assert caught.value.exit_status is Exit.BUSY
    assert caught.value.facts["holder"] == "process 1: a test"
    assert memory.commits() == before
    provider.apply(RememberInput("Prefer tabs", scope=Scope.GLOBAL))


def test_a_reader_that_is_open_sees_what_others_change(memory: Memory) -> None:
    provider = memory.provider()
    assert provider.query(ManageQuery()).records == ()
    entry = memory.remember("Prefer tabs")
    assert [e.record.id for e in provider.query(SearchQuery("tabs")).records] == [entry.record.id]
    memory.provider().apply(ForgetInput(entry.record.id))
    assert provider.query(SearchQuery("tabs")).records == ()
    assert provider.query(HistoryQuery(entry.record.id)).revisions
    os.replace(memory.home / ".git/memsync/index.sqlite", memory.root / "taken-away")
    memory.remember("Prefer spaces")
    assert len(provider.query(ManageQuery()).records) == 1
