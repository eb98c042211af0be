"""Bad input at the command line: a code, an exit status, and nothing changed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from memsync.contract.changes import ForgetInput
from tests.asking import answer, call, refused, standing
from tests.conftest import Memory, make_project

LONG = "x" * 300


# --- names of memories -----------------------------------------------------------------------


@pytest.mark.parametrize("command", ["show", "history", "diff", "edit", "expand", "explain"])
@pytest.mark.parametrize("wanted", ["m-zzzzzzzzzzzzzzzz", "Prefer tab", "prefer tabs indented"])
def test_what_does_not_exist_is_never_the_nearest_match(
    memory: Memory, command: str, wanted: str
) -> None:
    memory.remember("Prefer tabs")
    refused(memory, command, wanted, code="record-not-found", status=3)


@pytest.mark.parametrize(
    "arguments",
    [
        ("correct", "Prefer tab", "Prefer spaces"),
        ("forget", "Prefer tab"),
        ("forget", "--permanent", "m-zzz"),
        ("rollback", "m-zzz"),
        ("resolve", "m-zzz", "--take", "0"),
        ("pause", "m-zzz"),
        ("resume", "m-zzz"),
    ],
    ids=" ".join,
)
def test_a_change_of_what_does_not_exist_changes_nothing(
    memory: Memory, arguments: tuple[str, ...]
) -> None:
    memory.remember("Prefer tabs")
    error = refused(memory, *arguments, code="record-not-found", status=3)
    assert error["facts"]["wanted"] in arguments


@pytest.mark.parametrize("command", ["show", "forget", "history"])
def test_the_beginning_of_two_ids_is_ambiguous_and_names_both(memory: Memory, command: str) -> None:
    for name in ("1", "2"):
        memory.write(f"global/{name}.md", f"---\nid: m-abc{name}000000000000\n---\nText {name}\n")
    memory.store().ingest()
    error = refused(memory, command, "m-abc", code="record-ambiguous", status=2)
    assert "m-abc1000000000000" in error["message"]
    assert "m-abc2000000000000" in error["message"]
    assert answer(memory, "show", "m-abc1")["record"]["id"] == "m-abc1000000000000"
    assert answer(memory, "show", "abc2")["record"]["id"] == "m-abc2000000000000"


def test_two_memories_of_one_title_are_ambiguous(memory: Memory) -> None:
    memory.remember("Same title\none")
    memory.remember("Same title\ntwo")
    refused(memory, "correct", "Same title", "three", code="record-ambiguous", status=2)


def test_a_forgotten_memory_is_named_as_forgotten(memory: Memory) -> None:
    entry = memory.remember("Prefer tabs")
    memory.provider().apply(ForgetInput(entry.record.id))
    for command in (("show",), ("forget",), ("edit",), ("pause",)):
        refused(memory, *command, entry.record.id, code="record-forgotten", status=3)
    refused(memory, "correct", entry.record.id, "x", code="record-forgotten", status=3)


@pytest.mark.parametrize("revision", ["0000000", "HEAD~3", ""])
def test_a_revision_that_does_not_exist(memory: Memory, revision: str) -> None:
    entry = memory.remember("Prefer tabs")
    arguments = ("rollback", entry.record.id, "--to", revision)
    refused(memory, *arguments, code="revision-not-found", status=3)


def test_a_first_version_has_nothing_before_it(memory: Memory) -> None:
    entry = memory.remember("Prefer tabs")
    refused(memory, "rollback", entry.record.id, code="nothing-to-roll-back", status=1)


def test_an_expected_revision_that_moved(memory: Memory) -> None:
    entry = memory.remember("Prefer tabs")
    for arguments in (("forget",), ("rollback",), ("resolve", "--take", "0")):
        refused(
            memory, *arguments, entry.record.id, "--expect", "zzzz", code="revision-moved", status=1
        )
    refused(
        memory, "correct", entry.record.id, "x", "--expect", "zzzz", code="revision-moved", status=1
    )


@pytest.mark.parametrize("command", ["show", "forget", "history", "pause", "explain"])
def test_bytes_that_are_no_text_name_nothing(memory: Memory, command: str) -> None:
    memory.remember("Prefer tabs")
    refused(memory, command, os.fsdecode(b"\xff\xfe"), code="record-not-found", status=3)


# --- texts -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stdin", "code", "status"),
    [
        (b"", "text-empty", 2),
        (b" \n\t\n", "text-empty", 2),
        (b"\xff\xfeP\x00", "text-not-readable", 1),
        (b"good \xc3 bad", "text-not-readable", 1),
        (b"one\x00two", "text-not-readable", 1),
        (b"\x7fELF\x02\x01\x01\x00\x00\x00\xf0\x9f", "text-not-readable", 1),
        (b"x" * (1024 * 1024 + 1), "text-not-readable", 1),
        (b"title\n" + b"y" * 8193, "invalid-record", 1),
        (b"title\n" + "字".encode() * 2731, "invalid-record", 1),
        (b"title\n<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n", "invalid-record", 1),
    ],
    ids=["nothing", "blanks", "utf-16", "half", "nul", "binary", "huge", "8k", "8k-zh", "markers"],
)
def test_a_text_on_standard_input_that_cannot_be_kept(
    memory: Memory, stdin: bytes, code: str, status: int
) -> None:
    entry = memory.remember("Prefer tabs")
    arguments = ("remember", "--scope", "global")
    refused(memory, *arguments, code=code, status=status, stdin=stdin)
    refused(memory, "correct", entry.record.id, code=code, status=status, stdin=stdin)


def test_a_text_of_exactly_the_limit_is_kept(memory: Memory) -> None:
    done = call(memory, "remember", "--scope", "global", stdin=b"title\n" + b"y" * 8192)
    assert done.returncode == 0, done.stderr
    assert answer(memory, "show", "title")["record"]["body"] == "y" * 8192


@pytest.mark.parametrize(
    ("options", "code", "status"),
    [
        (("--title", LONG), "invalid-record", 1),
        (("--title", "  "), "invalid-value", 2),
        (("--title", os.fsdecode(b"\xff")), "invalid-record", 1),
        (("--tag", os.fsdecode(b"\xff")), "invalid-record", 1),
        (tuple(f"--path=p{n}" for n in range(33)), "invalid-record", 1),
        (tuple(f"--task=p{n}" for n in range(33)), "invalid-record", 1),
        (tuple(f"--operation=p{n}" for n in range(33)), "invalid-record", 1),
        (tuple(f"--phase=p{n}" for n in range(33)), "invalid-record", 1),
        (("--tag", "t" * 70_000), "invalid-record", 1),
        (("--valid-until", "tomorrow"), "invalid-value", 2),
        (("--valid-until", "2026-02-30"), "invalid-value", 2),
        (("--valid-from", "0x7"), "invalid-value", 2),
        (("--valid-from", "2026-05-01", "--valid-until", "2026-04-01"), "invalid-value", 2),
        (("--text", "a second text"), "usage", 2),
        (("--type", "profile"), "usage", 2),
        (("--class", "convention"), "usage", 2),
        (("--scope", "everywhere"), "usage", 2),
        (("--scope", "project"), "not-a-project", 2),
        (("--project", "nowhere"), "project-not-found", 3),
        (("--nonsense",), "usage", 2),
    ],
    ids=lambda given: " ".join(given)[:40] if isinstance(given, tuple) else None,
)
def test_an_option_of_remember_that_cannot_hold(
    memory: Memory, options: tuple[str, ...], code: str, status: int
) -> None:
    refused(memory, "remember", "A text", *options, code=code, status=status)


def test_a_day_is_its_own_last_day(memory: Memory) -> None:
    arguments = ("--valid-from", "2026-12-24", "--valid-until", "2026-12-24", "--scope", "global")
    assert call(memory, "remember", "No meetings", *arguments).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "code", "status"),
    [
        (("forget",), "usage", 2),
        (("forget", "x", "--missing"), "usage", 2),
        (("rollback", "x", "--missing"), "usage", 2),
        (("resolve", "x"), "usage", 2),
        (("pause", "x", "--project", "."), "usage", 2),
        (("pause", "x", "--learning"), "usage", 2),
        (("resume", "--project", ".", "--retrieval"), "usage", 2),
        (("forget", "--missing", "--permanent"), "usage", 2),
        (("forget", "--missing", "--expect", "abcd"), "usage", 2),
        (("rollback", "--missing", "--to", "abcd"), "usage", 2),
        (("list", "--all", "--project", "x"), "usage", 2),
        (("list", "--all", "."), "usage", 2),
        (("list", ".", "--project", "x"), "usage", 2),
        (("remember", "x", "--scope", "global", "--project", "x"), "usage", 2),
        (("resolve", "x", "--edit", "--text", "x"), "usage", 2),
        (("config", "language", "en", "--unset"), "usage", 2),
        (("config", "--unset"), "usage", 2),
        (("config", "learning"), "setting-unknown", 3),
        (("config", "language", "english"), "invalid-value", 2),
        (("config", "language", "zh-"), "invalid-value", 2),
        (("config", "colour"), "setting-unknown", 3),
        (("config", "colour", "red"), "setting-unknown", 3),
        (("config", "memory.learning", "maybe"), "invalid-value", 2),
        (("config", "language", "not a tag"), "invalid-value", 2),
        (("list", "--limit", "0"), "usage", 2),
        (("list", "--state", "nonsense"), "usage", 2),
        (("list", "./nowhere"), "path-not-found", 3),
        (("list", "--project", "nowhere"), "project-not-found", 3),
        (("-C", "./nowhere", "list"), "path-not-found", 3),
        (("retrieve", "./nowhere"), "path-not-found", 3),
        (("retrieve", "--max-chars", "-1"), "usage", 2),
        (("lint", "./nowhere"), "path-not-found", 3),
        (("project", "show"), "not-a-project", 2),
        (("project", "alias", "https://example.org/x"), "not-a-project", 2),
        (("import", "./nowhere.jsonl"), "cannot-read", 1),
        (("export", "-o", "./nowhere/x.jsonl"), "cannot-write", 1),
        (("remembr", "x"), "usage", 2),
        (("list", "a", "b"), "usage", 2),
        (("show",), "usage", 2),
        (("--json",), "usage", 2),
    ],
    ids=lambda given: " ".join(given) if isinstance(given, tuple) else None,
)
def test_a_call_that_cannot_be_meant(
    memory: Memory, arguments: tuple[str, ...], code: str, status: int
) -> None:
    refused(memory, *arguments, code=code, status=status)


def test_a_mistyped_command_is_answered_with_the_near_one(memory: Memory) -> None:
    done = call(memory, "remembr", "x")
    assert done.returncode == 2
    assert "error[usage]" in done.stderr.decode()
    assert "remember" in done.stderr.decode()
    assert done.stdout == b""


def test_an_error_for_a_person_has_its_code_its_sentence_and_what_helps(memory: Memory) -> None:
    done = call(memory, "show", "nothing of this name")
    lines = done.stderr.decode().splitlines()
    assert lines[0].startswith("error[record-not-found] no memory has the id or title")
    assert "memsync list" in lines[1]
    assert done.stdout == b""


def test_json_after_two_dashes_is_text(memory: Memory) -> None:
    done = call(memory, "show", "--", "--json")
    assert done.returncode == 3
    assert done.stderr.startswith(b"error[record-not-found]")


# --- a broken file ---------------------------------------------------------------------------

BROKEN = "---\nid: m-brkn000000000000\ntitle: [unclosed\nlifecycle: gone\n---\ntext\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ("show",),
        ("correct", "another text"),
        ("forget",),
        ("forget", "--permanent"),
        ("pause",),
        ("resolve", "--take", "0"),
    ],
    ids=" ".join,
)
def test_a_broken_file_is_named_with_its_lines_and_left_alone(
    memory: Memory, arguments: tuple[str, ...]
) -> None:
    memory.write("global/broken.md", BROKEN)
    command, *rest = arguments
    error = refused(memory, command, "m-brkn000000000000", *rest, code="broken-file", status=1)
    assert error["facts"]["path"] == "global/broken.md"
    assert error["facts"]["problems"][0]["line"] == 3
    assert memory.read("global/broken.md") == BROKEN


def test_all_problems_of_a_file_are_told_at_once(memory: Memory) -> None:
    memory.write(
        "global/broken.md",
        "---\nid: m-brkn000000000000\nlifecycle: gone\nmemoryType: hobby\nscope: moon\n---\nx\n",
    )
    told = answer(memory, "lint")["problems"]
    assert [(p["line"], p["code"]) for p in told] == [(n, "invalid-value") for n in (3, 4, 5)]


# --- editors ---------------------------------------------------------------------------------


def script(memory: Memory, name: str, text: str) -> str:
    path = memory.root / name
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)
    return str(path)


def test_edit_without_an_editor(memory: Memory) -> None:
    entry = memory.remember("Prefer tabs")
    refused(memory, "edit", entry.record.id, code="editor-unknown", status=2)
    refused(memory, "resolve", entry.record.id, "--edit", code="editor-unknown", status=2)


@pytest.mark.parametrize(
    "editor", ["false", "/nowhere/editor", "sh -c 'exit 3' --", "'unclosed", "   "]
)
def test_an_editor_that_fails(memory: Memory, editor: str) -> None:
    entry = memory.remember("Prefer tabs")
    refused(
        memory,
        *("edit", entry.record.id),
        code="editor-failed",
        status=1,
        variables={"EDITOR": editor},
    )


def test_the_editor_of_git_serves_where_no_variable_names_one(memory: Memory) -> None:
    entry = memory.remember("Prefer tabs")
    adds = script(memory, "adds", 'echo "in $0." >> "$1"\n')
    memory.git("config", "--global", "core.editor", adds)
    assert answer(memory, "edit", entry.record.id)["record"]["body"] == f"in {adds}."
    memory.git("config", "core.editor", "false")
    done = call(memory, "edit", entry.record.id)
    assert b"editor-failed" in done.stderr
    assert call(memory, "edit", entry.record.id, variables={"VISUAL": adds}).returncode == 0


def test_what_a_failing_editor_saved_is_kept_and_told(memory: Memory) -> None:
    entry = memory.remember("Prefer tabs")
    saves = script(memory, "saves", 'echo "in Go." >> "$1"; exit 1\n')
    done = call(memory, "edit", entry.record.id, variables={"EDITOR": saves})
    assert done.returncode == 1
    assert f"what it saved is kept in {memory.home / entry.path}" in done.stderr.decode()
    assert memory.read(entry.path).endswith("in Go.\n")
    assert answer(memory, "show", entry.record.id)["record"]["body"] == "in Go."


CONFLICT = (
    "---\nid: m-c0nf000000000000\nconflict:\n  - field: body\n    text: other\n---\nOne side\n"
)


def test_a_draft_of_resolve_is_kept_until_it_is_taken_in(memory: Memory) -> None:
    memory.write("global/x.md", CONFLICT)
    drafts = memory.home / ".git" / "memsync" / "kept"
    command = ("resolve", "m-c0nf000000000000", "--edit")
    for name, body in (
        ("fails", 'echo "My words" > "$1"; exit 1\n'),
        ("garbles", 'printf "\\377My words" > "$1"\n'),
    ):
        done = call(memory, *command, variables={"EDITOR": script(memory, name, body)})
        assert done.returncode == 1, done.stderr
        (draft,) = drafts.iterdir()
        assert str(draft) in done.stderr.decode()
        assert b"My words" in draft.read_bytes()
        draft.unlink()
    assert call(memory, *command, variables={"EDITOR": "false"}).returncode == 1
    assert [*drafts.iterdir()] == []
    writes = script(memory, "writes", 'grep -q other "$1" && echo "Both" > "$1"\n')
    told = answer(memory, *command, variables={"EDITOR": writes})
    assert (told["record"]["body"], told["record"].get("conflict")) == ("Both", None)
    assert [*drafts.iterdir()] == []


def test_an_editor_that_breaks_the_file_loses_nothing(memory: Memory) -> None:
    entry = memory.remember("Prefer tabs")
    before = memory.commits()
    breaks = script(memory, "breaks", 'printf -- "---\\ntitle: [open\\n---\\nmine\\n" > "$1"\n')
    done = call(memory, "edit", entry.record.id, variables={"VISUAL": breaks, "EDITOR": "false"})
    assert done.returncode == 4, done.stderr
    assert b"global/prefer-tabs.md:2" in done.stderr
    assert b"yaml-syntax" in done.stderr
    assert memory.read(entry.path) == "---\ntitle: [open\n---\nmine\n"
    assert memory.commits() == before
    # The broken file can be edited again, by its path, and is taken in once it is right.
    mends = script(memory, "mends", 'sed -i "s/\\[open/open again/" "$1"\n')
    done = call(memory, "edit", entry.path, variables={"EDITOR": mends})
    assert done.returncode == 0, done.stderr
    assert answer(memory, "show", "open again")["record"]["id"] == entry.record.id


def test_an_edit_is_taken_in_and_an_untouched_file_is_not(memory: Memory) -> None:
    entry = memory.remember("Prefer tabs")
    before = memory.commits()
    assert b"unchanged" in call(memory, "edit", "Prefer tabs", variables={"EDITOR": "true"}).stdout
    assert memory.commits() == before
    adds = script(memory, "adds", 'echo "in Go." >> "$1"\n')
    told = answer(memory, "edit", entry.record.id, variables={"EDITOR": adds})
    assert told["changed"] is True
    assert told["record"]["body"] == "in Go."
    assert memory.commits() == before + 1


def test_an_editor_that_removes_the_file(memory: Memory) -> None:
    entry = memory.remember("Prefer tabs")
    removes = script(memory, "removes", 'rm "$1"\n')
    done = call(memory, "edit", entry.record.id, variables={"EDITOR": removes})
    assert done.returncode == 4, done.stderr
    assert call(memory, "show", entry.record.id).returncode == 3
    assert answer(memory, "tombstones")["tombstones"][0]["reason"] == "file-deleted"


# --- homes -----------------------------------------------------------------------------------

EVERY = (
    ("list",),
    ("show", "x"),
    ("search", "x"),
    ("history", "x"),
    ("conflicts",),
    ("tombstones",),
    ("retrieve", "--task", "x"),
    ("expand", "x"),
    ("explain", "x"),
    ("status",),
    ("lint",),
    ("doctor",),
    ("doctor", "--fix"),
    ("export",),
    ("config",),
    ("config", "memory.learning", "false"),
    ("project", "list"),
    ("remember", "x", "--scope", "global"),
    ("correct", "x", "y"),
    ("forget", "x"),
    ("forget", "--missing"),
    ("rollback", "x"),
    ("pause",),
    ("edit", "x"),
)


def test_every_command_names_a_home_where_there_is_none(machine: Memory) -> None:
    for arguments in EVERY:
        refused(machine, *arguments, code="no-memory-repository", status=3)
    assert not machine.home.exists()


@pytest.mark.parametrize("command", EVERY[::4], ids=lambda given: given[0])
def test_a_home_that_is_a_file(machine: Memory, command: tuple[str, ...]) -> None:
    machine.home.write_text("a file of mine")
    refused(machine, *command, code="no-memory-repository", status=3)
    refused(machine, "init", code="not-a-memory-repository", status=1)


def test_a_code_project_is_never_taken_for_a_memory(machine: Memory) -> None:
    machine.home.mkdir()
    (machine.home / "main.py").write_text("print()\n")
    machine.git("init", "-q")
    machine.git("add", "main.py")
    machine.git("commit", "-qm", "mine")
    for arguments in EVERY:
        refused(machine, *arguments, code="not-a-memory-repository", status=1)
    error = refused(machine, "init", code="not-a-memory-repository", status=1)
    assert "main.py" in error["message"]
    assert not (machine.home / ".git" / "memsync").exists()


def test_a_folder_in_use_is_not_begun(machine: Memory) -> None:
    machine.home.mkdir()
    (machine.home / "letter.txt").write_text("Dear")
    refused(machine, "init", code="not-a-memory-repository", status=1)
    refused(machine, "list", code="no-memory-repository", status=3)


def test_a_home_inside_somebody_elses_work_tree(machine: Memory) -> None:
    code = make_project(machine, "code")
    for home in (code / "deep" / "memory", code / "link"):
        if home.name == "link":
            home.symlink_to(code / "deep", target_is_directory=True)
        chosen = {"MEMSYNC_HOME": str(home)}
        error = refused(
            machine,
            "init",
            code="inside-other-work-tree",
            status=1,
            where=code,
            variables=chosen,
        )
        assert error["facts"]["outer"] == str(code)
        if home.name != "link":
            (code / "deep").mkdir()
    refused(
        machine,
        *("remember", "x", "--scope", "global"),
        code="no-memory-repository",
        status=3,
        where=code,
        variables={"MEMSYNC_HOME": str(code / "deep")},
    )


def test_without_memsync_home_and_home(machine: Memory) -> None:
    gone = {"MEMSYNC_HOME": "", "HOME": ""}
    for arguments in (("init",), ("list",), ("remember", "x"), ("edit", "x")):
        refused(machine, *arguments, code="home-unknown", status=2, variables=gone)
    assert call(machine, "--help", variables=gone).returncode == 0


def test_home_alone_says_where_the_memory_lives(machine: Memory) -> None:
    assert call(machine, "init", variables={"MEMSYNC_HOME": ""}).returncode == 0
    assert (machine.root / ".memsync" / "memsync.yaml").is_file()


def test_memsync_home_alone_is_enough(machine: Memory) -> None:
    alone = {"HOME": ""}
    assert call(machine, "init", variables=alone).returncode == 0
    assert call(machine, "remember", "x", "--scope", "global", variables=alone).returncode == 0


@pytest.mark.parametrize("stated", ["2", '"2"', "99999999999999999999", "2.0", "next", "[1]"])
def test_a_format_that_is_not_known_is_refused_untouched(memory: Memory, stated: str) -> None:
    memory.remember("Prefer tabs")
    settings = memory.read("memsync.yaml").replace("format: 1", f"format: {stated}")
    memory.write("memsync.yaml", settings)
    (memory.home / "README.md").unlink()
    memory.write("global/by-hand.md", "By hand\n")
    for arguments in (*EVERY[::3], ("init",), ("remember", "x", "--scope", "global")):
        error = refused(memory, *arguments, code="newer-format", status=1)
        assert error["facts"]["known"] == 1


@pytest.mark.parametrize("line", ["", "format: 1\n", "format:\n", "format: 0\n", 'format: "1"\n'])
def test_an_older_or_missing_format_works_and_loses_nothing(memory: Memory, line: str) -> None:
    settings = memory.read("memsync.yaml").replace("format: 1\n", f"{line}colour: red # mine\n")
    memory.write("memsync.yaml", settings)
    assert call(memory, "remember", "x", "--scope", "global").returncode == 0
    assert memory.read("memsync.yaml") == settings
    assert call(memory, "init").returncode == 0
    assert memory.read("memsync.yaml") == settings


def test_a_missing_settings_file_is_told_and_not_taken_for_a_foreign_folder(
    memory: Memory,
) -> None:
    memory.remember("Prefer tabs")
    (memory.home / "memsync.yaml").unlink()
    assert len(answer(memory, "list")["records"]) == 1
    assert [p["code"] for p in answer(memory, "lint")["problems"]] == ["settings-missing"]


# --- git -------------------------------------------------------------------------------------


def only_python(memory: Memory) -> dict[str, str]:
    """A PATH on which there is no git."""
    folder = memory.root / "bin"
    folder.mkdir(exist_ok=True)
    return {"PATH": str(folder)}


def test_without_git(memory: Memory) -> None:
    memory.remember("Prefer tabs")
    path = only_python(memory)
    for arguments in (
        ("remember", "x", "--scope", "global"),
        ("correct", "Prefer tabs", "y"),
        ("forget", "Prefer tabs"),
        ("status",),
        ("doctor",),
        ("history", "Prefer tabs"),
    ):
        refused(memory, *arguments, code="git-missing", status=1, variables=path)
    fresh = {**path, "MEMSYNC_HOME": str(memory.root / "fresh")}
    where = memory.root / "fresh"
    refused(memory, "init", code="git-missing", status=1, where=where, variables=fresh)


def old_git(memory: Memory) -> dict[str, str]:
    """A PATH on which git is old: it says so, and does all else as it does."""
    folder = memory.root / "old"
    folder.mkdir()
    real = subprocess.run(["which", "git"], capture_output=True, text=True).stdout.strip()
    (folder / "git").write_text(
        "#!/bin/sh\n"
        'for word; do [ "$word" = --version ] && { echo "git version 2.20.5"; exit 0; }; done\n'
        f'exec {real} "$@"\n'
    )
    (folder / "git").chmod(0o755)
    return {"PATH": f"{folder}:{os.environ['PATH']}"}


def test_git_too_old(memory: Memory) -> None:
    memory.remember("Prefer tabs")
    path = old_git(memory)
    for arguments in (
        ("remember", "x", "--scope", "global"),
        ("correct", "Prefer tabs", "y"),
        ("forget", "--permanent", "Prefer tabs"),
        ("rollback", "Prefer tabs"),
        ("doctor", "--fix"),
    ):
        error = refused(memory, *arguments, code="git-too-old", status=1, variables=path)
        assert error["facts"]["found"] == "2.20"
    where = memory.root / "fresh"
    fresh = {**path, "MEMSYNC_HOME": str(where)}
    refused(memory, "init", code="git-too-old", status=1, where=where, variables=fresh)
    checks = {c["name"]: c["state"] for c in answer(memory, "doctor", variables=path)["checks"]}
    assert checks["git"] == "failed"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_memory_that_another_user_owns(memory: Memory) -> None:
    memory.remember("Prefer tabs")
    os.chown(memory.home, 65534, 65534)
    for arguments in EVERY[::4]:
        error = refused(memory, *arguments, code="owned-by-other", status=1)
        assert error["facts"]["owner"] in ("nobody", "user 65534")
    refused(memory, "init", code="owned-by-other", status=1)


# --- no terminal, odd streams ------------------------------------------------------------------


def test_nothing_asks_without_a_terminal(memory: Memory) -> None:
    """No command that has what it needs waits for a standard input that never ends."""
    memory.remember("Prefer tabs")
    read, write = os.pipe()
    try:
        for arguments in (
            ("init",),
            ("doctor", "--fix"),
            ("remember", "x", "--scope", "global"),
            ("correct", "x", "--text", "y"),
            ("forget", "--permanent", "Prefer tabs"),
        ):
            status, told = process(memory, [*arguments], stdin=read, stdout=subprocess.DEVNULL)
            assert status == 0, told
    finally:
        os.close(read)
        os.close(write)


def process(memory: Memory, arguments: list[str], **streams: object) -> tuple[int, bytes]:
    done = subprocess.run(
        [sys.executable, "-m", "memsync", *arguments],
        stderr=subprocess.PIPE,
        env=memory.variables,
        cwd=memory.root,
        timeout=30,
        **streams,  # type: ignore[call-overload]
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize("command", [["list"], ["export"], ["--help"], ["list", "--json"]])
def test_a_reader_that_goes_away_is_no_error(memory: Memory, command: list[str]) -> None:
    for number in range(30):
        memory.write(f"global/{number}.md", f"Memory {number}\n\n" + "word " * 1000)
    read, write = os.pipe()
    os.close(read)
    try:
        assert process(memory, command, stdout=write) == (0, b"")
    finally:
        os.close(write)
    whole = " ".join([sys.executable, "-m", "memsync", *command])
    script = f"set -o pipefail; {whole} | head -c 1"
    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, env=memory.variables, cwd=memory.root
    )
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_output_that_cannot_be_written_is_an_error(memory: Memory) -> None:
    memory.remember("Prefer tabs")
    with open("/dev/full", "wb") as full:
        status, told = process(memory, ["list", "--json"], stdout=full)
    assert status == 1
    assert json.loads(told)["error"]["code"] == "cannot-write"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize(
    "arguments",
    [
        ["remember", "Prefer spaces", "--scope", "global"],
        ["remember", "Prefer spaces", "--scope", "global", "--json"],
        ["forget", "Prefer tabs"],
        ["config", "language", "zh-CN"],
        ["doctor", "--fix"],
        ["init"],
    ],
)
def test_a_change_whose_answer_cannot_be_written_is_told_as_done(
    memory: Memory, arguments: list[str]
) -> None:
    memory.remember("Prefer tabs")
    (memory.home / ".gitignore").unlink()
    before = standing(memory)
    with open("/dev/full", "wb") as full:
        status, told = process(memory, arguments, stdout=full)
    assert (status, b"answer-lost" in told) == (4, True), told
    assert standing(memory) != before


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_notes_that_cannot_be_written_stop_nothing(memory: Memory) -> None:
    memory.remember("Prefer tabs")
    memory.write("global/by-hand.md", "Text\n")
    for arguments, status in (
        (["remember", "Prefer tabs!", "--scope", "global"], 0),
        (["show", "nothing"], 3),
        (["show", "nothing", "--json"], 3),
    ):
        with open("/dev/full", "wb") as full:
            done = subprocess.run(
                [sys.executable, "-m", "memsync", *arguments],
                stdout=subprocess.PIPE,
                stderr=full,
                env=memory.variables,
                cwd=memory.root,
            )
        assert done.returncode == status, arguments


def test_a_current_folder_that_is_gone(memory: Memory) -> None:
    memory.remember("Prefer tabs")
    gone = memory.root / "gone"
    for arguments, status in (
        (["list"], 3),
        (["remember", "x"], 3),
        (["status", "--json"], 3),
        (["-C", str(memory.root), "list"], 0),
    ):
        gone.mkdir()
        script = 'rmdir "$PWD" && exec "$@"'
        done = subprocess.run(
            ["sh", "-c", script, "sh", sys.executable, "-m", "memsync", *arguments],
            capture_output=True,
            env=memory.variables,
            cwd=gone,
        )
        assert done.returncode == status, done.stderr
        assert (b"current-folder-gone" in done.stderr) == (status != 0)


@pytest.mark.parametrize("below", ["", "global", ".git"])
def test_the_memory_itself_is_no_code_project(memory: Memory, below: str) -> None:
    memory.git("remote", "add", "origin", "git@github.com:mona/memory.git")
    memory.remember("Prefer tabs")
    with open(memory.home / ".git" / "config", "a") as config:
        config.write("[memsync]\n\tproject = bound-before\n")
    where = memory.home / below
    assert len(answer(memory, "list", folder=where)["records"]) == 1
    assert answer(memory, "status", folder=where)["projectKey"] is None
    answer(memory, "retrieve", "--task", "tabs", folder=where)
    assert answer(memory, "remember", "x", folder=where)["record"]["scope"] == "global"
    for arguments in (("remember", "y", "--scope", "project"), ("project", "show")):
        refused(memory, *arguments, code="not-a-project", status=2, folder=where)
    assert not (memory.home / "projects").exists()


def test_closed_streams_do_not_matter(memory: Memory) -> None:
    memory.remember("Prefer tabs")
    before = standing(memory)
    for closed in (">&-", "<&-", "2>&-", ">&- 2>&- <&-"):
        command = f"exec {sys.executable} -m memsync list {closed}"
        done = subprocess.run(
            ["sh", "-c", command], capture_output=True, env=memory.variables, cwd=memory.root
        )
        assert (done.returncode, done.stderr) == (0, b""), closed
    assert standing(memory) == before
