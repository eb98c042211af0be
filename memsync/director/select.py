"""What a task gets: candidates from the index, texts from the files, within the budget."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from memsync import errors, record, tokens
from memsync.contract.shared import Entry, Why
from memsync.contract.tasks import Excluded, Manifest, ManifestItem, TaskQuery
from memsync.director import ranking
from memsync.director.kept import Kept
from memsync.director.matching import LEVELS, NOTHING, Match, Request, match, normal_path
from memsync.director.rendering import LEAST_CHARACTERS, Budget, Offer
from memsync.director.scope import InScope, Prepared, bits, prepare
from memsync.index import Row, scope_word
from memsync.record import Scope
from memsync.store.reading import Reader

#: How many words of a question are asked for.
TERMS = 12
#: How many rows are fetched at once, and after how many that were too long for the rest of the
#: budget no further memory is tried in full.
CHUNK = 32
MISSES = 6
#: An episode is relevant when it speaks of this share of the question, or of more.
RELEVANT_SHARE = 0.25
#: How many of the memories left out are named; all are counted.
NAMED_EXCLUSIONS = 50


#: Words of a task, each with the row numbers of the memories that have it.
Said = list[tuple[str, frozenset[int]]]


class Considered(NamedTuple):
    """A memory weighed for one request: what matched, what it scored, why it stays out."""

    prepared: Prepared
    match: Match
    relevance: float
    score: float
    excluded: Why | None = None

    @property
    def n(self) -> int:
        """The memory's number in the index."""
        return self.prepared.row.n


class _Offered:
    """Memories that are offered, in their order; their rows are fetched as far as one looks."""

    def __init__(self, kept: Kept, considered: Sequence[Considered], said: Said) -> None:
        self._kept = kept
        self._considered = considered
        self._said = said
        self._rows: dict[int, Row] = {}
        self._whys: dict[int, tuple[Why, ...]] = {}
        self._fetched = 0

    def __iter__(self) -> Iterator[tuple[Considered, Row]]:
        for place, considered in enumerate(self._considered):
            if place == self._fetched:
                chunk = self._considered[place : place + CHUNK]
                self._rows.update(self._kept.rows([c.n for c in chunk]))
                self._fetched += len(chunk)
            row = self._rows.get(considered.n)
            if row is not None:
                yield considered, row

    def looked_at(self) -> Iterator[tuple[Considered, Row]]:
        """Those whose rows were fetched."""
        for considered in self._considered[: self._fetched]:
            if considered.n in self._rows:
                yield considered, self._rows[considered.n]

    def why(self, considered: Considered, row: Row) -> tuple[Why, ...]:
        """Why one of them applies."""
        found = self._whys.get(row.n)
        if found is None:
            found = self._whys[row.n] = why(considered, row, self._said)
        return found


class Weighed(NamedTuple):
    """All memories in scope, weighed: the best of those that apply, and those left out.

    ``offered`` are sorted and cut to as many as any budget could take; ``offered_total`` counts
    them all. ``left_out`` are as many as are named; ``left_out_total`` counts them all.
    """

    offered: list[Considered]
    offered_total: int
    left_out: list[Considered]
    left_out_total: int


