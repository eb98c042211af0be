"""One made-up memory of a developer, with everything that its front matter may have."""

from __future__ import annotations

import hashlib
from bisect import bisect
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import accumulate
from random import Random

from benchmarks.prose import SHARES, Pen, shared
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
    inferred_id,
    meaning_of,
    path_key,
    random_id,
    shorten,
    slug,
    stamp,
)

#: The records end here, later revisions follow; no clock is read.
END = datetime(2026, 11, 28, 9, 0, 0, tzinfo=UTC)
_DAYS = 270
_GLOBAL_SHARE = 0.20
_EPISODE_SHARE = 0.25
_CORE_SHARE = 0.05
_SELECTOR_SHARE = 0.34
_SUBFOLDER_SHARE = 0.02
_CANDIDATE_SHARE = 0.03
#: (authority, lifecycle): share of the records that are no candidates.
_STATES = {
    (Authority.EXPLICIT, Lifecycle.PROVEN): 0.79,
    (Authority.EXPLICIT, Lifecycle.SUPERSEDED): 0.03,
    (Authority.INFERRED, Lifecycle.TRIAL): 0.09,
    (Authority.INFERRED, Lifecycle.PROVEN): 0.08,
    (Authority.INFERRED, Lifecycle.SUPERSEDED): 0.01,
}
#: Chinese, Japanese and Korean say the same in fewer characters.
_DENSITY = {"en": 1.1, "zh-CN": 0.75, "ja": 0.85, "ko": 0.85}


@dataclass(frozen=True, slots=True)
class Memory:
    """A record and its path in the repository."""

    path: str
    record: Record


@cache
def projects() -> dict[str, str]:
    """The projects of the corpus: key -> alias of its remote."""
    found = {}
    for name in shared("project"):
        alias = f"github.com/acme/{name}"
        found[f"{name}-{hashlib.sha256(alias.encode()).hexdigest()[:8]}"] = alias
    return found


def memory(rng: Random, taken: set[str], meanings: set[str]) -> Memory:
    """A record that says what no other says, at a path of its own."""
    while True:
        record = _record(rng)
        meaning = meaning_of(record.title, record.body)
        if meaning not in meanings:
            meanings.add(meaning)
            return Memory(_path(rng, record, taken), record)


def _path(rng: Random, record: Record, taken: set[str]) -> str:
    if record.lifecycle is Lifecycle.TRIAL and len(record.evidence) == 1:
        return f"candidates/{record.id}.md"
    folder = f"projects/{record.project_key}" if record.project_key else "global"
    if rng.random() < _SUBFOLDER_SHARE:
        folder += f"/{record.category}"
    path = f"{folder}/{slug(record.title)}.md"
    if path_key(path) in taken:
        path = f"{path[:-3]}-{record.id[2:6]}.md"
    taken.add(path_key(path))
    return path


def _record(rng: Random) -> Record:
    key = None if rng.random() < _GLOBAL_SHARE else _project(rng)
    pen = Pen(rng, rng.choices(list(SHARES), list(SHARES.values()))[0])
    kind, about = _kind(rng, key)
    candidate = rng.random() < _CANDIDATE_SHARE
    authority, lifecycle = (
        (Authority.INFERRED, Lifecycle.TRIAL)
        if candidate
        else rng.choices(list(_STATES), list(_STATES.values()))[0]
    )
    created = END - timedelta(days=_DAYS * rng.random(), minutes=1)
    updated = created if rng.random() < 0.5 else between(rng, stamp(created), None)
    subject = {MemoryType.CORE_PROFILE: "facts", MemoryType.PERSONAL_EPISODE: "lessons"}
    record = Record(
        id=random_id(rng.randbytes(10)),
        title=shorten(pen.sentence(subject.get(kind, "rules")).rstrip("。."), 120),
        body=_body(pen, kind),
        scope=Scope.PROJECT if key else Scope.GLOBAL,
        project_key=key,
        memory_type=kind,
        memory_class=about,
        category=pen.word("category"),
        tags=_some(rng, shared("tag"), 0, 4),
        language=pen.language,
        authority=authority,
        lifecycle=lifecycle,
        selectors=_selectors(pen) if rng.random() < _SELECTOR_SHARE else Selectors(),
        created=stamp(created),
        updated=stamp(updated),
        epoch=int(rng.random() < 0.01),
        paused=rng.random() < 0.005,
    )
    record = _supported(pen, record, candidate)
    return _with_rarities(pen, _identified(pen, record))


