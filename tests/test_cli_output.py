"""What the command line answers: JSON for programs, lines that fit for people, text as it is."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import termios
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from memsync import resources
from memsync.cli.screen import wrapped
from tests.asking import answer, call, widths
from tests.conftest import Memory, make_project

SGR = re.compile(r"\x1b\[[0-9;]*m")
UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
#: Texts that a terminal, a template or a markup language would take for more than text.
TRICKS = "{x} {0} %s %(a)d [red]bold[/red] \x1b[31mred\x1b[0m \x1b]0;t\x07 \u202egpj.exe <b>&amp;"


#: Keys that a memory has when its file does not state them.
BY_DEFAULT = {"id", "title", "scope", "projectKey", "memoryType", "memoryClass", "authority"} | {
    *("lifecycle", "selectors", "epoch", "paused", "evidence")
}


@pytest.fixture
def sample(machine: Memory) -> Memory:
    """A machine whose memory is the sample that ships with memsync."""
    shutil.copytree(resources.folder("sample-repo"), machine.home)
    assert call(machine, "init").returncode == 0
    machine.store().ingest()
    return machine


# --- JSON ------------------------------------------------------------------------------------


def test_every_command_answers_with_one_json_object(memory: Memory) -> None:
    code = make_project(memory, "api", "git@github.com:acme/api.git")
    first = memory.remember("Use pnpm, never npm\nThe lockfile is pnpm's.", code)
    second = memory.remember("Prefer tabs")
    third = memory.remember("Prefer short answers")
    memory.write(
        "global/two-sides.md",
        "---\nid: m-c0nf000000000000\nconflict:\n  - field: body\n    text: other\n---\nOne side\n",
    )
    stream = call(memory, "export").stdout
    (memory.root / "stream.jsonl").write_bytes(stream)
    calls: list[tuple[tuple[str, ...], set[str]]] = [
        (("init",), {"home", "branch", "created", "changed"}),
        (("list",), {"records", "elsewhere", "truncated"}),
        (("show", first.record.id), {"record", "text"}),
        (("search", "pnpm"), {"records", "truncated"}),
        (("history", first.record.id), {"id", "revisions", "uncommitted"}),
        (("diff", first.record.id), {"id", "diff"}),
        (("conflicts",), {"conflicts"}),
        (("retrieve", "--task", "install"), {"text", "full", "manifest", "excluded", "truncated"}),
        (("expand", first.record.id), {"record", "text"}),
        (("explain", first.record.id), {"record", "saved", "matched", "levels", "delivered"}),
        (("status",), {"counts", "pending", "problems", "attention", "projectKey", "head"}),
        (("lint",), {"problems", "records"}),
        (("doctor",), {"checks", "mended"}),
        (("config",), {"settings"}),
        (("config", "language"), {"settings"}),
        (("project", "show"), {"projectKey", "name", "how", "aliases", "steps"}),
        (("project", "list"), {"projects"}),
        (("project", "alias", "git@example.org:acme/api.git"), {"operation", "changed"}),
        (("import", str(memory.root / "stream.jsonl")), {"changed", "same", "kept", "commit"}),
        (("remember", "Another"), {"operation", "record", "text", "commit", "changed", "ids"}),
        (("correct", second.record.id, "Prefer spaces"), {"operation", "record", "takenIn"}),
        (("edit", third.record.id), {"record", "problems", "changed"}),
        (("rollback", second.record.id), {"operation", "record", "notices"}),
        (("resolve", "m-c0nf000000000000", "--take", "0"), {"operation", "record"}),
        (("pause", third.record.id), {"operation", "record"}),
        (("resume", third.record.id), {"operation", "record"}),
        (("pause", "--learning"), {"operation", "record", "commit"}),
        (("config", "memory.learning", "--unset"), {"operation"}),
        (("forget", second.record.id), {"operation", "record", "ids"}),
        (("forget", third.record.id, "--permanent"), {"operation", "ids"}),
        (("tombstones",), {"tombstones"}),
    ]
    for arguments, fields in calls:
        for given in ((*arguments, "--json"), ("--json", *arguments)):
            if arguments[0] in ("correct", "rollback", "forget", "resolve", "remember") and (
                given[0] == "--json"
            ):
                continue
            done = call(memory, *given, folder=code, variables={"EDITOR": "true"})
            assert done.returncode in (0, 4), (arguments, done.stderr.decode())
            assert done.stdout.count(b"\n") == 1, arguments
            told = json.loads(done.stdout)
            assert told["schema"] == "memsync.cli.v1"
            assert fields <= set(told), (arguments, set(told))


def test_json_spells_a_memory_as_its_front_matter_does(sample: Memory) -> None:
    import frontmatter

    listed = answer(sample, "list", "--all")["records"]
    assert len(listed) >= 30
    beside = {"body", "path", "revision", "state", "provisional", "evidenceCount", "confirmed"}
    for told in listed:
        there = frontmatter.loads(sample.read(told["path"]))
        assert set(there.metadata) <= set(told), told["path"]
        assert set(told) - set(there.metadata) - beside <= BY_DEFAULT, told["path"]
        for key in (set(there.metadata) & BY_DEFAULT) - {"evidence"}:
            assert told[key] == there.metadata[key]
        assert told["body"] == there.content.strip("\n")
    one = answer(sample, "show", listed[0]["id"])["record"]
    assert one == listed[0]


def test_standard_output_holds_results_only(memory: Memory) -> None:
    memory.remember("Prefer tabs")
    memory.write("global/by-hand.md", "By hand\n")
    done = call(memory, "remember", "Prefer tabs again, always", "--scope", "global")
    assert b"by-hand" not in done.stdout
    assert b"took in" in done.stderr
    done = call(memory, "retrieve", "--task", "x", variables={"MEMSYNC_HOME": str(memory.home)})
    assert done.stderr == b""
    empty = call(memory, "search", "nothingofthekind")
    assert (empty.returncode, empty.stdout) == (0, b"Nothing found.\n")


# --- lines that fit --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("language", "columns"), [("en", "80"), ("zh-CN", "80"), ("en", "60"), ("zh-CN", "100")]
)
def test_no_line_of_list_and_show_is_wider_than_the_terminal(
    sample: Memory, language: str, columns: str
) -> None:
    call(sample, "config", "language", language)
    sample.remember(
        "Look at https://example.org/" + "a-very-long-path/" * 12 + "\n"
        "Then\tat tabs\t\tand " + "x" * 200 + "\n" + " " * 70 + "deep\n" + "无空格的中文" * 40,
        title="t" * 120,
    )
    memories = answer(sample, "list", "--all")["records"]
    views = [("list", "--all"), ("conflicts",)]
    views += [("show", record["id"]) for record in memories]
    for arguments in views:
        done = call(sample, *arguments, variables={"COLUMNS": columns})
        assert done.returncode in (0, 4)
        wide = [n for n in widths(done.stdout.decode()) if n > int(columns)]
        assert not wide, (arguments, done.stdout.decode())


def test_a_list_shows_every_memory_with_its_kind_scope_and_evidence(sample: Memory) -> None:
    call(sample, "config", "language", "en")
    told = call(sample, "list", "--all").stdout.decode()
    squeezed = " ".join(told.split())
    for record in answer(sample, "list", "--all")["records"]:
        assert record["id"] in told
        assert "".join(record["title"].split())[:40] in "".join(told.split())
    for words in ("everywhere", "project acme-api", "convention", "you said so", "confirmed"):
        assert words in squeezed
    for internal in ("user-preference", "project-convention", "explicit", "inferred", "proven"):
        assert internal not in squeezed


def in_terminal(memory: Memory, *arguments: str, **variables: str) -> str:
    """What the program prints to a terminal of 80 columns."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    child = subprocess.Popen(
        [sys.executable, "-m", "memsync", *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=memory.root,
        env={**memory.variables, "TERM": "xterm-256color", **variables},
        start_new_session=True,
    )
    os.close(theirs)
    out = b""
    while True:
        try:
            chunk = os.read(ours, 65536)
        except OSError:
            break
        if not chunk:
            break
        out += chunk
    os.close(ours)
    assert child.wait(30) in (0, 4)
    return out.decode()


