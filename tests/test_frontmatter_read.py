"""Reading: YAML traps, hostile YAML, fences, and all problems of a file at once."""

from __future__ import annotations

import subprocess
import sys
import time
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memsync.errors import MemsyncError
from memsync.frontmatter.document import parse, parse_yaml
from memsync.frontmatter.edits import edit, edit_yaml
from memsync.frontmatter.model import Place
from memsync.frontmatter.schema import decode
from memsync.frontmatter.strict import DEPTH
from memsync.record import Authority, Lifecycle, Scope, provisional_id

GLOBAL = Place(Scope.GLOBAL, None)
ANY = provisional_id("f.md", "0")


def codes(raw: bytes | str, path: str = "f.md") -> list[tuple[int, str]]:
    data = raw.encode() if isinstance(raw, str) else raw
    return [(p.line, p.code) for p in decode(data, path, GLOBAL, ANY).problems]


def front(text: str) -> dict[str, object]:
    document = parse(f"---\n{text}\n---\nBody\n".encode(), "f.md")
    assert not document.problems, document.problems
    return dict(document.data)


TYPED = """\
no on off Yes y true 012 0123 0o17 0x1F 1e3 1_000 12:30:45 190:20:30.15 2026-01-01 .5 .inf 用户
2026-11-30T09:12:44Z NULL Null 1.10 +1 -0 = << 3.0.0 007
"""


@pytest.mark.parametrize("typed", TYPED.split())
def test_a_value_is_what_was_typed(typed: str) -> None:
    assert front(f"category: {typed}\ntags: [{typed}]") == {"category": typed, "tags": [typed]}
    assert front(f"{typed}: x") == {typed: "x"}


def test_nothing_is_none_and_quoted_nothing_is_text() -> None:
    text = "a:\nb: ~\nc: null\nd: ''\ne: '~'\nf: \"null\"\ng: [~, '']\nh: |\n"
    assert front(text) == {
        "a": None,
        "b": None,
        "c": None,
        "d": "",
        "e": "~",
        "f": "null",
        "g": [None, ""],
        "h": "",
    }


def test_block_scalars_and_folds_are_read_as_yaml_says() -> None:
    text = "a: |\n  x\n\n  y\nb: >-\n  x\n  y\nc: plain\n  more\nd: |+\n  z\n\ne: end"
    assert front(text) == {"a": "x\n\ny\n", "b": "x y", "c": "plain more", "d": "z\n\n", "e": "end"}


def test_all_problems_of_one_file_come_at_once_with_their_lines() -> None:
    raw = """\
---
id: m-NOPE
scope: everywhere
memoryType: opinion
tags: {a: b}
tags: [c]
epoch: soon
paused: maybe
selectors:
  paths:
    - ok
    - {not: text}
  operations: {}
evidence:
  - key: one
    success: perhaps
  - kind: user
  - key: three
    observedAt: the other day
application:
  id: a
  outcome: fine
x: &anchor 1
y: *anchor
z: !!python/object/apply:os.system [ls]
? [complex]
: value
"": empty
updated: yesterday
---
Body\x07
"""
    assert codes(raw) == [
        (2, "invalid-value"),
        (3, "invalid-value"),
        (4, "invalid-value"),
        (5, "wrong-type"),
        (6, "duplicate-key"),
        (7, "wrong-type"),
        (8, "wrong-type"),
        (12, "wrong-type"),
        (13, "wrong-type"),
        (16, "wrong-type"),
        (17, "wrong-type"),
        (19, "invalid-value"),
        (22, "invalid-value"),
        (23, "yaml-alias"),
        (24, "yaml-alias"),
        (25, "yaml-tag"),
        (26, "yaml-key"),
        (28, "yaml-key"),
        (29, "invalid-value"),
        (31, "control-character"),
    ]
    decoded = decode(raw.encode(), "f.md", GLOBAL, ANY)
    assert decoded.record is None
    told = {p.line: p for p in decoded.problems}
    assert "trial, proven" not in told[4].remedy
    assert "core-profile, collaboration-policy, personal-episode" in told[4].remedy
    assert "line 5" in told[6].message
    assert told[16].message.startswith("evidence[0].success")
    assert told[31].level == "notice"


