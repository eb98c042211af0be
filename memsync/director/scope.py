"""The memories in scope of a project, prepared once for many requests. Pure.

Conditions are kept as bit sets: bit N of a mask stands for the Nth conditional memory. Memories
share their selectors, so that a request looks at each selector once, and at single memories only
where something of the request meets them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from memsync import record
from memsync.director import ranking
from memsync.director.matching import (
    LEVELS,
    NOTHING,
    SELECTOR_KEYS,
    Match,
    Request,
    Wanted,
    clues_given,
    path_clues,
    state,
    task_clues,
    unasked,
    word_clues,
)
from memsync.index import Brief


class Prepared(NamedTuple):
    """A memory with what does not depend on the request.

    ``standing`` memories are delivered by scope and selectors alone, others must be relevant.
    ``unasked`` is how it matches a request that says nothing of its conditions.
    """

    row: Brief
    score: float
    state: str
    standing: bool
    selectors: Wanted = ()
    unasked: Match = NOTHING


#: Level by level, how selectors tell where they can match.
_CLUES = (path_clues, task_clues, word_clues, word_clues)
_KEYS = [SELECTOR_KEYS[level] for level in LEVELS]


@dataclass(slots=True)
class InScope:
    """All memories in scope, sorted by what must be asked of them.

    ``general`` are standing and without conditions, ``episodes`` without conditions but to be
    relevant, ``conditional`` have selectors, ``out`` are not active. The first three are in the
    order of their score; ``places`` finds a row's memory and its place in its list.
    ``clues`` has, for each level, clue -> the selectors that can match where it is given.
    """

    general: list[Prepared] = field(default_factory=list)
    episodes: list[Prepared] = field(default_factory=list)
    conditional: list[Prepared] = field(default_factory=list)
    out: list[Prepared] = field(default_factory=list)
    places: dict[int, tuple[Prepared, int]] = field(default_factory=dict)
    masks: list[dict[tuple[str, ...], int]] = field(default_factory=list)
    asking: list[int] = field(default_factory=list)
    standing: int = 0
    size: int = 0
    clues: dict[str, dict[str, list[tuple[str, ...]]]] = field(default_factory=dict)

    def conditions(self, request: Request) -> tuple[int, int]:
        """(failed, matched): the conditional memories of which some level fails, or matches."""
        failed = matched = 0
        for level, masks, everyone in zip(LEVELS, self.masks, self.asking, strict=True):
            if not request.gives(level):
                continue
            here = 0
            for selectors in self._worth_a_look(level, request):
                if state(level, selectors, request) == "matched":
                    here |= masks[selectors]
            matched |= here
            failed |= everyone & ~here
        return failed, matched

    def _worth_a_look(self, level: str, request: Request) -> Iterable[tuple[str, ...]]:
        """The selectors of a level that can match; a cheap first question leaves out the rest."""
        clues = self.clues[level]
        chosen = dict.fromkeys(clues.get("", ()))
        for clue in clues_given(level, request):
            chosen.update(dict.fromkeys(clues.get(clue, ())))
        return chosen


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
    for row in rows:
        item = _prepared(row, now, stamp)
        if item.state != "active":
            found.out.append(item)
        elif item.selectors:
            found.conditional.append(item)
        elif item.standing:
            found.general.append(item)
        else:
            found.episodes.append(item)
    for listed in (found.general, found.episodes, found.conditional):
        listed.sort(key=lambda item: (-item.score, item.row.id))
        found.places.update((item.row.n, (item, place)) for place, item in enumerate(listed))
    _note_conditions(found)
    return found


def _note_conditions(found: InScope) -> None:
    found.masks = [{} for _ in LEVELS]
    for place, item in enumerate(found.conditional):
        found.standing |= int(item.standing) << place
        for masks, wanted in zip(found.masks, item.selectors, strict=True):
            if wanted:
                masks[wanted] = masks.get(wanted, 0) | 1 << place
    for masks in found.masks:
        everyone = 0
        for mask in masks.values():
            everyone |= mask
        found.asking.append(everyone)
    for level, clues_of in zip(LEVELS, _CLUES, strict=True):
        clues: dict[str, list[tuple[str, ...]]] = {}
        for selectors in found.masks[LEVELS.index(level)]:
            for clue in clues_of(selectors):
                clues.setdefault(clue, []).append(selectors)
        found.clues[level] = clues


def _prepared(row: Brief, now: datetime, stamp: str) -> Prepared:
    score = ranking.standing_score(row, now)
    standing = row.type != "personal-episode"
    if row.selectors is None:
        return Prepared(row, score, row.state(stamp), standing)
    stated = json.loads(row.selectors)
    selectors = tuple([tuple(stated.get(key, ())) for key in _KEYS])
    if not any(selectors):
        return Prepared(row, score, row.state(stamp), standing)
    return Prepared(row, score, row.state(stamp), standing, selectors, unasked(selectors))