def test_vi_serves_on_a_terminal_where_no_editor_is_named(memory: Memory) -> None:
    number = memory.remember("Prefer tabs").record.id
    vi = memory.root / "bin" / "vi"
    vi.parent.mkdir()
    vi.write_text('#!/bin/sh\necho "in Go." >> "$1"\n', encoding="utf-8")
    vi.chmod(0o755)
    path = f"{vi.parent}{os.pathsep}{memory.variables['PATH']}"
    assert "Saved global/prefer-tabs.md" in in_terminal(memory, "edit", number, PATH=path)
    assert memory.read("global/prefer-tabs.md").endswith("in Go.\n")


def test_a_terminal_gets_colours_that_fit_and_no_color_takes_them_away(sample: Memory) -> None:
    sample.remember("Tricks " + TRICKS)
    coloured = in_terminal(sample, "list", "--all")
    assert SGR.search(coloured)
    plain = SGR.sub("", coloured).replace("\r\n", "\n")
    assert not UNSEEN.search(plain), "a memory's text drove the terminal"
    assert max(widths(plain)) <= 80
    for variables in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        bare = in_terminal(sample, "list", "--all", **variables).replace("\r\n", "\n")
        assert bare == plain
    fixed = call(sample, "list", "--all", variables={"COLUMNS": "80"})
    assert fixed.stdout.decode() == plain
    for record in answer(sample, "search", "tricks", "authentication")["records"][:2]:
        shown = in_terminal(sample, "show", record["id"])
        assert SGR.search(shown)
        bare = SGR.sub("", shown).replace("\r\n", "\n")
        assert not UNSEEN.search(bare)
        assert max(widths(bare)) <= 80