@dataclass
class Director:
    """Chooses for one reader. Keeps what is the same from request to request."""

    reader: Reader
    _scopes: dict[str | None, InScope] = field(default_factory=dict)
    _scopes_of: str = ""
    _kept: Kept | None = None
    _kept_of: str = ""

    def direct(self, query: TaskQuery, project: str | None, language: str) -> Manifest:
        """What this task gets (design, section 7). The reader is fresh."""
        request = request_of(query)
        most = query.max_chars // LEAST_CHARACTERS + 1
        if query.max_entries is not None:
            most = min(most, query.max_entries)
        weighed = self.weigh(request, project, most)
        kept = self._at_hand()
        offered = _Offered(kept, weighed.offered, self.said(request, project))
        budget = Budget(query.max_chars, language)
        full = self._deliver(offered, budget)
        items = tuple(
            _item(c, row, offered.why(c, row), "full" if row.n in full else "manifest")
            for c, row in offered.looked_at()
            if row.n in full or row.n in budget.listed
        )
        left_out = kept.rows([c.n for c in weighed.left_out])
        return Manifest(
            text=budget.text(),
            full=tuple(full.values()),
            manifest=items,
            excluded=tuple(
                Excluded(left_out[c.n].id, left_out[c.n].title, c.excluded)
                for c in weighed.left_out
                if c.excluded is not None and c.n in left_out
            ),
            excluded_total=weighed.left_out_total,
            truncated=len(items) < weighed.offered_total,
            project_key=project,
        )

    def weigh(self, request: Request, project: str | None, most: int) -> Weighed:
        """Every memory in scope: the ``most`` best that apply, and what stays out and why."""
        scope = self._in_scope(project)
        relevant = self._relevant(request, project)
        split = _split(scope, request, relevant)
        offered = _fitting(scope, request, relevant, split, most)
        episodes = split.episodes
        left_out = list(islice(_left_out(scope, request, split), NAMED_EXCLUSIONS))
        return Weighed(
            offered,
            len(scope.general) + len(episodes) + split.fit.bit_count(),
            left_out,
            len(scope.out)
            + len(scope.conditional)
            - split.fit.bit_count()
            + len(scope.episodes)
            - len(episodes),
        )

    def consider(self, row: Row, request: Request, project: str | None) -> Considered:
        """One memory in scope, weighed for a request."""
        scope = self._in_scope(project)
        relevant = self._relevant(request, project)
        split = _split(scope, request, relevant)
        found = scope.places.get(row.n)
        if found is not None:
            item, place = found
            if _applies(item, place, split):
                return _weighed(item, request, relevant.get(row.n, 0.0))
        left_out = _left_out(scope, request, split)
        return next(c for c in left_out if c.n == row.n)

    def _at_hand(self) -> Kept:
        """What is kept of the index as it is now."""
        generation = self.reader.index.generation()
        if self._kept is None or generation != self._kept_of:
            self._kept, self._kept_of = Kept(self.reader.index), generation
            self._scopes.clear()
        return self._kept

    def _in_scope(self, project: str | None) -> InScope:
        """The memories in scope; prepared anew every minute, since some states end by the clock."""
        self._at_hand()
        now = self.reader.now()
        minute = record.stamp(now)[:16]
        if minute != self._scopes_of:
            self._scopes.clear()
            self._scopes_of = minute
        found = self._scopes.get(project)
        if found is None:
            rows = self.reader.index.in_scope([project] if project else [])
            found = self._scopes[project] = prepare(rows, now)
        return found

    def said(self, request: Request, project: str | None) -> Said:
        """The telling words of the task itself, each with the memories that have it."""
        terms = tokens.query_terms(request.task, TERMS)
        size = self._in_scope(project).size
        terms, holding = self._telling(terms, _scope_words(project), size)
        pairs = zip(terms, holding, strict=True)
        return [(term.text, frozenset(numbers)) for term, numbers in pairs]

    def _relevant(self, request: Request, project: str | None) -> dict[int, float]:
        """row number -> which share of the question a memory speaks of, above 0, at most 1.

        A word counts as much as it is rare in scope. Where a question has words that no memory
        has, no memory reaches 1.
        """
        asked = " ".join((request.task, *request.paths, request.operation or ""))
        terms = tokens.query_terms(asked, TERMS)
        scope = self._in_scope(project)
        terms, holding = self._telling(terms, _scope_words(project), scope.size)
        found = ranking.shares([t.weight for t in terms], holding, scope.size)
        known = {n: share for n, share in found.items() if n in scope.places}
        if len(known) <= ranking.RELEVANT_AT_MOST:
            return known
        # Ties by id: the order in which files were read must not decide.
        best = heapq.nsmallest(
            ranking.RELEVANT_AT_MOST, known, key=lambda n: (-known[n], scope.places[n][0].row.id)
        )
        return {n: known[n] for n in best}

    def _telling(
        self, terms: list[tokens.Term], scopes: list[str], size: int
    ) -> tuple[list[tokens.Term], list[list[int]]]:
        """The words that tell something, with the memories that have them.

        A word that very many have tells nothing; where the question has no other, its first two
        count after all.
        """
        most = ranking.telling(size)
        kept_words = self._at_hand()
        holding = kept_words.holding([t.phrase for t in terms], scopes, most + 1)
        kept = [(t, rows) for t, rows in zip(terms, holding, strict=True) if len(rows) <= most]
        if any(rows for _, rows in kept) or len(kept) == len(terms):
            return [t for t, _ in kept], [rows for _, rows in kept]
        return terms[:2], kept_words.holding([t.phrase for t in terms[:2]], scopes, size)

    def _deliver(self, offered: _Offered, budget: Budget) -> dict[int, Entry]:
        """Fill the budget: proven memories that fit whole in full, the others as a line."""
        full: dict[int, Entry] = {}
        misses = 0
        for considered, row in offered:
            if budget.is_full() or misses == MISSES:
                break
            if not _deserves_full(considered):
                continue
            if not budget.may_fit(row.title, row.length):
                misses += 1
                continue
            try:
                entry = self.reader.entry_again(row)
            except (errors.CannotRead, errors.RevisionMoved):
                continue  # it is being edited at this moment: its line below still names it
            offer = Offer(row.id, entry.record.title, offered.why(considered, row))
            if budget.take_full(offer, entry.record):
                full[row.n] = entry
        for considered, row in offered:
            if row.n not in full:
                offer = Offer(row.id, row.title, offered.why(considered, row))
                if not budget.take_line(row.n, offer, row.summary):
                    break
        return full


def _scope_words(project: str | None) -> list[str]:
    """The words under which the text index files what is in scope."""
    everywhere = scope_word(Scope.GLOBAL, None)
    return [everywhere, scope_word(Scope.PROJECT, project)] if project else [everywhere]


