"""The whole memory as a stream, and back: byte for byte, and never more than a memory."""

from __future__ import annotations

import base64
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memsync import resources
from memsync.contract.changes import CorrectInput, ForgetInput, RollbackInput
from tests.asking import answer, call, refused, standing
from tests.conftest import Memory, variables_for

Snapshot = Callable[[Path], dict[str, bytes]]
HEADER = json.dumps({"schema": "memsync.export.v1"}).encode() + b"\n"


@pytest.fixture
def other(tmp_path: Path) -> Memory:
    """Another machine with an empty memory."""
    root = tmp_path / "other"
    root.mkdir()
    return Memory(root, variables_for(root)).begin()


@pytest.fixture
def full(machine: Memory) -> Memory:
    """A machine with the sample memory, files of every kind, and tombstones of its own."""
    shutil.copytree(resources.folder("sample-repo"), machine.home)
    assert call(machine, "init").returncode == 0
    gone = machine.remember("To be forgotten")
    machine.provider().apply(ForgetInput(gone.record.id))
    lost = machine.remember("To be forgotten for good")
    machine.provider().apply(ForgetInput(lost.record.id, permanent=True))
    back = machine.remember("Forgotten and back")
    machine.provider().apply(ForgetInput(back.record.id))
    machine.provider().apply(RollbackInput(back.record.id))
    machine.write("global/windows.md", b"---\r\ntitle: Windows\r\n---\r\nOne\r\nTwo\r\n")
    machine.write("global/mark.md", b"\xef\xbb\xbfWith a mark\n\ntext")
    machine.write("global/latin.md", b"Gr\xfc\xdfe\n")
    machine.write("global/nul.md", b"a\0b\n")
    machine.write("global/broken.md", b"---\ntitle: [open\n---\n\n\n")
    machine.write("global/empty.md", b"")
    machine.write("global/last line.md", b"No newline at the end")
    machine.write("global/lines.md", "Two\u2028kinds\u2029of\x0clines\x1c\u0085\n".encode())
    machine.write("global/a folder/\U0001f600 -'\"\\.md", b"Odd name\n")
    machine.write("global/new\nline.md", b"Line in the name\n")
    machine.write("projects/by-hand/note.md", b"In a project\n")
    return machine


def stream_of(memory: Memory) -> bytes:
    done = call(memory, "export")
    assert done.returncode == 0, done.stderr
    return done.stdout


def take(memory: Memory, stream: bytes) -> Any:
    done = call(memory, "import", "--from", "memsync", "--json", stdin=stream)
    assert done.returncode in (0, 4), done.stderr
    return json.loads(done.stdout)


def without_profile(files: dict[str, bytes]) -> dict[str, bytes]:
    """What a memory holds, the generated profile left out."""
    return {path: content for path, content in files.items() if path != "profile.md"}


# --- there and back --------------------------------------------------------------------------


def test_every_file_arrives_byte_for_byte(full: Memory, other: Memory, snapshot: Snapshot) -> None:
    stream = stream_of(full)
    told = take(other, stream)
    assert told["kept"] == []
    assert without_profile(snapshot(other.home)) == without_profile(snapshot(full.home))
    assert other.git("status", "--porcelain") == ""
    assert other.commits() == 2
    here = {r["id"]: r for r in answer(full, "list", "--all")["records"]}
    there = {r["id"]: r for r in answer(other, "list", "--all")["records"]}
    assert there == here
    assert len(there) > 35
    assert answer(other, "tombstones") == answer(full, "tombstones")
    assert answer(other, "lint") == answer(full, "lint")
    assert answer(other, "project", "list") == answer(full, "project", "list")


def test_a_stream_of_what_was_imported_is_the_same_stream(full: Memory, other: Memory) -> None:
    first = stream_of(full).splitlines()
    take(other, b"\n".join(first))
    assert stream_of(other).splitlines()[1:] == first[1:]


def test_importing_twice_changes_nothing(full: Memory, other: Memory) -> None:
    stream = stream_of(full)
    first = take(other, stream)
    other.store().ingest()  # which gives the hand-written files their ids
    before = standing(other)
    again = take(other, stream)
    assert (again["changed"], again["kept"], again["commit"]) == ([], [], None)
    assert again["same"] == first["same"] + len(first["changed"])
    assert standing(other) == before


