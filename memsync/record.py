"""The noun: one memory, its parts, its limits and its identity.

Values are immutable. Names in files and in JSON are those of the design (``projectKey``); the
attributes carry the same names in Python's spelling. Times are text in ISO 8601 as they stand
in the file, so that a read never rewrites what a person typed; ``instant`` compares them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

#: Limits of the design, section 3.1. They bind writes; a read of an older file tells, and keeps.
BODY_BYTES = 8 * 1024
TITLE_CHARACTERS = 120
SELECTOR_ENTRIES = 32
EVIDENCE_ITEMS = 32
FILE_BYTES = 64 * 1024
#: Independent successful changes that make an inferred record active (design, 6.4).
SUPPORT_THRESHOLD = 2
#: Evidence older than this does not promote (design, 6.4).
EVIDENCE_DAYS = 180

_CROCKFORD = "0123456789abcdefghjkmnpqrstvwxyz"
ID_PATTERN = rf"m-[{_CROCKFORD}]{{16}}"
KEY_PATTERN = r"[a-z0-9][a-z0-9._-]{0,99}"


class Scope(StrEnum):
    """Where a memory holds."""

    GLOBAL = "global"
    PROJECT = "project"


class MemoryType(StrEnum):
    """What kind of thing a memory is for an agent."""

    CORE_PROFILE = "core-profile"
    COLLABORATION_POLICY = "collaboration-policy"
    PERSONAL_EPISODE = "personal-episode"


class MemoryClass(StrEnum):
    """What a memory is about."""

    USER_FACT = "user-fact"
    USER_PREFERENCE = "user-preference"
    COLLABORATION_HABIT = "collaboration-habit"
    PROJECT_CONVENTION = "project-convention"


class Authority(StrEnum):
    """Who says it."""

    EXPLICIT = "explicit"
    INFERRED = "inferred"


class Lifecycle(StrEnum):
    """How far it is established."""

    TRIAL = "trial"
    PROVEN = "proven"
    SUPERSEDED = "superseded"


class Outcome(StrEnum):
    """What came of a delivered memory (design, section 7)."""

    USED_SUCCESSFULLY = "used-successfully"
    IGNORED = "ignored"
    OVERRIDDEN = "overridden"
    CORRECTED = "corrected"
    CONTRIBUTED_TO_FAILURE = "contributed-to-failure"


#: The unknown keys of a mapping that has none.
NOTHING_ELSE: Mapping[str, object] = MappingProxyType({})


# Parts of a record are named tuples: a class of these costs a cold command a tenth of a dataclass.


class Selectors(NamedTuple):
    """When a memory applies. An empty level asks for nothing."""

    paths: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    operations: tuple[str, ...] = ()
    phases: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.paths or self.tasks or self.operations or self.phases)


#: A memory without conditions.
ANY_TIME = Selectors()


class Evidence(NamedTuple):
    """One reason to believe a memory; ``key`` makes it a member of a set."""

    key: str
    kind: str = "user"
    change_id: str | None = None
    project_key: str | None = None
    summary: str | None = None
    success: bool | None = None
    observed_at: str | None = None
    extra: Mapping[str, object] = NOTHING_ELSE


class Source(NamedTuple):
    """Where a memory came from."""

    kind: str | None = None
    host: str | None = None
    workflow: str | None = None
    change_id: str | None = None
    device: str | None = None
    extra: Mapping[str, object] = NOTHING_ELSE


class Episode(NamedTuple):
    """What happened, for a memory that tells a story."""

    situation: str | None = None
    action: str | None = None
    outcome: str | None = None
    lesson: str | None = None
    extra: Mapping[str, object] = NOTHING_ELSE


class Application(NamedTuple):
    """The latest outcome of a delivery."""

    id: str
    at: str | None = None
    reason: str | None = None
    outcome: Outcome | None = None
    extra: Mapping[str, object] = NOTHING_ELSE


class ConflictEntry(NamedTuple):
    """One open question: another text for ``field``, and who wrote it when.

    ``text`` is absent where the text was too long for the file; then ``hash`` and ``commit``
    say where Git keeps it.
    """

    field: str
    text: str | None = None
    device: str | None = None
    updated: str | None = None
    hash: str | None = None
    commit: str | None = None
    extra: Mapping[str, object] = NOTHING_ELSE


@dataclass(frozen=True, slots=True)
class Record:
    """One memory (design, section 3.1)."""

    id: str
    title: str
    body: str = ""
    scope: Scope = Scope.GLOBAL
    project_key: str | None = None
    memory_type: MemoryType = MemoryType.COLLABORATION_POLICY
    memory_class: MemoryClass = MemoryClass.USER_PREFERENCE
    category: str | None = None
    tags: tuple[str, ...] = ()
    language: str | None = None
    authority: Authority = Authority.EXPLICIT
    lifecycle: Lifecycle = Lifecycle.PROVEN
    selectors: Selectors = ANY_TIME
    evidence: tuple[Evidence, ...] = ()
    created: str | None = None
    updated: str | None = None
    candidate_key: str | None = None
    supersedes: tuple[str, ...] = ()
    superseded_by: str | None = None
    valid_from: str | None = None
    valid_until: str | None = None
    epoch: int = 0
    source: Source | None = None
    episode: Episode | None = None
    application: Application | None = None
    reason: str | None = None
    conflict: tuple[ConflictEntry, ...] = ()
    paused: bool = False
    allow: tuple[str, ...] = ()
    extra: Mapping[str, object] = field(default_factory=dict)

    def replacing(self, **changes: object) -> Record:
        """The record with some attributes changed."""
        return replace(self, **changes)  # type: ignore[arg-type]


# --- identity ------------------------------------------------------------------------------


def _base32(data: bytes) -> str:
    """The first 80 bits of ``data`` as 16 characters of lower-case Crockford base32."""
    number = int.from_bytes(data[:10], "big")
    return "".join(_CROCKFORD[(number >> shift) & 31] for shift in range(75, -1, -5))


def _id_from(identity: str) -> str:
    import hashlib  # few commands make an id, and the merge driver none

    return "m-" + _base32(hashlib.sha256(identity.encode()).digest())


def random_id(entropy: bytes) -> str:
    """The id of an explicit memory, from at least 10 random bytes."""
    return "m-" + _base32(entropy)


def inferred_id(
    scope: Scope, project_key: str | None, candidate_key: str | None, category: str, text: str
) -> str:
    """The id of an inferred memory: two machines that learn one thing make one record."""
    meaning = candidate_key or category + "\n" + normalised_text(text)
    identity = "\0".join((scope.value, project_key or "", meaning))
    return _id_from(identity)


def provisional_id(path: str, blob: str) -> str:
    """The id of a hand-written file before it is ingested, from its path and its Git blob."""
    return _id_from(f"{path}\0{blob}")


def copy_id(original: str, path: str) -> str:
    """The id of a copied file: the same on every machine that sees the copy."""
    return _id_from(f"{original}\0copy\0{path}")


def is_id(text: str) -> bool:
    """Whether ``text`` is a whole id."""
    return re.fullmatch(ID_PATTERN, text) is not None


# --- text ----------------------------------------------------------------------------------


def normalised_text(text: str) -> str:
    """The text as far as its meaning goes: NFKC, case-folded, words apart by one blank."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(re.findall(r"\w+", folded))


