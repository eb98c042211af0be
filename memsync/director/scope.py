"""The memories in scope of a project, prepared once for many requests. Pure.

Conditions are kept as bit sets: bit N of a mask stands for the Nth conditional memory. Memories
share their selectors, so that a request looks at each selector once, and at single memories only
where something of the request meets them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from memsync import record
from memsync.director import ranking
from memsync.director.matching import (
    LEVELS,
    SELECTOR_KEYS,
    Request,
    Wanted,
    clues_given,
    path_clues,
    state,
    task_clues,
    word_clues,
)
from memsync.index import Brief


class Prepared(NamedTuple):
    """A memory with what does not depend on the request.

    ``standing`` memories are delivered by scope and selectors alone, others must be relevant.
    """

    row: Brief
    score: float
    state: str
    standing: bool
    selectors: Wanted = ()


#: How the selectors of a level tell where they can match.
_CLUES = dict(zip(LEVELS, (path_clues, task_clues, word_clues, word_clues), strict=True))
_KEYS = [SELECTOR_KEYS[level] for level in LEVELS]
#: Selectors as the index has them -> the same, level by level.
_Known = dict[str, Wanted]


class Level(NamedTuple):
    """The conditions of one level: selectors -> the memories that have them; all that have any.

    ``clues`` has clue -> the selectors that can match where it is given.
    """

    masks: dict[tuple[str, ...], int]
    asking: int
    clues: dict[str, list[tuple[str, ...]]]

    def matched(self, level: str, request: Request) -> int:
        """The memories whose selectors match; a cheap first question leaves out most of them."""
        chosen = dict.fromkeys(self.clues.get("", ()))
        for clue in clues_given(level, request):
            chosen.update(dict.fromkeys(self.clues.get(clue, ())))
        found = 0
        for selectors in chosen:
            if state(level, selectors, request) == "matched":
                found |= self.masks[selectors]
        return found


@dataclass(slots=True)
class InScope:
    """All memories in scope, sorted by what must be asked of them.

    ``general`` are standing and without conditions, ``episodes`` without conditions but to be
    relevant, ``conditional`` have selectors, ``out`` are not active. The first three are in the
    order of their score; ``places`` finds a row's memory and its place in its list.
    """

    general: list[Prepared] = field(default_factory=list)
    episodes: list[Prepared] = field(default_factory=list)
    conditional: list[Prepared] = field(default_factory=list)
    out: list[Prepared] = field(default_factory=list)
    places: dict[int, tuple[Prepared, int]] = field(default_factory=dict)
    standing: int = 0
    size: int = 0
    _levels: dict[str, Level] = field(default_factory=dict)

    def conditions(self, request: Request) -> tuple[int, int]:
        """(failed, matched): the conditional memories of which some level fails, or matches."""
        failed = matched = 0
        for level in LEVELS:
            if level in request.given:
                conditions = self._level(level)
                here = conditions.matched(level, request)
                matched |= here
                failed |= conditions.asking & ~here
        return failed, matched

    def _level(self, level: str) -> Level:
        """The conditions of a level, sorted when a request first asks for it."""
        found = self._levels.get(level)
        if found is None:
            found = self._levels[level] = _conditions(self.conditional, level)
        return found


def _conditions(conditional: Sequence[Prepared], level: str) -> Level:
    number = LEVELS.index(level)
    masks: dict[tuple[str, ...], int] = {}
    asking = 0
    for place, item in enumerate(conditional):
        wanted = item.selectors[number]
        if wanted:
            masks[wanted] = masks.get(wanted, 0) | 1 << place
            asking |= 1 << place
    clues: dict[str, list[tuple[str, ...]]] = {}
    for selectors in masks:
        for clue in _CLUES[level](selectors):
            clues.setdefault(clue, []).append(selectors)
    return Level(masks, asking, clues)


def bits(mask: int) -> Iterator[int]:
    """The places that are set in a mask, from the first on."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def prepare(rows: Sequence[Brief], now: datetime) -> InScope:
    """Sort the memories of a scope for requests at ``now``."""
    found = InScope(size=len(rows))
    stamp = record.stamp(now)
    selectors = _selectors(rows)
    for row in rows:
        item = _prepared(row, now, stamp, selectors)
        if item.state != "active":
            found.out.append(item)
        elif item.selectors:
            found.conditional.append(item)
        elif item.standing:
            found.general.append(item)
        else:
            found.episodes.append(item)
    for listed in (found.general, found.episodes, found.conditional):
        listed.sort(key=_order)
        found.places.update([(item.row.n, (item, place)) for place, item in enumerate(listed)])
    for place, item in enumerate(found.conditional):
        found.standing |= int(item.standing) << place
    return found


def _order(item: Prepared) -> tuple[float, str]:
    return -item.score, item.row.id


def _prepared(row: Brief, now: datetime, stamp: str, selectors: _Known) -> Prepared:
    score = ranking.standing_score(row, now)
    standing = row.type != "personal-episode"
    if row.selectors is None:
        return Prepared(row, score, row.state(stamp), standing)
    return Prepared(row, score, row.state(stamp), standing, selectors[row.selectors])


def _selectors(rows: Sequence[Brief]) -> _Known:
    """Selectors as the index has them, level by level; memories share them."""
    texts = {row.selectors for row in rows if row.selectors is not None}
    known: _Known = {}
    for text, listed in zip(texts, json.loads(f"[{','.join(texts)}]"), strict=True):
        selectors = tuple([tuple(listed.get(key, ())) for key in _KEYS])
        known[text] = selectors if any(selectors) else ()
    return known
