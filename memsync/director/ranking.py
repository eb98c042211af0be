"""The order in which memories are offered: every weight in one table. Pure."""

from __future__ import annotations

from datetime import datetime

from memsync import record
from memsync.index import Row

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
    # Relevance is the share of the best hit's score, so that it compares across questions.
    "relevance": 4.0,
    "success": 1.0,
    "failure": -1.5,
}
#: After so many days feedback counts half.
HALF_LIFE_DAYS = 30.0

_FEEDBACK = {
    "used-successfully": "success",
    "corrected": "failure",
    "overridden": "failure",
    "contributed-to-failure": "failure",
}


def standing_score(row: Row, now: datetime) -> float:
    """The part of the score that no request changes."""
    score = 0.0
    if row.lifecycle == "proven":
        score += WEIGHTS["proven"]
    if row.authority == "explicit":
        score += WEIGHTS["explicit"]
    if row.project is not None:
        score += WEIGHTS["project"]
    if row.type == "core-profile":
        score += WEIGHTS["core-profile"]
    return score + _feedback(row, now)


def _feedback(row: Row, now: datetime) -> float:
    kind = _FEEDBACK.get(row.outcome or "")
    when = record.instant(row.outcome_at)
    if kind is None or when is None:
        return 0.0
    days = max((now - when).total_seconds() / 86400.0, 0.0)
    return WEIGHTS[kind] * float(0.5 ** (days / HALF_LIFE_DAYS))


def request_score(levels: tuple[str, ...], relevance: float) -> float:
    """The part of the score that comes from the request."""
    return sum(WEIGHTS[level] for level in levels) + WEIGHTS["relevance"] * relevance
