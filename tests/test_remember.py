"""Remembering, and what a person sees of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from memsync import errors
from memsync.contract.changes import (
    Applied,
    CorrectInput,
    ForgetInput,
    PauseInput,
    RememberInput,
)
from memsync.contract.memories import ManageQuery
from memsync.providers.local.writes import titled
from memsync.record import Scope
from tests.conftest import Memory


def test_a_text_becomes_one_file_and_one_commit(memory: Memory, project: Path) -> None:
    before = memory.commits()
    entry = memory.remember("Use pnpm, never npm\nThe lockfile is pnpm's.", project)
    assert memory.commits() == before + 1
    assert memory.git("log", "-1", "--format=%s") == "remember: Use pnpm, never npm"
    assert entry.path == "projects/api-e1dcaa34/use-pnpm-never-npm.md"
    text = memory.read(entry.path)
    assert "title: Use pnpm, never npm\n" in text
    assert text.endswith("---\nThe lockfile is pnpm's.\n")
    assert memory.git("status", "--porcelain") == ""


@pytest.mark.parametrize(
    ("text", "title", "body"),
    [
        ("short", "short", ""),
        ("# A heading\n\nmore\n", "A heading", "more"),
        ("- a list item\n- another", "a list item", "- another"),
        ("x" * 130, "x" * 119 + "…", "x" * 130),
        ("---\nrule first", "rule first", "---\nrule first"),
        ("我喜欢简短的回答", "我喜欢简短的回答", ""),
        ("!!!", "!!!", ""),
    ],
)
def test_the_title_is_the_first_line(text: str, title: str, body: str) -> None:
    assert titled(text) == (title, body)


def test_empty_text_is_refused() -> None:
    with pytest.raises(errors.TextEmpty):
        titled(" \n ")


def test_remembering_what_was_forgotten_brings_the_same_memory_back(memory: Memory) -> None:
    first = memory.remember("Prefer tabs")
    memory.provider().apply(ForgetInput(first.record.id))
    again = memory.remember("Prefer tabs")
    assert (again.record.id, again.record.epoch) == (first.record.id, 1)
    assert len(memory.provider().query(ManageQuery()).records) == 1


def test_what_resembles_is_named(memory: Memory) -> None:
    first = memory.remember("Run the linter before every commit")
    wanted = RememberInput("Run the linter before each commit", scope=Scope.GLOBAL)
    applied = memory.provider().apply(wanted)
    told = [n for n in applied.notices if n.code == "resembles"]
    assert [n.facts[0] for n in told] == [first.record.id]


def test_project_scope_outside_a_project_is_refused(memory: Memory) -> None:
    before = memory.commits()
    with pytest.raises(errors.NotAProject):
        memory.provider().apply(RememberInput("x", scope=Scope.PROJECT))
    assert memory.commits() == before


def again(memory: Memory, text: str = "Prefer tabs\nIn Go.", **options: Any) -> Applied:
    return memory.provider().apply(RememberInput(text, scope=Scope.GLOBAL, **options))


def test_what_is_known_already_is_not_written_twice(memory: Memory) -> None:
    first = again(memory, paths=("web/**",), category="style").entry
    assert first is not None
    before = memory.commits()
    same: list[dict[str, Any]] = [{}, {"paths": ("web/**",)}, {"category": "style"}]
    for options in same:
        told = again(memory, "Prefer   tabs\n\nIn Go.", **options)
        assert told.entry is not None
        assert told.entry.record.id == first.record.id
        assert [n.code for n in told.notices] == ["already-known"]
        assert (told.commit, told.changed) == (None, ())
    assert memory.commits() == before
    # What differs in any way that is given is a memory of its own.
    others: list[tuple[str, dict[str, Any]]] = [
        ("Prefer tabs\nIn Go.", {"paths": ("api/**",)}),
        ("Prefer tabs\nIn Go.", {"tags": ("go",)}),
        ("Prefer tabs\nIn Go.", {"valid_until": "2027-01-01"}),
        ("Prefer tabs\nIn Go!", {}),
        ("Prefer Tabs\nIn Go.", {}),
    ]
    for text, more in others:
        told = again(memory, text, **more)
        assert told.changed, (text, more)
        assert "resembles" in [n.code for n in told.notices]


def test_remembering_what_was_paused_lets_it_go_on(memory: Memory) -> None:
    first = memory.remember("Prefer tabs")
    memory.provider().apply(PauseInput(id=first.record.id))
    told = again(memory, "Prefer tabs")
    assert told.entry is not None
    assert (told.entry.record.id, told.entry.state) == (first.record.id, "active")
    assert [n.code for n in told.notices] == ["known-before"]


def test_remembering_what_was_concluded_makes_it_the_persons_word(memory: Memory) -> None:
    memory.write(
        "candidates/m-0123456789abcdef.md",
        "---\nid: m-0123456789abcdef\nscope: global\nauthority: inferred\nlifecycle: trial\n"
        "title: Prefer tabs\n---\n",
    )
    told = again(memory, "Prefer tabs", paths=("web/**",))
    assert told.entry is not None
    item = told.entry.record
    assert (item.id, item.authority, item.lifecycle) == ("m-0123456789abcdef", "explicit", "proven")
    assert item.selectors.paths == ("web/**",)
    assert told.entry.path == "global/prefer-tabs.md"
    assert len(memory.provider().query(ManageQuery()).records) == 1


def test_remembering_one_side_of_a_conflict_settles_nothing(memory: Memory) -> None:
    memory.write(
        "global/x.md",
        "---\nid: m-c0nf000000000000\nconflict:\n  - field: body\n    text: other\n---\nOne side\n",
    )
    told = again(memory, "One side")
    assert [n.code for n in told.notices] == ["already-known", "open-conflict"]
    assert "text: other" in memory.read("global/x.md")


def test_what_was_superseded_can_be_remembered_anew(memory: Memory) -> None:
    first = memory.remember("Prefer tabs")
    memory.provider().apply(CorrectInput(first.record.id, "Prefer spaces", supersede=True))
    told = again(memory, "Prefer tabs")
    assert told.entry is not None
    assert told.entry.record.id != first.record.id
    assert told.entry.state == "active"


def test_a_last_day_that_is_over_is_refused(memory: Memory) -> None:
    with pytest.raises(errors.InvalidValue) as told:
        again(memory, valid_until="2026-11-29")
    assert told.value.facts["allowed"] == "a time that is not over"
    assert again(memory, valid_until="2026-11-30").changed