def long_memory(memory: Memory) -> str:
    """A memory, a setting and a broken file whose lines are long; gives the memory's id."""
    call(memory, "config", "language", "zh-CN")
    memory.write("global/broken.md", "---\nlifecycle: " + "gone" * 30 + "\n---\nx\n")
    entry = memory.remember("提交前一定要运行全部的检查，" * 7 + "\n" + "并且说明结果。" * 30)
    return entry.record.id


def test_no_line_of_any_view_is_wider_than_the_terminal(memory: Memory) -> None:
    number = long_memory(memory)
    task = ("--task", "运行检查")
    for arguments in (
        ("status",),
        ("lint",),
        ("doctor",),
        ("search", "检查"),
        ("retrieve", *task, "--why-not"),
        ("explain", number, *task),
    ):
        shown = SGR.sub("", in_terminal(memory, *arguments)).replace("\r\n", "\n")
        assert max(widths(shown)) <= 80, (arguments, shown)


def test_a_pipe_gets_whole_lines(memory: Memory) -> None:
    number = long_memory(memory)
    title = answer(memory, "show", number)["record"]["title"]
    for arguments in (("list",), ("show", number), ("search", "检查"), ("retrieve",)):
        lines = call(memory, *arguments).stdout.decode().splitlines()
        assert any(title in line for line in lines), arguments


def test_a_memory_takes_two_lines_of_a_list(memory: Memory) -> None:
    memory.remember("Prefer tabs", category="formatting")
    shown = call(memory, "list", variables={"COLUMNS": "80"}).stdout.decode().splitlines()
    assert len(shown) == 3
    assert shown[2].endswith("confirmed 2026-11-30")


def test_a_search_says_where_each_memory_holds(memory: Memory, project: Path) -> None:
    key = memory.remember("Use pnpm", project).record.project_key
    memory.remember("Use pnpm everywhere else")
    shown = call(memory, "search", "pnpm").stdout.decode()
    assert f"    project {key} · " in shown
    assert "    everywhere · " in shown


def test_a_broken_file_is_told_beside_an_answer_without_it(memory: Memory) -> None:
    memory.remember("Prefer tabs")
    memory.write("global/broken.md", "---\nlifecycle: gone\n---\nPrefer tabs too\n")
    for arguments in (("list",), ("search", "tabs"), ("retrieve", "--task", "tabs")):
        done = call(memory, *arguments)
        assert done.returncode == 0
        assert b"Prefer tabs" in done.stdout
        assert b"1 file cannot be read and is left out" in done.stderr
        assert answer(memory, *arguments)["broken"] == ["global/broken.md"]
    assert call(memory, "status").returncode == 4