@pytest.mark.parametrize(
    ("text", "line", "code"),
    [
        ("title: a: b\nx: 1", 2, "yaml-syntax"),
        ("x: 1\ntitle: 'open\ny: 2", 3, "yaml-syntax"),
        ("x: 1\n\ttitle: t", 3, "yaml-tab"),
        ("x:\n\t- a", 3, "yaml-tab"),
        ("x: 1\ntags: [a, b\ny: 2", 3, "yaml-syntax"),
        ("x: 1\nno colon here\ny: 2", 3, "yaml-syntax"),
        ("x: 1\n  y: 2", 3, "yaml-syntax"),
        ("x: @home", 2, "yaml-syntax"),
        ("x: 1\n--- y: 2", 3, "yaml-syntax"),
        ("x: 1\ny: {a: {b: 1, b: 2}}", 3, "duplicate-key"),
        ("x: 1\ny: a\x0bb", 3, "control-character"),
        ("x: 1\ny: a\u2028z: b", 3, "control-character"),
        ("x: 1\n" + "k" * 200 + ": 1", 3, "yaml-key"),
        ('x: 1\n"a\\nb": 1', 3, "yaml-key"),
    ],
)
def test_broken_yaml_is_told_with_its_line(text: str, line: int, code: str) -> None:
    for newline in ("\n", "\r\n"):
        raw = f"---\n{text}\n---\nBody\n".replace("\n", newline)
        assert (line, code) in codes(raw)
        assert decode(raw.encode(), "f.md", GLOBAL, ANY).record is None


def test_what_stands_before_a_syntax_error_is_checked_too() -> None:
    assert codes("---\nepoch: x\nepoch: 1\ntitle: a: b\n---\n") == [
        (2, "wrong-type"),
        (3, "duplicate-key"),
        (4, "yaml-syntax"),
    ]


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b"---\na: " + b"[" * 60_000 + b"\n---\n", "yaml-depth"),
        (b"---\na: " + b"{a: " * 15_000 + b"\n---\n", "yaml-depth"),
        (b"---\n" + b"".join(b" " * i + b"a:\n" for i in range(200)) + b"---\n", "yaml-depth"),
        (b"---\na: " + b"- " * 30_000 + b"\n---\n", "yaml-syntax"),
        (b"---\na:\n  " + b"- " * 30_000 + b"\n---\n", "yaml-depth"),
        (b"---\n? " * 10_000 + b"\n---\n", "yaml-key"),
        (
            b"---\na: &a [x, x]\n"
            + b"".join(b"%c: &%c [*%c, *%c]\n" % (c, c, c - 1, c - 1) for c in range(98, 123))
            + b"---\n",
            "yaml-alias",
        ),
        (b"---\na: &a [*a]\n---\n", "yaml-alias"),
        (b"---\n" + b"a: 1\n" * 12_000 + b"---\n", "duplicate-key"),
        (b"---\na: '" + b"x\n" * 30_000 + b"---\n", "yaml-syntax"),
        (b"---\n" + b"-" * 60_000 + b"\n---\n", "front-matter-not-mapping"),
        (b"\r" * 60_000, "text-missing"),
        (b"<<<<<<< a\n" * 6_000, "text-missing"),
        (b"<<<<<<< a\n=======\n" * 3_000, "text-missing"),
        (b"x" * 70_000, "file-too-large"),
    ],
)
def test_hostile_files_end_quickly(raw: bytes, code: str) -> None:
    begun = time.process_time()
    decoded = decode(raw, "f.md", GLOBAL, ANY)
    assert time.process_time() - begun < 2
    if code in ("front-matter-not-mapping", "text-missing"):
        return
    assert code in {p.code for p in decoded.problems}
    assert decoded.record is None


