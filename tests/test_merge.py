"""The merge: its properties over thousands of memories that went apart, each seen to fail."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from memsync import merge as merging
from memsync.merge import Held, fields, lines
from memsync.record import (
    BODY_BYTES,
    EVIDENCE_ITEMS,
    SELECTOR_ENTRIES,
    Lifecycle,
    Record,
    Selectors,
)
from tests.merging import Apart, Check, apart, joined, seen

#: Of these nothing says which of two sides is the later one, whatever happened before.
ASSOCIATIVE = ("tags", "supersedes", "allow", "authority", "lifecycle", "application", "created")


def commutative(given_: Apart) -> None:
    """The same whichever side comes first, byte for byte."""
    ours = joined(given_.base, given_.ours, given_.theirs)
    assert seen(ours) == seen(joined(given_.base, given_.theirs, given_.ours))


def idempotent(given_: Apart) -> None:
    """Two equal sides are what comes out, whatever the base."""
    side = given_.ours
    if side.record and side.tombstone:
        side = Held(side.record)
    assert seen(joined(given_.base, side, side)) == seen(side)


def absorbing(given_: Apart) -> None:
    """What was merged already changes nothing when it comes again."""
    base, ours, theirs, _ = given_
    merged = joined(base, ours, theirs)
    assert seen(joined(base, merged, theirs)) == seen(merged)
    assert seen(joined(base, ours, merged)) == seen(merged)


def identity(given_: Apart) -> None:
    """A side that changed nothing adds nothing."""
    if given_.base.record and given_.ours.record:
        ours = Held(given_.ours.record)
        if ours.record and ours.record.record.epoch >= given_.base.record.record.epoch:
            assert seen(joined(given_.base, ours, given_.base)) == seen(ours)


def texts_kept(given_: Apart) -> None:
    """Each title and line that a side brought is in the result, or under ``conflict``."""
    base, ours, theirs, _ = given_
    merged = joined(base, ours, theirs)
    known = base.record.record if base.record else None
    for side in (ours, theirs):
        if not side.record or not merged.record:
            continue
        item, found = side.record.record, merged.record.record
        if item.epoch != found.epoch:
            continue
        everywhere = texts_of(found)
        for line in {*item.body.split("\n")} - {*(known.body.split("\n") if known else ("",))}:
            assert line in everywhere, line
        if known is None or item.title != known.title:
            assert item.title in everywhere


def texts_of(item: Record) -> set[str]:
    told = [entry.text or "" for entry in item.conflict]
    return {item.title, *item.body.split("\n"), *told, *(x for t in told for x in t.split("\n"))}


def unknown_keys_kept(given_: Apart) -> None:
    """A key that this memsync does not know stays, unless a side took it away."""
    base, ours, theirs, _ = given_
    merged = joined(base, ours, theirs)
    if not (ours.record and theirs.record and merged.record):
        return
    mine, yours = ours.record.record, theirs.record.record
    if mine.epoch != yours.epoch:
        return
    known = base.record.record.extra if base.record else {}
    for key in {*mine.extra, *yours.extra}:
        if key not in known or (key in mine.extra and key in yours.extra):
            assert key in merged.record.record.extra
            assert merged.record.record.extra[key] in (mine.extra.get(key), yours.extra.get(key))


def tombstones_dominate(given_: Apart) -> None:
    """Nothing that either side's tombstone covers comes out alive, and no tombstone goes."""
    base, ours, theirs, _ = given_
    merged = joined(base, ours, theirs)
    marks = [side.tombstone for side in (ours, theirs) if side.tombstone]
    assert (merged.tombstone is None) == (not marks)
    for mark in marks:
        assert not mark.permanent or merged.record is None
        assert merged.record is None or merged.record.record.epoch > mark.epoch
    living = [s.record for s in (ours, theirs) if s.record]
    if not marks:  # absence is never deletion
        assert (merged.record is None) == (not living)


def associative(given_: Apart) -> None:
    """Three sides become the same in any order, in all that has no later side."""
    base, ours, theirs, third = given_
    first = joined(base, joined(base, ours, theirs), third)
    last = joined(base, ours, joined(base, theirs, third))
    assert first.tombstone == last.tombstone
    assert (first.record is None) == (last.record is None)
    if first.record and last.record:
        one, other = first.record.record, last.record.record
        assert one.epoch == other.epoch
        for name in ASSOCIATIVE:
            values = getattr(one, name), getattr(other, name)
            assert as_set(values[0]) == as_set(values[1]), name
        assert {e.key for e in one.evidence} == {e.key for e in other.evidence}


def as_set(value: Any) -> Any:
    return frozenset(value) if type(value) is tuple else value


def within_limits(given_: Apart) -> None:
    """No merge makes a record that could not be written."""
    merged = joined(given_.base, given_.ours, given_.theirs)
    inputs = [s.record.record for s in (given_.ours, given_.theirs) if s.record]
    if merged.record:
        item = merged.record.record
        sizes = [len(r.body.encode()) for r in inputs]
        assert len(item.body.encode()) <= max(BODY_BYTES, *sizes)
        assert len(item.evidence) <= max(EVIDENCE_ITEMS, *(len(r.evidence) for r in inputs))
        for level in Selectors._fields:
            assert len(getattr(item.selectors, level)) <= SELECTOR_ENTRIES


