"""Tombstones: the file, the reader's rule, and the promise against re-learning."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

import frontmatter
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memsync.record import Record, Scope
from memsync.store.purging import permanent_tombstone
from memsync.tombstone import (
    ForgetReason,
    Tombstone,
    covers,
    decode,
    encode,
    matches,
    permanent_hash,
    permanent_key_hash,
    text_hash,
)

ID = "m-4k7q2v9hx3zn5d8t"
SALT, OTHER_SALT = b"salt" * 4, b"pepper" * 3
ORDINARY = Tombstone(
    id=ID,
    scope=Scope.PROJECT,
    project_key="acme",
    epoch=2,
    forgotten_at="2026-11-30T09:12:44Z",
    reason=ForgetReason.USER_FORGET,
    candidate_key="tooling:pnpm",
    text_hash=text_hash("Use pnpm", "never npm"),
)
PERMANENT = dataclasses.replace(
    ORDINARY,
    permanent=True,
    candidate_key=None,
    text_hash=None,
    scrypt=permanent_hash("Use pnpm", "never npm", SALT),
    candidate_scrypt=permanent_key_hash("tooling:pnpm", SALT),
)


@pytest.mark.parametrize("tombstone", [ORDINARY, PERMANENT])
def test_a_tombstone_is_read_back_and_never_has_the_text(tombstone: Tombstone) -> None:
    raw = encode(tombstone)
    decoded = decode(raw, f"tombstones/{ID}.md")
    assert decoded.tombstone == tombstone
    assert decoded.problems == ()
    assert b"pnpm" not in raw.replace(b"tooling:pnpm", b"") or not tombstone.permanent
    assert b"never npm" not in raw
    assert re.findall(rb"^(\w+):", raw, re.MULTILINE)[:6] == [
        b"id",
        b"scope",
        b"projectKey",
        b"epoch",
        b"forgottenAt",
        b"reason",
    ]


def test_a_permanent_tombstone_has_no_key_in_clear() -> None:
    clear = dataclasses.replace(PERMANENT, candidate_key="tooling:pnpm", text_hash="0" * 64)
    assert encode(clear) == encode(PERMANENT)
    assert b"pnpm" not in encode(clear)


def test_the_epoch_rules_and_permanent_covers_all() -> None:
    assert covers(ORDINARY, ID, 0)
    assert covers(ORDINARY, ID, 2)
    assert not covers(ORDINARY, ID, 3)
    assert covers(PERMANENT, ID, 10**9)
    assert not covers(PERMANENT, "m-0000000000000000", 0)


@pytest.mark.parametrize(
    ("key", "title", "body", "promised"),
    [
        ("tooling:pnpm", "Another", "text", True),
        (None, "USE  pnpm!", "Never, npm.", True),
        ("other", "Use pnpm", "never npm", True),
        ("other", "Use pnpm", "sometimes npm", False),
        (None, "Use", "yarn", False),
    ],
)
def test_the_same_key_or_the_same_text_is_not_learned_again(
    key: str | None, title: str, body: str, promised: bool
) -> None:
    assert matches(ORDINARY, key, title, body, []) is promised
    assert matches(PERMANENT, key, title, body, [OTHER_SALT, SALT]) is promised
    assert not matches(PERMANENT, key, title, body, [OTHER_SALT])
    bare = dataclasses.replace(ORDINARY, candidate_key=None, text_hash=None)
    assert not matches(bare, None, title, body, [])


def test_all_problems_of_a_tombstone_come_at_once() -> None:
    raw = (
        b"---\nid: nobody\nscope: somewhere\nepoch: -1\n"
        b"reason: [x]\ntextHash: abc\npermanent: 1\n---\n"
    )
    decoded = decode(raw, "t.md")
    assert decoded.tombstone is None
    assert [(p.line, p.code) for p in decoded.problems] == [
        (1, "invalid-value"),
        (2, "invalid-value"),
        (3, "invalid-value"),
        (4, "invalid-value"),
        (5, "wrong-type"),
        (6, "invalid-value"),
        (7, "invalid-value"),
    ]
    assert decode(b"", "t.md").tombstone is None
    assert decode(b"\xff", "t.md").problems[0].code == "not-text"
    lost = encode(ORDINARY).replace(b"projectKey: acme\n", b"")
    assert [(p.line, p.code) for p in decode(lost, "t.md").problems] == [(3, "project-missing")]


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    key=st.one_of(st.none(), st.sampled_from(["no", "a: b", "12:30", "用 pnpm", "", "x\ny"])),
    epoch=st.integers(0, 9),
    extra=st.dictionaries(st.sampled_from(["x", "on", "1"]), st.sampled_from(["no", "y\nz"])),
)
def test_random_tombstones_survive_their_file(
    key: str | None, epoch: int, extra: dict[str, Any]
) -> None:
    tombstone = dataclasses.replace(
        ORDINARY, candidate_key=key or None, epoch=epoch, extra=dict(extra)
    )
    raw = encode(tombstone)
    assert decode(raw, "t.md").tombstone == tombstone
    assert frontmatter.loads(raw.decode()).get("candidateKey") == (key or None)


@pytest.mark.parametrize("key", ["pnpm", "tooling:pnpm", "Src/Auth  login"])
def test_what_was_forgotten_for_good_is_known_again_by_the_key_it_was_learned_under(
    key: str,
) -> None:
    gone = Record(id=ID, title="Use pnpm", body="never npm", candidate_key=key)
    raw = permanent_tombstone(gone, SALT.hex(), "2026-11-30T09:12:44Z")
    mark = decode(raw, f"tombstones/{ID}.md").tombstone
    assert mark is not None
    assert matches(mark, key, "In other words", "pnpm is the one", [SALT])
    assert not matches(mark, key + "x", "In other words", "pnpm is the one", [SALT])
