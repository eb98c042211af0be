"""Records written and read back: round trips, an independent reader, JSON, limits."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from typing import Any

import frontmatter
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memsync.contract.codec import from_json, to_json
from memsync.errors import BrokenFile, InvalidRecord
from memsync.frontmatter.codec import (
    changes_between,
    check_limits,
    dump_yaml,
    encode,
    front_matter_of,
)
from memsync.frontmatter.document import parse, parse_yaml
from memsync.frontmatter.edits import edit
from memsync.frontmatter.model import Place
from memsync.frontmatter.revise import revise
from memsync.frontmatter.schema import ORDER, decode
from memsync.record import (
    Application,
    Authority,
    ConflictEntry,
    Episode,
    Evidence,
    Lifecycle,
    MemoryClass,
    MemoryType,
    Outcome,
    Record,
    Scope,
    Selectors,
    Source,
    provisional_id,
)

ID = "m-4k7q2v9hx3zn5d8t"
ALL = Place()
ONE_LINE_TRAPS = """\
no,Yes,on,n,true,null,~,NULL,012,0x1F,0o17,1e3,12:30:45,2026-01-01,2026-01-01 10:00:00,.inf,.NaN
=,<<,- a,-,--- x,---,...,a: b,a:,a #b,a#b,#x,[x],{x},[,*x,&x,!x,%x,@x,`x,'x',"x",it's,|,?,? x,:,:x
>,web/**,**/*.py,.github/x,./a,user:2026-11-30T09:12:44Z,branch:web@4c1d,+1,-0.5,1_000,_x,a  b, a
a ,用 pnpm，不要,ｆｕｌｌ,𝕏 🎉,é,C:\\dir,190:20:30.15,0,-,!!str x,%TAG,1.0.0,2fa,e,1:2,-.inf,0b1,y
"""
TRAPS = (
    *ONE_LINE_TRAPS.replace("\n", ",").split(","),
    "x, y",
    "\ta",
    "a\tb",
    "a\u00a0b",
    "\ufeffx",
    "a\u2028b",
    "a\x85b",
    "a\x7fb",
    "a\x1bb",
    "two\nlines",
    "ends\n",
    "ends\n\n",
    "\nbegins",
    "  deep\nthen",
    "a\n\n  b\n\tc",
    "a \nb",
    "a\n ",
    "---\na: b\n---",
    "a\r\nb",
    "# c\n- d: e",
)
CHARACTERS = st.characters(codec="utf-8", exclude_characters="\0")
TEXTS = st.one_of(st.sampled_from(TRAPS), st.text(CHARACTERS, max_size=12))
SHORT = st.lists(TEXTS, max_size=4).map(tuple)
TIMES = st.sampled_from(["2026-11-30T09:12:44Z", "2026-11-30", "2026-11-30T09:12:44+08:00"])
KEYS = st.one_of(st.sampled_from(["x-a", "on", "y", "1", "null", "a b", "=", "<<", "#k", "键"]))
VALUES = st.recursive(
    st.one_of(st.none(), TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3)),
    max_leaves=6,
)
EXTRA = st.one_of(st.just({}), st.just({}), st.dictionaries(KEYS, VALUES, max_size=3))


def maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(st.none(), strategy)


def parts(kind: Any, /, **chosen: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Parts of a record: texts, where nothing else is chosen."""
    defaults = kind._field_defaults
    texts = {name: maybe(TEXTS) if name in defaults else TEXTS for name in kind._fields}
    return st.builds(kind, **{**texts, "extra": EXTRA, **chosen})


