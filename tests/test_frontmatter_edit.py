"""Machine edits of hand-written files: what was not asked for stays byte for byte."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memsync.errors import BrokenFile, EditWouldDamage, InvalidRecord
from memsync.frontmatter.document import parse, parse_yaml
from memsync.frontmatter.edits import edit, edit_yaml
from memsync.frontmatter.model import Writable

#: shape -> lines of an entry below the key K; {c} is where a trailing comment may stand.
SHAPES: dict[str, list[str]] = {
    "plain": ["K: some words{c}"],
    "plain-spaces": ["K  :   some words   {c}"],
    "single": ["K: 'it''s: quoted'{c}"],
    "double": ['K: "tab\\t # no comment"{c}'],
    "quoted-key": ['"K": value{c}'],
    "trap": ["K: 012:30{c}"],
    "empty": ["K:{c}"],
    "tilde": ["K: ~{c}"],
    "chinese": ["K: 用 pnpm，不要用 npm{c}"],
    "plain-lines": ["K: first", "  second line", "", "  third{c}"],
    "double-lines": ['K: "first', "", '  second"{c}'],
    "below": ["K:{c}", "  on its own line"],
    "literal": ["K: |{c}", "  a line", "", "    deeper # text"],
    "literal-strip": ["K: |-{c}", "  a line", "  --- no fence"],
    "literal-keep": ["K: |+{c}", "  a line", "", ""],
    "literal-indent": ["K: |2{c}", "    begins deep", "  then not"],
    "folded": ["K: >-{c}", "  words that", "  fold"],
    "flow-list": ["K: [a, 'b, c', d]{c}"],
    "flow-lines": ["K: [a,  # why a", "    b,", "  ]{c}"],
    "flow-map": ["K: {a: 1, b: [x, y]}{c}"],
    "block-list": ["K:{c}", "  - a", "  - b c"],
    "flush-list": ["K:{c}", "- a", "- 'b'"],
    "commented-list": ["K:", "  # about a", "  - a  # good", "", "  - b{c}"],
    "map": ["K:{c}", "  x: 1", "  y:", "    z: [q]"],
    "maps": ["K:{c}", "  - key: k1", "    text: |", "      long", "  - key: k2"],
    "map-empty-end": ["K:", "  x:{c}"],
}
FILLER = ["", "   ", "# a comment", "#", "# key: value", "  # indented comment"]
KEYS = ["id", "title", "tags", "epoch", "x-mine", "evidence", "updated", "notes", "键"]
BODIES = [
    "",
    "Body.\n",
    "\nBody after a blank\n\n",
    "no end",
    "---\nrule\n---\n",
    "a\n\n# b  \n\tc",
]
VALUES: list[Writable] = [
    "plain",
    "no",
    "it's: 'both' \"quotes\" # here",
    "12:30:45",
    "",
    "  padded ",
    "two\nlines",
    "ends\n",
    "\n starts\n\n",
    "bell\x07 and \u2028 and \x85",
    "用 pnpm",
    True,
    7,
    [],
    ["a", "b: c", "d, e", "-", "~"],
    ["long " * 30, "x"],
    {},
    {"a": "b", "c": {"d": ["e"]}},
    [{"key": "k", "success": True, "text": "x\ny"}, {"key": "~"}],
    [["nested", "list"], [["deep\ner"]]],
    None,
]


@dataclass(frozen=True)
class Hand:
    """A hand-written file and where its entries stand, in lines."""

    raw: bytes
    spans: dict[str, tuple[int, int]]
    shapes: dict[str, str]
    traits: frozenset[str]


def _fillers(shapes: dict[str, str]) -> st.SearchStrategy[list[str]]:
    """Lines between entries; below a block scalar an indented one would be part of its text."""
    last = list(shapes.values())[-1] if shapes else ""
    in_text = last.startswith(("literal", "folded"))
    usable = [f for f in FILLER if not (in_text and f.startswith(" "))]
    if last == "literal-keep":
        usable.remove("")
    return st.lists(st.sampled_from(usable), max_size=2)


@st.composite
def hand_files(draw: st.DrawFn) -> Hand:
    newline = draw(st.sampled_from(["\n", "\n", "\r\n"]))
    bom = draw(st.booleans()) and draw(st.booleans())
    indent = draw(st.sampled_from(["", "", "", "  "]))
    closing = draw(st.sampled_from(["---", "---", "---  ", "..."]))
    body = draw(st.sampled_from(BODIES))
    keys = draw(st.lists(st.sampled_from(KEYS), unique=True, min_size=1, max_size=5))
    lines = [draw(st.sampled_from(["---", "--- ", "---"]))]
    spans: dict[str, tuple[int, int]] = {}
    shapes: dict[str, str] = {}
    traits = {newline.replace("\r", "CR").replace("\n", "LF"), "closing " + closing.strip()}
    traits |= {"bom"} if bom else set()
    traits |= {"indented"} if indent else set()
    for key in keys:
        for filler in draw(_fillers(shapes)):
            lines.append(filler)
            traits.add("filler " + filler.strip()[:1])
        shape = draw(st.sampled_from(sorted(SHAPES)))
        comment = draw(st.sampled_from(["", "", "  # why", "   "]))
        start = len(lines)
        for line in SHAPES[shape]:
            text = line.replace("K", key, 1) if line is SHAPES[shape][0] else line
            filled = text.replace("{c}", comment)
            lines.append(indent + filled if filled.strip() else filled)
        spans[key] = (start, len(lines))
        shapes[key] = shape
        traits |= {"comment on line"} if "#" in comment else set()
    lines += draw(_fillers(shapes))
    lines.append(closing)
    text = newline.join(lines)
    if body or draw(st.booleans()):
        text += newline + body.replace("\n", newline)
    else:
        traits.add("ends at fence")
    if not text.endswith("\n"):
        traits.add("no final newline")
    return Hand((("\ufeff" if bom else "") + text).encode(), spans, shapes, frozenset(traits))


def test_random_hand_written_files_keep_every_other_byte() -> None:
    reached: Counter[str] = Counter()

    @settings(
        max_examples=300,
        deadline=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    @given(hand_files(), st.integers(0, len(VALUES) - 1))
    def run(hand: Hand, first: int) -> None:
        before = parse(hand.raw, "hand.md")
        assert not before.problems, before.problems
        assert before.raw == hand.raw
        assert before.lines == {key: span[0] + 1 for key, span in hand.spans.items()}
        reached.update(hand.traits)
        for number, key in enumerate([*hand.spans, *hand.spans, "category", "x-new"]):
            value = VALUES[(first + 7 * number) % len(VALUES)] if number % 3 else None
            _edit_one_key(hand, key, value, reached)

    run()
    wanted = [*SHAPES, "removed", "replaced"]
    wanted += ["LF", "CRLF", "bom", "indented", "closing ---", "closing ...", "filler #", "filler "]
    wanted += ["ends at fence", "no final newline", "comment on line", "added", "comment kept"]
    assert not [shape for shape in wanted if not reached[shape]]
    assert reached["refused"] <= (reached["replaced"] + reached["removed"]) // 50


def _edit_one_key(hand: Hand, key: str, value: Writable, reached: Counter[str]) -> None:
    before = parse(hand.raw, "hand.md")
    try:
        edited = edit(hand.raw, "hand.md", {key: value})
    except EditWouldDamage:
        reached["refused"] += 1
        return
    after = parse(edited, "hand.md")
    assert after.body == before.body
    assert (key in after.data) is (value is not None)
    others = {k: v for k, v in before.data.items() if k != key}
    assert {k: v for k, v in after.data.items() if k != key} == others
    if key not in hand.spans:
        grown = len(edited) - len(hand.raw)
        assert any(edited[:i] + edited[i + grown :] == hand.raw for i in range(len(hand.raw) + 1))
        reached["added" if value is not None else "removed nothing"] += 1
        return
    lines = hand.raw.splitlines(keepends=True)
    start, end = hand.spans[key]
    prefix, suffix = b"".join(lines[:start]), b"".join(lines[end:])
    assert edited.startswith(prefix)
    assert edited.endswith(suffix)
    middle = edited[len(prefix) : len(edited) - len(suffix)]
    reached[hand.shapes[key]] += 1
    reached["removed" if value is None else "replaced"] += 1
    if value is None:
        assert middle in (b"", b"#\n", b"#\r\n")
        reached["a comment sign left"] += bool(middle)
    elif b"\r\n" in lines[0]:
        assert middle.count(b"\n") == middle.count(b"\r\n")
    simple = hand.shapes[key] in ("plain", "single", "flow-list", "below", "map")
    if b"# why" in b"".join(lines[start:end]) and simple and value is not None:
        assert b"# why" in middle
        reached["comment kept"] += 1


AROUND = {
    "alone": ("", ""),
    "keys": ("before: 1\n", "after: 2\n"),
    "text before": ("before: |\n  text\n", "after: 2\n"),
    "kept breaks before": ("before: |+\n  text\n\n", "after: 2\n"),
    "blanks after": ("before: 1\n", "\n   \nafter: 2\n"),
    "indented comment after": ("before: |\n  text\n", "  # mine\n   \nafter: 2\n"),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_takes_every_value_between_all_neighbours(shape: str) -> None:
    reached: Counter[str] = Counter()
    in_text = shape.startswith(("literal", "folded"))
    for name, (head, below) in AROUND.items():
        # an indented line or a blank below a text would be a part of the text
        tail = "after: 2\n" if in_text and name.endswith("after") else below
        for newline in ("\n", "\r\n"):
            entry = (
                "\n".join(SHAPES[shape]).replace("K", "tags", 1).replace("{c}", "  # why") + "\n"
            )
            parts = [p.replace("\n", newline) for p in ("---\n" + head, entry, tail + "---\nBody")]
            raw = "".join(parts).encode()
            for value in VALUES:
                edited = edit(raw, "hand.md", {"tags": value}).decode()
                assert edited.startswith(parts[0])
                assert edited.endswith(parts[2])
                middle = edited[len(parts[0]) : len(edited) - len(parts[2])]
                assert middle.count("\n") == middle.count(newline)
                assert value is not None or middle in ("", "#" + newline)
                reached["a comment sign left" if middle == "#" + newline else name] += 1
                assert edit(edited.encode(), "hand.md", {"tags": value}).decode() == edited
    assert all(reached[name] for name in AROUND)
    assert in_text or reached["a comment sign left"]


@pytest.mark.parametrize(
    ("raw", "key", "value", "wanted"),
    [
        ("{a: 1, b: [x]}", "b", "two words", "{a: 1, b: two words}"),
        ("{a: 1, b: [x]}", "a", None, "{b: [x]}"),
        ("{a: 1, b: [x]}", "b", None, "{a: 1}"),
        ("{a: 1, b: [x] }", "c", ["p", "q: r"], "{a: 1, b: [x], c: [p, 'q: r'] }"),
        ("{a, b: 1}", "a", "v", "{a: v, b: 1}"),
        ("{}", "a", "v", "{a: v}"),
        ('{"a":1,}', "a", "no", "{\"a\":'no',}"),
        ("{a: 1}", "a", None, "{}"),
        ("{a: 1, # why\n b: 2}", "a", {"x": "z"}, "{a: {x: z}, # why\n b: 2}"),
    ],
)
def test_flow_style_is_edited_inside_its_braces(
    raw: str, key: str, value: Writable, wanted: str
) -> None:
    text = f"---\n{raw}\n---\nBody\n"
    assert edit(text.encode(), "f.md", {key: value}).decode() == f"---\n{wanted}\n---\nBody\n"


def test_blanks_deeper_than_a_text_are_part_of_it() -> None:
    raw = b"---\ntitle: T\ncategory: |\n  a\n     \n  \nx: 1\n---\n"
    assert parse(raw, "f.md").data["category"] == "a\n   \n"
    assert edit(raw, "f.md", {"category": "b"}) == b"---\ntitle: T\ncategory: b\n  \nx: 1\n---\n"
    assert edit(raw, "f.md", {"tags": ["t"]}) == raw.replace(b"  \nx", b"tags: [t]\n  \nx")


def test_new_keys_go_where_a_new_file_would_have_them() -> None:
    raw = (
        b"---\ntitle: T\n# of lifecycle\nlifecycle: trial # yes\n\n"
        b"mine: 1\nupdated: 2026-01-01\n---\n"
    )
    edited = edit(
        raw,
        "f.md",
        {
            "other": "x",
            "paused": True,
            "tags": ["a"],
            "created": "2026-01-01T00:00:00Z",
            "epoch": 2,
        },
    )
    assert edited.decode() == (
        "---\ntitle: T\ntags: [a]\n# of lifecycle\nlifecycle: trial # yes\npaused: true\nepoch: 2\n"
        "created: 2026-01-01T00:00:00Z\n\nmine: 1\nupdated: 2026-01-01\nother: x\n---\n"
    )


def test_a_file_without_front_matter_gets_one_on_top() -> None:
    raw = "\ufeffJust a text\r\nof two lines".encode()
    edited = edit(raw, "f.md", {"id": "m-4k7q2v9hx3zn5d8t", "tags": ["a"]})
    assert (
        edited
        == (
            "\ufeff---\r\nid: m-4k7q2v9hx3zn5d8t\r\ntags: [a]\r\n---\r\nJust a text\r\nof two lines"
        ).encode()
    )
    assert edit(raw, "f.md", {}) == raw
    ruled = b"---\nA text that begins with a rule\n"
    edited = edit(ruled, "f.md", {"id": "m-4k7q2v9hx3zn5d8t"})
    assert edited == b"---\nid: m-4k7q2v9hx3zn5d8t\n---\n" + ruled


@pytest.mark.parametrize(
    "between", ["A sentence.", "- a\n- b", "'quoted'", "see [this](x): no\n* y"]
)
def test_a_second_front_matter_is_never_stacked(between: str) -> None:
    raw = f"---\n{between}\n---\nText\n".encode()
    document = parse(raw, "f.md")
    assert [(p.code, p.level) for p in document.problems] == [
        ("front-matter-not-mapping", "notice")
    ]
    assert document.body == raw.decode()
    with pytest.raises(EditWouldDamage):
        edit(raw, "f.md", {"id": "m-4k7q2v9hx3zn5d8t"})


def test_a_new_body_keeps_the_front_matter_and_the_line_breaks() -> None:
    raw = b"---\r\ntitle: T # t\r\n---\r\n\r\nOld\r\n\r\n"
    assert edit(raw, "f.md", {}, "new\ntext") == (
        b"---\r\ntitle: T # t\r\n---\r\n\r\nnew\r\ntext\r\n"
    )
    assert edit(raw, "f.md", {}, "") == b"---\r\ntitle: T # t\r\n---\r\n"
    assert edit(b"---\ntitle: T\n---", "f.md", {}, "x") == b"---\ntitle: T\n---\nx\n"
    rule = edit(b"---\ntitle: T\n---\nx", "f.md", {}, "---\na: b\n---\nx")
    assert parse(rule, "f.md").data == {"title": "T"}


def test_what_cannot_be_edited_is_refused_with_its_reason() -> None:
    with pytest.raises(BrokenFile) as broken:
        edit(b"---\na: 1\na: 2\nb: *x\n---\n", "f.md", {"a": "x"})
    assert [p["code"] for p in broken.value.facts["problems"]] == ["duplicate-key", "yaml-alias"]  # type: ignore[attr-defined]
    with pytest.raises(EditWouldDamage):
        edit(b"---\n? a\n: 1\n---\n", "f.md", {"a": "x"})
    with pytest.raises(EditWouldDamage):
        edit(b"Text", "f.md", {}, "---\na: b\n---\nx")
    with pytest.raises(InvalidRecord):
        edit(b"Text", "f.md", {}, "x" * 70_000)
    with pytest.raises(InvalidRecord):
        edit(b"Text", "f.md", {}, "a\n<<<<<<< x\nb\n=======\nc\n>>>>>>> y\n")
    with pytest.raises(InvalidRecord):
        edit(b"Text", "f.md", {}, "half \ud83d of a character")


def test_a_yaml_file_is_edited_in_place() -> None:
    raw = b"# my settings\nformat: 1   # never change\nlanguage: en\n\naliases:\n- a\n# end"
    edited = edit_yaml(
        raw, "memsync.yaml", {"language": "zh-CN", "name": "x", "aliases": ["a", "b"]}
    )
    assert edited == (
        b"# my settings\nformat: 1   # never change\nlanguage: zh-CN\n\n"
        b"aliases: [a, b]\n# end\nname: x"
    )
    assert parse_yaml(edited, "memsync.yaml").lines == {
        "format": 2,
        "language": 3,
        "aliases": 5,
        "name": 7,
    }
    assert edit_yaml(b"", "m.yaml", {"a": {"b": "c"}}) == b"a:\n  b: c\n"
