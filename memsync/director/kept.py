"""What a director keeps at hand between requests: rows and words of one state of the index."""

from __future__ import annotations

from collections.abc import Sequence

from memsync.index import Index, Row

#: How many rows, and how many words with the memories that have them, are kept.
KEPT_ROWS = 4096
KEPT_WORDS = 4096


class Kept:
    """Answers of an index that stay right until its generation changes."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._rows: dict[int, Row] = {}
        self._words: dict[tuple[tuple[str, ...], int, str], list[int]] = {}

    def rows(self, numbers: Sequence[int]) -> dict[int, Row]:
        """row number -> living record, for those of these numbers that live."""
        missing = [n for n in numbers if n not in self._rows]
        if missing:
            if len(self._rows) + len(missing) > KEPT_ROWS:
                self._rows.clear()
                missing = [*numbers]
            self._rows.update(self._index.by_number(missing))
        return {n: self._rows[n] for n in numbers if n in self._rows}

    def holding(self, phrases: Sequence[str], scopes: Sequence[str], most: int) -> list[list[int]]:
        """For each phrase, ``most`` row numbers in scope that have it."""
        where = tuple(scopes)
        missing = [p for p in phrases if (where, most, p) not in self._words]
        if missing:
            if len(self._words) + len(missing) > KEPT_WORDS:
                self._words.clear()
                missing = [*dict.fromkeys(phrases)]
            found = self._index.holding(missing, scopes, most)
            for phrase, numbers in zip(missing, found, strict=True):
                self._words[where, most, phrase] = numbers
        return [self._words[where, most, phrase] for phrase in phrases]
