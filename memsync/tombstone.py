"""The mark that a record was forgotten, and what it promises.

A tombstone never holds the text. An ordinary one has a hash of it; a permanent one has a slow,
salted hash, so that a short text cannot be guessed back from it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import Any, cast

from memsync.errors import Problem, problem
from memsync.frontmatter.codec import dump_document
from memsync.frontmatter.document import parse
from memsync.frontmatter.model import Document, Value, Writable
from memsync.record import Scope, instant, is_id, meaning_of

_WHOLE = re.compile("[0-9]{1,9}")
_SHA256 = re.compile("[0-9a-f]{64}")
_KEYS = frozenset(
    (
        "id",
        "scope",
        "projectKey",
        "epoch",
        "forgottenAt",
        "reason",
        "candidateKey",
        "textHash",
        "permanent",
        "scrypt",
        "candidateScrypt",
    )
)
_BODY = "Forgotten. The text is not kept here; this mark stops the memory from coming back.\n"


class ForgetReason(StrEnum):
    """Why a record was forgotten."""

    USER_FORGET = "user-forget"
    FILE_DELETED = "file-deleted"
    REVIEW_FORGET = "review-forget"


@dataclass(frozen=True, slots=True)
class Tombstone:
    """One forgotten record (design, section 3.2).

    ``text_hash`` is the SHA-256 of the normalised text in hex. A permanent tombstone has
    ``scrypt`` and perhaps ``candidate_scrypt`` in its place, and no key in clear.
    """

    id: str
    scope: Scope
    project_key: str | None
    epoch: int
    forgotten_at: str
    reason: ForgetReason
    candidate_key: str | None = None
    text_hash: str | None = None
    permanent: bool = False
    scrypt: str | None = None
    candidate_scrypt: str | None = None
    extra: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Decoded:
    """A file read as a tombstone; None when it is broken."""

    tombstone: Tombstone | None
    problems: tuple[Problem, ...]
    document: Document


def decode(raw: bytes, path: str) -> Decoded:
    """Read the file of a tombstone. Never raises on content; all problems come at once."""
    document = parse(raw, path)
    reader = _Reader(document)
    found = Tombstone(
        id=reader.text("id", is_id, "the id of a memory"),
        scope=reader.one_of("scope", Scope, Scope.GLOBAL),
        project_key=reader.optional("projectKey"),
        epoch=int(reader.text("epoch", _WHOLE.fullmatch, "a whole number", "0")),
        forgotten_at=reader.text("forgottenAt", instant, "a date or time"),
        reason=reader.one_of("reason", ForgetReason, ForgetReason.USER_FORGET),
        candidate_key=reader.optional("candidateKey"),
        text_hash=reader.optional("textHash", _SHA256.fullmatch, "64 hexadecimal digits"),
        permanent=reader.text("permanent", _is_flag, "true or false", "false").lower() == "true",
        scrypt=reader.optional("scrypt", _SHA256.fullmatch, "64 hexadecimal digits"),
        candidate_scrypt=reader.optional(
            "candidateScrypt", _SHA256.fullmatch, "64 hexadecimal digits"
        ),
        extra={k: v for k, v in document.data.items() if k not in _KEYS},
    )
    if found.scope is Scope.PROJECT and found.project_key is None:
        reader.tell("project-missing", "scope")
    problems = tuple(sorted((*document.problems, *reader.problems), key=lambda p: p.line))
    broken = any(p.level == "error" for p in problems)
    return Decoded(None if broken else found, problems, document)


def encode(tombstone: Tombstone) -> bytes:
    """The file of a tombstone: front matter and one line for people, never the text.

    Raises InvalidRecord when a value cannot be written.
    """
    t = tombstone
    front: dict[str, Writable] = {
        "id": t.id,
        "scope": t.scope.value,
        "projectKey": t.project_key,
        "epoch": t.epoch,
        "forgottenAt": t.forgotten_at,
        "reason": t.reason.value,
        "candidateKey": None if t.permanent else t.candidate_key,
        "textHash": None if t.permanent else t.text_hash,
        "permanent": True if t.permanent else None,
        "scrypt": t.scrypt,
        "candidateScrypt": t.candidate_scrypt,
    }
    front = {key: value for key, value in front.items() if value is not None}
    front |= {k: cast("Writable", v) for k, v in t.extra.items() if k not in _KEYS}
    return dump_document(front, _BODY)


def text_hash(title: str, body: str) -> str:
    """The SHA-256, in hex, of what a text means: case, spacing and punctuation do not count."""
    import hashlib  # reading a tombstone needs no hash

    return hashlib.sha256(meaning_of(title, body).encode()).hexdigest()


def permanent_hash(title: str, body: str, salt: bytes) -> str:
    """The scrypt hash, in hex, of what a text means. Takes some 50 ms and 16 MiB."""
    return _scrypt(meaning_of(title, body), salt)


def permanent_key_hash(candidate_key: str, salt: bytes) -> str:
    """The scrypt hash, in hex, of a candidate key."""
    return _scrypt(candidate_key, salt)


def covers(tombstone: Tombstone, record_id: str, epoch: int) -> bool:
    """The reader's rule: whether a record of this id and epoch is forgotten."""
    if record_id != tombstone.id:
        return False
    return tombstone.permanent or epoch <= tombstone.epoch