RECORDS = st.builds(
    Record,
    id=st.just(ID),
    title=TEXTS.filter(str.strip),
    body=TEXTS.map(lambda t: t.replace("\r", "").strip("\n")),
    scope=st.just(Scope.PROJECT),
    project_key=st.just("acme"),
    memory_type=st.sampled_from(MemoryType),
    memory_class=st.sampled_from(MemoryClass),
    category=maybe(TEXTS),
    tags=SHORT,
    language=maybe(TEXTS),
    authority=st.sampled_from(Authority),
    lifecycle=st.sampled_from(Lifecycle),
    selectors=st.builds(Selectors, paths=SHORT, tasks=SHORT, operations=SHORT, phases=SHORT),
    evidence=st.lists(
        parts(Evidence, kind=TEXTS, success=maybe(st.booleans()), observed_at=maybe(TIMES)),
        max_size=3,
    ).map(tuple),
    created=maybe(TIMES),
    updated=maybe(TIMES),
    candidate_key=maybe(TEXTS),
    supersedes=SHORT,
    superseded_by=maybe(TEXTS),
    valid_from=maybe(TIMES),
    valid_until=maybe(TIMES),
    reason=maybe(TEXTS),
    epoch=st.integers(0, 5),
    source=maybe(parts(Source)),
    episode=maybe(parts(Episode)),
    application=maybe(parts(Application, at=maybe(TIMES), outcome=maybe(st.sampled_from(Outcome)))),
    conflict=st.lists(parts(ConflictEntry, updated=maybe(TIMES)), max_size=2).map(tuple),
    paused=st.booleans(),
    allow=SHORT,
    extra=EXTRA,
)
FULL = Record(
    id=ID,
    title="Use pnpm, never npm",
    body="The lockfile is pnpm's; npm install breaks CI.",
    scope=Scope.PROJECT,
    project_key="acme-api-9f3c1e7a",
    memory_class=MemoryClass.PROJECT_CONVENTION,
    category="tooling",
    tags=("package-manager",),
    language="en",
    selectors=Selectors(paths=("web/**",), operations=("install", "ci")),
    evidence=(
        Evidence(
            key="user:2026-11-30T09:12:44Z",
            kind="user",
            change_id="branch:web-build@4c1d9e0",
            summary="asked for it while adding a dependency",
            success=True,
            observed_at="2026-11-30T09:12:44Z",
        ),
    ),
    created="2026-11-30T09:12:44Z",
    updated="2026-11-30T09:12:44Z",
)
FULL_TEXT = """\
---
id: m-4k7q2v9hx3zn5d8t
scope: project
projectKey: acme-api-9f3c1e7a
title: Use pnpm, never npm
memoryType: collaboration-policy
memoryClass: project-convention
category: tooling
tags: [package-manager]
language: en
authority: explicit
lifecycle: proven
selectors:
  paths: [web/**]
  operations: [install, ci]
evidence:
  - key: user:2026-11-30T09:12:44Z
    kind: user
    changeId: branch:web-build@4c1d9e0
    summary: asked for it while adding a dependency
    success: true
    observedAt: 2026-11-30T09:12:44Z
created: 2026-11-30T09:12:44Z
updated: 2026-11-30T09:12:44Z
---
The lockfile is pnpm's; npm install breaks CI.
"""


def undated(value: Any) -> Any:
    """What another reader read, as our text where the format writes no quotes on purpose."""
    if isinstance(value, dict):
        return {k: undated(v) for k, v in value.items() if k not in DATED}
    return [undated(v) for v in value] if isinstance(value, list) else value


DATED = {"created", "updated", "validFrom", "validUntil", "observedAt", "at"}


def test_a_new_file_looks_like_the_one_in_the_design() -> None:
    assert encode(FULL).decode() == FULL_TEXT
    decoded = decode(FULL_TEXT.encode(), "f.md", ALL, provisional_id("f.md", "0"))
    assert decoded.record == FULL
    assert decoded.stated_id == ID
    assert not decoded.problems


def test_random_records_survive_files_json_and_an_independent_reader() -> None:
    reached: Counter[str] = Counter()

    @settings(
        max_examples=150, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
    )
    @given(RECORDS, RECORDS)
    def run(record: Record, other: Record) -> None:
        assert from_json(Record, json.loads(json.dumps(to_json(record)))) == record
        raw = encode(record)
        decoded = decode(raw, "f.md", ALL, "")
        assert decoded.record == record
        front = front_matter_of(record)
        assert list(parse(raw, "f.md").data) == list(front)
        post = frontmatter.loads(raw.decode())
        assert undated(post.metadata) == undated(front)
        known = [ORDER[k] for k in front if k in ORDER]
        assert known == sorted(known)
        changes = changes_between(record, other)
        edited = edit(raw, "f.md", changes, other.body)
        assert decode(edited, "f.md", ALL, "").record == dataclasses.replace(
            other, extra=_kept(record, other)
        )
        assert undated(frontmatter.loads(edited.decode()).metadata) == undated(
            front_matter_of(dataclasses.replace(other, extra=_kept(record, other)))
        )
        reached["records"] += 1
        for field in dataclasses.fields(Record):
            value = getattr(record, field.name)
            reached[field.name] += value not in (None, (), {}, "", 0, False, Selectors())
        reached["literal"] += b": |" in raw
        reached["escaped"] += b"\\x" in raw or b"\\u" in raw
        reached["block list"] += b"\n  - " in raw

    run()
    missing = [f.name for f in dataclasses.fields(Record) if not reached[f.name]]
    assert missing == []
    assert reached["records"] >= 150
    assert min(reached["literal"], reached["escaped"], reached["block list"]) > 1, reached


