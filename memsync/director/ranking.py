"""The order in which memories are offered: every weight in one table. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime
from functools import cache

from memsync import record
from memsync.index import Brief

#: What raises or lowers a memory. Capped and decaying where it comes from feedback.
WEIGHTS = {
    "proven": 3.0,
    "explicit": 2.0,
    "project": 2.0,
    "core-profile": 1.0,
    "path": 3.0,
    "task": 2.5,
    "operation": 2.0,
    "phase": 1.0,
    # Relevance is the share of the question that the memory speaks of.
    "relevance": 4.0,
    "success": 1.0,
    "failure": -1.5,
}
#: How many memories a question is compared with; weaker ones share too little of it to matter.
RELEVANT_AT_MOST = 150
#: After so many days feedback counts half.
HALF_LIFE_DAYS = 30.0

_FEEDBACK = {
    "used-successfully": "success",
    "corrected": "failure",
    "overridden": "failure",
    "contributed-to-failure": "failure",
}


def standing_score(row: Brief, now: datetime) -> float:
    """The part of the score that no request changes."""
    score = _score_of(row.lifecycle, row.authority, row.project is not None, row.type)
    return score if row.outcome is None else score + _feedback(row, now)


@cache
def _score_of(lifecycle: str, authority: str, in_project: bool, kind: str) -> float:
    score = 0.0
    if lifecycle == "proven":
        score += WEIGHTS["proven"]
    if authority == "explicit":
        score += WEIGHTS["explicit"]
    if in_project:
        score += WEIGHTS["project"]
    if kind == "core-profile":
        score += WEIGHTS["core-profile"]
    return score


def _feedback(row: Brief, now: datetime) -> float:
    kind = _FEEDBACK.get(row.outcome or "")
    when = record.instant(row.outcome_at)
    if kind is None or when is None:
        return 0.0
    days = max((now - when).total_seconds() / 86400.0, 0.0)
    return WEIGHTS[kind] * float(0.5 ** (days / HALF_LIFE_DAYS))


def telling(size: int) -> int:
    """How many of ``size`` memories may have a word before it tells nothing about any."""
    return max(20, size // 16)


def shares(
    weights: Sequence[float], holding: Sequence[Sequence[int]], size: int
) -> dict[int, float]:
    """row number -> the share of a question that a memory has, above 0, at most 1.

    ``weights`` are those of the question's words, ``holding`` the memories that have each word
    (none where the word tells nothing), ``size`` counts the memories. A word weighs as much as it
    is rare (the idf of BM25).
    """
    worth = [
        weight * math.log(1 + (size - len(rows) + 0.5) / (len(rows) + 0.5))
        for weight, rows in zip(weights, holding, strict=True)
    ]
    total = sum(worth) or 1.0
    found: dict[int, float] = {}
    for value, rows in zip(worth, holding, strict=True):
        part = value / total
        for n in rows:
            found[n] = found.get(n, 0.0) + part
    return found


def request_score(levels: tuple[str, ...], relevance: float) -> float:
    """The part of the score that comes from the request."""
    return sum(WEIGHTS[level] for level in levels) + WEIGHTS["relevance"] * relevance