@pytest.mark.parametrize(
    "text", ["Prefer tabs\n", "# Prefer tabs\n", "---\ntitle: Prefer tabs\n---\n"]
)
def test_a_title_is_told_once(memory: Memory, text: str) -> None:
    path = memory.write("global/x.md", text)
    for more in ("", "\nIn Go.\n"):
        path.write_text(text + more, encoding="utf-8")
        number = answer(memory, "list")["records"][0]["id"]
        for arguments in (("show", number), ("retrieve", "--task", "x"), ("expand", number)):
            told = call(memory, *arguments).stdout.decode()
            assert told.count("Prefer tabs") == 1, told
            assert ("In Go." in told) == bool(more)
    text = "word " * 60 + "end"  # a title that was cut is no repetition
    number = memory.remember(text).record.id
    assert "word end" in call(memory, "show", number).stdout.decode()


# --- text as it is ---------------------------------------------------------------------------


def test_tricky_text_is_shown_as_it_is_and_drives_nothing(memory: Memory) -> None:
    entry = memory.remember(f"Tricky {TRICKS}\nbody {TRICKS}\r\nmore", tags=("a{0}%s",))
    number = entry.record.id
    memory.remember("plain", title="\x1b[2J[bold]{}")
    call(memory, "correct", number, f"Tricky {TRICKS}\nbody {TRICKS} second")
    for arguments in (
        ("list",),
        ("show", number),
        ("search", "tricky"),
        ("history", number),
        ("diff", number),
        ("retrieve", "--task", f"tricky {TRICKS}"),
        ("expand", number),
        ("explain", number),
        ("forget", number),
        ("tombstones",),
        ("show", f"nothing {TRICKS}"),
        ("config", f"name {TRICKS}"),
        (f"command{TRICKS}",),
    ):
        done = call(memory, *arguments)
        shown = (done.stdout + done.stderr).decode()
        assert not UNSEEN.search(shown), arguments
        if arguments[0] in ("show", "diff", "retrieve", "expand") and not done.returncode:
            assert "{x} {0} %s %(a)d [red]bold[/red] \\x1b[31m" in " ".join(shown.split())
            assert "<b>&amp;" in shown
    back = answer(memory, "rollback", number)["record"]
    assert back["body"] == f"body {TRICKS} second"


@pytest.mark.parametrize(
    "title",
    [
        "Enable/Disable flag",
        "../x",
        "../../etc/passwd",
        "a:b?*",
        "CON",
        "nul",
        "trailing.",
        "trailing ...",
        ".hidden",
        "-rf *",
        "--help",
        "😀🎉👩‍👩‍👧",
        "只有中文的标题",
        "Ünïcödé ﬁligature",
        "name with  two blanks",
        'it\'s "quoted" `ticked` $HOME',
        "no",
        "2026-11-30",
        "key: value # no comment",
        "[a, b]",
        "a" * 300,
        "长" * 300,
        "word " * 60,
    ],
)
def test_a_title_of_any_kind_is_kept_and_its_file_name_is_safe(memory: Memory, title: str) -> None:
    done = call(memory, "remember", "--scope", "global", "--json", "--", title)
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)["record"]
    if len(title) <= 120:
        assert (record["title"], record["body"]) == (title.strip(), "")
        assert answer(memory, "show", "--", title)["record"] == record
    else:
        assert record["title"].endswith("…")
        assert len(record["title"]) <= 120
        assert record["body"] == title.strip()
    name = Path(record["path"]).name
    assert record["path"] == f"global/{name}"
    assert re.fullmatch(r"[\w-]+\.md", name), name
    assert not name.startswith(("-", "."))
    assert name.partition(".")[0].lower() not in {"con", "nul", "prn", "aux"}
    assert len(name.encode()) <= 200
    assert unicodedata.is_normalized("NFC", name)
    assert memory.git("status", "--porcelain") == ""


@pytest.mark.parametrize(
    "name",
    [
        " leading blank.md",
        "-dash.md",
        'it\'s "quoted".md',
        "back\\slash.md",
        ":(glob)**.md",
        "star*?.md",
        "中文名字.md",
        "😀.md",
        "new\nline.md",
        "a folder/with blanks/-x.md",
    ],
)
def test_a_file_of_any_name_is_read_taken_in_and_forgotten(memory: Memory, name: str) -> None:
    memory.write(f"global/{name}", "By hand\n\nthe text\n")
    other = memory.write("global/other.md", "Another\n")
    shown = answer(memory, "show", "By hand")["record"]
    assert shown["path"] == f"global/{name}"
    assert shown["provisional"] is True
    assert call(memory, "remember", "x", "--scope", "global").returncode == 0
    assert memory.git("status", "--porcelain") == ""
    assert answer(memory, "show", "By hand")["record"]["id"] == shown["id"]
    assert len(answer(memory, "history", shown["id"])["revisions"]) == 1
    assert call(memory, "correct", "By hand", "By hand\nanother text").returncode == 0
    assert call(memory, "forget", "By hand").returncode == 0
    assert not (memory.home / "global" / name).exists()
    assert other.exists()
    assert call(memory, "rollback", shown["id"]).returncode == 0
    assert answer(memory, "show", shown["id"])["record"]["body"] == "another text"