def meaning_of(title: str, body: str) -> str:
    """The normalised text that a tombstone's hash covers: title and body."""
    return normalised_text(title + "\n" + body)


# Not after another CR: else a long run of them would be searched again from each one.
_LINE_BREAKS = r"(?<!\r)\r+\n"


def plain_breaks(text: str) -> str:
    """The text with ``\\n`` for every line break of a file from another system."""
    return re.sub(_LINE_BREAKS, "\n", text) if "\r" in text else text


def canonical_body(text: str) -> str:
    """A body as a record holds it: ``\\n`` breaks, no empty lines before or after."""
    return plain_breaks(text).strip("\r\n")


def title_from(text: str) -> str:
    """A title from a text: its first heading or line, cut at a word within the limit."""
    for line in text.splitlines():
        stripped = line.strip()
        if not stripped or set(stripped) <= set("-=*_#>`~ "):
            continue
        plain = re.sub(r"^(?:#{1,6}|[-*+>]|\d+[.)])\s+", "", stripped)
        plain = re.sub(r"\s+#+$", "", plain).strip()
        if plain:
            return shorten(plain, TITLE_CHARACTERS)
    return ""


def shorten(text: str, limit: int) -> str:
    """``text`` within ``limit`` characters, cut between words where there are any."""
    if len(text) <= limit:
        return text
    cut = text[: limit - 1]
    space = cut.rfind(" ")
    return (cut[:space] if space > limit // 2 else cut).rstrip() + "…"


def beyond_title(item: Record) -> str:
    """The body without a first line that only says the title again, as hand-written files have."""
    first, _, rest = item.body.partition("\n")
    same = len(first) <= TITLE_CHARACTERS and title_from(first) == item.title
    return rest.strip("\n") if same else item.body


_RESERVED = {"con", "prn", "aux", "nul"} | {f"{p}{n}" for p in ("com", "lpt") for n in range(10)}


def slug(title: str, taken: Iterable[str] = (), suffix: str = "") -> str:
    """A readable, safe file name (without ``.md``) for a title.

    Letters and digits of every script stay; all else becomes one dash. At most 60 characters and
    180 bytes. A title with no letter at all is ``memory``. Names are compared in NFC without
    regard to case, since other systems do; ``suffix`` tells two apart.
    """
    text = unicodedata.normalize("NFC", title).lower()
    name = "-".join(re.findall(r"\w+", text)).strip("_-")
    name = name[:60].rstrip("_-")
    while len(name.encode()) > 180:
        name = name[:-1]
    if not name:
        name = "memory"
    if name in _RESERVED:
        name += "-memory"
    used = {path_key(t) for t in taken}
    if path_key(name) not in used:
        return name
    for extra in (suffix, *(f"{suffix}-{n}" for n in range(2, 10_000))):
        candidate = f"{name}-{extra.strip('-')}"
        if path_key(candidate) not in used:
            return candidate
    raise AssertionError("ten thousand files of one name")


def path_key(path: str) -> str:
    """What two paths share when some file system would take them for one."""
    return unicodedata.normalize("NFC", path).casefold()


# --- time ----------------------------------------------------------------------------------


def stamp(moment: datetime) -> str:
    """A moment as it is written: UTC, whole seconds, ``Z``."""
    return moment.astimezone(UTC).replace(microsecond=0, tzinfo=None).isoformat() + "Z"


def instant(text: str | None) -> datetime | None:
    """The moment a text names: ISO 8601 date or date-time; UTC where no zone is given.

    Returns None for an absent or unreadable text.
    """
    if not text:
        return None
    try:
        if re.fullmatch(r"\d{4}-\d{2}-\d{2}", text):
            day = date.fromisoformat(text)
            return datetime(day.year, day.month, day.day, tzinfo=UTC)
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            return moment.replace(tzinfo=UTC)
        return moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def later(moment: datetime, **by: float) -> datetime:
    """A moment so much later (as for ``timedelta``), at most the last one there is."""
    try:
        return moment + timedelta(**by)
    except OverflowError:
        return datetime.max.replace(tzinfo=UTC)


def end_of(text: str | None) -> datetime | None:
    """The moment at which ``validUntil`` ends: a bare date lasts its whole day."""
    moment = instant(text)
    if moment and text and len(text) == 10:
        return later(moment, days=1)
    return moment


# --- derived states ------------------------------------------------------------------------


def is_standing(record: Record) -> bool:
    """Whether scope and selectors alone decide its delivery (design, section 7.2)."""
    return record.memory_type is not MemoryType.PERSONAL_EPISODE


def supported_until(record: Record, threshold: int = SUPPORT_THRESHOLD) -> str:
    """Until when an inferred trial counts as supported, as ``stamp`` writes it.

    ``""``: it never was. ``"9999"``: for ever (explicit, or no trial, or evidence without time).
    With this an index answers ``is_candidate`` at any later moment without the evidence.
    """
    if record.authority is not Authority.INFERRED or record.lifecycle is not Lifecycle.TRIAL:
        return "9999"
    latest: dict[str, str] = {}
    for item in record.evidence:
        if item.success is True:
            when = instant(item.observed_at)
            end = stamp(later(when, days=EVIDENCE_DAYS)) if when else "9999"
            change = _change_of(item, record.scope)
            latest[change] = max(latest.get(change, ""), end)
    ends = sorted(latest.values(), reverse=True)
    return ends[threshold - 1] if len(ends) >= threshold else ""


def _change_of(item: Evidence, scope: Scope) -> str:
    """What makes a piece of evidence independent: another project, or another change."""
    if scope is Scope.GLOBAL:
        return item.project_key or item.change_id or item.key
    return item.change_id or item.key


def confirmed_at(record: Record) -> str | None:
    """When the record was last confirmed: its latest successful evidence, else ``updated``."""
    times = [item.observed_at for item in record.evidence if item.success and item.observed_at]
    return max(times) if times else record.updated
