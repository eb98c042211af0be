"""Memories that went apart: a base and sides that changed it, for the properties of the merge."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

from hypothesis import strategies as st

from memsync.frontmatter.codec import encode
from memsync.frontmatter.model import Place
from memsync.frontmatter.schema import decode
from memsync.merge import Held, Merged, Version, merge
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
)
from memsync.tombstone import ForgetReason, Tombstone

ID = "m-4k7q2v9hx3zn5d8t"
TIMES = (
    *("2026-11-30T09:12:44Z", "2026-11-30T09:12:45Z", "2026-12-01T00:00:00Z"),
    *("2026-11-30T17:12:44+08:00", "2028-11-30T09:12:44Z"),
)
WORDS = ("pnpm", "tabs", "测试", "review", "Never", "x: y", "- a", "# b")
LINES = ("one", "two", "three", "four", "五", "- item", "# head", "", "one")
PATHS = (
    *("global/a.md", "global/b.md", "global/sub/a.md"),
    *("projects/acme/a.md", "projects/beta/a.md"),
)


def words(most: int = 4) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(st.sampled_from(WORDS), max_size=most, unique=True).map(tuple)


def maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | strategy


TIME = st.sampled_from(TIMES)
WORD = st.sampled_from(WORDS)
BODY = st.lists(st.sampled_from(LINES), min_size=3, max_size=9).map(
    lambda ls: "\n".join(ls).strip("\n")
)
#: Paths up to the limit of a selector, which two sides may pass together.
FULL = st.sampled_from((0, 3, 9)).map(lambda n: tuple(f"p{i}" for i in range(n, n + 30)))
SELECTORS = st.builds(Selectors, words() | FULL, words(), words(), words())
PROOF = st.builds(
    Evidence,
    key=st.sampled_from(("e1", "e2", "e3", "e4")),
    kind=st.sampled_from(("user", "outcome")),
    change_id=st.none(),
    project_key=st.none(),
    summary=maybe(WORD),
    success=maybe(st.booleans()),
    observed_at=maybe(TIME),
    extra=st.just({}),
)
MANY = st.sampled_from((0, 5, 20, 40)).map(
    lambda first: tuple(
        Evidence(f"k{n}", observed_at=TIMES[n % 3], success=True) for n in range(first, first + 30)
    )
)
CONFLICT = st.builds(
    ConflictEntry,
    field=st.sampled_from(("body", "title")),
    text=WORD,
    device=maybe(st.just("laptop")),
    updated=maybe(TIME),
    hash=st.none(),
    commit=st.none(),
    extra=st.just({}),
)


def unique_by_key(items: list[Evidence]) -> tuple[Evidence, ...]:
    return tuple({item.key: item for item in items}.values())


#: What a change of one field may bring.
FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "title": WORD,
    "memory_type": st.sampled_from(MemoryType),
    "memory_class": st.sampled_from(MemoryClass),
    "category": maybe(WORD),
    "tags": words(),
    "language": maybe(st.sampled_from(("en", "zh-CN"))),
    "authority": st.sampled_from(Authority),
    "lifecycle": st.sampled_from(Lifecycle),
    "selectors": SELECTORS,
    "evidence": st.lists(PROOF, max_size=3).map(unique_by_key) | MANY,
    "created": maybe(TIME),
    "candidate_key": maybe(WORD),
    "supersedes": words(2),
    "superseded_by": maybe(WORD),
    "valid_from": maybe(TIME),
    "valid_until": maybe(TIME),
    "source": maybe(st.builds(Source, maybe(WORD), *[st.none()] * 3, maybe(WORD), st.just({}))),
    "episode": maybe(st.builds(Episode, maybe(WORD), *[st.none()] * 3, st.just({}))),
    "application": maybe(
        st.builds(
            Application, st.just("a1"), maybe(TIME), st.none(), maybe(st.sampled_from(Outcome)),
            st.just({}),
        )
    ),
    "reason": maybe(WORD),
    "conflict": st.lists(CONFLICT, max_size=2, unique_by=repr).map(tuple),
    "paused": st.booleans(),
    "allow": words(2),
    "extra": st.dictionaries(st.sampled_from(("x-a", "x-b", "键")), WORD, max_size=2),
}  # fmt: skip


#: Fields whose rules need more than two values to be tried.
OFTEN = ("extra", "lifecycle", "selectors", "evidence", "title")


class Apart(NamedTuple):
    """What both knew, and what three sides made of it."""

    base: Held
    ours: Held
    theirs: Held
    third: Held


def version(item: Record, path: str, comment: str = "") -> Version:
    """A record as a file of a person: perhaps with a comment of hers, and its keys turned round."""
    raw = encode(placed(item, path))
    if comment:
        head, front, rest = raw.split(b"---\n", 2)
        raw = head + b"---\n# " + comment.encode() + b"\n" + front + b"---\n" + rest
    return read(raw, path)


def placed(item: Record, path: str) -> Record:
    top, _, rest = path.partition("/")
    if top == "global":
        return replace(item, scope=Scope.GLOBAL, project_key=None)
    return replace(item, scope=Scope.PROJECT, project_key=rest.partition("/")[0])


def read(raw: bytes, path: str) -> Version:
    """A version of a file, as its folder and its front matter say."""
    item = placed(Record(ID, "x"), path)
    decoded = decode(raw, path, Place(item.scope, item.project_key), ID)
    assert decoded.record is not None, decoded.problems
    return Version(path, decoded)


def held(found: Merged) -> Held:
    """What came out of a merge, as a side of the next."""
    known = None
    if found.path is not None and found.content is not None:
        known = read(found.content, found.path)
    return Held(known, found.tombstone)


def joined(base: Held, ours: Held, theirs: Held) -> Held:
    """Merge, and read what came out."""
    return held(merge(base, ours, theirs))


def seen(side: Held) -> tuple[object, ...]:
    """A side byte for byte."""
    known = side.record
    return (known.path, known.content) if known else (None, None), side.tombstone


def rarely(often: int) -> st.SearchStrategy[bool]:
    """True about once in so many times; whole numbers would come out small too often."""
    return st.sampled_from((*[False] * (often - 1), True))


@st.composite
def lines_changed(draw: st.DrawFn, body: str) -> str:
    """A text after a few edits of its lines."""
    lines = body.split("\n") if body else []
    for _ in range(draw(st.sampled_from((1, 1, 2)))):
        at = draw(st.sampled_from(range(len(lines) + 1)))
        new = draw(st.sampled_from((*LINES, "mine", "yours", "ours", "theirs")))
        kind = draw(st.sampled_from(("insert", "replace", "replace", "delete", "move")))
        if kind == "insert" or at == len(lines):
            lines.insert(at, new)
        elif kind == "replace":
            lines[at] = new
        elif kind == "delete":
            del lines[at]
        else:
            moved = lines.pop(at)
            lines.insert(draw(st.sampled_from(range(len(lines) + 1))), moved)
    return "\n".join(lines).strip("\n")


@st.composite
def changed(draw: st.DrawFn, base: Version, topics: list[str]) -> Version:
    """A version that somebody made from another; sometimes the same."""
    if draw(rarely(12)):
        return base
    item = base.record
    names = draw(st.lists(st.sampled_from(topics), max_size=4, unique=True))
    item = replace(item, **{name: draw(FIELDS[name]) for name in names})
    if not draw(rarely(3)):
        item = replace(item, body=draw(lines_changed(item.body)))
    if draw(rarely(10)):
        item = replace(item, epoch=draw(st.sampled_from((1, 2))))
    if draw(rarely(8)):
        much = draw(WORD) * 1300
        whole = (much, item.body) if draw(st.booleans()) else (item.body, much)
        item = replace(item, body="\n".join(whole)[:8000])
    item = replace(item, updated=draw(TIME))
    path = draw(st.sampled_from((*[base.path] * 6, *PATHS)))
    return version(item, path, draw(st.sampled_from(("", "", "mine", "yours"))))


@st.composite
def marks(draw: st.DrawFn) -> Tombstone | None:
    if not draw(rarely(16)):
        return None
    return Tombstone(
        ID,
        Scope.GLOBAL,
        None,
        draw(st.sampled_from((0, 0, 0, 1, 2))),
        draw(TIME),
        draw(st.sampled_from(ForgetReason)),
        permanent=draw(rarely(4)),
    )


@st.composite
def apart(draw: st.DrawFn) -> Apart:
    """A memory and three sides that changed it, or that each made it by themselves."""
    item = Record(ID, draw(WORD), draw(BODY), updated=TIMES[0], created=TIMES[0])
    names = draw(st.lists(st.sampled_from([*FIELDS]), max_size=6, unique=True))
    item = replace(item, **{name: draw(FIELDS[name]) for name in names})
    base = version(item, draw(st.sampled_from(PATHS)), draw(st.sampled_from(("", "ours"))))
    # What they all speak of: else they would hardly ever change the same.
    some = st.sampled_from([*FIELDS, *OFTEN * 3])
    topics = draw(st.lists(some, min_size=4, max_size=4, unique=True))
    made = [draw(changed(base, topics)) for _ in range(3)]
    known = Held() if draw(rarely(6)) else Held(base)
    sides = [Held(None if draw(rarely(16)) else v, draw(marks())) for v in made]
    return Apart(known, *sides)


Check = Callable[[Apart], None]
