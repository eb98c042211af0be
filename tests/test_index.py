"""The index is derived: whatever happens to it, the next command has it right again."""

from __future__ import annotations

import os
import random
import sqlite3
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from memsync.contract.changes import ForgetInput
from memsync.contract.memories import ManageQuery, SearchQuery
from memsync.index import Index
from memsync.store.reading import Reader
from memsync.store.scan import scan
from tests.conftest import Memory
from tests.disturbed import as_mortal
from tests.operations import assert_index_is_right

# --- what happens to the file -------------------------------------------------------------


def at(memory: Memory) -> Path:
    return memory.home / ".git/memsync/index.sqlite"


def _delete(memory: Memory) -> None:
    for path in at(memory).parent.glob("index.sqlite*"):
        path.unlink()


def _delete_only_the_log(memory: Memory) -> None:
    for path in at(memory).parent.glob("index.sqlite-*"):
        path.unlink()


def _truncate(memory: Memory) -> None:
    os.truncate(at(memory), at(memory).stat().st_size // 2 + 17)


def _truncate_to_nothing(memory: Memory) -> None:
    os.truncate(at(memory), 0)


def _garbage(memory: Memory) -> None:
    at(memory).write_bytes(b"no database at all\n" * 500)


def _garbage_inside(memory: Memory) -> None:
    """The head of the file is good, and pages further on are not."""
    raw = bytearray(at(memory).read_bytes())
    raw[8192:-4096] = b"\x5a" * (len(raw) - 12288)
    at(memory).write_bytes(raw)


def _other_version(memory: Memory) -> None:
    with sqlite3.connect(at(memory)) as connection:
        connection.execute("UPDATE meta SET value = 'of another time' WHERE name = 'version'")
    connection.close()


def _other_tables(memory: Memory) -> None:
    _delete(memory)
    with sqlite3.connect(at(memory)) as connection:
        connection.execute("CREATE TABLE meta (name TEXT, value TEXT)")
        connection.execute("CREATE TABLE words (something TEXT)")
    connection.close()


def _words_lost(memory: Memory) -> None:
    """The index can be opened and listed, and only a search meets the damage."""
    with sqlite3.connect(at(memory)) as connection:
        connection.execute("UPDATE words_data SET block = x'00ff' WHERE id > 10")
    connection.close()


def _a_folder(memory: Memory) -> None:
    _delete(memory)
    at(memory).mkdir()


DAMAGE = (
    _delete,
    _delete_only_the_log,
    _truncate,
    _truncate_to_nothing,
    _garbage,
    _garbage_inside,
    _other_version,
    _other_tables,
    _words_lost,
)


def checkpoint(memory: Memory) -> None:
    """Bring all of the index into its one file."""
    connection = sqlite3.connect(at(memory))
    connection.execute("PRAGMA wal_checkpoint (TRUNCATE)")
    connection.close()


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("first", ["read", "write"])
def test_a_damaged_index_is_built_anew(
    memory: Memory, damage: Callable[[Memory], None], first: str
) -> None:
    for number in range(30):
        memory.write(f"global/n{number}.md", f"# Note {number}\n\nabout tabs {number}\n" * 5)
    memory.store().ingest()
    checkpoint(memory)
    damage(memory)
    if first == "write":
        memory.remember("Something else")
    assert len(memory.provider().query(SearchQuery("tabs", limit=50)).records) == 30
    assert len(memory.provider().query(ManageQuery()).records) == 30 + (first == "write")
    assert memory.run("list").returncode == 0
    memory.remember("And another")
    assert_index_is_right(memory)


def test_an_index_that_cannot_be_a_file_leaves_all_commands_working(memory: Memory) -> None:
    memory.remember("Prefer tabs")
    _a_folder(memory)
    assert len(memory.provider().query(SearchQuery("tabs")).records) == 1
    memory.remember("Prefer spaces")
    assert len(memory.provider().query(ManageQuery()).records) == 2


@pytest.mark.parametrize("damage", DAMAGE)
def test_an_index_that_is_damaged_while_it_is_open_is_noticed(
    memory: Memory, damage: Callable[[Memory], None]
) -> None:
    for number in range(30):
        memory.write(f"global/n{number}.md", f"# Note {number}\n\nabout tabs {number}\n" * 5)
    provider = memory.provider()
    assert len(provider.query(ManageQuery()).records) == 30
    checkpoint(memory)
    damage(memory)
    memory.write("global/one-more.md", "# Note 31\n\nabout tabs\n")
    assert len(provider.query(ManageQuery()).records) == 31
    assert len(provider.query(SearchQuery("tabs", limit=50)).records) == 31
    provider.close()
    assert len(memory.provider().query(ManageQuery()).records) == 31


def test_what_was_forgotten_is_not_in_the_bytes_of_the_index(memory: Memory) -> None:
    entry = memory.remember("Zanzibarpass\nquokkahabits are secret")
    memory.remember("Something else")

    def bytes_of_the_index() -> bytes:
        return b"".join(path.read_bytes() for path in at(memory).parent.glob("index.sqlite*"))

    assert b"quokkahabit" in bytes_of_the_index()
    memory.provider().apply(ForgetInput(entry.record.id))
    assert b"quokkahabit" not in bytes_of_the_index()
    assert b"Zanzibarpass" not in bytes_of_the_index()


# --- changes of files that are hard to notice ---------------------------------------------


def test_an_edit_of_the_same_size_within_the_same_tick_is_found(memory: Memory) -> None:
    path = memory.write("global/a.md", "first words\n")
    info = path.stat()
    provider = memory.provider()
    assert provider.query(ManageQuery()).records[0].record.title == "first words"
    path.write_bytes(b"other words\n")
    os.utime(path, ns=(info.st_atime_ns, info.st_mtime_ns))
    assert path.stat().st_ino == info.st_ino
    assert len(provider.query(SearchQuery("other")).records) == 1
    assert provider.query(SearchQuery("first")).records == ()


@pytest.mark.parametrize("kind", ["edit", "rename over", "move in", "touch and delete"])
def test_three_saves_in_a_row_are_found_each_time(memory: Memory, kind: str) -> None:
    path = memory.write("global/a.md", "---\nid: m-0000000000000001\n---\nwords 0\n")
    provider = memory.provider()
    provider.query(ManageQuery())
    for number in range(1, 4):
        text = f"---\nid: m-0000000000000001\n---\nwords {number}\n"
        if kind == "edit":
            path.write_text(text)
        elif kind == "rename over":
            beside = path.with_name("4913")
            beside.write_text(text)
            beside.replace(path)
        elif kind == "move in":
            other = memory.root / "elsewhere.md"
            other.write_text(text)
            os.utime(other, ns=(1_600_000_000_000_000_000, 1_600_000_000_000_000_000))
            path.unlink()
            other.rename(path)
        else:
            (memory.home / "global/b.md").write_text("short life")
            (memory.home / "global/b.md").unlink()
            path.write_text(text)
        (entry,) = provider.query(ManageQuery()).records
        assert (entry.record.id, entry.record.body) == ("m-0000000000000001", f"words {number}")


def test_a_folder_that_cannot_be_read_is_told_and_forgets_nothing(memory: Memory) -> None:
    inside = memory.write("projects/web/a.md", "inside\n")
    memory.write("global/b.md", "outside\n")
    memory.store().ingest()
    inside.parent.chmod(0)
    try:
        done = as_mortal(memory, "list")
        assert done.returncode == 0, done.stderr
        assert "outside" in done.stdout.decode()
        status = as_mortal(memory, "status")
        assert "projects/web" in status.stdout.decode()
        assert status.returncode == 4
        done = as_mortal(memory, "remember", "meanwhile", "--scope", "global")
        assert done.returncode == 0, done.stderr
    finally:
        inside.parent.chmod(0o755)
    listing = memory.provider().query(ManageQuery())
    assert {e.record.title for e in listing.records} == {"inside", "outside", "meanwhile"}
    assert memory.provider().query(ManageQuery(forgotten=True)).forgotten == ()
    assert memory.git("status", "--porcelain") == ""


# --- grown step by step, it says the same as built at once ---------------------------------


class Hands:
    """Does random things to the files of a memory, and counts what it did."""

    def __init__(self, memory: Memory, seed: int) -> None:
        self.memory = memory
        self.random = random.Random(seed)  # noqa: S311 - it has to repeat
        self.reached: Counter[str] = Counter()
        self.made = 0

    def files(self) -> list[Path]:
        tops = [self.memory.home / top for top in ("global", "projects", "candidates")]
        found = [p for top in tops for p in top.rglob("*.md") if p.is_file() or p.is_symlink()]
        return sorted(found)

    def place(self) -> Path:
        self.made += 1
        folder = self.random.choice(("global", "global/sub", "projects/web", "projects/api/deep"))
        path = self.memory.home / folder / f"r{self.random.randrange(30)}-{self.made}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def text(self) -> str:
        number = self.random.randrange(6)
        words = " ".join(self.random.choices(("tabs", "spaces", "测试", "pnpm"), k=3))
        heads = (
            "",
            f"id: m-{number:016}\n",
            f"id: m-{number:016}\nepoch: {number % 3}\n",
            f"title: T{number}\ntags: [a, b]\n",
            "lifecycle: maybe\n",
            "conflict:\n  - field: body\n    text: other\n",
        )
        head = self.random.choice(heads)
        return f"---\n{head}---\n{words}\n" if head else f"# {words}\n\n{words}\n"

    def act(self) -> str:
        acts: list[Callable[[Path], None]] = [self.edit, self.move, self.copy, self.delete]
        acts += [self.break_it, self.link, self.swap]
        present = self.files()
        if not present or self.random.random() < 0.3:
            self.place().write_text(self.text())
            return self.done("create")
        if self.random.random() < 0.12:
            return self.elsewhere()
        act = self.random.choice(acts)
        act(self.random.choice(present))
        return self.done(act.__name__)

    def done(self, name: str) -> str:
        self.reached[name] += 1
        return name

    def edit(self, path: Path) -> None:
        path.unlink()
        path.write_text(self.text())

    def move(self, path: Path) -> None:
        path.rename(self.place())

    def copy(self, path: Path) -> None:
        self.place().write_bytes(path.read_bytes() if path.exists() else b"")

    def delete(self, path: Path) -> None:
        path.unlink()

    def break_it(self, path: Path) -> None:
        path.unlink()
        path.write_text("---\ntitle: [\n---\n")

    def link(self, path: Path) -> None:
        path.unlink()
        path.symlink_to(self.memory.root / "outside.md")

    def swap(self, path: Path) -> None:
        other = self.random.choice(self.files())
        beside = path.with_suffix(".tmp")
        path.rename(beside)
        if other != path:
            other.rename(path)
        beside.rename(other)

    def elsewhere(self) -> str:
        """Tombstones, projects, whole folders, and taking in."""
        home = self.memory.home
        number = self.random.randrange(6)
        kind = self.random.choice(("mark", "unmark", "project", "folder", "ingest", "settings"))
        mark = home / f"tombstones/m-{number:016}.md"
        if kind == "mark":
            mark.parent.mkdir(exist_ok=True)
            head = f"id: m-{number:016}\nscope: global\nepoch: {number % 3}\nreason: user-forget\n"
            mark.write_text(f"---\n{head}forgottenAt: 2026-01-01T00:00:00Z\n---\n")
        elif kind == "unmark":
            mark.unlink(missing_ok=True)
        elif kind == "project":
            (home / "projects/web").mkdir(parents=True, exist_ok=True)
            (home / "projects/web/project.yaml").write_text(f"name: Web {number}\n")
        elif kind == "folder" and (home / "projects/api").is_dir():
            (home / "projects/api").rename(home / f"projects/api-{self.made}")
        elif kind == "ingest":
            self.memory.store().ingest()
        elif kind == "settings":
            (home / "memsync.yaml").write_text(f"format: 1\nlanguage: {'en' if number else 'fr'}\n")
        return self.done(kind)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_an_index_grown_step_by_step_says_the_same_as_one_built_at_once(
    memory: Memory, seed: int
) -> None:
    (memory.root / "outside.md").write_text("outside\n")
    hands = Hands(memory, seed)
    store = memory.store()
    reader: Reader = store.reader
    steps = []
    for number in range(90):
        steps.append(hands.act())
        if hands.random.random() < 0.25:
            continue  # several changes between two looks
        reader.refresh()
        fresh = Index.in_memory()
        seen = scan(str(memory.home), store.repo, fresh, reader.now_ns)
        assert [*reader.index.content()] == [*fresh.content()], (number, steps[-4:])
        assert reader.index.meta()["settings"] == fresh.meta()["settings"]
        assert (reader.seen.problems, reader.seen.blind) == (seen.problems, seen.blind)
        fresh.close()
    assert sum(hands.reached.values()) == 90
    assert len(hands.reached) >= 10, hands.reached