def request_of(query: TaskQuery) -> Request:
    """A query as matching sees it."""
    paths = tuple(p for p in (normal_path(path) for path in query.paths) if p)
    return Request(paths, query.task, query.operation, query.phase)


def why(considered: Considered, row: Row, said: Said) -> tuple[Why, ...]:
    """Why a memory applies, as codes with facts; ``said`` are the words of the task."""
    found = []
    if row.project is not None:
        found.append(Why("project-match", (row.project,)))
    for level in considered.match.matched():
        listed = considered.prepared.selectors[LEVELS.index(level)]
        found.append(Why(f"{level}-match", listed[:3]))
    if row.authority == "explicit":
        found.append(Why("user-explicit"))
    if row.outcome == "used-successfully":
        found.append(Why("recently-applied", (row.outcome_at or "",)))
    shared = tuple(text for text, numbers in said if row.n in numbers)
    if shared:
        found.append(Why("text-match", shared[:5]))
    return tuple(found)


def _deserves_full(considered: Considered) -> bool:
    """Whether the whole text is given: standing, proven, and every condition confirmed."""
    prepared = considered.prepared
    return prepared.standing and prepared.row.lifecycle == "proven" and considered.match.whole


class _Split(NamedTuple):
    """Who applies: places of relevant episodes, masks over the conditional memories."""

    episodes: frozenset[int]
    fit: int
    matched: int


def _split(scope: InScope, request: Request, relevant: dict[int, float]) -> _Split:
    """Sort the memories of a scope into those that apply and those that do not."""
    failed, matched = scope.conditions(request)
    episodes = set()
    speaks = 0
    for n, share in relevant.items():
        found = scope.places.get(n)
        if found is not None and share >= RELEVANT_SHARE and not found[0].standing:
            if found[0].selectors:
                speaks |= 1 << found[1]
            else:
                episodes.add(found[1])
    everyone = (1 << len(scope.conditional)) - 1
    fit = everyone & ~failed & (scope.standing | speaks | matched)
    return _Split(frozenset(episodes), fit, matched)


def _fitting(
    scope: InScope, request: Request, relevant: dict[int, float], split: _Split, most: int
) -> list[Considered]:
    """The ``most`` best of those that apply, in their order: by score, then by id."""
    weight = ranking.WEIGHTS["relevance"]
    matched = split.fit & split.matched
    ranked: list[tuple[float, str, Prepared, Considered | None]] = []
    for n, share in relevant.items():
        item, place = scope.places[n]
        if _applies(item, place, split) and not (item.selectors and matched >> place & 1):
            ranked.append((-item.score - weight * share, item.row.id, item, None))
    for place in bits(matched):
        item = scope.conditional[place]
        found = _weighed(item, request, relevant.get(item.row.n, 0.0))
        ranked.append((-found.score, item.row.id, item, found))
    others = (scope.conditional[place] for place in bits(split.fit & ~split.matched))
    for listed in (scope.general, others):  # both in the order of their scores
        silent = (item for item in listed if item.row.n not in relevant)
        ranked += [(-item.score, item.row.id, item, None) for item in islice(silent, most)]
    return [
        weighed or _weighed(item, request, relevant.get(item.row.n, 0.0))
        for _, _, item, weighed in heapq.nsmallest(most, ranked)
    ]


def _applies(item: Prepared, place: int, split: _Split) -> bool:
    if item.selectors:
        return bool(split.fit >> place & 1)
    return item.standing or place in split.episodes


def _weighed(prepared: Prepared, request: Request, relevance: float) -> Considered:
    found = match(prepared.selectors, request) if prepared.selectors else NOTHING
    score = prepared.score + ranking.request_score(found.matched(), relevance)
    return Considered(prepared, found, relevance, score)


def _left_out(scope: InScope, request: Request, split: _Split) -> Iterator[Considered]:
    """What stays out, with its reason: first by state, then by condition, then by relevance."""
    for item in scope.out:
        yield Considered(item, NOTHING, 0.0, item.score, Why(item.state))
    everyone = (1 << len(scope.conditional)) - 1
    for place in bits(everyone & ~split.fit):
        item = scope.conditional[place]
        found = match(item.selectors, request)
        failed = found.first("failed")
        told = Why(f"{failed}-mismatch") if failed else Why("not-relevant")
        yield Considered(item, found, 0.0, item.score, told)
    for place, item in enumerate(scope.episodes):
        if place not in split.episodes:
            yield Considered(item, NOTHING, 0.0, item.score, Why("not-relevant"))


def _item(
    considered: Considered, row: Row, reasons: tuple[Why, ...], delivered: str
) -> ManifestItem:
    return ManifestItem(
        id=row.id,
        title=row.title,
        summary=row.summary,
        why_applied=reasons,
        lifecycle=row.lifecycle,
        delivered=delivered,
        scope=Scope(row.scope),
        score=round(considered.score, 3),
    )