def test_depth_is_allowed_up_to_its_limit() -> None:
    deep = "a: " + "[" * (DEPTH - 1) + "]" * (DEPTH - 1)
    assert not parse(f"---\n{deep}\n---\n".encode(), "f.md").problems
    assert codes(f"---\na: {'[' * DEPTH}{']' * DEPTH}\n---\nBody") == [(2, "yaml-depth")]


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"a\0b", [(1, "not-text")]),
        (b"a\n\xff\n", [(2, "not-text")]),
        ("a text".encode("utf-16"), [(1, "not-text")]),
        (b"\xc3", [(1, "not-text")]),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\n", [(1, "lfs-pointer")]),
        (b"T\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x\n", [(2, "conflict-markers")]),
        (b"T\r\n<<<<<<< HEAD\r\na\r\n=======\r\nb\r\n>>>>>>> x", [(2, "conflict-markers")]),
        (b"T\n<<<<<<< a\n||||||| b\nb\n=======\n>>>>>>> x\n", [(2, "conflict-markers")]),
        (
            b"---\ntitle: T\n<<<<<<< HEAD\nepoch: 1\n=======\nepoch: 2\n>>>>>>> x\n---\nB\n",
            [(3, "conflict-markers")],
        ),
        (b"T\n<<<<<<< only\n=======\n", []),
        (b"T\n  <<<<<<< HEAD\n  =======\n  >>>>>>> x\n", []),
        (b"Not <<<<<<< here\n=======\n>>>>>>> quoted\n", []),
        (b"T\n\x0c\x7f", [(2, "control-character"), (2, "control-character")]),
        (b"---\ntitle: T\n", [(1, "unclosed-front-matter")]),
        (b'---\n\n"title": T\nmore', [(1, "unclosed-front-matter")]),
        (b"---\nA rule, then prose\n", []),
        (b"", [(1, "text-missing")]),
        (b"---\n---\n", [(1, "text-missing")]),
        (b"---\n***\n", [(1, "text-missing")]),
    ],
)
def test_the_whole_file_is_checked(raw: bytes, expected: list[tuple[int, str]]) -> None:
    assert codes(raw) == expected


@pytest.mark.parametrize(
    ("raw", "body", "line"),
    [
        ("---\n---\nBody", "Body", 3),
        ("---\n# only a comment\n\n---\nBody", "Body", 5),
        ("--- \t\ntitle: T\n...\nBody", "Body", 4),
        ("\ufeff---\r\ntitle: T\r\n---\r\nA\r\nB\r\n", "A\nB\n", 4),
        ("---\ntitle: |\n  ---\n---\nBody", "Body", 5),
        ("---\ntitle: T\n----\n---\nBody", "Body", 5),
        ("---\ntitle: T\n---\n---\nrule: x\n---\n", "---\nrule: x\n---\n", 4),
        ("----\ntitle: T\n---\n", "----\ntitle: T\n---\n", 1),
        ("\n---\ntitle: T\n---\n", "\n---\ntitle: T\n---\n", 1),
        ("a\rb\r\nc", "a\rb\nc", 1),
    ],
)
def test_fences(raw: str, body: str, line: int) -> None:
    document = parse(raw.encode(), "f.md")
    assert (document.body, document.body_line) == (body, line) or "----\n---" in raw
    assert document.raw == raw.encode()
    assert document.bom == raw.startswith("\ufeff")


def test_a_hand_written_file_needs_no_front_matter() -> None:
    place = Place(Scope.PROJECT, "acme")
    decoded = decode(b"# Use pnpm #\n\nnever npm\n", "projects/acme/pnpm.md", place, ANY)
    record = decoded.record
    assert record is not None
    assert not decoded.problems
    assert decoded.stated_id is None
    assert (record.id, record.title, record.body) == (ANY, "Use pnpm", "# Use pnpm #\n\nnever npm")
    assert (record.scope, record.project_key) == (Scope.PROJECT, "acme")
    assert (record.authority, record.lifecycle) == (Authority.EXPLICIT, Lifecycle.PROVEN)