def matches(
    tombstone: Tombstone,
    candidate_key: str | None,
    title: str,
    body: str,
    salts: Sequence[bytes],
) -> bool:
    """Whether something newly learned is what was forgotten: the same key or the same text.

    Scope is the caller's to compare. Only a permanent tombstone needs the ``salts``, and costs
    one or two scrypt hashes for each.
    """
    t = tombstone
    if not t.permanent:
        same_key = candidate_key is not None and candidate_key == t.candidate_key
        return same_key or (t.text_hash is not None and t.text_hash == text_hash(title, body))
    import hmac

    for salt in salts:
        if t.scrypt and hmac.compare_digest(t.scrypt, permanent_hash(title, body, salt)):
            return True
        if candidate_key is None or not t.candidate_scrypt:
            continue
        if hmac.compare_digest(t.candidate_scrypt, permanent_key_hash(candidate_key, salt)):
            return True
    return False


@lru_cache(maxsize=16)  # one candidate is held against every permanent tombstone
def _scrypt(text: str, salt: bytes) -> str:
    import hashlib

    return hashlib.scrypt(text.encode(), salt=salt, n=2**14, r=8, p=1, dklen=32).hex()


def _is_flag(text: str) -> bool:
    return text.lower() in ("true", "false")


class _Reader:
    """Reads one front matter's values and collects what is wrong with them."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.problems: list[Problem] = []

    def tell(self, code: str, key: str, /, **facts: object) -> None:
        line = self.document.lines.get(key, 1)
        self.problems.append(problem(code, self.document.path, line, "error", **facts))

    def optional(self, key: str, fits: Any = bool, allowed: str = "a text") -> str | None:
        value: Value = self.document.data.get(key)
        if value is None:
            return None
        if not isinstance(value, str):
            self.tell("wrong-type", key, key=key, expected="a text")
            return None
        if not fits(value):
            self.tell("invalid-value", key, key=key, value=value, allowed=allowed)
            return None
        return value

    def text(self, key: str, fits: Any, allowed: str, default: str = "") -> str:
        count = len(self.problems)
        value = self.optional(key, fits, allowed)
        if value is None and not default and len(self.problems) == count:
            self.tell("invalid-value", key, key=key, value="nothing", allowed=allowed)
        return value or default

    def one_of(self, key: str, kind: Any, default: Any) -> Any:
        members = {member.value: member for member in kind}
        allowed = "one of " + ", ".join(members)
        return members.get(self.text(key, members.__contains__, allowed), default)
