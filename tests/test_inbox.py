"""What the system concluded waits in the inbox until evidence or the person speaks for it."""

from __future__ import annotations

from memsync.contract.memories import ManageQuery
from memsync.contract.tasks import TaskQuery
from memsync.record import Scope, inferred_id
from tests.conftest import Memory

ID = inferred_id(Scope.GLOBAL, None, "shell:fish", "shell", "")
CANDIDATE = f"""---
id: {ID}
scope: global
title: Prefers fish over bash
candidateKey: shell:fish
authority: inferred
lifecycle: trial
evidence:
  - key: change:one
    changeId: one
    projectKey: api
    success: true
    observedAt: 2026-11-20T10:00:00Z
created: 2026-11-20T10:00:00Z
updated: 2026-11-20T10:00:00Z
---
Examples in fish syntax.
"""


def _with_candidate(memory: Memory) -> Memory:
    memory.write(f"candidates/{ID}.md", CANDIDATE)
    memory.store().ingest()
    return memory


def _delivered(memory: Memory) -> list[str]:
    found = memory.provider().query(TaskQuery(task="write a shell script in fish"))
    return [item.id for item in found.manifest]


def test_a_candidate_is_listed_and_reaches_no_task(memory: Memory) -> None:
    _with_candidate(memory)
    assert [r["id"] for r in memory.json("inbox")["records"]] == [ID]
    assert _delivered(memory) == []


def test_accepting_makes_it_the_persons_word_in_its_own_place(memory: Memory) -> None:
    _with_candidate(memory)
    answer = memory.json("inbox", "accept", ID)
    assert answer["record"]["authority"] == "explicit"
    assert answer["record"]["path"] == "global/prefers-fish-over-bash.md"
    assert answer["record"]["body"] == "Examples in fish syntax."
    assert not (memory.home / f"candidates/{ID}.md").exists()
    assert memory.json("inbox")["records"] == []
    assert _delivered(memory) == [ID]
    assert [r["path"] for r in memory.json("history", ID)["revisions"]] == [
        "global/prefers-fish-over-bash.md",
        f"candidates/{ID}.md",
    ]


def test_rejecting_forgets_it_with_its_key(memory: Memory) -> None:
    _with_candidate(memory)
    memory.json("inbox", "reject", ID)
    assert memory.json("inbox")["records"] == []
    assert "candidateKey: shell:fish" in memory.read(f"tombstones/{ID}.md")


def test_a_candidate_edited_by_hand_moves_to_its_place(memory: Memory) -> None:
    _with_candidate(memory)
    memory.write(f"candidates/{ID}.md", CANDIDATE.replace("Examples in", "Always show"))
    memory.store().ingest()
    (entry,) = memory.provider().query(ManageQuery()).records
    assert (entry.path, entry.state) == ("global/prefers-fish-over-bash.md", "active")
    assert entry.record.id == ID


def test_a_candidate_with_enough_evidence_moves_to_its_place(memory: Memory) -> None:
    _with_candidate(memory)
    second = CANDIDATE[CANDIDATE.index("  - key") : CANDIDATE.index("created:")]
    second = second.replace("one", "two").replace("projectKey: api", "projectKey: web")
    memory.write(f"candidates/{ID}.md", CANDIDATE.replace("created:", second + "created:"))
    memory.store().ingest()
    (entry,) = memory.provider().query(ManageQuery()).records
    assert (entry.path, entry.state) == ("global/prefers-fish-over-bash.md", "active")
    assert entry.record.authority == "inferred"