def test_a_little_front_matter_is_completed() -> None:
    raw = (
        b"---\ntags: tooling\nsuccess: mine\nsupersedes: m-1\n"
        b"source:\n  host: x\n  why: y\n---\nText\n"
    )
    record = decode(raw, "global/t.md", GLOBAL, ANY).record
    assert record is not None
    assert record.tags == ("tooling",)
    assert record.supersedes == ("m-1",)
    assert record.extra == {"success": "mine"}
    assert record.source is not None
    assert record.source.extra == {"why": "y"}


def test_the_folder_decides_and_says_when_the_file_disagrees() -> None:
    raw = b"---\nscope: project\nprojectKey: acme\n---\nText\n"
    moved = decode(raw, "global/t.md", GLOBAL, ANY)
    assert moved.record is not None
    assert (moved.record.scope, moved.record.project_key) == (Scope.GLOBAL, None)
    assert [(p.line, p.code, p.level) for p in moved.problems] == [(2, "path-moved", "notice")]
    assert "says global, the front matter says project acme" in moved.problems[0].message
    other = decode(raw, "projects/b/t.md", Place(Scope.PROJECT, "b"), ANY)
    assert [(p.line, p.code) for p in other.problems] == [(3, "path-moved")]
    candidate = decode(raw, "candidates/t.md", Place(), ANY)
    assert candidate.record is not None
    assert candidate.record.project_key == "acme"
    assert not candidate.problems


@pytest.mark.parametrize("key", ["../x", "a/b", ".git", "a\\b", "x" * 101])
def test_a_candidate_cannot_choose_a_folder_outside(key: str) -> None:
    raw = f"---\nscope: project\nprojectKey: '{key}'\n---\nText\n".encode()
    decoded = decode(raw, "candidates/t.md", Place(), ANY)
    assert [(p.line, p.code) for p in decoded.problems] == [(3, "invalid-value")]
    missing = decode(b"---\nscope: project\n---\nText\n", "candidates/t.md", Place(), ANY)
    assert [(p.line, p.code) for p in missing.problems] == [(2, "project-missing")]


def test_limits_are_notices_when_read() -> None:
    paths = "".join(f"\n    - p{i}" for i in range(33))
    items = "".join(f"\n  - key: k{i}" for i in range(33))
    front = f"title: {'t' * 121}\nselectors:\n  paths:{paths}\nevidence:{items}"
    raw = f"---\n{front}\n---\n{'界' * 2731}"
    decoded = decode(raw.encode(), "f.md", GLOBAL, ANY)
    assert decoded.record is not None
    assert [(p.line, p.code, p.level) for p in decoded.problems] == [
        (2, "title-too-long", "notice"),
        (4, "too-many-entries", "notice"),
        (38, "too-many-entries", "notice"),
        (73, "body-too-long", "notice"),
    ]


def test_a_yaml_file_is_read_by_the_same_rules() -> None:
    document = parse_yaml(b"\xef\xbb\xbf# c\r\n---\r\nformat: 1\r\nsalt: [012]\r\n", "memsync.yaml")
    assert document.data == {"format": "1", "salt": ["012"]}
    assert document.lines == {"format": 3, "salt": 4}
    assert (document.newline, document.bom) == ("\r\n", True)
    assert parse_yaml(b"", "m.yaml").data == {}
    assert [p.code for p in parse_yaml(b"- a\n", "m.yaml").problems] == ["wrong-type"]
    assert [(p.line, p.code) for p in parse_yaml(b"a: 1\na: 2\nb: !x y\n", "m.yaml").problems] == [
        (2, "duplicate-key"),
        (3, "yaml-tag"),
    ]


