"""A repository of git's that is damaged: doctor names it, writes say so, nothing else is lost."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.asking import answer, call, refused, standing
from tests.conftest import Memory


def checks(memory: Memory, *arguments: str) -> dict[str, dict[str, str]]:
    """The checks of ``doctor`` that are not ok, by name."""
    every = answer(memory, "doctor", *arguments)["checks"]
    assert len({c["name"] for c in every}) == len(every) > 10
    return {c["name"]: c for c in every if c["state"] != "ok"}


def object_file(memory: Memory, revision: str) -> Path:
    oid = memory.git("rev-parse", revision)
    return memory.home / ".git" / "objects" / oid[:2] / oid[2:]


def no_object(memory: Memory) -> None:
    object_file(memory, "HEAD:global/text-one.md").unlink()


def no_tree(memory: Memory) -> None:
    object_file(memory, "HEAD^{tree}").unlink()


def rotten_object(memory: Memory) -> None:
    path = object_file(memory, "HEAD:memsync.yaml")
    path.chmod(0o644)
    path.write_bytes(b"rotten")


def put(name: str, content: bytes) -> Callable[[Memory], None]:
    def damage(memory: Memory) -> None:
        (memory.home / ".git" / name).write_bytes(content)

    return damage


def gone(name: str) -> Callable[[Memory], None]:
    return lambda memory: (memory.home / ".git" / name).unlink()


@pytest.fixture
def three(memory: Memory) -> Memory:
    for word in ("one", "two", "three"):
        memory.remember(f"Text {word}")
    return memory


@pytest.mark.parametrize(
    ("damage", "name", "evidence", "is_mended"),
    [
        (put("index", b"junk"), "git-index", "index file", True),
        (put("index", b""), "git-index", "index", True),
        (gone("HEAD"), "branch", "HEAD cannot be read", True),
        (put("HEAD", b"\xff\xfe"), "branch", "HEAD cannot be read", True),
        (put("HEAD", b"nonsense\n"), "branch", "HEAD names nothing", True),
        (put("refs/heads/main", b""), "branch", "branch main has lost its commits", True),
        (put("refs/heads/main", b"nonsense"), "branch", "branch main has lost its commits", True),
        (gone("refs/heads/main"), "branch", "branch main has lost its commits", True),
        (no_tree, "git-objects", "missing tree", False),
        (no_object, "git-objects", "missing blob", False),
    ],
)
def test_damage_is_named_and_a_write_changes_nothing(
    three: Memory,
    damage: Callable[[Memory], None],
    name: str,
    evidence: str,
    is_mended: bool,
) -> None:
    tip = three.git("rev-parse", "HEAD")
    damage(three)
    before = {path: path.read_bytes() for path in three.home.glob("*/*.md")}
    found = checks(three)[name]
    assert evidence in found["evidence"]
    assert found["remedy"]
    done = call(three, "remember", "Text four", "--scope", "global", "--json")
    assert (done.returncode, b"repository-damaged" in done.stderr) == (1, True)
    assert {path: path.read_bytes() for path in three.home.glob("*/*.md")} == before
    assert len(answer(three, "list")["records"]) == 3
    assert call(three, "status").returncode in (0, 4)
    if is_mended:
        assert found["fixable"]
        assert checks(three, "--fix") == {}
        assert three.git("rev-parse", "main") == tip
        assert three.git("status", "--short") == ""
        three.remember("Text four")
        assert three.git("show", "--name-status", "--format=").split() == [
            *("A", "global/text-four.md")
        ]


def test_a_rotten_object_is_named(three: Memory) -> None:
    rotten_object(three)
    assert "corrupt" in checks(three)["git-objects"]["evidence"]


def test_a_deleted_git_index_is_made_anew_and_removes_nothing(three: Memory) -> None:
    three.write("notes.txt", "mine\n")
    three.git("add", "notes.txt")
    three.git("commit", "-q", "-m", "notes of mine")
    gone("index")(three)
    assert checks(three)["git-index"]["evidence"] == "it is missing"
    assert [w["code"] for w in answer(three, "status")["attention"]] == ["index-missing"]
    three.remember("Text four")
    assert three.git("status", "--short") == ""
    assert three.git("show", "--name-status", "--format=").split() == ["A", "global/text-four.md"]


def test_the_damaged_index_is_kept_aside(three: Memory) -> None:
    put("index", b"junk")(three)
    assert {*checks(three)} == {"git-index"}
    assert answer(three, "doctor", "--fix")["mended"][0] == "git-index"
    kept = [*(three.home / ".git/memsync/kept").iterdir()]
    assert [path.read_bytes() for path in kept] == [b"junk"]


def test_a_head_that_cannot_be_mended_is_told_with_all_other_checks(three: Memory) -> None:
    three.git("config", "--unset", "memsync.branch")
    gone("HEAD")(three)
    found = checks(three)
    assert {"branch", "git-index", "git-objects"} <= {*found}
    assert "another copy" in found["branch"]["remedy"]
    done = call(three, "doctor", "--fix")
    assert (done.returncode, b"[repository-damaged]" in done.stderr) == (1, True)


@pytest.mark.parametrize("what", ["detached", "merge", "rebase"])
def test_a_state_that_is_not_finished_is_named(three: Memory, what: str) -> None:
    if what == "detached":
        three.git("checkout", "-q", "--detach")
    elif what == "merge":
        three.git("merge", "-q", "--no-ff", "--no-commit", "-s", "ours", three.git(*SIDE))
    else:
        (three.home / ".git" / "rebase-merge").mkdir()
    before = standing(three)
    assert what in checks(three)["branch"]["evidence"]
    refused(three, "remember", "x", "--scope", "global", code="repository-state", status=1)
    assert standing(three) == before


SIDE = ("commit-tree", "-p", "HEAD~1", "-m", "side", "HEAD^{tree}")


def test_a_lock_that_was_left_behind_is_named_and_a_young_one_is_not(three: Memory) -> None:
    lock = three.write(".git/refs/heads/main.lock", "")
    assert "git-locks" not in checks(three)
    long_ago = time.time() - 7200
    os.utime(lock, (long_ago, long_ago))
    if Path("/proc/self/fd").exists():
        assert ".git/refs/heads/main.lock (72" in checks(three)["git-locks"]["evidence"]


def test_every_broken_file_is_named_and_the_rest_counted(three: Memory) -> None:
    for number in range(12):
        three.write(f"global/broken-{number:02}.md", "---\na: [\nb: 1\nb: 2\n---\n")
    told = checks(three)["files"]["evidence"]
    assert all(f"global/broken-{number:02}.md:" in told for number in range(10))
    assert told.endswith(" and 2 more")


def test_a_file_of_another_ending_is_told(three: Memory) -> None:
    for name in ("a.MD", "b.markdown", "c.txt", "d.png", ".e.txt"):
        three.write(f"global/{name}", "Text\n")
    found = answer(three, "status")["problems"]
    assert [(p["path"], p["code"]) for p in found] == [
        (f"global/{name}", "not-taken") for name in ("a.MD", "b.markdown", "c.txt")
    ]
    assert call(three, "lint").returncode == 0