PROPERTIES: dict[str, Check] = {
    check.__name__: check
    for check in (
        commutative,
        idempotent,
        absorbing,
        identity,
        texts_kept,
        unknown_keys_kept,
        tombstones_dominate,
        associative,
        within_limits,
    )
}


def run(check: Check, examples: int, reached: Counter[str] | None = None) -> None:
    @settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        database=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @given(apart())
    def holds(found: Apart) -> None:
        if reached is not None:
            count(found, reached)
        check(found)

    holds()


def count(found: Apart, reached: Counter[str]) -> None:
    """What an example was about."""
    base, ours, theirs, _ = found
    merged = joined(base, ours, theirs)
    if ours.tombstone or theirs.tombstone:
        reached["tombstone"] += 1
        reached["tombstone, and alive"] += merged.record is not None
        return
    if not (ours.record and theirs.record and merged.record):
        reached["one side has none"] += 1
        return
    one, other, item = ours.record.record, theirs.record.record, merged.record.record
    reached["both made it"] += base.record is None
    reached["two epochs"] += one.epoch != other.epoch
    if base.record is None or one.epoch != other.epoch:
        return
    known = base.record.record
    reached["equal times"] += fields.moment(one.updated) == fields.moment(other.updated)
    reached["both moved"] += len({base.record.path, ours.record.path, theirs.record.path}) == 3
    reached["overflow of a selector"] += any(
        e.field.startswith("selectors.") for e in item.conflict
    )
    reached["evidence over the limit"] += (
        len({e.key for r in (one, other) for e in r.evidence}) > 32
    )
    if len({known.body, one.body, other.body}) == 3:
        clean = item.body not in (one.body, other.body)
        reached["bodies joined"] += clean
        reached["bodies in conflict"] += any(
            e.field == "body" and e.text in (one.body, other.body) for e in item.conflict
        )
    reached["titles in conflict"] += len({known.title, one.title, other.title}) == 3
    reached["an unknown key"] += bool(one.extra or other.extra)
    reached["a comment"] += b"\n# " in merged.record.content


@pytest.mark.parametrize("name", PROPERTIES)
def test_the_merge_holds(name: str) -> None:
    run(PROPERTIES[name], 1000)


@pytest.mark.soak
@pytest.mark.parametrize("name", PROPERTIES)
def test_the_merge_holds_for_long(name: str) -> None:
    run(PROPERTIES[name], 20_000)


def between(one: Lifecycle, other: Lifecycle) -> Lifecycle:
    """A rule that depends on the order in which three sides meet."""
    ranks: list[Lifecycle] = list(Lifecycle)
    return ranks[abs(ranks.index(one) - ranks.index(other))]


#: For each property, changes of the code that must break it: (where, name, what stands there).
MUTATIONS: list[tuple[str, Any, str, Any]] = [
    ("commutative", fields.Sides, "of", classmethod(lambda cls, *s: cls(*s, True))),
    ("commutative", merging, "_layout", lambda _: 0),
    ("idempotent", fields, "_latest", lambda _: "2030-01-01T00:00:00Z"),
    ("idempotent", fields, "_evidence", lambda _: ()),
    ("absorbing", fields, "merge_lines", lambda b, o, t: lines._merged(b, o, t) if o != t else o),
    ("absorbing", fields, "_latest", lambda sides: sides.later.updated),
    ("absorbing", fields, "_is_kept", lambda *_: False),
    ("identity", merging, "_is_unchanged", lambda *_: False),
    ("texts_kept", fields, "_keep_loser", lambda *_: None),
    ("texts_kept", fields, "merge_lines", lambda _, ours, __: ours),
    ("unknown_keys_kept", fields, "_extra", lambda sides: sides.later.extra),
    ("unknown_keys_kept", fields, "_unknown", lambda _: lambda _: fields._ABSENT),
    ("tombstones_dominate", merging, "_is_covered", lambda *_: False),
    ("tombstones_dominate", merging, "_tombstone", lambda ours, _: ours),
    ("associative", fields, "_lifecycle", lambda _, a, b: between(a.lifecycle, b.lifecycle)),
    ("associative", fields, "_application", lambda sides: sides.later.application),
    ("associative", fields, "_evidence", lambda sides: sides.later.evidence),
    ("within_limits", fields, "SELECTOR_ENTRIES", 64),
    ("within_limits", fields, "EVIDENCE_ITEMS", 64),
    ("within_limits", fields, "BODY_BYTES", 64_000),
]


@pytest.mark.parametrize(
    ("name", "where", "what", "instead"),
    [pytest.param(*m, id=f"{m[0]}: {m[2]}") for m in MUTATIONS],
)
@pytest.mark.filterwarnings("ignore:Generating overly large repr")
def test_a_wrong_merge_is_found(
    name: str, where: Any, what: str, instead: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(where, what, instead)
    with pytest.raises(AssertionError):
        run(PROPERTIES[name], 1000)


def test_every_property_is_seen_to_fail() -> None:
    assert {mutation[0] for mutation in MUTATIONS} == {*PROPERTIES}


def test_the_examples_reach_every_rule() -> None:
    reached: Counter[str] = Counter()
    run(lambda _: None, 1000, reached)
    print(dict(reached))
    assert all(times >= 3 for times in reached.values()), reached
    assert len(reached) >= 14
