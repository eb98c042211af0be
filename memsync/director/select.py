"""What a task gets: candidates from the index, texts from the files, within the budget."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from memsync import errors, record, tokens
from memsync.contract.requests import TaskQuery
from memsync.contract.results import Entry, Excluded, Manifest, ManifestItem, Why
from memsync.director import ranking
from memsync.director.matching import Match, Request, match, normal_path
from memsync.director.rendering import Budget, Offer
from memsync.index import Row, scope_word
from memsync.record import Scope
from memsync.store.reading import Reader

#: How many hits the text index is asked for, and how many words of a question are asked.
HITS = 300
TERMS = 24
#: An episode is relevant from this share of the best hit's score on.
RELEVANT_SHARE = 0.35
#: How many of the memories left out are named; all are counted.
NAMED_EXCLUSIONS = 100
_NOTHING = Match()


@dataclass(frozen=True, slots=True)
class Prepared:
    """A memory in scope, prepared once for many requests."""

    row: Row
    selectors: dict[str, list[str]] | None
    score: float
    state: str
    standing: bool


@dataclass(frozen=True, slots=True)
class Considered:
    """A memory weighed for one request: what matched, what it scored, why it stays out."""

    prepared: Prepared
    match: Match
    relevance: float
    score: float
    excluded: Why | None

    @property
    def row(self) -> Row:
        """The memory."""
        return self.prepared.row


@dataclass
class Director:
    """Chooses for one reader. Keeps what is the same from request to request."""

    reader: Reader
    _cache: dict[tuple[str, str | None], list[Prepared]] = field(default_factory=dict)
    _cached_for: tuple[str, str] = ("", "")

    def direct(self, query: TaskQuery, project: str | None, language: str) -> Manifest:
        """What this task gets (design, section 7). The reader is fresh."""
        request = request_of(query)
        weighed = self.weigh(request, project)
        offered = sorted(
            (c for c in weighed if c.excluded is None), key=lambda c: (-c.score, c.row.id)
        )
        left_out = [c for c in weighed if c.excluded is not None]
        truncated = False
        if query.max_entries is not None and len(offered) > query.max_entries:
            offered, truncated = offered[: max(query.max_entries, 0)], True
        budget = Budget(query.max_chars, language)
        full = self._deliver(offered, request, budget)
        items = tuple(
            _item(c, self.why(c, request), "full" if c.row.n in full else "manifest")
            for c in offered
            if c.row.n in full or c.row.n in budget.listed
        )
        return Manifest(
            text=budget.text(),
            full=tuple(full.values()),
            manifest=items,
            excluded=tuple(
                Excluded(c.row.id, c.row.title, c.excluded)
                for c in left_out[:NAMED_EXCLUSIONS]
                if c.excluded is not None
            ),
            excluded_total=len(left_out),
            truncated=truncated or len(items) < len(offered),
            project_key=project,
        )

    def weigh(self, request: Request, project: str | None) -> list[Considered]:
        """Every memory in scope, matched, scored, and excluded with its reason where it is."""
        hits = self._hits(request, project)
        best = max(hits.values(), default=0.0)
        found = []
        for prepared in self._prepared(project):
            relevance = hits.get(prepared.row.n, 0.0) / best if best > 0 else 0.0
            found.append(_considered(prepared, request, relevance))
        return found

    def _prepared(self, project: str | None) -> list[Prepared]:
        now = self.reader.now()
        stamp = (self.reader.index.meta().get("generation", ""), record.stamp(now)[:16])
        if stamp != self._cached_for:
            self._cache.clear()
            self._cached_for = stamp
        key = (stamp[0], project)
        if key not in self._cache:
            rows = self.reader.index.in_scope([project] if project else [])
            self._cache[key] = [_prepare(row, now) for row in rows]
        return self._cache[key]

    def _hits(self, request: Request, project: str | None) -> dict[int, float]:
        """row number -> score of the text index for the words of the request."""
        asked = " ".join((request.task, *request.paths, request.operation or ""))
        expression = tokens.match_expression(tokens.query_terms(asked)[:TERMS])
        scopes = [scope_word(Scope.GLOBAL, None)]
        if project:
            scopes.append(scope_word(Scope.PROJECT, project))
        return dict(self.reader.index.search(expression, scopes, HITS))

    def _deliver(
        self, offered: Sequence[Considered], request: Request, budget: Budget
    ) -> dict[int, Entry]:
        """Fill the budget: proven memories that fit whole in full, the others as a line."""
        whole = [c for c in offered if c.match.whole and c.row.lifecycle == "proven"]
        whole = [c for c in whole if c.prepared.standing]
        full: dict[int, Entry] = {}
        for considered in whole:
            if budget.is_full():
                break
            if not budget.may_fit(considered.row.title, considered.row.summary):
                continue
            try:
                entry = self.reader.entry(considered.row)
            except (errors.CannotRead, errors.RevisionMoved):
                continue  # it is being edited at this moment: its line below still names it
            why = self.why(considered, request)
            if budget.take_full(Offer(considered.row.id, entry.record.title, why), entry.record):
                full[considered.row.n] = entry
        for considered in offered:
            if considered.row.n not in full:
                row = considered.row
                offer = Offer(row.id, row.title, self.why(considered, request))
                if not budget.take_line(row.n, offer, row.summary):
                    break
        return full

    def why(self, considered: Considered, request: Request) -> tuple[Why, ...]:
        """Why a memory applies, as codes with facts."""
        row = considered.row
        found = []
        if row.project is not None:
            found.append(Why("project-match", (row.project,)))
        for level in considered.match.matched():
            selectors = considered.prepared.selectors or {}
            listed = selectors.get(f"{level}s", [])
            found.append(Why(f"{level}-match", tuple(listed[:3])))
        if row.authority == "explicit":
            found.append(Why("user-explicit"))
        if row.outcome == "used-successfully":
            found.append(Why("recently-applied", (row.outcome_at or "",)))
        if considered.relevance > 0:
            found.append(Why("text-match", self._shared_words(row, request)))
        return tuple(found)

    def _shared_words(self, row: Row, request: Request) -> tuple[str, ...]:
        """Up to five words of the request that the title or the summary has."""
        has = tokens.index_text(f"{row.title} {row.summary}").split()
        present = set(has)
        asked = tokens.query_terms(f"{request.task} {' '.join(request.paths)}")
        return tuple(t.text for t in asked if set(t.phrase.split()) <= present)[:5]


def request_of(query: TaskQuery) -> Request:
    """A query as matching sees it."""
    paths = tuple(p for p in (normal_path(path) for path in query.paths) if p)
    return Request(paths, query.task, query.operation, query.phase)


def _prepare(row: Row, now: datetime) -> Prepared:
    return Prepared(
        row,
        json.loads(row.selectors) if row.selectors else None,
        ranking.standing_score(row, now),
        row.state(record.stamp(now)),
        row.type != "personal-episode",
    )


def _considered(prepared: Prepared, request: Request, relevance: float) -> Considered:
    found = match(prepared.selectors, request) if prepared.selectors else _NOTHING
    excluded = None
    if prepared.state != "active":
        excluded = Why(prepared.state)
    elif not found.fits:
        excluded = Why(f"{found.first('failed')}-mismatch")
    elif not prepared.standing and relevance < RELEVANT_SHARE and not found.matched():
        excluded = Why("not-relevant")
    score = prepared.score + ranking.request_score(found.matched(), relevance)
    return Considered(prepared, found, relevance, score, excluded)


def _item(considered: Considered, why: tuple[Why, ...], delivered: str) -> ManifestItem:
    row = considered.row
    return ManifestItem(
        id=row.id,
        title=row.title,
        summary=row.summary,
        why_applied=why,
        lifecycle=row.lifecycle,
        delivered=delivered,
        scope=Scope(row.scope),
        score=round(considered.score, 3),
    )
