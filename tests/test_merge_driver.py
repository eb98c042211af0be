"""The merge driver under a real git: merges, pulls and rebases that memsync does not begin."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from memsync.frontmatter.codec import encode
from memsync.record import Record
from memsync.store import layout
from memsync.sync.driver import UNABLE, run
from tests.conftest import Memory

ID = "m-4k7q2v9hx3zn5d8t"
PATH = "global/tabs.md"
TIMES = [f"2026-11-30T0{n}:00:00Z" for n in range(10)]
BASE = Record(ID, "Use tabs", "one\ntwo\nthree\nfour\nfive", updated=TIMES[0])


def ours_and_theirs(
    memory: Memory,
    ours: bytes | None,
    theirs: bytes | None,
    base: bytes | None = encode(BASE),
    path: str = PATH,
) -> None:
    """Two branches that changed one file; ``main`` is ours and is checked out."""
    change(memory, path, base)
    memory.git("switch", "-qc", "theirs")
    change(memory, path, theirs)
    memory.git("switch", "-q", "main")
    change(memory, path, ours)


def change(memory: Memory, path: str, content: bytes | None) -> None:
    if content is None:
        memory.git("rm", "-q", "--ignore-unmatch", "--", path)
    else:
        memory.write(path, content)
    memory.git("add", "-A")
    memory.git("commit", "-qm", "by a person", "--allow-empty")


def git(memory: Memory, *words: str, path: str | None = None) -> subprocess.CompletedProcess[str]:
    """Plain git, as a person calls it."""
    environment = {**memory.variables, "PATH": path or memory.variables["PATH"]}
    return subprocess.run(
        ["git", *words],
        cwd=memory.home,
        env=environment,
        text=True,
        stdin=subprocess.DEVNULL,
        capture_output=True,
    )


def unmerged(memory: Memory) -> list[str]:
    return memory.git("diff", "--name-only", "--diff-filter=U").splitlines()


OURS = encode(replace(BASE, tags=("mine",), body="ONE\ntwo\nthree\nfour\nfive", updated=TIMES[1]))
THEIRS = encode(replace(BASE, tags=("yours",), body=BASE.body + "\nsix", updated=TIMES[2]))


@pytest.mark.parametrize("how", ["merge", "rebase", "cherry-pick", "pull", "pull --rebase"])
def test_plain_git_merges_by_meaning(memory: Memory, how: str) -> None:
    ours_and_theirs(memory, OURS, THEIRS)
    words = [*how.split(), *(["."] if "pull" in how else []), "theirs"]
    if how == "merge":
        words.insert(1, "--no-edit")
    done = git(memory, *words, *(["--no-rebase", "--no-edit"] if how == "pull" else []))
    assert done.returncode == 0, done.stderr
    text = memory.read(PATH)
    assert "<<<<" not in text
    assert "ONE\ntwo\nthree\nfour\nfive\nsix" in text
    assert "mine" in text
    assert "yours" in text
    assert memory.git("status", "--porcelain") == ""


def test_lines_that_meet_become_a_conflict_in_the_record(memory: Memory) -> None:
    ours = encode(replace(BASE, body="mine", updated=TIMES[2]))
    theirs = encode(replace(BASE, body="yours", updated=TIMES[1]))
    ours_and_theirs(memory, ours, theirs)
    assert git(memory, "merge", "--no-edit", "theirs").returncode == 0
    (entry,) = memory.json("conflicts")["conflicts"]
    assert entry["conflict"] == [{"field": "body", "text": "yours", "updated": TIMES[1]}]
    assert memory.read(PATH).endswith("\n---\nmine\n")


def test_the_same_comes_out_on_both_machines(memory: Memory) -> None:
    ours_and_theirs(memory, OURS, THEIRS)
    memory.git("switch", "-qc", "there", "theirs")
    assert git(memory, "merge", "--no-edit", "main").returncode == 0
    there = memory.read(PATH)
    memory.git("switch", "-q", "main")
    assert git(memory, "merge", "--no-edit", "theirs").returncode == 0
    assert memory.read(PATH) == there


def test_a_file_that_cannot_be_read_gets_gits_markers(memory: Memory) -> None:
    broken = OURS.replace(b"title: Use tabs", b"title: [")
    ours_and_theirs(memory, broken, THEIRS)
    done = git(memory, "merge", "--no-edit", "theirs")
    assert done.returncode == 1
    text = memory.read(PATH)
    assert "<<<<<<< ours" in text
    assert "mine" in text
    assert "yours" in text
    assert unmerged(memory) == [PATH]


def test_two_memories_in_one_path_are_not_mixed(memory: Memory) -> None:
    """Neither text goes into the other; git keeps both and stops."""
    other = replace(BASE, id="m-0000000000000002", body=BASE.body + "\nsix")
    ours_and_theirs(memory, OURS, encode(other), base=None)
    assert git(memory, "merge", "--no-edit", "theirs").returncode == 1
    assert memory.read(PATH).encode() == OURS
    assert unmerged(memory) == [PATH]
    assert memory.git("show", f":3:{PATH}") == encode(other).decode().rstrip("\n")


def test_an_edit_does_not_follow_a_rename_into_another_memory(memory: Memory) -> None:
    """Ours replaced the memory by another that resembles it; theirs edited the first."""
    change(memory, PATH, encode(BASE))
    memory.git("switch", "-qc", "theirs")
    change(memory, PATH, THEIRS)
    memory.git("switch", "-q", "main")
    alike = encode(replace(BASE, id="m-0000000000000002"))
    memory.git("rm", "-q", PATH)
    change(memory, "global/alike.md", alike)
    git(memory, "merge", "--no-edit", "theirs")
    assert memory.read("global/alike.md").encode() == alike


def test_a_file_without_front_matter_is_the_memory_that_it_was(memory: Memory) -> None:
    ours_and_theirs(memory, b"# Use tabs\n\none\ntwo\nthree\nfour\nFIVE\n", OURS)
    assert git(memory, "merge", "--no-edit", "theirs").returncode == 0
    text = memory.read(PATH)
    assert f"id: {ID}" in text
    assert "<<<<" not in text


def test_the_tombstone_that_reaches_further_stays(memory: Memory) -> None:
    def mark(epoch: int, when: str) -> bytes:
        keys = f"id: {ID}\nscope: global\nepoch: {epoch}\nforgottenAt: {when}\nreason: user-forget"
        return f"---\n{keys}\n---\nForgotten.\n".encode()

    path = layout.tombstone_file(ID)
    ours_and_theirs(memory, mark(1, TIMES[1]), mark(2, TIMES[0]), base=None, path=path)
    assert git(memory, "merge", "--no-edit", "theirs").returncode == 0
    assert memory.read(path).encode() == mark(2, TIMES[0])


def test_settings_and_projects_are_joined(memory: Memory) -> None:
    path = "projects/acme/project.yaml"
    base = b"# mine\nname: Acme\naliases: [a.example/acme]\n"
    ours = base.replace(b"[a.example/acme]", b"[a.example/acme, b.example/acme]")
    theirs = base.replace(b"[a.example/acme]", b"[a.example/acme, c.example/acme]")
    ours_and_theirs(memory, ours, theirs.replace(b"Acme", b"ACME"), base=base, path=path)
    settings = memory.read("memsync.yaml")
    memory.git("switch", "-q", "theirs")
    change(memory, "memsync.yaml", settings.replace("generation: 1", "generation: 3").encode())
    memory.git("switch", "-q", "main")
    change(memory, "memsync.yaml", settings.replace("generation: 1", "generation: 2").encode())
    assert git(memory, "merge", "--no-edit", "theirs").returncode == 0
    text = memory.read(path)
    assert text.startswith("# mine\nname: ACME\n")
    assert all(f"{host}.example/acme" in text for host in "abc")
    assert "generation: 3" in memory.read("memsync.yaml")


@pytest.mark.parametrize(
    "program",
    ["/nowhere/python", "sh -c 'kill -9 $$'", "false", "python3 -c 'raise SystemExit(1)'"],
)
def test_without_the_program_git_merges_lines_and_drops_no_side(
    memory: Memory, program: str
) -> None:
    known = memory.git("config", "merge.memsync.driver")
    _, rest = known.split(" merge-driver ", 1)
    memory.git("config", "merge.memsync.driver", f"{program} merge-driver {rest}")
    ours_and_theirs(memory, OURS, THEIRS)
    assert git(memory, "merge", "--no-edit", "theirs").returncode == 1
    text = memory.read(PATH)
    assert "<<<<<<< ours" in text
    assert "mine" in text
    assert "yours" in text


def test_init_and_doctor_install_it(memory: Memory) -> None:
    memory.git("config", "--unset", "merge.memsync.driver")
    check = {c["name"]: c for c in memory.json("doctor")["checks"]}["merge-driver"]
    assert (check["state"], check["fixable"]) == ("attention", True)
    memory.run("doctor", "--fix")
    assert "merge-driver" in memory.git("config", "merge.memsync.driver")
    memory.git("config", "merge.renames", "true")
    memory.run("init")
    assert memory.git("config", "merge.renames") == "false"


def test_a_call_that_makes_no_sense_leaves_the_merge_to_git(tmp_path: Path) -> None:
    ours = tmp_path / "ours"
    ours.write_bytes(OURS)
    there = str(ours)
    assert run([]) == UNABLE
    assert run([there, there, there]) == UNABLE
    assert run([str(tmp_path / "none"), there, there, PATH]) == UNABLE
    assert run([there, there, there, "notes.txt"]) == UNABLE
    (tmp_path / "large").write_bytes(b"x" * 70_000)
    assert run([there, there, str(tmp_path / "large"), PATH]) == UNABLE
    assert ours.read_bytes() == OURS


def test_a_folder_named_like_the_program_is_not_started(memory: Memory) -> None:
    """git starts the driver in the work tree, where anything may lie."""
    memory.write("memsync/__main__.py", "raise SystemExit(0)\n")
    memory.write("memsync/__init__.py", "")
    ours_and_theirs(memory, OURS, THEIRS)
    assert git(memory, "merge", "--no-edit", "theirs").returncode == 0
    assert "yours" in memory.read(PATH)
