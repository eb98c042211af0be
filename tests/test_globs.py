"""Path patterns: the meaning of gitignore, held against an independent library, in bounded time."""

from __future__ import annotations

import re
import time
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from memsync.director.globs import covers

NAMES = st.text("ab.", min_size=1, max_size=4)
PATHS = st.lists(NAMES, min_size=1, max_size=5).map("/".join)
WILD = st.lists(
    st.sampled_from(("a", "b", ".", "*", "?", "[ab]", "[!a]", "[a-b]", "\\a")),
    min_size=1,
    max_size=5,
).map("".join)
PARTS = st.lists(NAMES | WILD | st.just("**"), min_size=1, max_size=5)


@st.composite
def patterns(draw: st.DrawFn) -> str:
    parts = draw(PARTS)
    return draw(st.sampled_from(("", "/"))) + "/".join(parts) + draw(st.sampled_from(("", "", "/")))


def judge(pattern: str, path: str) -> bool:
    expression, _ = GitIgnoreSpecPattern.pattern_to_regex(pattern)
    if not isinstance(expression, str):
        return False
    # In git a class matches no slash; the library's do.
    return re.search(expression.replace("[^a]", "[^a/]"), path, re.DOTALL) is not None


def test_patterns_mean_what_gitignore_says() -> None:
    reached: Counter[bool] = Counter()

    @settings(max_examples=4000, deadline=None, derandomize=True)
    @given(patterns(), PATHS)
    def holds(pattern: str, path: str) -> None:
        wanted = judge(pattern, path)
        reached[wanted] += 1
        assert covers(pattern, path) == wanted, (pattern, path)

    holds()
    assert min(reached[True], reached[False]) > 400, reached


@pytest.mark.parametrize(
    "pattern",
    [
        "*a" * 60 + "b",
        "a*" * 60 + "b",
        "**/" + "*a" * 30 + "b",
        "**/a/" * 40 + "b",
        "*[a]" * 40 + "b",
        "?" * 40 + "*a" * 40 + "b",
    ],
)
def test_no_pattern_takes_long(pattern: str) -> None:
    begun = time.perf_counter()
    assert not covers(pattern, "a" * 3000)
    assert not covers(pattern, "/".join(["a"] * 1500))
    assert time.perf_counter() - begun < 2


@pytest.mark.parametrize("pattern", ["", "/", "a//b", "[a", "a\\", "[b-a]"])
def test_what_gitignore_does_not_allow_covers_nothing(pattern: str) -> None:
    assert not covers(pattern, "a")
    assert not covers(pattern, "a/b")
