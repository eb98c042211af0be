"""Versions of a memory: followed by its id, through moves, forgets and other records' paths."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import corpus
from memsync import errors
from memsync.contract.changes import CorrectInput, ForgetInput, RollbackInput
from memsync.contract.memories import HistoryQuery, ManageQuery
from tests.conftest import Memory


def subjects(memory: Memory, wanted: str) -> list[str]:
    revisions = memory.provider().query(HistoryQuery(wanted)).revisions
    return [revision.subject for revision in revisions]


def diff(memory: Memory, wanted: str, old: str | None, new: str | None) -> list[str]:
    """The lines that were taken out and put in, without those of stamps and evidence."""
    text = memory.provider().query(HistoryQuery(wanted, diff_from=old, diff_to=new)).diff
    assert text is not None
    lines = [line for line in text.splitlines() if line[:1] in "+-" and line[:3] not in "+++---"]
    return [line for line in lines if line[1:] in WORDS]


WORDS = ("one", "two", "three", "four")


def three_versions(memory: Memory) -> tuple[str, list[str]]:
    """A record with the texts one, two, three. Returns its id and its revisions, newest first."""
    wanted = memory.remember("Title\none").record.id
    for text in ("two", "three"):
        memory.provider().apply(CorrectInput(wanted, text, title="Title"))
    revisions = memory.provider().query(HistoryQuery(wanted)).revisions
    return wanted, [str(revision.revision) for revision in revisions]


def test_the_versions_stand_newest_first(memory: Memory) -> None:
    wanted, revisions = three_versions(memory)
    assert subjects(memory, wanted) == ["correct: Title", "correct: Title", "remember: Title"]
    assert len(set(revisions)) == 3
    assert diff(memory, wanted, None, "current") == ["-two", "+three"]
    assert diff(memory, wanted, None, revisions[1]) == ["-one", "+two"]
    assert diff(memory, wanted, revisions[2], revisions[0]) == ["-one", "+three"]
    assert diff(memory, wanted, revisions[0], revisions[2]) == ["-three", "+one"]


def test_a_revision_is_named_by_the_beginning_of_its_blob_or_commit(memory: Memory) -> None:
    wanted, revisions = three_versions(memory)
    commit = memory.provider().query(HistoryQuery(wanted)).revisions[2].commit
    for name in (revisions[2][:6], commit[:7], commit):
        assert diff(memory, wanted, name, "current") == ["-one", "+three"]
    for name in ("abc", "0000000", "", "HEAD", "current-not"):
        with pytest.raises(errors.RevisionNotFound):
            diff(memory, wanted, name, "current")


def test_an_unsaved_edit_is_told_and_compared(memory: Memory) -> None:
    wanted, _ = three_versions(memory)
    path = memory.home / "global/title.md"
    path.write_text(path.read_text().replace("three", "four"))
    found = memory.provider().query(HistoryQuery(wanted))
    assert found.uncommitted
    assert len(found.revisions) == 3
    assert diff(memory, wanted, None, "current") == ["-three", "+four"]


def test_moves_are_followed(memory: Memory) -> None:
    wanted, _ = three_versions(memory)
    (memory.home / "projects/web").mkdir(parents=True)
    (memory.home / "global/title.md").rename(memory.home / "projects/web/moved.md")
    memory.store().ingest()
    memory.provider().apply(CorrectInput(wanted, "four", title="Title"))
    (memory.home / "projects/web/moved.md").rename(memory.home / "projects/web/again.md")
    memory.store().ingest()
    assert len(subjects(memory, wanted)) == 6
    revisions = memory.provider().query(HistoryQuery(wanted)).revisions
    assert [r.path for r in revisions] == [
        "projects/web/again.md",
        *["projects/web/moved.md"] * 2,
        *["global/title.md"] * 3,
    ]
    memory.provider().apply(RollbackInput(wanted, to=revisions[-1].revision))
    assert memory.read("projects/web/again.md").endswith("---\none\n")


def test_a_path_that_another_record_had_before_tells_only_its_own_versions(memory: Memory) -> None:
    first, _ = three_versions(memory)
    memory.provider().apply(ForgetInput(first))
    second = memory.remember("Title\nanother")
    assert second.path == "global/title.md"
    assert second.record.id != first
    assert subjects(memory, second.record.id) == ["remember: Title"]
    assert len(subjects(memory, first)) == 4 or subjects(memory, first)[0].startswith("correct")
    with pytest.raises(errors.NothingToRollBack):
        memory.provider().apply(RollbackInput(second.record.id))


def test_two_records_that_swapped_their_paths_keep_their_own_versions(memory: Memory) -> None:
    a = memory.remember("A\none").record.id
    b = memory.remember("B\ntwo").record.id
    one, two = memory.home / "global/a.md", memory.home / "global/b.md"
    first, second = one.read_bytes(), two.read_bytes()
    one.write_bytes(second)
    two.write_bytes(first)
    memory.store().ingest()
    shown = {e.path: e.record.id for e in memory.provider().query(ManageQuery()).records}
    assert shown == {"global/a.md": b, "global/b.md": a}
    assert subjects(memory, a)[-1] == "remember: A"
    assert subjects(memory, b)[-1] == "remember: B"


def test_the_versions_before_a_forget_and_after_a_rollback_are_told(memory: Memory) -> None:
    wanted, revisions = three_versions(memory)
    memory.provider().apply(ForgetInput(wanted))
    told = memory.provider().query(HistoryQuery(wanted)).revisions
    assert [r.revision for r in told if r.revision][:3] == revisions
    memory.provider().apply(RollbackInput(wanted))
    memory.provider().apply(CorrectInput(wanted, "four", title="Title"))
    kept = [r.revision for r in memory.provider().query(HistoryQuery(wanted)).revisions]
    assert [r for r in kept if r in revisions] == revisions
    assert len([r for r in kept if r]) == 5
    assert diff(memory, wanted, revisions[2], "current") == ["-one", "+four"]


def test_a_rollback_goes_one_version_back_and_is_itself_a_version(memory: Memory) -> None:
    wanted, kept = three_versions(memory)
    before = memory.commits()
    applied = memory.provider().apply(RollbackInput(wanted))
    assert applied.entry is not None
    assert (applied.entry.record.body, memory.commits()) == ("two", before + 1)
    (back,) = [notice for notice in applied.notices if notice.code == "went-back-to"]
    assert (back.facts[0], back.facts[2]) == (kept[1], "Title")
    assert back.facts[1][:4].isdigit()
    assert len(subjects(memory, wanted)) == 4
    # Rolled back once more it returns to what stood before: nothing is ever out of reach.
    applied = memory.provider().apply(RollbackInput(wanted))
    assert applied.entry is not None
    assert applied.entry.record.body == "three"


def test_a_rollback_to_a_version_of_before_the_forget(memory: Memory) -> None:
    wanted, revisions = three_versions(memory)
    memory.provider().apply(ForgetInput(wanted))
    applied = memory.provider().apply(RollbackInput(wanted, to=revisions[2]))
    assert applied.entry is not None
    assert (applied.entry.record.body, applied.entry.record.epoch) == ("one", 1)
    assert [n.facts[0] for n in applied.notices if n.code == "went-back-to"] == [revisions[2]]


def test_a_rollback_that_was_made_from_an_older_state_is_refused(memory: Memory) -> None:
    wanted, revisions = three_versions(memory)
    with pytest.raises(errors.RevisionMoved):
        memory.provider().apply(RollbackInput(wanted, expected_revision=revisions[1]))
    memory.provider().apply(RollbackInput(wanted, expected_revision=revisions[0]))


@pytest.fixture(scope="module")
def long_history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """300 records and 1,000 commits that each touch one of them."""
    folder = tmp_path_factory.mktemp("corpus") / "memory"
    corpus.write(folder, 300, 1, commits=1000)
    return folder


def test_in_a_long_history_the_answer_is_what_git_says_of_the_path(
    machine: Memory, long_history: Path
) -> None:
    machine.variables["MEMSYNC_HOME"] = str(long_history)
    provider = machine.provider()
    entries = provider.query(ManageQuery()).records
    counted = 0
    for entry in entries[:25]:
        revisions = provider.query(HistoryQuery(entry.record.id)).revisions
        log = machine.git("log", "--format=%H", "--", entry.path).splitlines()
        assert [r.commit for r in revisions] == [oid[:12] for oid in log]
        counted += len(log)
    assert counted > 60
