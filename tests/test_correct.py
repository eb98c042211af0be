"""Correcting: the text, or what stands beside it, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from memsync import errors
from memsync.contract.changes import Applied, CorrectInput
from memsync.record import MemoryClass, MemoryType, Selectors
from tests.asking import answer, call
from tests.conftest import Memory


def correct(memory: Memory, wanted: str, text: str | None = None, **options: Any) -> Applied:
    return memory.provider().apply(CorrectInput(wanted, text, **options))


def lines_changed(memory: Memory) -> list[str]:
    """What the last commit took out of and put into the file."""
    lines = memory.git("show", "--format=", "-U0", "HEAD").splitlines()
    kept = [line for line in lines if line[:1] in "+-" and line[:3] not in ("+++", "---")]
    return [line for line in kept if not line[1:].startswith("updated:")]


def test_an_option_changes_what_it_names_and_no_other_line(memory: Memory) -> None:
    entry = memory.remember("Use pnpm\nIt is fast.", paths=("web/**",), tags=("a", "b"))
    told = answer(memory, "correct", entry.record.id, "--path", "app/**", "--path", "lib/**")
    assert told["record"]["selectors"] == {"paths": ["app/**", "lib/**"]}
    assert lines_changed(memory) == ["-  paths: [web/**]", "+  paths: [app/**, lib/**]"]
    options = ("--category", "tooling", "--valid-until", "2999-01-01", "--task", "install")
    kind = ("--type", "core-profile", "--class", "user-fact", "--title", "Use pnpm 9")
    record = answer(memory, "correct", entry.record.id, *options, *kind)["record"]
    assert record["body"] == "It is fast."
    assert record["tags"] == ["a", "b"]
    assert record["selectors"] == {"paths": ["app/**", "lib/**"], "tasks": ["install"]}
    assert (record["category"], record["validUntil"]) == ("tooling", "2999-01-01")
    assert (record["memoryType"], record["memoryClass"]) == ("core-profile", "user-fact")
    assert record["title"] == "Use pnpm 9"


def test_an_empty_value_takes_away(memory: Memory) -> None:
    entry = memory.remember(
        "Use pnpm", paths=("web/**",), tags=("a",), category="x", valid_until="2999-01-01"
    )
    empty = [("--path", ""), ("--tag", ""), ("--category", ""), ("--valid-until", "")]
    told = answer(memory, "correct", entry.record.id, *(word for pair in empty for word in pair))
    assert not {"tags", "category", "validUntil"} & set(told["record"])
    assert told["record"]["selectors"] == {}
    assert "selectors" not in memory.read(entry.path)


def test_details_alone_leave_the_text_and_who_says_it(memory: Memory) -> None:
    memory.write(
        "global/x.md",
        "---\nid: m-0123456789abcdef\nauthority: inferred\nlifecycle: trial\ntitle: Tabs\n"
        "conflict:\n  - field: body\n    text: other\n---\nOne side\n",
    )
    wanted = "m-0123456789abcdef"
    told = correct(memory, wanted, category="style").entry
    assert told is not None
    item = told.record
    assert (item.authority, item.lifecycle, item.category) == ("inferred", "trial", "style")
    # A title is the person's word; the text that is still open stays open.
    told = correct(memory, wanted, title="Use tabs").entry
    assert told is not None
    item = told.record
    assert (item.authority, item.lifecycle, item.title) == ("explicit", "proven", "Use tabs")
    assert [c.text for c in item.conflict] == ["other"]


def test_text_and_details_go_together_and_into_a_successor(memory: Memory) -> None:
    entry = memory.remember("Use npm", paths=("web/**",))
    told = correct(memory, entry.record.id, "Use pnpm", supersede=True, paths=("app/**",)).entry
    assert told is not None
    assert (told.record.title, told.record.selectors) == ("Use pnpm", Selectors(("app/**",)))
    old = memory.provider().apply(CorrectInput(entry.record.id, category="old")).entry
    assert old is not None
    assert old.record.selectors == Selectors(("web/**",))


def test_what_cannot_hold_changes_nothing(memory: Memory) -> None:
    entry = memory.remember("Use npm", valid_from="2026-12-24")
    before = memory.read(entry.path)
    wrong: list[tuple[type[errors.MemsyncError], dict[str, Any]]] = [
        (errors.InvalidValue, {"valid_until": "tomorrow"}),
        (errors.InvalidValue, {"valid_until": "2026-12-01"}),
        (errors.InvalidValue, {"title": "  "}),
        (errors.TextEmpty, {"supersede": True, "category": "x"}),
        (errors.InvalidRecord, {"paths": tuple(f"p{n}" for n in range(40))}),
    ]
    for kind, options in wrong:
        with pytest.raises(kind):
            correct(memory, entry.record.id, **options)
    assert memory.read(entry.path) == before


def test_standard_input_is_read_only_where_nothing_else_is_given(memory: Memory) -> None:
    entry = memory.remember("Use npm")
    call(memory, "correct", entry.record.id, "--tag", "a", stdin=b"not this")
    done = call(memory, "correct", entry.record.id, "-", "--tag", "b", stdin=b"Use pnpm")
    assert done.returncode == 0
    record = answer(memory, "show", entry.record.id)["record"]
    assert (record["title"], record["tags"]) == ("Use pnpm", ["b"])


def test_a_memory_can_be_ended(memory: Memory) -> None:
    entry = memory.remember("Use npm", memory_type=MemoryType.CORE_PROFILE)
    told = correct(memory, entry.record.id, valid_until="2026-11-29").entry
    assert told is not None
    assert told.state == "expired"
    assert told.record.memory_class == MemoryClass.USER_PREFERENCE
