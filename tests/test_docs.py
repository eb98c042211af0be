"""The pages say what the code does: made pages, tables, examples, commands and links."""

from __future__ import annotations

import re
import shlex
import shutil
import unicodedata
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from urllib.parse import unquote

import click
import pytest

from memsync import config, record, tombstone
from memsync.cli import app
from memsync.cli.advice import advice
from memsync.cli.labels import notices
from memsync.errors import PROBLEMS, Exit
from memsync.frontmatter.document import parse_yaml
from memsync.frontmatter.schema import (
    APPLICATION,
    CONFLICT,
    EPISODE,
    EVIDENCE,
    RECORD,
    SELECTORS,
    SOURCE,
    decode,
)
from memsync.frontmatter.strict import DEPTH
from memsync.identity import STEPS
from memsync.store import absences, layout
from tests import generate
from tests.generate import ROOT

PAGES = sorted(
    str(path.relative_to(ROOT))
    for pattern in ("docs/*.md", "*.md", "benchmarks/*.md")
    for path in ROOT.glob(pattern)
)
_FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def page(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def rows(name: str, heading: str) -> list[list[str]]:
    """The first table below a heading of a page; code marks around a whole cell are taken off."""
    text = page(name)
    assert f"\n{heading}\n" in text, f"{name} has no heading {heading}"
    below = text[text.index(f"\n{heading}\n") :]
    lines = re.search(r"(?:^\|[^\n]*\n)+", below, re.MULTILINE)
    assert lines is not None, f"{name} has no table below {heading}"
    return [
        [re.sub(r"^`([^`]*)`$", r"\1", cell.strip()) for cell in line.strip("|").split(" | ")]
        for line in lines[0].splitlines()[2:]
    ]


def column(name: str, heading: str, number: int = 0) -> list[str]:
    return [row[number].strip().strip("`") for row in rows(name, heading)]


# --- made pages ------------------------------------------------------------------------------


def test_the_pages_made_from_the_code_are_current() -> None:
    stale = [path for path, text in generate.pages().items() if page(path) != text]
    assert not stale, f"run `make docs`: {stale}"


def test_a_page_that_differs_is_told_by_check_and_written_without_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    shutil.copytree(ROOT / "memsync", tmp_path / "memsync")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    monkeypatch.setattr(generate, "ROOT", tmp_path)
    changed = tmp_path / "docs" / "errors.md"
    wanted = generate.pages()["docs/errors.md"]
    changed.write_text("# Errors\n", encoding="utf-8")
    assert generate.main(["--check"]) == 1
    assert "docs/errors.md" in capsys.readouterr().out
    assert changed.read_text(encoding="utf-8") == "# Errors\n"
    assert generate.main([]) == 0
    assert changed.read_text(encoding="utf-8") == wanted
    assert generate.main(["--check"]) == 0


# --- tables ----------------------------------------------------------------------------------

FORMAT = "docs/format.md"


def test_the_keys_of_a_memory_are_the_schemas_in_its_order() -> None:
    assert column(FORMAT, "## The keys of a memory") == [*RECORD]
    assert column(FORMAT, "### Selectors") == [*SELECTORS]
    assert column(FORMAT, "### Items of evidence") == [*EVIDENCE]
    others = {key: re.findall(r"\w+", told) for key, told in rows(FORMAT, "### Other mappings")}
    assert others == {
        "source": [*SOURCE],
        "episode": [*EPISODE],
        "application": [*APPLICATION],
        "conflict": [*CONFLICT],
    }


def test_the_values_of_a_memory_are_the_enums() -> None:
    kinds: dict[str, type[StrEnum]] = {
        "scope": record.Scope,
        "memoryType": record.MemoryType,
        "memoryClass": record.MemoryClass,
        "authority": record.Authority,
        "lifecycle": record.Lifecycle,
        "application.outcome": record.Outcome,
    }
    stated = [(key, value) for key, value, _ in rows(FORMAT, "### Values")]
    assert stated == [(key, str(value)) for key, kind in kinds.items() for value in kind]


def test_the_defaults_that_the_keys_table_states_are_the_records() -> None:
    blank = record.Record(id="m-0000000000000000", title="x")
    said = {key: told for key, _, told in rows(FORMAT, "## The keys of a memory")}
    for key, value in {
        "memoryType": blank.memory_type,
        "memoryClass": blank.memory_class,
        "authority": blank.authority,
        "lifecycle": blank.lifecycle,
    }.items():
        assert said[key].endswith(f"default `{value}`")


def test_the_keys_of_a_tombstone_are_those_that_it_reads() -> None:
    stated = column(FORMAT, "## Forgetting")
    assert set(stated) == tombstone._KEYS
    assert len(stated) == len(set(stated))
    reasons = next(row for row in rows(FORMAT, "## Forgetting") if row[0] == "reason")[1]
    assert re.findall(r"[a-z]+-[a-z]+", reasons) == [*tombstone.ForgetReason]


def test_the_limits_are_the_codes() -> None:
    stated = {what: (limit, code) for what, limit, code in rows(FORMAT, "## Limits")}
    limits = {
        "title": (record.TITLE_CHARACTERS, "title-too-long"),
        "text": (record.BODY_BYTES, "body-too-long"),
        "entries in each list of selectors": (record.SELECTOR_ENTRIES, "too-many-entries"),
        "items of evidence": (record.EVIDENCE_ITEMS, "too-many-entries"),
        "file": (record.FILE_BYTES, "file-too-large"),
        "nesting of values": (DEPTH, "yaml-depth"),
    }
    found = {
        what: (int(re.sub(r"\D", "", limit)), code.strip(" `"))
        for what, (limit, code) in stated.items()
    }
    assert found == limits
    assert {code for _, code in limits.values()} <= set(PROBLEMS)


def test_the_numbers_in_the_prose_of_the_format_are_the_codes() -> None:
    assert (absences.MANY_DELETIONS, absences.MANY_SHARE) == (5, 0.10)
    assert "more than five files\nand more than a tenth of all memories" in page(FORMAT)
    assert (record.SUPPORT_THRESHOLD, record.EVIDENCE_DAYS) == (2, 180)
    assert "until two independent changes" in page(FORMAT)
    assert "more than\n180 days ago" in page(FORMAT)
    assert f"the characters `{record._CROCKFORD}`" in page(FORMAT)


def test_the_settings_are_those_that_are_read() -> None:
    stated = column(FORMAT, "## The other files")
    assert sorted(stated) == sorted(["format", "generation", "salts", *config.NAMES])
    example = next(e for e in examples() if e[0] == layout.SETTINGS)
    data = parse_yaml(example[1], example[0]).data
    settings = config.Settings.from_data(data)
    assert set(data) | {"memory.learning", "memory.retrieval"} == {*stated, "memory"}
    assert settings.salts
    assert settings.language == "en"


def test_the_steps_of_a_resolution_are_all_named() -> None:
    assert sorted(column("docs/projects.md", "## The steps of `project show`")) == sorted(STEPS)


def test_the_exit_statuses_are_complete() -> None:
    assert [*generate.STATUSES] == [*Exit]


# --- examples --------------------------------------------------------------------------------


def examples() -> list[tuple[str, bytes]]:
    """The examples of files in the format page: (path, content)."""
    found = []
    for info, body in _FENCE.findall(page(FORMAT)):
        kind, _, path = info.partition(" ")
        if kind in ("markdown", "yaml"):
            assert path, f"an example without a path: {body[:40]!r}"
            found.append((path, body.encode()))
    return found


def test_every_example_of_the_format_is_read_without_a_problem() -> None:
    kinds = []
    for path, raw in examples():
        kind = layout.kind_of(path)
        assert kind is not None, path
        kinds.append(kind)
        if kind == "record":
            read = decode(raw, path, layout.place_of(path), "m-0000000000000000")
            assert read.record is not None, path
            problems, unknown = read.problems, [*read.record.extra]
        elif kind == "tombstone":
            mark = tombstone.decode(raw, path)
            assert mark.tombstone is not None, path
            problems, unknown = mark.problems, [*mark.tombstone.extra]
        else:
            problems, unknown = parse_yaml(raw, path).problems, []
        assert (path, problems, unknown) == (path, (), [])
    assert kinds.count("record") >= 4
    assert {"tombstone", "project", "settings"} <= set(kinds)


# --- commands --------------------------------------------------------------------------------


def commands_in(text: str) -> Iterator[str]:
    """What a text calls: ``memsync …`` in code spans, and lines of code blocks."""
    for _info, block in _FENCE.findall(text):
        for line in block.splitlines():
            called = re.match(r"(?:\$ )?(memsync [^#|<>]*)", line)
            if called:
                yield called[1].strip()
    for span in re.findall(r"`([^`\n]+)`", _FENCE.sub("", text)):
        if span.startswith("memsync "):
            yield span


def wrong_with(called: str) -> str:
    """Why there is no such command, or an empty text."""
    try:
        words = shlex.split(called)[1:]
    except ValueError:
        words = called.split()[1:]
    while words and words[0].startswith("-"):
        if words[0] not in ("-C", "--json", "-h", "--help", "-V", "--version"):
            return f"unknown option {words[0]}"
        words = words[2:] if words[0] == "-C" else words[1:]
    if not words or words[0] in ("COMMAND", "…"):
        return ""
    context = click.Context(app.program, info_name="memsync")
    command = app.program.get_command(context, words[0])
    if command is None:
        return f"unknown command {words[0]}"
    if isinstance(command, click.Group) and len(words) > 1:
        inner = command.commands.get(words[1])
        if inner is None:
            return f"unknown command {words[0]} {words[1]}"
        command = inner
    known = {name for param in command.params for name in (*param.opts, *param.secondary_opts)}
    known |= {"-h", "--help"}
    for word in words:
        option = word.partition("=")[0]
        if re.fullmatch(r"--?[A-Za-z][a-z-]*", option) and option not in known:
            return f"{words[0]} has no option {option}"
    return ""


def test_the_check_of_commands_finds_what_is_wrong() -> None:
    assert wrong_with("memsync remember TEXT --scope global") == ""
    assert wrong_with("memsync -C api project show") == ""
    assert wrong_with("memsync forgive ID") == "unknown command forgive"
    assert wrong_with("memsync project marry") == "unknown command project marry"
    assert wrong_with("memsync forget ID --forever") == "forget has no option --forever"
    text = "Say `memsync list`.\n```\n$ memsync status .   # how\nout\n```\n"
    assert sorted(commands_in(text)) == ["memsync list", "memsync status ."]


@pytest.mark.parametrize("name", PAGES)
def test_every_command_that_a_page_names_exists(name: str) -> None:
    wrong = {called: told for called in commands_in(page(name)) if (told := wrong_with(called))}
    assert not wrong


def test_every_command_that_an_error_or_a_notice_advises_exists() -> None:
    codes = [kind.code for kind in generate.error_classes()]
    told = [advice(code, generate.ENGLISH) for code in codes] + [
        *notices(generate.ENGLISH).values()
    ]
    told += [text for pair in PROBLEMS.values() for text in pair]
    called = [command for text in told for command in commands_in(text)]
    assert len(called) > 8
    assert [wrong_with(command) for command in called if wrong_with(command)] == []


@pytest.mark.parametrize("name", PAGES)
def test_every_make_target_that_a_page_names_exists(name: str) -> None:
    targets = set(re.findall(r"^([a-z-]+):", page("Makefile"), re.MULTILINE))
    asked = set(re.findall(r"`make ([a-z-]+)`", page(name)))
    asked |= set(re.findall(r"^(?:\$ )?make ([a-z-]+)", page(name), re.MULTILINE))
    assert asked <= targets


def test_every_command_is_told_with_the_meaning_of_each_option() -> None:
    text = page("docs/commands.md")
    for listed in app.COMMANDS.values():
        for name in listed:
            assert f"\n### {name}\n" in text
    assert [line for line in text.splitlines() if line.endswith("|  |")] == []


def test_the_examples_of_commands_are_of_the_command_they_stand_at() -> None:
    for name, examples in generate.EXAMPLES.items():
        assert f"\n### {name}\n" in page("docs/commands.md")
        for called in examples:
            assert called.startswith(f"memsync {name}")
            assert wrong_with(called) == ""


# --- errors ----------------------------------------------------------------------------------


def test_every_error_gets_the_facts_that_its_sentence_asks_for() -> None:
    kinds = {kind.__name__: kind for kind in generate.error_classes()}
    made = generate.errors_made()
    assert len(made) > 60
    lacking = [
        (told.place, told.name, missing)
        for told in made
        if "**" not in told.facts
        and (missing := generate.places_in(kinds[told.name].template) - set(told.facts))
    ]
    assert lacking == []


def test_every_problem_gets_the_facts_that_its_sentences_ask_for() -> None:
    made = generate.problems_made()
    assert len(made) > 20
    lacking = []
    for told in made:
        asked = set().union(*(generate.places_in(text) for text in PROBLEMS[told.name]))
        if "**" not in told.facts and not asked <= set(told.facts):
            lacking.append((told.place, told.name, asked - set(told.facts)))
    assert lacking == []


def test_error_codes_are_distinct_words_in_kebab_case() -> None:
    codes = [kind.code for kind in generate.error_classes()]
    assert len(codes) == len(set(codes))
    assert [
        code for code in (*codes, *PROBLEMS) if not re.fullmatch(r"[a-z]+(-[a-z]+)*", code)
    ] == []


# --- rooms -----------------------------------------------------------------------------------


def test_the_rooms_are_the_modules_that_exist() -> None:
    placed = [room for layer in generate.layers() for room in layer]
    there = {
        path.stem
        for path in (ROOT / "memsync").iterdir()
        if (path.suffix == ".py" or (path / "__init__.py").exists()) and path.stem != "__init__"
    }
    assert set(placed) == there


def test_each_library_lives_in_one_room() -> None:
    homes: dict[str, list[str]] = {}
    for layer in generate.layers():
        for room in layer:
            for library in generate.libraries(room):
                homes.setdefault(library, []).append(room)
    assert homes == {
        "click": ["cli"],
        "sqlite3": ["index"],
        "yaml": ["frontmatter"],
    }


def test_the_modules_that_the_architecture_names_exist() -> None:
    for cell in column("docs/architecture.md", "The big rooms inside:"):
        folder = ""
        for name in re.findall(r"[a-z_/]+", cell):
            room, _, module = name.rpartition("/")
            folder = room or folder
            assert (ROOT / "memsync" / folder / f"{module}.py").is_file(), name


# --- links -----------------------------------------------------------------------------------


def anchors(text: str) -> set[str]:
    """The names by which headings can be linked to, as Git hosts make them."""
    found = set()
    for line in _FENCE.sub("", text).splitlines():
        heading = re.match(r"#{1,6} (.*)", line)
        if heading:
            plain = heading[1].strip().lower().replace("`", "")
            kept = [c for c in plain if c in " -_" or unicodedata.category(c)[0] in "LN"]
            found.add("".join(kept).replace(" ", "-"))
    return found


@pytest.mark.parametrize("name", PAGES)
def test_every_link_inside_the_project_resolves(name: str) -> None:
    text = re.sub(r"`[^`\n]*`", "", _FENCE.sub("", page(name)))
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = unquote(target).partition("#")
        file = (ROOT / name).parent / path if path else ROOT / name
        if not file.exists() or (anchor and anchor not in anchors(file.read_text("utf-8"))):
            broken.append(target)
    assert broken == []


def test_the_pages_speak_of_the_project_alone() -> None:
    foreign = re.compile(
        r"/root/|/home/\w|/tmp/\w|pypi|FAULTS|localhost:\d|issue #?\d", re.IGNORECASE
    )
    found = {name: hits for name in PAGES if (hits := foreign.findall(page(name)))}
    assert found == {}