def _project(rng: Random) -> str:
    """A project; the first has about six times as many records as the last."""
    keys = list(projects())
    weights = list(accumulate(1 / (at + 5) for at in range(len(keys))))
    return keys[bisect(weights, weights[-1] * rng.random())]


def _kind(rng: Random, key: str | None) -> tuple[MemoryType, MemoryClass]:
    draw = rng.random()
    if draw < _EPISODE_SHARE:
        about = (MemoryClass.PROJECT_CONVENTION, MemoryClass.COLLABORATION_HABIT)
        return MemoryType.PERSONAL_EPISODE, about[0 if key else 1]
    if key is None and draw < _EPISODE_SHARE + _CORE_SHARE:
        return MemoryType.CORE_PROFILE, rng.choice(
            (MemoryClass.USER_FACT, MemoryClass.USER_PREFERENCE)
        )
    if key and rng.random() < 0.8:
        return MemoryType.COLLABORATION_POLICY, MemoryClass.PROJECT_CONVENTION
    return MemoryType.COLLABORATION_POLICY, rng.choice(
        (MemoryClass.USER_PREFERENCE, MemoryClass.COLLABORATION_HABIT)
    )


def _body(pen: Pen, kind: MemoryType) -> str:
    """A text of 100 to 900 characters, most about 300; one in fifty is longer."""
    rng = pen.rng
    wanted = rng.lognormvariate(5.6, 0.5) * _DENSITY[pen.language]
    wanted = rng.uniform(1000, 3500) if rng.random() < 0.02 else min(max(wanted, 110), 820)
    story = ["situations", "actions", "outcomes", "lessons"]
    blocks = [pen.paragraph(story if kind is MemoryType.PERSONAL_EPISODE else ["details"])]
    prose = True
    while sum(map(len, blocks)) < wanted:
        draw = rng.random()
        if draw < 0.12:
            blocks.append("\n".join(f"- {pen.sentence('rules')}" for _ in range(2)))
        elif draw < 0.17:
            blocks.append(f"```sh\n{pen.word('command')}\n```")
        elif draw < 0.35 or not prose:
            blocks.append(pen.sentence("details"))
        else:
            blocks[-1] += pen.joiner + pen.sentence("details")
        prose = draw >= 0.17
    return "\n\n".join(blocks)


def _selectors(pen: Pen) -> Selectors:
    rng = pen.rng
    levels = rng.choices(("p", "t", "o", "po", "to", "oh", "ptoh"), (40, 20, 15, 10, 8, 5, 2))[0]
    return Selectors(
        paths=_some(rng, shared("glob"), 1, 3) if "p" in levels else (),
        tasks=tuple({pen.word("word"): None for _ in range(2)}) if "t" in levels else (),
        operations=_some(rng, shared("operation"), 1, 3) if "o" in levels else (),
        phases=_some(rng, shared("phase"), 1, 2) if "h" in levels else (),
    )