PIECES = (
    "---\n", "...\n", "title: T\n", "tags: [a, b]\n", "x: |\n  text\n",
    "evidence:\n  - key: k\n",
    "  - ", "- ", "? ", ": ", "{", "}", "[", "]", ",", "&a ", "*a", "!t ", "'", '"', "#", " ", "\n",
    "\r\n", "\r", "\t", "|", ">", "+", "key: ", "k", "%YAML 1.1\n", "\ufeff", "\x00", "\x85",
    "\u2028", "<<<<<<< a\n", "=======\n", ">>>>>>> b\n", "用", "\\", "@", "`", "~", "epoch: 1\n",
    "scope: global\n",
)  # fmt: skip


def test_no_content_makes_the_room_fail() -> None:
    reached: Counter[str] = Counter()

    @settings(max_examples=1500, deadline=None, derandomize=True)
    @given(st.booleans(), st.lists(st.sampled_from(PIECES), max_size=14))
    def run(fenced: bool, pieces: list[str]) -> None:
        inner = "".join(pieces)
        raw = (f"---\n{inner}\n---\nBody\n" if fenced else inner).encode()
        decoded = decode(raw, "f.md", GLOBAL, ANY)
        reached["read" if decoded.record else "told"] += 1
        assert decoded.record or decoded.problems
        assert all(0 <= p.line <= raw.count(b"\n") + 1 for p in decoded.problems)
        assert [p.line for p in decoded.problems] == sorted(p.line for p in decoded.problems)
        for change in ({"title": "no\nyes"}, {"tags": None}, {"k": ["a"]}):
            try:
                edited = edit(raw, "f.md", change)
            except MemsyncError as error:
                reached[error.code] += 1
                continue
            reached["edited"] += 1
            assert parse(edited, "f.md").body == parse(raw, "f.md").body
        try:
            edit_yaml(inner.encode(), "f.yaml", {"k": "v"})
            reached["yaml edited"] += 1
        except MemsyncError as error:
            reached["yaml " + error.code] += 1

    run()
    assert reached["read"] > 100
    assert reached["told"] > 100
    assert reached["edited"] > 100
    assert reached["broken-file"] > 100
    assert reached["yaml edited"] > 20


def test_the_parser_in_python_reads_the_same() -> None:
    raw = "---\na: no\nb: |\n  x\nc: [~, '~', {d: 012}]\ne:\n- f\n---\nBody"
    bad = "---\na: 1\na: &x 2\nb: *x\nc: !t 1\nd: a: b\n---\n"
    program = (
        "import sys; sys.modules['yaml._yaml'] = None\n"
        "from memsync.frontmatter.document import parse\n"
        "from memsync.frontmatter.edits import edit\n"
        "import yaml; assert not yaml.__with_libyaml__\n"
        f"d = parse({raw.encode()!r}, 'f.md')\n"
        f"told = parse({bad.encode()!r}, 'f.md').problems\n"
        "print(d.data, d.lines, [(p.line, p.code) for p in told])\n"
        f"print(edit({raw.encode()!r}, 'f.md', {{'b': 'x', 'c': None}}))\n"
        "print(parse(b'---\\na: ' + b'[' * 60000 + b'\\n---\\n', 'f.md').problems[0].code)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    document = parse(raw.encode(), "f.md")
    told = [(p.line, p.code) for p in parse(bad.encode(), "f.md").problems]
    assert done.stdout.splitlines() == [
        f"{document.data} {document.lines} {told}",
        str(edit(raw.encode(), "f.md", {"b": "x", "c": None})),
        "yaml-depth",
    ]
    assert told == [
        (3, "duplicate-key"),
        (3, "yaml-alias"),
        (4, "yaml-alias"),
        (5, "yaml-tag"),
        (6, "yaml-syntax"),
    ]