def test_json_is_utf_8_whatever_a_path_or_the_terminal_is(memory: Memory) -> None:
    """Bytes that are no text are spelled out, in answers and in errors."""
    home = os.path.join(os.fsencode(memory.root), b"mem\xff")
    variables = {"MEMSYNC_HOME": os.fsdecode(home), "PYTHONIOENCODING": "ascii"}
    assert json.loads(memory.run("init", "--json", variables=variables).stdout)["created"]
    memory.run("remember", "Text \U0001f600", "--scope", "global", variables=variables)
    told = memory.json("status", variables=variables)
    assert told["home"].endswith(r"/mem\xff")
    assert memory.json("list", variables=variables)["records"][0]["title"] == "Text \U0001f600"
    wrong = memory.run("status", "--json", "nowhere\udcfe", variables=variables)
    assert json.loads(wrong.stderr)["error"]["facts"]["path"] == r"nowhere\xfe"


def test_a_name_that_is_no_text_is_told_and_blocks_nothing(memory: Memory) -> None:
    bad = os.path.join(os.fsencode(memory.home), b"global", b"bad\xff.md")
    memory.remember("Prefer tabs")
    with open(bad, "wb") as stream:
        stream.write(b"Text\n")
    os.mkdir(os.path.join(os.fsencode(memory.home), b"global", b"dir\xff"))
    assert len(answer(memory, "list")["records"]) == 1
    assert call(memory, "remember", "x", "--scope", "global").returncode == 0
    done = call(memory, "lint")
    assert done.returncode == 4
    assert done.stdout.decode().count("[name-not-text]") == 2
    assert r"global/bad\xff.md: " in done.stdout.decode()
    found = answer(memory, "status")["problems"]
    assert [p["code"] for p in found] == ["name-not-text"] * 2
    assert [p["path"] for p in found] == [r"global/bad\xff.md", r"global/dir\xff"]
    checks = {c["name"]: c["evidence"] for c in answer(memory, "doctor")["checks"]}
    assert r"global/bad\xff.md [name-not-text]" in checks["files"]
    assert os.path.exists(bad)


@pytest.mark.parametrize(
    ("first", "second"),
    [("caf\u00e9.md", "cafe\u0301.md"), ("Readme.md", "readme.md"), ("Straße.md", "STRASSE.md")],
    ids=["form", "case", "sharp-s"],
)
def test_names_that_other_systems_take_for_one_are_both_kept_and_told(
    memory: Memory, first: str, second: str
) -> None:
    memory.write(f"global/{first}", "First\n")
    memory.write(f"global/{second}", "Second\n")
    memory.store().ingest()
    assert len(answer(memory, "list")["records"]) == 2
    told = [p for p in answer(memory, "lint")["problems"] if p["code"] == "name-collision"]
    assert len(told) == 1
    assert {told[0]["path"]} <= {f"global/{first}", f"global/{second}"}
    before = memory.commits()
    for _ in range(3):
        memory.store().ingest()
    assert memory.commits() == before
    assert call(memory, "forget", "First").returncode == 0
    assert [r["title"] for r in answer(memory, "list")["records"]] == ["Second"]


