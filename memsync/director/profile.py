"""The core profile: what holds about the person everywhere, ready to be imported by an agent."""

from __future__ import annotations

import hashlib

from memsync.contract.shared import Entry
from memsync.contract.tasks import Profile
from memsync.director.rendering import one_line
from memsync.language import translator
from memsync.store.reading import Reader

_MARK = "<!-- memsync profile "


def profile(reader: Reader, max_chars: int, language: str) -> Profile:
    """The active, proven core profile in an order that stays: the oldest first."""
    rows = reader.index.rows(
        "r.project IS NULL AND r.type = 'core-profile' AND r.lifecycle = 'proven' "
        "AND r.selectors IS NULL"
    )
    entries = [e for e in reader.entries(rows) if e.state == "active"]
    entries.sort(key=lambda e: (e.record.created or "", e.record.id))
    head = "# " + translator(language)("About the user") + "\n"
    text, used, kept = head, len(head), []
    for entry in entries:
        block = _block(entry)
        if used + len(block) > max_chars:
            continue
        text += block
        used += len(block)
        kept.append(entry)
    return Profile(text if kept else "", tuple(kept), len(kept) < len(entries))


def _block(entry: Entry) -> str:
    item = entry.record
    lines = [line for line in item.body.splitlines() if line.strip()]
    if lines and one_line(lines[0]).lstrip("# ") == one_line(item.title):
        lines = lines[1:]
    told = "".join(f"  {line}".rstrip() + "\n" for line in lines)
    return f"\n- **{one_line(item.title)}**\n{told}"


def as_file(found: Profile, language: str) -> bytes:
    """The content of ``profile.md``. Its first line says what it is, and what it held."""
    told = translator(language)(
        "made by memsync from your memory; edit the memories, not this file"
    )
    body = "\n" + found.text
    return f"{_MARK}{_sum(body)}: {told} -->\n{body}".encode()


def is_untouched(content: bytes) -> bool:
    """Whether a ``profile.md`` still is what memsync wrote."""
    text = content.decode("utf-8", "replace")
    first, _, body = text.partition("\n")
    return first.startswith(_MARK) and first[len(_MARK) :].partition(":")[0] == _sum(body)


def _sum(body: str) -> str:
    return hashlib.sha256(body.encode()).hexdigest()[:12]
