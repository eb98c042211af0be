"""What a new memory is like among those that are there: the same, or much the same."""

from __future__ import annotations

import unicodedata

from memsync import record, tokens
from memsync.contract.changes import RememberInput
from memsync.index import Row, scope_word
from memsync.providers.local import details
from memsync.record import Record
from memsync.store import plans
from memsync.store.writing import Transaction

#: From this share of common words on, a memory is named as resembling a new one.
RESEMBLES = 0.6
#: So many memories are compared with a new one.
NEAREST = 16


def nearest(transaction: Transaction, item: Record) -> list[Row]:
    """Some memories of the same scope that share most words with a new one."""
    index = transaction.reader.index
    terms = tokens.query_terms(f"{item.title} {item.body[:500]}")
    scopes = [scope_word(item.scope, item.project_key)]
    hits = index.search(tokens.match_expression(terms), scopes, NEAREST)
    return [*index.by_number([n for n, _ in hits]).values()]


def resembling(near: list[Row], item: Record) -> list[Row]:
    """Up to three of these memories that say much the same."""
    mine = set(tokens.index_text(f"{item.title} {item.body}").split())
    alike = []
    for row in near:
        theirs = set(tokens.index_text(f"{row.title} {row.summary}").split())
        common = len(mine & theirs) / max(len(mine | theirs), 1)
        if common >= RESEMBLES and row.id != item.id:
            alike.append(row)
    return alike[:3]


def known(
    transaction: Transaction, near: list[Row], item: Record, wanted: RememberInput
) -> plans.Current | None:
    """The one of these memories that says just this; what was superseded says nothing now."""
    for row in near:
        if row.lifecycle != record.Lifecycle.SUPERSEDED:
            now = plans.current(row, transaction.reader.raw(row))
            if _says_nothing_new(now.record, item, wanted):
                return now
    return None


def _says_nothing_new(old: Record, new: Record, given: RememberInput) -> bool:
    """Whether a memory of these words is known already, with all that is given beside them.

    What was only concluded becomes the person's own word, so what is given may change it.
    """
    if _words(old) != _words(new):
        return False
    if (old.valid_from, old.valid_until) != (new.valid_from, new.valid_until):
        return False
    if given.language not in (None, old.language) or not set(given.allow) <= set(old.allow):
        return False
    return old.authority is record.Authority.INFERRED or details.laid_over(old, given) == old


def _words(item: Record) -> list[str]:
    """The words as they were said: what is only near, such as C and C++, is not the same."""
    return unicodedata.normalize("NFC", f"{item.title}\n{record.beyond_title(item)}").split()