def test_importing_into_the_same_memory_changes_nothing(full: Memory) -> None:
    full.store().ingest()
    stream = stream_of(full)
    before = standing(full)
    told = take(full, stream)
    assert (told["changed"], told["kept"]) == ([], [])
    assert standing(full) == before


def test_every_line_is_an_object_with_a_path_and_records_are_told(full: Memory) -> None:
    lines = [json.loads(line) for line in stream_of(full).splitlines()]
    assert lines[0]["schema"] == "memsync.export.v1"
    assert lines[0]["records"] == len(answer(full, "list", "--all")["records"])
    kinds = {line["kind"] for line in lines[1:]}
    assert kinds == {"record", "candidate", "tombstone", "project", "settings", "companion"}
    for line in lines[1:]:
        assert ("content" in line) != ("base64" in line)
        if "record" in line:
            assert line["record"]["title"]
            assert line["path"].endswith(".md")
    assert [line["path"] for line in lines[1:]] == sorted(line["path"] for line in lines[1:])


def test_an_export_to_a_file_never_overwrites_one(full: Memory) -> None:
    target = full.root / "stream.jsonl"
    done = call(full, "export", "-o", str(target))
    assert (done.returncode, done.stdout) == (0, b"")
    assert target.read_bytes().splitlines()[1:] == stream_of(full).splitlines()[1:]
    kept = target.read_bytes()
    refused(full, "export", "-o", str(target), code="cannot-write", status=1)
    assert target.read_bytes() == kept


def test_what_no_memory_can_be_is_left_out_and_told(memory: Memory, other: Memory) -> None:
    memory.remember("Prefer tabs")
    memory.write("global/large.md", b"x" * 200_000)
    outside = memory.root / "outside.md"
    outside.write_text("A secret of mine\n")
    (memory.home / "global" / "link.md").symlink_to(outside)
    with open(os.path.join(os.fsencode(memory.home), b"global", b"bad\xff.md"), "wb") as stream:
        stream.write(b"Text\n")
    done = call(memory, "export")
    assert done.returncode == 4
    told = done.stderr.decode()
    assert all(name in told for name in ("global/large.md", "global/link.md", "global/bad"))
    assert b"A secret" not in done.stdout
    assert take(other, done.stdout)["kept"] == []
    assert [r["title"] for r in answer(other, "list")["records"]] == ["Prefer tabs"]


# --- what is here stays ----------------------------------------------------------------------


def test_a_memory_that_lives_here_keeps_its_text(memory: Memory, other: Memory) -> None:
    entry = memory.remember("Prefer tabs")
    take(other, stream_of(memory))
    other.provider().apply(CorrectInput(entry.record.id, "Prefer spaces"))
    before = standing(other)
    told = take(other, stream_of(memory))
    assert told["kept"] == [entry.path]
    assert standing(other) == before
    done = call(other, "import", stdin=stream_of(memory))
    assert done.returncode == 4
    assert entry.path.encode() in done.stderr


def test_a_memory_that_was_moved_here_does_not_come_twice(memory: Memory, other: Memory) -> None:
    entry = memory.remember("Prefer tabs")
    take(other, stream_of(memory))
    os.rename(other.home / entry.path, other.home / "global" / "moved.md")
    other.store().ingest()
    told = take(other, stream_of(memory))
    assert told["kept"] == [entry.path]
    assert [r["path"] for r in answer(other, "list")["records"]] == ["global/moved.md"]


def test_what_was_forgotten_here_stays_forgotten(memory: Memory, other: Memory) -> None:
    entry = memory.remember("Prefer tabs")
    plain = memory.remember("Prefer short answers")
    stream = stream_of(memory)
    take(other, stream)
    other.provider().apply(ForgetInput(entry.record.id))
    other.provider().apply(ForgetInput(plain.record.id, permanent=True))
    before = standing(other)
    told = take(other, stream)
    assert {entry.path, plain.path} <= set(told["kept"])
    assert told["changed"] == []
    assert standing(other) == before
    assert answer(other, "list")["records"] == []


