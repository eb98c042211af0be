"""Edges at which one file, one date or one editor must not take the rest with it."""

from __future__ import annotations

import pytest

from memsync import errors
from memsync.contract.changes import RememberInput
from memsync.contract.memories import ExpandQuery, ManageQuery
from memsync.record import Scope, instant, stamp
from tests.conftest import Memory


def test_the_last_day_there_is_means_for_ever(memory: Memory) -> None:
    entry = memory.remember("Never ends", valid_until="9999-12-31")
    assert entry.state == "active"
    memory.write("global/too.md", "---\nvalidUntil: 9999-12-31T23:59:59Z\n---\nThis too\n")
    assert {e.state for e in memory.provider().query(ManageQuery()).records} == {"active"}


def test_a_moment_before_all_time_is_refused_and_blocks_nothing(memory: Memory) -> None:
    before = memory.commits()
    early = "0001-01-01T00:00:00+14:00"
    with pytest.raises(errors.InvalidValue):
        memory.provider().apply(RememberInput("x", scope=Scope.GLOBAL, valid_from=early))
    assert memory.commits() == before
    memory.write("global/early.md", f"---\ncreated: {early}\n---\nEarly\n")
    memory.remember("Goes on")
    (told,) = [p for p in memory.store_problems() if p.path == "global/early.md"]
    assert (told.code, told.line) == ("invalid-value", 2)


def test_stamps_of_early_years_compare_as_text() -> None:
    moment = instant("0987-01-01")
    assert moment is not None
    assert stamp(moment) == "0987-01-01T00:00:00Z"


def test_a_bare_file_dropped_among_the_candidates_becomes_a_memory(memory: Memory) -> None:
    memory.write("candidates/h.md", "Prefer short names\n")
    memory.remember("Another one")
    paths = {e.path for e in memory.provider().query(ManageQuery()).records}
    assert paths == {"global/prefer-short-names.md", "global/another-one.md"}
    assert memory.git("status", "--porcelain") == ""


def test_an_editor_that_removes_the_file_is_told_as_forgetting(memory: Memory) -> None:
    entry = memory.remember("Edit me")
    done = memory.run("edit", entry.record.id, variables={"EDITOR": "rm"})
    assert done.returncode == 4
    assert b"was forgotten" in done.stdout
    memory.json("rollback", entry.record.id)
    assert memory.provider().query(ExpandQuery(entry.record.id)).state == "active"


def test_emptied_settings_are_told_and_kept_out_of_git(memory: Memory) -> None:
    before = memory.read("memsync.yaml")
    memory.write("memsync.yaml", "")
    entry = memory.remember("Goes on")
    assert memory.git("show", "HEAD:memsync.yaml") == before.rstrip("\n")
    assert [p.code for p in memory.store_problems()] == ["settings-empty"]
    done = memory.run("forget", entry.record.id, "--permanent")
    assert b"broken-settings" in done.stderr


def test_missing_settings_need_the_person(memory: Memory) -> None:
    (memory.home / "memsync.yaml").unlink()
    answer = memory.json("status")
    assert [a["code"] for a in answer["attention"]] == ["settings-missing"]


def test_what_was_forgotten_for_good_is_not_offered_back(memory: Memory) -> None:
    entry = memory.remember("Secret habit")
    memory.json("forget", entry.record.id, "--permanent")
    with pytest.raises(errors.ForgottenForGood):
        memory.provider().query(ExpandQuery(entry.record.id))
    assert memory.json("explain", entry.record.id)["saved"]["code"] == "forgotten"
