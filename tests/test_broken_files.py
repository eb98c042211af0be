"""A file that cannot be read keeps its memory within reach: named, with history and a way back."""

from __future__ import annotations

import pytest

from memsync import errors
from memsync.contract.changes import RollbackInput
from memsync.contract.memories import ExpandQuery, HistoryQuery
from tests.conftest import Memory

DAMAGE = {
    "emptied": b"",
    "not UTF-8": b"\xff\xfe\x00",
    "broken YAML": b"---\ntitle: a: b\n---\nx\n",
    "conflict markers": b"---\ntitle: t\n---\n<<<<<<< a\n1\n=======\n2\n>>>>>>> b\n",
}


@pytest.mark.parametrize("damage", [*DAMAGE])
@pytest.mark.parametrize("named_by", ["id", "title"])
@pytest.mark.parametrize("committed", [False, True])
def test_a_broken_file_is_named_and_rolls_back(
    memory: Memory, damage: str, named_by: str, committed: bool
) -> None:
    entry = memory.remember("Prefer tabs\nIn Go and in Makefiles.")
    before = memory.read(entry.path)
    memory.write(entry.path, DAMAGE[damage])
    if committed:
        memory.git("commit", "-qam", "a bad save")
    wanted = entry.record.id if named_by == "id" else "Prefer tabs"
    provider = memory.provider()
    with pytest.raises(errors.BrokenFile) as told:
        provider.query(ExpandQuery(wanted))
    assert (told.value.facts["path"], told.value.facts["id"]) == (entry.path, entry.record.id)
    history = provider.query(HistoryQuery(wanted))
    assert history.revisions[-1].subject == "remember: Prefer tabs"
    assert history.uncommitted
    applied = provider.apply(RollbackInput(wanted))
    assert memory.read(entry.path) == before
    assert provider.query(ExpandQuery(wanted)).record.body == "In Go and in Makefiles."
    (kept,) = [n.facts[1] for n in applied.notices if n.code == "broken-file-kept"]
    with open(kept, "rb") as stream:
        assert stream.read() == DAMAGE[damage]
    assert memory.git("status", "--porcelain") == ""


def test_a_broken_file_that_never_was_good_has_no_way_back(memory: Memory) -> None:
    memory.write("global/x.md", DAMAGE["broken YAML"])
    with pytest.raises(errors.RecordNotFound):
        memory.provider().apply(RollbackInput("m-0123456789abcdef"))
    assert memory.read("global/x.md") == DAMAGE["broken YAML"].decode()