def test_what_was_forgotten_there_is_forgotten_here(memory: Memory, other: Memory) -> None:
    entry = memory.remember("Prefer tabs")
    take(other, stream_of(memory))
    memory.provider().apply(ForgetInput(entry.record.id))
    take(other, stream_of(memory))
    assert answer(other, "list")["records"] == []
    assert [t["id"] for t in answer(other, "tombstones")["tombstones"]] == [entry.record.id]
    assert not (other.home / entry.path).exists()
    assert answer(other, "status")["pending"] == 0
    back = answer(other, "rollback", entry.record.id)["record"]
    assert back["title"] == "Prefer tabs"
    assert [r["id"] for r in answer(other, "list")["records"]] == [entry.record.id]


def test_settings_of_a_memory_in_use_stay(memory: Memory, other: Memory) -> None:
    memory.write("memsync.yaml", memory.read("memsync.yaml") + "colour: red\n")
    memory.remember("Prefer tabs")
    other.remember("Prefer spaces")
    settings = other.read("memsync.yaml")
    told = take(other, stream_of(memory))
    assert "memsync.yaml" in told["kept"]
    assert other.read("memsync.yaml") == settings


def test_settings_of_a_newer_format_are_not_let_in(other: Memory) -> None:
    stream = HEADER + GOOD + line("memsync.yaml", "format: 2\n")
    refused(other, "import", code="newer-format", status=1, stdin=stream)


# --- hostile streams -------------------------------------------------------------------------


def line(path: object, content: object = "Text\n", **more: object) -> bytes:
    return json.dumps({"kind": "record", "path": path, "content": content, **more}).encode() + b"\n"


GOOD = line("global/good.md")


@pytest.mark.parametrize(
    "path",
    [
        "../x.md",
        "global/../../x.md",
        "global/../x.md",
        "/etc/x.md",
        "//global/x.md",
        "global//x.md",
        "global/./x.md",
        "./global/x.md",
        "global/x.md/",
        ".git/config",
        ".git/hooks/pre-commit",
        ".git/memsync/lock",
        "global/.git/x.md",
        "global/.git",
        "global/.hidden.md",
        "global/#x.md",
        "projects/.git/project.yaml",
        "projects/.x/a.md",
        "projects/x.md",
        "profile.md",
        "other/x.md",
        "x.md",
        "global/x.txt",
        "global/x.sh",
        "global",
        "global/",
        "",
        "GLOBAL/x.md",
        "~/x.md",
        "C:\\x.md",
        "global/" + "d/" * 3000 + "x.md",
        "..\\x.md",
        "global/x\0.md",
        "global/\ud800.md",
        "global/half\udcff.md",
        ".gitmodules",
        ".mailmap",
        None,
        5,
        ["global/x.md"],
        {"a": 1},
    ],
    ids=lambda path: repr(path)[:40],
)
def test_a_path_that_is_no_memorys_refuses_the_whole_stream(other: Memory, path: object) -> None:
    everything = set(other.root.rglob("*"))
    for stream in (HEADER + GOOD + line(path), HEADER + line(path) + GOOD):
        error = refused(other, "import", code="import-refused", status=1, stdin=stream)
        assert error["facts"]["line"] in (2, 3)
    left = {path for path in set(other.root.rglob("*")) - everything if ".git" not in path.parts}
    assert left == set()


@pytest.mark.parametrize(
    "stream",
    [
        b"",
        b"\n\n",
        b"not json\n",
        b"\xff\xfe\n",
        b"[]\n",
        b'{"schema": "memsync.export.v2"}\n',
        b'{"schema": "memsync.cli.v1"}\n',
        GOOD,
        HEADER + GOOD + b"not json\n",
        HEADER + GOOD + b'{"path": "global/x.md"\n',
        HEADER + GOOD + b"[1]\n",
        HEADER + GOOD + b"null\n",
        HEADER + GOOD + b"[" * 100_000 + b"\n",
        HEADER + GOOD + GOOD,
        HEADER + GOOD + line("global/good.md/x.md"),
        HEADER + line("global/good.md/a/x.md") + GOOD,
        HEADER + GOOD + line("global/x.md", None),
        HEADER + GOOD + line("global/x.md", 5),
        HEADER + GOOD + line("global/x.md", ["a"]),
        HEADER + GOOD + line("global/x.md", "\ud800"),
        HEADER + GOOD + line("global/x.md", None, base64="%%%"),
        HEADER + GOOD + line("global/x.md", None, base64="YQ"),
        HEADER + GOOD + line("global/x.md", None, base64="é"),
        HEADER + GOOD + line("global/x.md", "x" * (1024 * 1024)),
        HEADER + GOOD + b"x" * (3 * 1024 * 1024),
        HEADER + GOOD + b'{"path": "global/x.md", "content": ' + b"9" * 5000 + b"}\n",
    ],
    ids=lambda stream: repr(stream[-30:]),
)
def test_a_stream_that_is_not_whole_is_refused_whole(other: Memory, stream: bytes) -> None:
    refused(other, "import", code="import-refused", status=1, stdin=stream)


