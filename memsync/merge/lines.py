"""The three-way merge of texts, line by line. Pure and the same from both sides."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

#: Texts whose differing parts are larger than this (lines times lines) are not compared.
_MOST_COMPARED = 250_000

_Lines = Sequence[str]


def merge_lines(base: str, ours: str, theirs: str) -> str | None:
    """The text with what both sides changed; None where they meet and a person must look.

    Changes meet where no line that both left alone stands between them. What comes out holds
    still: merged again with either side it is itself, so that a merge that was cut off and begun
    again ends the same.
    """
    if ours == theirs or theirs == base:
        return ours
    if ours == base:
        return theirs
    merged = _merged(base, ours, theirs)
    if merged is None:
        return None
    still = all(_merged(base, merged, side) == merged for side in (ours, theirs))
    return merged if still else None


def _merged(base: str, ours: str, theirs: str) -> str | None:
    old, one, other = (text.split("\n") for text in (base, ours, theirs))
    if len(old) * max(len(one), len(other)) > _MOST_COMPARED:
        return None
    found: list[str] = []
    at = at_one = at_other = 0
    for start, length, in_one, in_other in (
        *_shared(_same(old, one), _same(old, other)),
        (len(old), 0, len(one), len(other)),
    ):
        chosen = _chosen(old[at:start], one[at_one:in_one], other[at_other:in_other])
        if chosen is None:
            return None
        found += [*chosen, *old[start : start + length]]
        at, at_one, at_other = start + length, in_one + length, in_other + length
    return "\n".join(found)


def _chosen(old: _Lines, one: _Lines, other: _Lines) -> _Lines | None:
    """What stands between two parts that nobody changed."""
    if one == other or other == old:
        return one
    return other if one == old else None


def _same(old: _Lines, new: _Lines) -> Sequence[tuple[int, int, int]]:
    """(place in the old, place in the new, length) of what is the same."""
    return SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()


def _shared(
    one: Sequence[tuple[int, int, int]], other: Sequence[tuple[int, int, int]]
) -> list[tuple[int, int, int, int]]:
    """(place in the base, length, place in one, place in the other) of what nobody changed."""
    found = []
    first = second = 0
    while first < len(one) and second < len(other):
        start_one, in_one, length_one = one[first]
        start_other, in_other, length_other = other[second]
        start = max(start_one, start_other)
        end = min(start_one + length_one, start_other + length_other)
        if start < end:
            found.append(
                (start, end - start, in_one + start - start_one, in_other + start - start_other)
            )
        if start_one + length_one < start_other + length_other:
            first += 1
        else:
            second += 1
    return found