# --- questions -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "finds"),
    [
        ('"', False),
        ("foo AND", False),
        ("AND OR NOT NEAR", False),
        ("C++", True),
        ("c++ style guide", True),
        ("*", False),
        ("sty*", False),
        ("", False),
        ("title:style", True),
        ("'; DROP TABLE records; --", False),
        ("NEAR(style, 3)", True),
        ('style"', True),
        ("(style", True),
        ("^style", True),
        ("{style} : x", True),
        ("风格", True),
        ("格", True),
        ("\x00style", True),
        ("x" * 10_240, False),
        ("word " * 2_048, False),
        ("style " * 2_048, True),
        ("风格" * 1_500, True),
        ("风" * 3_000, False),
    ],
)
def test_a_question_of_any_kind_has_a_sensible_answer(
    memory: Memory, query: str, finds: bool
) -> None:
    memory.remember("C++ style guide\n写 C++ 的风格：短函数。")
    memory.remember("Unrelated")
    if "\0" not in query:
        found = answer(memory, "search", "--", query)["records"]
        assert [r["title"] for r in found] == (["C++ style guide"] if finds else [])
    from memsync.contract.memories import SearchQuery
    from memsync.contract.tasks import TaskQuery

    listing = memory.provider().query(SearchQuery(query))
    assert bool(listing.records) == finds
    memory.provider().query(TaskQuery(task=query))


# --- bodies ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        "---\nrule first\n---\nthen text",
        "---",
        "---\ntitle: not mine\n---",
        "- a list\n- of lines",
        "key: value",
        "--- \nblank after",
        "```\n---\ncode\n```",
        "...\nend of document",
        "\tindented",
        "a\n\n\n\nb",
    ],
)
def test_a_body_that_looks_like_front_matter_is_text(memory: Memory, body: str) -> None:
    done = call(memory, "remember", "--scope", "global", "--title", "T", "--json", "--", body)
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)["record"]
    assert record["body"] == body.strip()
    shown = answer(memory, "show", record["id"])["record"]
    assert (shown["body"], shown["title"], shown["id"]) == (body.strip(), "T", record["id"])
    call(memory, "pause", record["id"])
    call(memory, "resume", record["id"])
    assert answer(memory, "show", "T")["record"]["body"] == body.strip()
    assert memory.read(record["path"]).count("\nid: ") == 1


# --- roots -----------------------------------------------------------------------------------


def lives(memory: Memory, variables: dict[str, str], home: Path) -> None:
    """Remember, edit by hand, list, retrieve: a day with a memory at some place."""
    given: dict[str, Any] = {"variables": variables}
    assert call(memory, "init", **given).returncode == 0
    done = call(memory, "remember", "Prefer tabs", "--scope", "global", "--json", **given)
    path = json.loads(done.stdout)["record"]["path"]
    with open(home / path, "a") as stream:
        stream.write("By hand.\n")
    (home / "global" / ".hidden.md").write_text("Hidden\n")
    assert answer(memory, "show", "Prefer tabs", **given)["record"]["body"] == "By hand."
    assert "By hand." in call(memory, "retrieve", "--task", "x", **given).stdout.decode()
    assert [r["title"] for r in answer(memory, "list", **given)["records"]] == ["Prefer tabs"]
    assert answer(memory, "status", **given)["pending"] == 1
    assert call(memory, "remember", "Second", "--scope", "global", **given).returncode == 0
    assert answer(memory, "status", **given)["pending"] == 0


def test_a_hidden_root(machine: Memory) -> None:
    home = machine.root / ".config" / ".memory"
    lives(machine, {"MEMSYNC_HOME": str(home)}, home)


def test_a_root_through_a_symbolic_link(machine: Memory) -> None:
    real = machine.root / "real"
    real.mkdir()
    link = machine.root / "link"
    link.symlink_to(real, target_is_directory=True)
    lives(machine, {"MEMSYNC_HOME": str(link)}, real)


def test_a_root_below_a_linked_folder_of_any_name(machine: Memory) -> None:
    real = machine.root / "a real -place 'with' 中文 ?#%20"
    real.mkdir()
    (machine.root / "link").symlink_to(real, target_is_directory=True)
    lives(machine, {"MEMSYNC_HOME": str(machine.root / "link" / "m")}, real / "m")
    lives(machine, {"MEMSYNC_HOME": str(real / "n")}, real / "n")


def test_broken_lines_go_on_as_they_begin() -> None:
    quoted = wrapped("> One sentence that is too long\n  an indented one, too long as well", 20)
    assert quoted.splitlines() == [
        *("> One sentence that", "> is too long"),
        *("  an indented one,", "  too long as well"),
    ]
    assert wrapped("> " + "x" * 30, 20).splitlines() == ["> " + "x" * 18, "> " + "x" * 12]
