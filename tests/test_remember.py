"""Remembering, and what a person sees of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from memsync import errors
from memsync.contract.changes import ForgetInput, RememberInput
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