def _supported(pen: Pen, record: Record, candidate: bool) -> Record:
    """The record with evidence that fits its authority and lifecycle."""
    rng = pen.rng
    inferred = record.authority is Authority.INFERRED
    count = 1 if candidate else rng.randint(2, 4) if inferred else rng.choices(
        (1, 2, 3, 4), (60, 22, 12, 6))[0]  # fmt: skip
    at = sorted(between(rng, record.created, record.updated) for _ in range(count))
    others = rng.sample(list(projects()), count)
    items = []
    for number, moment in enumerate(at):
        change = f"branch:{pen.identifier().lower()}@{rng.getrandbits(28):07x}"
        by_user = not inferred and number == 0
        items.append(
            Evidence(
                key=f"user:{stamp(moment)}" if by_user else f"change:{change}",
                kind="user" if by_user else "change",
                change_id=change,
                project_key=record.project_key or others[number],
                summary=pen.sentence("summaries"),
                success=inferred or rng.random() > 0.1,
                observed_at=stamp(moment),
            )
        )
    used = None
    proven = record.lifecycle is Lifecycle.PROVEN
    if proven and (inferred or (count < 4 and rng.random() < 0.15)):
        used = _application(rng, record, sure=inferred)
        done = used.outcome is Outcome.USED_SUCCESSFULLY
        items[3:] = [Evidence(key=used.id, kind="outcome", success=done, observed_at=used.at)]
    return record.replacing(evidence=tuple(items), application=used)


def _application(rng: Random, record: Record, sure: bool) -> Application:
    outcome = Outcome.USED_SUCCESSFULLY if sure else rng.choices(
        list(Outcome), (70, 15, 7, 5, 3))[0]  # fmt: skip
    return Application(
        id="a-" + random_id(rng.randbytes(10))[2:],
        at=stamp(between(rng, record.updated, None)),
        reason=rng.choice(("project-match", "path-match", "task-match", "user-explicit")),
        outcome=outcome,
    )


def _identified(pen: Pen, record: Record) -> Record:
    """An inferred record's id comes from what it says."""
    if record.authority is Authority.EXPLICIT:
        return record
    key = f"{record.category}.{pen.identifier().lower()}" if pen.rng.random() < 0.6 else None
    text = f"{record.title}\n{record.body}"
    made = inferred_id(record.scope, record.project_key, key, record.category or "", text)
    return record.replacing(id=made, candidate_key=key)


def _with_rarities(pen: Pen, record: Record) -> Record:
    """Keys that only some records have."""
    rng = pen.rng
    more: dict[str, object] = {}
    if rng.random() < 0.3:
        by_user = record.authority is Authority.EXPLICIT
        more["source"] = Source(
            kind="user" if by_user else "review",
            host=pen.word("host"),
            workflow=pen.word("workflow"),
            change_id=record.evidence[0].change_id,
            device=pen.word("device"),
        )
    if record.memory_type is MemoryType.PERSONAL_EPISODE:
        more["episode"] = Episode(
            situation=pen.sentence("situations"),
            action=pen.sentence("actions"),
            outcome=pen.sentence("outcomes"),
            lesson=pen.sentence("lessons"),
        )
    if rng.random() < 0.1:
        more["reason"] = pen.sentence("summaries")
    if rng.random() < 0.02:
        more["valid_until"] = (END + timedelta(days=rng.randint(-60, 300))).date().isoformat()
    if rng.random() < 0.01:
        more["valid_from"] = (record.created or "")[:10]
    if rng.random() < 0.003:
        more["allow"] = ("personal-data",)
    if rng.random() < 0.005:
        more["conflict"] = (
            ConflictEntry("body", pen.sentence("details"), pen.word("device"), record.updated),
        )
    return record.replacing(**more)


def _some(rng: Random, entries: tuple[str, ...], least: int, most: int) -> tuple[str, ...]:
    return tuple(rng.sample(entries, rng.randint(least, most)))


def between(rng: Random, start: str | None, end: str | None) -> datetime:
    """A moment from ``start`` to ``end`` (the corpus's end where there is none)."""
    first = datetime.fromisoformat(start) if start else END
    last = datetime.fromisoformat(end) if end else END
    return first + (last - first) * rng.random()
