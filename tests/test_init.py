"""Beginning a memory repository, and completing one."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from memsync import resources
from tests.asking import answer, call, refused, standing
from tests.conftest import Memory

FILES = [".gitattributes", ".gitignore", "README.md", "memsync.yaml"]


def test_a_memory_begins_with_its_files_and_one_commit(machine: Memory) -> None:
    told = answer(machine, "init")
    assert told["created"] is True
    assert (told["home"], told["branch"]) == (str(machine.home), "main")
    assert sorted(told["changed"]) == FILES
    assert machine.git("ls-files").splitlines() == FILES
    assert machine.git("log", "--format=%s") == "init: begin the memory"
    assert machine.git("status", "--porcelain") == ""
    assert machine.read("memsync.yaml").startswith("format: 1\ngeneration: 1\n")
    assert "memsync" in machine.read("README.md")


def test_two_memories_have_different_salts(machine: Memory) -> None:
    call(machine, "init")
    other = {"MEMSYNC_HOME": str(machine.root / "other")}
    call(machine, "init", variables=other)
    salts = [
        next(line for line in (path / "memsync.yaml").read_text().splitlines() if "salts" in line)
        for path in (machine.home, machine.root / "other")
    ]
    assert salts[0] != salts[1]


def test_beginning_again_changes_nothing(memory: Memory) -> None:
    memory.remember("Prefer tabs")
    memory.write("global/by-hand.md", "By hand\n")
    before = standing(memory)
    told = answer(memory, "init")
    assert (told["created"], told["changed"]) == (False, [])
    assert standing(memory) == before
    assert b"is complete" in call(memory, "init").stdout


def test_what_is_missing_is_completed_and_what_is_there_stays(memory: Memory) -> None:
    memory.write(".gitignore", "# mine\n*.bak\n")
    memory.git("rm", "-q", "README.md")
    memory.git("add", ".gitignore")
    memory.git("commit", "-qm", "mine")
    settings = memory.read("memsync.yaml")
    told = answer(memory, "init")
    assert (told["created"], told["changed"]) == (False, ["README.md"])
    assert memory.read(".gitignore") == "# mine\n*.bak\n"
    assert memory.read("memsync.yaml") == settings
    assert memory.git("log", "-1", "--format=%s") == "init: complete the repository"


@pytest.mark.parametrize("how", ["nothing", "empty", "git", "trunk"])
def test_the_places_where_a_memory_may_begin(machine: Memory, how: str) -> None:
    if how != "nothing":
        machine.home.mkdir()
    if how in ("git", "trunk"):
        machine.git("init", "-q", "-b", {"git": "main", "trunk": "trunk"}[how])
    told = answer(machine, "init")
    assert told["branch"] == ("trunk" if how == "trunk" else "main")
    assert call(machine, "remember", "Prefer tabs", "--scope", "global").returncode == 0
    assert machine.git("status", "--porcelain") == ""
    assert machine.git("symbolic-ref", "--short", "HEAD") == told["branch"]


def test_a_folder_of_memories_without_git_becomes_a_repository(machine: Memory) -> None:
    shutil.copytree(resources.folder("sample-repo"), machine.home)
    before = {p: p.read_bytes() for p in machine.home.rglob("*") if p.is_file()}
    assert answer(machine, "init")["created"] is True
    assert {p: p.read_bytes() for p in before} == before
    assert call(machine, "remember", "One more", "--scope", "global").returncode == 0
    assert machine.git("status", "--porcelain") == ""
    assert len(answer(machine, "list", "--all")["records"]) > 30


def test_a_clone_is_a_memory_at_once(memory: Memory) -> None:
    entry = memory.remember("Prefer tabs")
    clone = memory.root / "clone"
    memory.git("clone", "-q", str(memory.home), str(clone), folder=memory.root)
    there = {"MEMSYNC_HOME": str(clone)}
    assert answer(memory, "show", "Prefer tabs", variables=there)["record"]["id"] == entry.record.id
    assert answer(memory, "init", variables=there)["changed"] == []
    assert call(memory, "correct", "Prefer tabs", "Prefer spaces", variables=there).returncode == 0
    assert memory.git("status", "--porcelain", folder=clone) == ""


def test_a_memory_whose_git_folder_lies_elsewhere(machine: Memory) -> None:
    machine.home.mkdir()
    apart = machine.root / "apart.git"
    machine.git("init", "-q", "-b", "main", "--separate-git-dir", str(apart))
    assert (machine.home / ".git").is_file()
    assert call(machine, "init").returncode == 0
    assert call(machine, "remember", "Prefer tabs", "--scope", "global").returncode == 0
    assert len(answer(machine, "list")["records"]) == 1
    assert (apart / "memsync" / "index.sqlite").is_file()
    assert machine.git("status", "--porcelain") == ""


@pytest.mark.parametrize("state", ["detached", "merge", "rebase", "branch"])
def test_a_repository_in_the_middle_of_something_is_left_alone(memory: Memory, state: str) -> None:
    memory.remember("Prefer tabs")
    (memory.home / "README.md").unlink()
    if state == "detached":
        memory.git("checkout", "-q", "--detach")
    elif state == "branch":
        memory.git("checkout", "-q", "-b", "other")
    elif state == "merge":
        (memory.home / ".git" / "MERGE_HEAD").write_text(memory.git("rev-parse", "HEAD") + "\n")
    else:
        (memory.home / ".git" / "rebase-merge").mkdir()
    refused(memory, "remember", "x", "--scope", "global", code="repository-state", status=1)
    if state != "branch":
        refused(memory, "init", code="repository-state", status=1)
    assert answer(memory, "status")["attention"][0]["code"] == "repository-state"
    assert len(answer(memory, "list")["records"]) == 1


@pytest.mark.parametrize(
    ("locale", "word"),
    [("zh_CN.UTF-8", "记忆"), ("en_GB.UTF-8", "memory"), ("C", "memory"), ("fr_FR", "memory")],
)
def test_the_readme_is_in_the_persons_language(machine: Memory, locale: str, word: str) -> None:
    assert call(machine, "init", variables={"LANG": locale}).returncode == 0
    assert word in machine.read("README.md")


def test_what_git_ignores_by_our_file_is_only_what_is_derived(memory: Memory) -> None:
    memory.remember("Prefer tabs")
    assert (memory.home / "profile.md").is_file()
    for name in ("profile.md", "global/.x.md.swp", "global/x.md~", "global/4913", ".DS_Store"):
        path = memory.home / name
        path.touch()
        assert memory.git("check-ignore", name) == name
    for name in ("global/x.md", "projects/p/profile.md", "candidates/m-1.md", "memsync.yaml"):
        memory.git("check-ignore", "-q", "--no-index", "profile.md")
        with pytest.raises(Exception, match="check-ignore"):
            memory.git("check-ignore", "-q", "--no-index", name)


def test_memsync_home_may_be_written_from_home(machine: Memory) -> None:
    assert call(machine, "init", variables={"MEMSYNC_HOME": "~/kept"}).returncode == 0
    assert Path(machine.root / "kept" / "memsync.yaml").is_file()
    given = {"MEMSYNC_HOME": "relative/kept"}
    assert call(machine, "init", variables=given).returncode == 0
    assert (machine.root / "relative" / "kept" / "memsync.yaml").is_file()