def test_an_endless_line_is_not_read_to_its_end(other: Memory) -> None:
    """A line of half a gigabyte, from a sparse file: refused for its length, quickly."""
    path = other.root / "huge.jsonl"
    with open(path, "wb") as stream:
        stream.write(HEADER)
        stream.truncate(512 * 1024 * 1024)
    import resource

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    refused(other, "import", str(path), code="import-refused", status=1)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000


@pytest.mark.parametrize("where", ["global/linked", "projects", "tombstones", "global/x.md"])
def test_no_import_writes_through_a_link(other: Memory, where: str) -> None:
    outside = other.root / "outside"
    outside.mkdir()
    (outside / "victim.md").write_text("Mine\n")
    link = other.home / where
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(outside / "victim.md" if where.endswith(".md") else outside)
    path = where if where.endswith(".md") else f"{where}/a/x.md"
    if where == "tombstones":
        path = "tombstones/m-0000000000000000.md"
    stream = HEADER + GOOD + line(path)
    refused(other, "import", code="cannot-write", status=1, stdin=stream)
    assert [p.name for p in outside.rglob("*")] == ["victim.md"]
    assert (outside / "victim.md").read_text() == "Mine\n"


@pytest.mark.parametrize(
    "paths",
    [
        ["global/ok.md", "global/" + "n" * 300 + ".md"],
        ["global/ok.md", "global/there.md/b.md"],
        ["global/ok.md", "global/folder.md"],
    ],
    ids=["long-name", "below-a-file", "in-place-of-a-folder"],
)
def test_what_the_disk_refuses_is_refused_whole(other: Memory, paths: list[str]) -> None:
    other.remember("There")
    (other.home / "global" / "folder.md").mkdir()
    stream = HEADER + b"".join(line(path) for path in paths)
    before = standing(other)
    done = call(other, "import", "--json", stdin=stream)
    assert done.returncode == 1
    assert json.loads(done.stderr)["error"]["code"] in ("cannot-write", "cannot-read")
    assert standing(other) == before
    assert call(other, "remember", "Still works", "--scope", "global").returncode == 0
    assert other.git("status", "--porcelain") == ""


def test_hostile_contents_are_files_like_any_other(other: Memory) -> None:
    """Broken and dangerous texts come in as they are, and are told by lint."""
    stream = HEADER
    stream += line("global/broken.md", "---\na: *x\nb: !!python/object:os.system {}\n---\n")
    stream += line("global/binary.md", None, base64=base64.b64encode(bytes(range(256))).decode())
    stream += line("global/large.md", "x" * 100_000)
    stream += line("projects/p/project.yaml", "name: [\n")
    stream += line("tombstones/m-0000000000000000.md", "nonsense")
    told = take(other, stream)
    assert len(told["changed"]) == 5
    done = call(other, "lint")
    assert done.returncode == 4
    for name in ("broken.md", "binary.md", "large.md", "project.yaml", "m-0000000000000000.md"):
        assert name.encode() in done.stdout
    assert call(other, "remember", "Still works", "--scope", "global").returncode == 0


def test_two_files_of_one_id_in_a_stream_become_two_memories(other: Memory) -> None:
    text = "---\nid: m-same000000000000\n---\nText {}\n"
    stream = HEADER + line("global/a.md", text.format("a")) + line("global/b.md", text.format("b"))
    take(other, stream)
    listed = answer(other, "list")["records"]
    assert len({r["id"] for r in listed}) == 2
    assert sorted(r["title"] for r in listed) == ["Text a", "Text b"]
