"""Taking in what a person did by hand, in an editor or with git."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memsync import errors
from memsync.contract.changes import CorrectInput, ForgetInput, RememberInput, RollbackInput
from memsync.contract.memories import HistoryQuery, ManageQuery
from memsync.contract.shared import Entry
from memsync.gitrepo import MemoryRepo
from memsync.gitrepo.memory import MOST_NAMED
from memsync.gitrepo.run import Git
from memsync.record import Authority, Lifecycle, Scope
from memsync.store.ingest import Ingest
from tests.conftest import Memory, make_project

ID = "m-0000000000000001"
OTHER = "m-0000000000000002"


def ingest(memory: Memory) -> Ingest:
    store = memory.store()
    try:
        return store.ingest()
    finally:
        store.reader.close()


def listed(memory: Memory) -> dict[str, Entry]:
    """path -> memory."""
    found = memory.provider().query(ManageQuery()).records
    return {entry.path: entry for entry in found}


def told(done: Ingest) -> list[str]:
    return [why.code for why in done.notices]


def forgotten(memory: Memory) -> dict[str, str]:
    """id -> reason of the tombstones in force."""
    return {f.id: f.reason for f in memory.provider().query(ManageQuery(forgotten=True)).forgotten}


def assert_settled(memory: Memory) -> None:
    """All is taken in: nothing more to commit, now or the next time."""
    assert memory.git("status", "--porcelain") == ""
    before = memory.commits()
    assert ingest(memory).plan is None
    assert memory.commits() == before


def record(*keys: str, body: str = "text", wanted: str = ID) -> str:
    return "---\n" + "\n".join([f"id: {wanted}", *keys]) + f"\n---\n{body}\n"


# --- new files -------------------------------------------------------------------------------


def test_a_file_without_front_matter_becomes_the_persons_own_record(memory: Memory) -> None:
    memory.write("projects/web/idea.md", "# Use pnpm\n\nnever npm\n")
    shown = listed(memory)["projects/web/idea.md"]
    assert shown.provisional
    done = ingest(memory)
    entry = listed(memory)["projects/web/idea.md"]
    assert (entry.record.id, entry.provisional) == (shown.record.id, False)
    item = entry.record
    assert (item.title, item.authority, item.lifecycle) == ("Use pnpm", "explicit", "proven")
    assert (item.scope, item.project_key) == (Scope.PROJECT, "web")
    assert done.paths == ("projects/web/idea.md",)
    assert memory.git("log", "-1", "--format=%s") == "by hand: Use pnpm"
    assert memory.read("projects/web/idea.md").endswith("\n---\n# Use pnpm\n\nnever npm\n")
    assert_settled(memory)


def test_a_file_with_some_front_matter_keeps_what_it_says(memory: Memory) -> None:
    text = "---\n# mine\ntags: [a,   b]\nown-key: 007\n---\nno last newline"
    memory.write("global/some.md", text)
    ingest(memory)
    after = memory.read("global/some.md")
    assert without(after, "id", "created", "updated") == text
    assert listed(memory)["global/some.md"].record.tags == ("a", "b")
    assert_settled(memory)


def without(text: str, *keys: str) -> str:
    """A file without the lines of some keys, other bytes untouched."""
    lines = text.splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith(tuple(f"{k}:" for k in keys)))


def test_a_file_that_plain_git_committed_gets_the_id_that_reads_showed(memory: Memory) -> None:
    memory.write("global/idea.md", "An idea\n")
    before = listed(memory)["global/idea.md"].record.id
    memory.git("add", "global/idea.md")
    memory.git("commit", "-q", "-m", "mine")
    assert listed(memory)["global/idea.md"].record.id == before
    memory.write("global/idea.md", "An idea, better\n")
    assert listed(memory)["global/idea.md"].record.id == before
    ingest(memory)
    assert f"id: {before}\n" in memory.read("global/idea.md")
    assert_settled(memory)


# --- edits -------------------------------------------------------------------------------------

LAYOUTS = {
    "CRLF": "---\r\nid: {id}\r\ntitle: A\r\n---\r\nold\r\n",
    "BOM": "\ufeff---\nid: {id}\ntitle: A\n---\nold\n",
    "comments and odd order": "---\n# one\ntags:\n  - b # w\n  - a\nid: {id}\n\n---\n\n\nold\n\n",
    "no last newline": "---\nid: {id}\ntitle: A\n---\nold",
    "typed values": "---\nid: {id}\nown: 007\nday: 2026-01-02\nat: 12:30:45\nno: off\n---\nold\n",
    "quotes": "---\nid: '{id}'\ntitle: \"A: b\"\n---\nold\n",
    "rules in the text": "---\nid: {id}\ntitle: A\n---\n---\nold\n---\n",
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_an_edit_keeps_every_byte_but_the_stamps(memory: Memory, layout: str) -> None:
    path = memory.home / "global/a.md"
    first = layout.format(id=ID).encode()
    memory.write("global/a.md", first)
    ingest(memory)
    edited = path.read_bytes().replace(b"old", b"new words")
    path.write_bytes(edited)
    ingest(memory)
    after = path.read_bytes()

    def kept(raw: bytes) -> bytes:
        rows = raw.splitlines(keepends=True)
        return b"".join(r for r in rows if not r.startswith((b"created:", b"updated:")))

    assert kept(after) == kept(first.replace(b"old", b"new words"))
    assert memory.git("show", "HEAD:global/a.md").encode() == after.rstrip(b"\n")
    assert_settled(memory)


def test_an_edit_is_stamped_later_than_what_it_changes_even_with_a_clock_behind(
    memory: Memory,
) -> None:
    memory.write("global/a.md", record("title: A", "updated: 2031-01-01T00:00:00Z"))
    ingest(memory)
    memory.write("global/a.md", memory.read("global/a.md").replace("text", "newer"))
    ingest(memory)
    assert "updated: 2031-01-01T00:00:01Z\n" in memory.read("global/a.md")


def test_who_rewrites_an_inferred_record_makes_it_his_own(memory: Memory) -> None:
    keys = ("title: A", "authority: inferred", "lifecycle: trial")
    memory.write("global/a.md", record(*keys, body="guess"))
    memory.write("global/b.md", record(*keys, body="guess", wanted=OTHER))
    ingest(memory)
    assert listed(memory)["global/a.md"].record.authority is Authority.INFERRED
    memory.write("global/a.md", memory.read("global/a.md").replace("guess", "I know"))
    memory.write(
        "global/b.md", memory.read("global/b.md").replace("---\nguess", "tags: [x]\n---\nguess")
    )
    ingest(memory)
    mine, theirs = (listed(memory)[f"global/{n}.md"].record for n in "ab")
    assert (mine.id, mine.authority, mine.lifecycle) == (ID, Authority.EXPLICIT, Lifecycle.PROVEN)
    assert (theirs.authority, theirs.lifecycle) == (Authority.INFERRED, Lifecycle.TRIAL)


def test_a_file_that_lost_its_front_matter_keeps_its_id(memory: Memory) -> None:
    memory.write("global/a.md", record("title: A", "created: 2026-01-01T00:00:00Z"))
    ingest(memory)
    memory.write("global/a.md", "# A\n\nrewritten\n")
    assert listed(memory)["global/a.md"].record.id == ID
    ingest(memory)
    assert f"id: {ID}\n" in memory.read("global/a.md")
    assert "created: 2026-01-01T00:00:00Z\n" in memory.read("global/a.md")
    assert_settled(memory)


# --- moves and copies ------------------------------------------------------------------------


def test_a_file_moved_to_another_folder_takes_that_scope_and_says_so_once(memory: Memory) -> None:
    memory.write("projects/web/a.md", record("scope: project", "projectKey: web", "title: A"))
    ingest(memory)
    (memory.home / "global").mkdir()
    (memory.home / "projects/web/a.md").rename(memory.home / "global/a.md")
    assert listed(memory)["global/a.md"].record.scope is Scope.GLOBAL
    done = ingest(memory)
    assert told(done) == ["scope-follows-folder"]
    item = listed(memory)["global/a.md"].record
    assert (item.id, item.scope, item.project_key) == (ID, Scope.GLOBAL, None)
    assert "projectKey" not in memory.read("global/a.md")
    assert forgotten(memory) == {}
    assert_settled(memory)
    assert told(ingest(memory)) == []


def test_a_renamed_file_is_the_same_record(memory: Memory) -> None:
    entry = memory.remember("Prefer tabs\nalways")
    os.rename(memory.home / entry.path, memory.home / "global/by me.md")
    ingest(memory)
    assert listed(memory)["global/by me.md"].record == entry.record
    assert forgotten(memory) == {}
    assert_settled(memory)


def test_of_a_copy_the_older_file_keeps_the_id(memory: Memory) -> None:
    entry = memory.remember("Prefer tabs\nalways")
    # Its name comes first: the age decides, and the name does not.
    shutil.copyfile(memory.home / entry.path, memory.home / "global/a-copy.md")
    shown = listed(memory)
    assert shown[entry.path].record.id == entry.record.id
    ingest(memory)
    after = listed(memory)
    assert after[entry.path].record.id == entry.record.id
    assert after["global/a-copy.md"].record.id == shown["global/a-copy.md"].record.id
    assert after["global/a-copy.md"].record.id != entry.record.id
    assert_settled(memory)


# --- deletions ---------------------------------------------------------------------------------


def many(memory: Memory, count: int) -> list[str]:
    for number in range(count):
        memory.write(
            f"global/r{number:02}.md", record(f"title: R{number}", wanted=f"m-{number:016}")
        )
    ingest(memory)
    return [f"global/r{number:02}.md" for number in range(count)]


def test_a_deleted_file_is_forgotten(memory: Memory) -> None:
    entry = memory.remember("Prefer tabs")
    (memory.home / entry.path).unlink()
    ingest(memory)
    assert forgotten(memory) == {entry.record.id: "file-deleted"}
    assert memory.git("log", "-1", "--format=%s") == "forget: Prefer tabs"
    assert_settled(memory)
    memory.provider().apply(RollbackInput(entry.record.id))
    assert listed(memory)[entry.path].record.epoch == 1


def test_a_file_that_plain_git_removed_is_forgotten(memory: Memory) -> None:
    entry = memory.remember("Prefer tabs")
    memory.git("rm", "-q", entry.path)
    memory.git("commit", "-q", "-m", "away")
    ingest(memory)
    assert forgotten(memory) == {entry.record.id: "file-deleted"}
    assert_settled(memory)


@pytest.mark.parametrize("committed", [False, True], ids=["deleted", "committed"])
def test_many_deletions_at_once_stop_and_ask(memory: Memory, committed: bool) -> None:
    paths = many(memory, 8)
    for path in paths[:6]:
        (memory.home / path).unlink()
    if committed:
        memory.git("commit", "-q", "-a", "-m", "away")
    for text in ("one", "two"):
        applied = memory.provider().apply(RememberInput(text, scope=Scope.GLOBAL))
        assert [w.code for w in applied.notices] == ["too-many-deletions"]
        assert forgotten(memory) == {}
    assert "too-many-deletions" in [w.code for w in memory.provider().status().attention]
    memory.provider().apply(ForgetInput(missing=True))
    assert len(forgotten(memory)) == 6
    assert_settled(memory)


@pytest.mark.parametrize("committed", [False, True], ids=["deleted", "committed"])
@pytest.mark.parametrize("count", [2, 6])
def test_missing_files_are_put_back_when_the_person_says_so(
    memory: Memory, snapshot: Callable[[Path], dict[str, bytes]], count: int, committed: bool
) -> None:
    paths = many(memory, 8)
    before = snapshot(memory.home)
    for path in paths[:count]:
        (memory.home / path).unlink()
    if committed:
        memory.git("commit", "-q", "-a", "-m", "away")
    applied = memory.provider().apply(RollbackInput(missing=True))
    assert sorted(applied.changed) == paths[:count]
    assert snapshot(memory.home) == before
    assert forgotten(memory) == {}
    ingest(memory)
    assert_settled(memory)


def test_no_deletion_is_taken_in_without_the_marker_file(memory: Memory) -> None:
    entry = memory.remember("Prefer tabs")
    (memory.home / entry.path).unlink()
    settings = (memory.home / "memsync.yaml").read_bytes()
    (memory.home / "memsync.yaml").unlink()
    ingest(memory)
    assert forgotten(memory) == {}
    memory.write("memsync.yaml", settings)
    ingest(memory)
    assert forgotten(memory) == {entry.record.id: "file-deleted"}


def test_a_sparse_checkout_is_no_deletion(memory: Memory) -> None:
    entry = memory.remember("Prefer tabs")
    memory.write("projects/web/a.md", record("title: A"))
    ingest(memory)
    memory.git("sparse-checkout", "set", "projects")
    assert not (memory.home / entry.path).exists()
    memory.remember("Something else")
    (memory.home / "projects/web/a.md").unlink()
    memory.remember("And another")
    assert forgotten(memory) == {}


def test_a_folder_that_is_a_dangling_link_is_no_deletion(memory: Memory) -> None:
    """A disk that is not there: the folder was moved to it and a link left in its place."""
    entry = memory.remember("Prefer tabs")
    away = memory.root / "other-disk"
    (memory.home / "global").rename(away)
    (memory.home / "global").symlink_to(away)
    ingest(memory)
    assert listed(memory) == {}
    away.rename(memory.root / "unmounted")
    ingest(memory)
    assert forgotten(memory) == {}
    (memory.home / "global").unlink()
    (memory.root / "unmounted").rename(memory.home / "global")
    assert listed(memory)[entry.path].record == entry.record
    assert_settled(memory)


def test_a_removed_mark_of_forgetting_is_put_back(memory: Memory) -> None:
    entry = memory.remember("Prefer tabs")
    memory.provider().apply(ForgetInput(entry.record.id))
    mark = memory.home / f"tombstones/{entry.record.id}.md"
    mark.unlink()
    done = ingest(memory)
    assert told(done) == ["tombstone-restored"]
    assert mark.exists()
    memory.git("rm", "-q", str(mark))
    memory.git("commit", "-q", "-m", "away")
    done = ingest(memory)
    assert told(done) == ["tombstone-restored"]
    assert mark.exists()
    assert_settled(memory)


# --- what comes back -----------------------------------------------------------------------


def test_a_file_that_a_person_puts_back_is_remembered_again(memory: Memory) -> None:
    entry = memory.remember("Prefer tabs")
    content = memory.read(entry.path)
    memory.provider().apply(ForgetInput(entry.record.id))
    memory.write(entry.path, content)
    assert listed(memory) == {}
    ingest(memory)
    assert listed(memory)[entry.path].record.epoch == 1
    assert forgotten(memory) == {}
    assert_settled(memory)


def test_a_commit_that_brings_a_forgotten_file_back_is_a_rollback(memory: Memory) -> None:
    entry = memory.remember("Prefer tabs")
    memory.provider().apply(ForgetInput(entry.record.id))
    memory.git("checkout", "-q", "HEAD~1", "--", entry.path)
    memory.git("commit", "-q", "-m", "again")
    ingest(memory)
    assert listed(memory)[entry.path].record.epoch == 1
    assert_settled(memory)


def test_a_reverted_forget_is_a_rollback_that_other_machines_see(memory: Memory) -> None:
    entry = memory.remember("Prefer tabs")
    memory.provider().apply(ForgetInput(entry.record.id))
    memory.git("revert", "--no-edit", "HEAD")
    ingest(memory)
    assert listed(memory)[entry.path].record.epoch == 1
    assert (memory.home / f"tombstones/{entry.record.id}.md").exists()
    assert_settled(memory)


def test_a_merge_that_drops_a_record_forgets_nothing(memory: Memory) -> None:
    entry = memory.remember("Prefer tabs")
    memory.git("branch", "side")
    memory.remember("Something else")
    memory.git("checkout", "-q", "side")
    memory.write("notes.txt", "aside")
    memory.git("add", "notes.txt")
    memory.git("commit", "-q", "-m", "aside")
    memory.git("checkout", "-q", "main")
    memory.git("merge", "-q", "--no-commit", "side")
    memory.git("rm", "-q", entry.path)
    memory.git("commit", "-q", "-m", "merged")
    ingest(memory)
    assert forgotten(memory) == {}


def test_a_reset_to_an_older_commit_forgets_nothing(memory: Memory) -> None:
    memory.remember("Something else")
    entry = memory.remember("Prefer tabs")
    memory.git("reset", "-q", "--hard", "HEAD~1")
    ingest(memory)
    assert forgotten(memory) == {}
    # What the reset dropped is still reachable.
    refs = memory.git("for-each-ref", "--format=%(refname)").splitlines()
    assert any(entry.path in memory.git("ls-tree", "-r", "--name-only", ref) for ref in refs)


# --- what is left alone ------------------------------------------------------------------------

BROKEN = {
    "syntax": b"---\nid: [\n---\ntext\n",
    "duplicate": b"---\ntitle: a\ntitle: b\n---\ntext\n",
    "unclosed": b"---\ntitle: a\ntext\n",
    "markers": b"---\ntitle: a\n---\n<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n",
    "pointer": b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n",
    "binary": b"\x00\x01\x02",
    "latin-1": "title: é\n".encode("latin-1"),
    "bomb": b"---\na: &a [x]\nb: *a\n---\ntext\n",
    "value": b"---\nlifecycle: maybe\n---\ntext\n",
    "empty": b"",
}


def test_broken_files_stay_as_they_are_and_stop_no_other(memory: Memory) -> None:
    for name, content in BROKEN.items():
        memory.write(f"global/{name}.md", content)
    memory.write("global/good.md", "A good one\n")
    done = ingest(memory)
    assert done.paths == ("global/good.md",)
    for name, content in BROKEN.items():
        assert (memory.home / f"global/{name}.md").read_bytes() == content
    assert memory.git("ls-files", "global") == "global/good.md"
    named = {p.path for p in memory.provider().status().problems if p.level == "error"}
    assert named == {f"global/{name}.md" for name in BROKEN}
    memory.remember("Something else")
    memory.write("global/unclosed.md", "---\ntitle: a\n---\nmended\n")
    assert ingest(memory).paths == ("global/unclosed.md",)


def test_a_record_that_breaks_keeps_its_last_good_version_in_git(memory: Memory) -> None:
    entry = memory.remember("Prefer tabs")
    good = memory.git("rev-parse", f"HEAD:{entry.path}")
    memory.write(entry.path, "---\ntitle: [\n---\n")
    memory.remember("Something else")
    assert memory.git("rev-parse", f"HEAD:{entry.path}") == good
    assert memory.read(entry.path) == "---\ntitle: [\n---\n"
    assert forgotten(memory) == {}
    assert entry.path not in listed(memory)


def test_links_among_the_records_are_never_read(memory: Memory) -> None:
    outside = memory.root / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("outside secret\n")
    memory.write("global/real.md", "A real one\n")
    (memory.home / "global/link.md").symlink_to(outside / "secret.md")
    (memory.home / "global/folder").symlink_to(outside)
    (memory.home / "projects").symlink_to(outside)
    done = ingest(memory)
    assert done.paths == ("global/real.md",)
    assert [*listed(memory)] == ["global/real.md"]
    codes = {p.path: p.code for p in memory.provider().status().problems}
    assert codes == dict.fromkeys(("global/link.md", "global/folder", "projects"), "symbolic-link")
    for arguments in (("search", "secret"), ("export",), ("retrieve", "--task", "secret")):
        assert b"outside secret" not in memory.run(*arguments).stdout
    assert (outside / "secret.md").read_text() == "outside secret\n"


def test_a_record_that_is_replaced_by_a_link_is_neither_read_nor_forgotten(memory: Memory) -> None:
    entry = memory.remember("Prefer tabs")
    memory.remember("Something else")
    content = memory.read(entry.path)
    (memory.root / "elsewhere.md").write_text(content)
    (memory.home / entry.path).unlink()
    (memory.home / entry.path).symlink_to(memory.root / "elsewhere.md")
    assert entry.path not in listed(memory)
    ingest(memory)
    assert forgotten(memory) == {}
    assert memory.git("ls-files", "--stage", entry.path).startswith("100644")
    memory.remember("And another")
    assert memory.git("ls-files", "--stage", entry.path).startswith("100644")


def test_a_huge_file_is_told_and_not_added(memory: Memory) -> None:
    memory.write("global/huge.md", "")
    os.truncate(memory.home / "global/huge.md", 200 * 1024 * 1024)
    memory.write("global/good.md", "A good one\n")
    assert ingest(memory).paths == ("global/good.md",)
    assert [p.code for p in memory.provider().status().problems] == ["file-too-large"]
    assert memory.git("ls-files", "global") == "global/good.md"


def test_what_editors_leave_beside_a_file_is_no_record(memory: Memory) -> None:
    memory.write("global/good.md", "A good one\n")
    for name in (".good.md.swp", "good.md~", "4913", ".#good.md", "#good.md#", ".hidden.md"):
        memory.write(f"global/{name}", "junk\n")
    assert ingest(memory).paths == ("global/good.md",)
    assert memory.git("ls-files", "global") == "global/good.md"
    assert memory.provider().status().pending == 0


def test_what_a_person_staged_of_other_files_stays_staged(memory: Memory) -> None:
    memory.write("notes.txt", "mine")
    memory.git("add", "notes.txt")
    entry = memory.remember("Prefer tabs")
    memory.write(entry.path, memory.read(entry.path) + "more\n")
    ingest(memory)
    assert memory.git("status", "--porcelain") == "A  notes.txt"
    assert "notes.txt" not in memory.git("ls-tree", "-r", "--name-only", "HEAD")


def test_a_staged_record_is_taken_in_as_it_stands_in_the_folder(memory: Memory) -> None:
    memory.write("global/a.md", "staged\n")
    memory.git("add", "global/a.md")
    memory.write("global/a.md", "staged, then edited\n")
    ingest(memory)
    assert "staged, then edited" in memory.git("show", "HEAD:global/a.md")
    assert_settled(memory)


def test_a_broken_project_file_stays_and_stops_no_other(memory: Memory) -> None:
    memory.write("projects/web/project.yaml", "name: [\n")
    memory.write("projects/web/a.md", "A good one\n")
    assert ingest(memory).paths == ("projects/web/a.md",)
    memory.write("projects/web/project.yaml", "name: Web\n")
    assert ingest(memory).paths == ("projects/web/project.yaml",)
    assert_settled(memory)


# --- Git is somewhere else ---------------------------------------------------------------------


def _detached(memory: Memory) -> str:
    memory.git("checkout", "-q", "--detach")
    return "detached"


def _other_branch(memory: Memory) -> str:
    memory.git("checkout", "-q", "-b", "side")
    return "side"


def _conflicting(memory: Memory) -> str:
    """Two branches that changed one line differently; returns the record's path.

    By git's own merge, as in a clone without memsync's.
    """
    memory.git("config", "--remove-section", "merge.memsync")
    entry = memory.remember("Prefer tabs\nbody")
    memory.git("checkout", "-q", "-b", "side")
    text = memory.read(entry.path)
    memory.write(entry.path, text.replace("body", "theirs"))
    memory.git("commit", "-q", "-a", "-m", "theirs")
    memory.git("checkout", "-q", "main")
    memory.write(entry.path, text.replace("body", "ours"))
    memory.git("commit", "-q", "-a", "-m", "ours")
    return entry.path


def _stopped(memory: Memory, *arguments: str) -> None:
    done = subprocess.run(
        ["git", *arguments], cwd=memory.home, env=memory.variables, capture_output=True
    )
    assert done.returncode, "it was meant to stop at a conflict"


def _merge(memory: Memory) -> str:
    _conflicting(memory)
    _stopped(memory, "merge", "side")
    return "merge"


def _rebase(memory: Memory) -> str:
    _conflicting(memory)
    _stopped(memory, "rebase", "side")
    return "rebase"


def _cherry_pick(memory: Memory) -> str:
    _conflicting(memory)
    _stopped(memory, "cherry-pick", "side")
    return "cherry-pick"


def _revert(memory: Memory) -> str:
    path = _conflicting(memory)
    memory.write(path, memory.read(path).replace("ours", "newer"))
    memory.git("commit", "-q", "-a", "-m", "newer")
    _stopped(memory, "revert", "--no-edit", "HEAD~1")
    return "revert"


def _bisect(memory: Memory) -> str:
    memory.remember("One more")
    memory.git("bisect", "start")
    return "bisect"


STATES = (_detached, _other_branch, _merge, _rebase, _cherry_pick, _revert, _bisect)


@pytest.mark.parametrize("begin", STATES)
def test_where_git_is_in_the_middle_of_something_nothing_is_touched_and_reads_go_on(
    memory: Memory, snapshot: Callable[[Path], dict[str, bytes]], begin: Callable[[Memory], str]
) -> None:
    kept = memory.remember("Something else")
    word = begin(memory)
    memory.write("global/new.md", "A new one\n")
    before = (
        snapshot(memory.home),
        memory.git("status", "--porcelain=v2", "--branch"),
        memory.git("for-each-ref"),
    )
    for operation in (
        RememberInput("More", scope=Scope.GLOBAL),
        CorrectInput(kept.record.id, "another"),
        ForgetInput(kept.record.id),
        ForgetInput(kept.record.id, permanent=True),
        RollbackInput(missing=True),
    ):
        with pytest.raises(errors.OddState) as caught:
            memory.provider().apply(operation)
        assert word in str(caught.value)
    with pytest.raises(errors.OddState):
        ingest(memory)
    assert {"global/new.md", kept.path} <= listed(memory).keys()
    assert memory.provider().query(HistoryQuery(kept.record.id)).revisions
    attention = memory.provider().status().attention
    assert [w.code for w in attention] == ["repository-state"]
    assert word in attention[0].facts[0]
    after = (
        snapshot(memory.home),
        memory.git("status", "--porcelain=v2", "--branch"),
        memory.git("for-each-ref"),
    )
    assert after == before


# --- files that Git's index was told to drop -------------------------------------------------


def test_a_file_that_git_was_told_to_drop_and_that_stands_here_is_put_back(memory: Memory) -> None:
    entries = [memory.remember(f"Text {word}") for word in ("one", "two", "three")]
    memory.write(entries[1].path, memory.read(entries[1].path).replace("Text two", "Text 2"))
    memory.write(entries[2].path, "---\na: [\n---\n")
    paths = [entry.path for entry in entries]
    memory.git("rm", "-q", "--cached", "README.md", *paths)
    status = memory.provider().status()
    assert [w.code for w in status.attention] == ["taken-from-index"]
    assert all(path in status.attention[0].facts[0] for path in paths)
    assert status.pending == 2
    notices = memory.provider().apply(RememberInput("More", scope=Scope.GLOBAL)).notices
    assert [w.code for w in notices] == ["put-back-in-index"]
    assert memory.git("status", "--short") == f" M {paths[2]}"
    assert memory.git("show", "HEAD~1", "--name-status", "--format=").split() == ["M", paths[1]]
    assert memory.provider().query(ManageQuery(forgotten=True)).forgotten == ()


def test_a_commit_that_drops_a_file_that_stands_here_is_no_forget(memory: Memory) -> None:
    entry = memory.remember("Text one")
    memory.git("rm", "-q", "--cached", entry.path)
    memory.git("commit", "-q", "-m", "dropped")
    assert ingest(memory).paths == (entry.path,)
    assert listed(memory)[entry.path].record.id == entry.record.id
    assert memory.provider().query(ManageQuery(forgotten=True)).forgotten == ()


# --- edits that meet a write ---------------------------------------------------------------


def test_a_command_takes_in_hand_edits_first_and_apart(memory: Memory) -> None:
    entry = memory.remember("Prefer tabs\nbody")
    memory.write(entry.path, memory.read(entry.path).replace("body", "by hand"))
    applied = memory.provider().apply(CorrectInput(entry.record.id, "by machine"))
    assert applied.taken_in == (entry.path,)
    subjects = memory.git("log", "-2", "--format=%s").splitlines()
    assert subjects == ["correct: by machine", "by hand: Prefer tabs"]
    versions = memory.provider().query(HistoryQuery(entry.record.id)).revisions
    assert len(versions) == 3


def test_a_project_folder_made_by_hand_is_a_project(memory: Memory) -> None:
    memory.write("projects/by-hand/a.md", "A thought\n")
    ingest(memory)
    item = listed(memory)["projects/by-hand/a.md"].record
    assert item.project_key == "by-hand"
    folder = make_project(memory, "code")
    assert folder.is_dir()


def test_many_files_without_an_id_cost_one_look_at_the_history(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The id of such a file comes from the commit that added it, whatever became of it since."""
    repo = MemoryRepo.at(str(memory.home), memory.variables)
    paths = [f"global/note {n}.md" for n in range(MOST_NAMED + 1)]
    for path in paths:
        memory.write(path, f"Note {path}\n")
    memory.git("add", "-A")
    memory.git("commit", "-qm", "notes")
    for path in paths[:3]:
        memory.write(path, "Another text\n")
    memory.git("rm", "-q", "--", paths[3])
    memory.git("commit", "-qam", "second thoughts")
    memory.write(paths[3], "Back again\n")
    memory.git("add", "-A")
    memory.git("commit", "-qm", "back")
    added = memory.git("rev-parse", f"HEAD~2:{paths[0]}", f"HEAD~2:{paths[3]}").split()
    begun: list[str] = []
    run = Git.run

    def counted(git: Git, *words: str, **options: Any) -> bytes:
        begun.append(words[0])
        return run(git, *words, **options)

    monkeypatch.setattr(Git, "run", counted)
    all_of_them = repo.first_commit_of(paths)
    few = repo.first_commit_of(paths[:5])
    assert begun.count("log") == 2
    assert [all_of_them[path][1] for path in (paths[0], paths[3])] == added
    assert few == {path: all_of_them[path] for path in paths[:5]}
    assert len(all_of_them) == len(paths)
    assert repo.first_commit_of(["global/not there.md"]) == {}


@pytest.mark.parametrize("damage", ["HEAD", "packed-refs", "config"])
def test_reads_go_on_in_a_damaged_repository(memory: Memory, damage: str) -> None:
    """Which id a file without one has, only git knows; all else can be read without it."""
    kept = memory.remember("Prefer tabs")
    memory.write(kept.path, "Prefer tabs\n\nits front matter is gone\n")
    memory.git("pack-refs", "--all")
    place = memory.home / ".git" / damage
    whole = place.read_bytes()
    place.write_bytes(b"\0garbage")
    try:
        for words in (["list"], ["search", "tabs"], ["retrieve", "--task", "tabs"]):
            done = memory.run(*words)
            assert done.returncode == 0, (words, done.stderr)
            assert b"Prefer tabs" in done.stdout
        assert memory.run("doctor").returncode in (1, 4)
        assert memory.run("remember", "More", "--scope", "global").returncode == 1
    finally:
        place.write_bytes(whole)
    assert listed(memory)[kept.path].record.id == kept.record.id
