"""Switches that a person writes into a settings file."""

from __future__ import annotations

from pathlib import Path

import pytest

from memsync.contract.shared import ProjectRef
from memsync.contract.tasks import TaskQuery
from tests.asking import answer, call
from tests.conftest import Memory


def reasons(memory: Memory, project: Path) -> list[str]:
    """Why a task of the project gets nothing; empty where it gets something."""
    found = memory.provider().query(TaskQuery(ProjectRef(path=str(project)), "package"))
    return [] if found.text else [item.why.code for item in found.excluded]


@pytest.mark.parametrize("word", ["false", "off", "no", "Off"])
def test_retrieval_is_off_by_each_word_that_the_command_takes(
    memory: Memory, project: Path, word: str
) -> None:
    memory.remember("Use pnpm for every package", project)
    assert reasons(memory, project) == []
    (project / ".memsync.yaml").write_text(f"memory:\n  retrieval: {word}\n", encoding="utf-8")
    assert reasons(memory, project) == ["retrieval-off"]
    (project / ".memsync.yaml").unlink()
    assert reasons(memory, project) == []
    memory.write("memsync.yaml", memory.read("memsync.yaml") + f"memory:\n  retrieval: {word}\n")
    assert reasons(memory, project) == ["retrieval-off"]
    done = memory.run("config", "memory.retrieval", "on")
    assert done.returncode == 0, done.stderr.decode()
    assert reasons(memory, project) == []


def test_status_names_what_is_switched_off_and_where(memory: Memory, project: Path) -> None:
    key = memory.remember("Use pnpm", project).record.project_key
    assert answer(memory, "status", folder=project)["switchedOff"] == []
    (project / ".memsync.yaml").write_text("memory:\n  retrieval: off\n", encoding="utf-8")
    call(memory, "pause", "--learning")
    call(memory, "pause", "--project", ".", folder=project)
    told = answer(memory, "status", folder=project)
    assert told["switchedOff"] == [
        {"code": "learning-off", "facts": ["memsync.yaml"]},
        {"code": "retrieval-off", "facts": [".memsync.yaml"]},
        {"code": "project-paused", "facts": [key]},
    ]
    assert (told["learning"], told["retrieval"]) == (False, False)
    shown = call(memory, "status", folder=project).stdout.decode()
    for words in ("learning is switched off in memsync.yaml", f"the project {key} is paused"):
        assert words in shown
    elsewhere = answer(memory, "status")
    assert [off["code"] for off in elsewhere["switchedOff"]] == ["learning-off"]
    assert elsewhere["retrieval"] is True


@pytest.mark.parametrize(
    "tag", ["en", "zh-CN", "zh_CN", "pt-BR", "zh-Hant-TW", "es-419", "de-1996"]
)
def test_a_language_tag_is_a_language(memory: Memory, tag: str) -> None:
    assert call(memory, "config", "language", tag).returncode == 0
    assert answer(memory, "config", "language")["settings"] == {"language": tag}


def test_the_settings_are_named_as_in_the_file(memory: Memory) -> None:
    shown = answer(memory, "config")["settings"]
    assert [*shown] == ["language", "memory.learning", "memory.retrieval"]
    assert call(memory, "config", "memory.learning", "off").returncode == 0
    assert "memory:\n  learning: false\n" in memory.read("memsync.yaml")
    assert answer(memory, "config", "memory.learning")["settings"] == {"memory.learning": "false"}
