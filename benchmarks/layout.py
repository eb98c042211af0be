"""Records as the text of their files, written without memsync's own writer.

The corpus must not lean on what it measures, and a second writer of the format is a check of
the first: both have to be read alike.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memsync.record import ConflictEntry, Evidence, Record

#: Text that every YAML reader takes as that text; all else is quoted.
_PLAIN = re.compile(r"[^\W\d_](?:[\w ./@+()，。、？；-]|:(?=[\w/])|\*(?=\*?$)|(?<=/)\*)*(?<! )")
_TIMES = {"at", "validFrom", "validUntil"}
_WORDS = {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}

SETTINGS = "format: 1\nlanguage: en\n"
ATTRIBUTES = (
    "# Records are merged field by field.\n* -text\n*.md merge=memsync diff\n*.yaml merge=memsync\n"
)
IGNORED = "/profile.md\n.DS_Store\n*~\n.*.sw?\n.#*\n4913\n"
README = (
    "# A generated memory\n\n"
    "These memories are made up, for measuring. Each file below `global/` and `projects/` is one.\n"
)


def scalar(text: str) -> str:
    """A text as a YAML value: plain where that is safe, else in double quotes."""
    if _PLAIN.fullmatch(text) and text.lower() not in _WORDS:
        return text
    return json.dumps(text, ensure_ascii=False)


def record_text(record: Record) -> str:
    """The whole file of a record: front matter in the usual order, then the body."""
    return "---\n" + "\n".join(_lines(record)) + f"\n---\n{record.body}\n"


def project_text(name: str, alias: str) -> str:
    """The ``project.yaml`` of a project."""
    return f"name: {scalar(name)}\naliases:\n  - {scalar(alias)}\n"


def tombstone_text(record: Record, forgotten_at: str, reason: str, text_hash: str) -> str:
    """The tombstone that a forgotten record leaves."""
    lines = [f"id: {record.id}", f"scope: {record.scope}"]
    if record.project_key:
        lines.append(f"projectKey: {record.project_key}")
    lines += [f"epoch: {record.epoch}", f"forgottenAt: {forgotten_at}", f"reason: {reason}"]
    if record.candidate_key:
        lines.append(f"candidateKey: {scalar(record.candidate_key)}")
    lines.append(f'textHash: "{text_hash}"')
    return "---\n" + "\n".join(lines) + "\n---\nForgotten.\n"


def _lines(record: Record) -> Iterator[str]:
    yield f"id: {record.id}"
    yield f"scope: {record.scope}"
    if record.project_key:
        yield f"projectKey: {record.project_key}"
    yield f"title: {scalar(record.title)}"
    yield f"memoryType: {record.memory_type}"
    yield f"memoryClass: {record.memory_class}"
    if record.category:
        yield f"category: {scalar(record.category)}"
    yield from _list("tags", record.tags)
    if record.language:
        yield f"language: {record.language}"
    yield f"authority: {record.authority}"
    yield f"lifecycle: {record.lifecycle}"
    if record.selectors:
        yield "selectors:"
        yield from _list("  paths", record.selectors.paths)
        yield from _list("  tasks", record.selectors.tasks)
        yield from _list("  operations", record.selectors.operations)
        yield from _list("  phases", record.selectors.phases)
    if record.evidence:
        yield "evidence:"
        for item in record.evidence:
            yield from _entry(_evidence(item))
    yield f"created: {record.created}"
    yield f"updated: {record.updated}"
    yield from _rare(record)


def _rare(record: Record) -> Iterator[str]:
    """The keys that only some records have."""
    yield from _keys("", ("candidateKey", record.candidate_key))
    yield from _list("supersedes", record.supersedes)
    yield from _keys("", ("supersededBy", record.superseded_by), ("validFrom", record.valid_from),
                     ("validUntil", record.valid_until))  # fmt: skip
    if record.epoch:
        yield f"epoch: {record.epoch}"
    if record.source:
        source = record.source
        yield "source:"
        yield from _keys("  ", ("kind", source.kind), ("host", source.host),
                         ("workflow", source.workflow), ("changeId", source.change_id),
                         ("device", source.device))  # fmt: skip
    if record.episode:
        story = record.episode
        yield "episode:"
        yield from _keys("  ", ("situation", story.situation), ("action", story.action),
                         ("outcome", story.outcome), ("lesson", story.lesson))  # fmt: skip
    if record.application:
        used = record.application
        yield "application:"
        yield from _keys("  ", ("id", used.id), ("at", used.at),
                         ("reason", used.reason), ("outcome", used.outcome))  # fmt: skip
    yield from _keys("", ("reason", record.reason))
    if record.conflict:
        yield "conflict:"
        for open_question in record.conflict:
            yield from _entry(_conflict(open_question))
    if record.paused:
        yield "paused: true"
    yield from _list("allow", record.allow)


def _list(key: str, values: Sequence[str]) -> Iterator[str]:
    if values:
        yield f"{key}: [{', '.join(scalar(value) for value in values)}]"


def _keys(indent: str, *pairs: tuple[str, str | None]) -> Iterator[str]:
    """The pairs that say something; a time stands as it is."""
    for name, value in pairs:
        if value:
            yield f"{indent}{name}: {value if name in _TIMES else scalar(value)}"


def _entry(pairs: Sequence[tuple[str, str]]) -> Iterator[str]:
    """One map of a list of maps."""
    lead = "  - "
    for name, value in pairs:
        yield f"{lead}{name}: {value}"
        lead = "    "


def _evidence(item: Evidence) -> list[tuple[str, str]]:
    pairs = [("key", scalar(item.key)), ("kind", item.kind)]
    if item.change_id:
        pairs.append(("changeId", scalar(item.change_id)))
    if item.project_key:
        pairs.append(("projectKey", item.project_key))
    if item.summary:
        pairs.append(("summary", scalar(item.summary)))
    if item.success is not None:
        pairs.append(("success", str(item.success).lower()))
    if item.observed_at:
        pairs.append(("observedAt", item.observed_at))
    return pairs


def _conflict(item: ConflictEntry) -> list[tuple[str, str]]:
    return [
        ("field", item.field),
        ("text", scalar(item.text or "")),
        ("device", item.device or ""),
        ("updated", item.updated or ""),
    ]
