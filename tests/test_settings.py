"""Switches that a person writes into a settings file."""

from __future__ import annotations

from pathlib import Path

import pytest

from memsync.contract.shared import ProjectRef
from memsync.contract.tasks import TaskQuery
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
    done = memory.run("config", "retrieval", "on")
    assert done.returncode == 0, done.stderr.decode()
    assert reasons(memory, project) == []