def _kept(old: Record, new: Record) -> dict[str, object]:
    """Unknown keys after an edit: a new one that says nothing is not added."""
    return {
        k: v
        for k, v in new.extra.items()
        if v is not None or (k in old.extra and old.extra[k] is None)
    }


@pytest.mark.parametrize("text", TRAPS)
def test_a_text_is_the_same_for_every_reader(text: str) -> None:
    values: dict[str, Any] = {
        "a": text,
        "b": [text],
        "c": {"d": text},
        "e": [{"f": text, "g": "h"}],
    }
    values["h"] = [[text, ["x" * 90, text]]]
    values["i"] = [text, "x" * 90, text]
    if text:
        values[text if "\n" not in text and "\r" not in text else "k"] = text
    raw = dump_yaml(values)
    document = parse_yaml(raw, "x.yaml")
    assert not document.problems
    assert document.data == values
    assert yaml.load(raw, Loader=yaml.CSafeLoader) == values
    assert yaml.load(raw, Loader=yaml.SafeLoader) == values


def test_bodies_that_look_like_front_matter_stay_bodies() -> None:
    for body in ("---", "---\na: b\n---\nx", "...\n", "--- \n\n---", "\ufeff---\nx"):
        record = dataclasses.replace(FULL, body=body.strip("\n"))
        assert decode(encode(record), "f.md", ALL, "").record == record


def test_json_is_typed_and_keeps_unknown_keys() -> None:
    record = Record(
        id=ID, title="t", body="b", epoch=3, paused=True, extra={"body": "x", "/y": "z", "k": "v"}
    )
    values = to_json(record)
    assert values["epoch"] == 3
    assert values["paused"] is True
    assert (values["body"], values["/body"], values["//y"], values["k"]) == ("b", "x", "z", "v")
    assert from_json(Record, json.loads(json.dumps(values))) == record


def test_limits_are_errors_before_a_write() -> None:
    assert check_limits(FULL, "f.md") == ()
    over = dataclasses.replace(
        FULL,
        title="t" * 121,
        body="界" * 2731,
        selectors=Selectors(phases=("x",) * 33),
        evidence=tuple(Evidence(key=str(i)) for i in range(33)),
    )
    assert [(p.code, p.level) for p in check_limits(over, "f.md")] == [
        ("title-too-long", "error"),
        ("body-too-long", "error"),
        ("too-many-entries", "error"),
        ("too-many-entries", "error"),
    ]
    for body in ("a\0b", "\ud83d", "<<<<<<< a\n=======\n>>>>>>> b"):
        assert check_limits(dataclasses.replace(FULL, body=body), "f.md")
        with pytest.raises(InvalidRecord):
            encode(dataclasses.replace(FULL, body=body))
    with pytest.raises(InvalidRecord):
        encode(dataclasses.replace(FULL, body="x" * 70_000))
    with pytest.raises(InvalidRecord):
        encode(dataclasses.replace(FULL, extra={"": "a key that cannot be read"}))


def test_a_file_is_revised_to_what_the_record_says() -> None:
    raw = b"# Use pnpm\n\nnever npm\n"
    place = Place(Scope.PROJECT, "acme")
    decoded = decode(raw, "f.md", place, ID)
    assert decoded.record is not None
    assert revise(decoded, decoded.record) == b"---\nid: " + ID.encode() + b"\n---\n" + raw
    corrected = dataclasses.replace(decoded.record, body="npm is fine", paused=True)
    assert revise(decoded, corrected).decode() == (
        f"---\nid: {ID}\ntitle: Use pnpm\npaused: true\n---\nnpm is fine\n"
    )
    moved = decode(FULL_TEXT.encode(), "f.md", Place(Scope.GLOBAL), ID)
    assert moved.record is not None
    assert revise(moved, moved.record).decode() == FULL_TEXT.replace(
        "scope: project\nprojectKey: acme-api-9f3c1e7a\n", "scope: global\n"
    )
    with pytest.raises(BrokenFile):
        revise(decode(b"---\nepoch: x\n---\nT", "f.md", place, ID), FULL)
