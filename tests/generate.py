"""The pages and tables of ``docs/`` that are made from the code.

``python -m tests.generate`` writes them; with ``--check`` it changes nothing and ends with 1 where
one differs from the code.
"""

from __future__ import annotations

import ast
import difflib
import re
import string
import sys
import textwrap
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from memsync import errors
from memsync.cli import app
from memsync.cli.advice import advice
from memsync.cli.labels import notices
from memsync.contract.tasks import TaskQuery
from memsync.director import ranking, rendering, select
from memsync.director.rendering import exclusions, reasons
from memsync.errors import PROBLEMS, Exit, MemsyncError
from memsync.language import Translate

ROOT = Path(__file__).resolve().parent.parent
_HEAD = "<!-- Made by `python -m tests.generate` from the code; a change here is lost. -->\n\n"
_SECTION = re.compile(r"(<!-- made: ([a-z-]+) -->\n).*?(<!-- end -->)", re.DOTALL)

ENGLISH = Translate()
STATUSES = {
    Exit.DONE: "done",
    Exit.REFUSED: "refused or failed; nothing was changed",
    Exit.USAGE: "the call itself is wrong",
    Exit.NOT_FOUND: "what the call names does not exist",
    Exit.ATTENTION: "done, but something needs you: an open conflict, a broken file, a notice",
    Exit.BUSY: "somebody else holds it, or it took too long; try again",
    Exit.NETWORK: "the network or the remote failed",
}


def pages() -> dict[str, str]:
    """path -> what the page should hold, for every page that is made wholly or in part."""
    wanted = {"docs/errors.md": errors_page(), "docs/commands.md": commands_page()}
    for path in ("docs/format.md", "docs/retrieval.md", "docs/architecture.md"):
        wanted[path] = _with_sections((ROOT / path).read_text(encoding="utf-8"))
    return wanted


def _with_sections(text: str) -> str:
    """A page whose sections between ``made`` and ``end`` are made anew."""

    def made(found: re.Match[str]) -> str:
        return found[1] + SECTIONS[found[2]]() + found[3]

    return _SECTION.sub(made, text)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(_cell(c) for c in line) + " |\n" for line in lines)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _code(text: str) -> str:
    return f"`{text}`" if text else ""


def spoken(template: str) -> str:
    """A sentence with places for facts, as a page shows it: the facts' names in italics."""
    parts = []
    for literal, name, _spec, _conversion in string.Formatter().parse(template):
        shown = literal.replace("<", "&lt;").replace("*", "\\*").replace("_", "\\_")
        parts.append(shown + (f"*{name}*" if name else ""))
    return "".join(parts)


# --- the code, read --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Told:
    """A place in the code where an error or a problem is made, and the facts it gets."""

    name: str
    facts: tuple[str, ...]
    place: str


def sources() -> Iterator[tuple[Path, ast.Module]]:
    """Every module of memsync, parsed."""
    for path in sorted((ROOT / "memsync").rglob("*.py")):
        yield path, ast.parse(path.read_text(encoding="utf-8"))


def errors_made() -> list[Told]:
    """Every place where an error of ``errors`` is made; ``name`` is its class."""
    known = {kind.__name__ for kind in error_classes()}
    return [told for told in _calls() if told.name in known]


def problems_made() -> list[Told]:
    """Every place where a problem of a file is made; ``name`` is its code."""
    found = []
    for path, tree in sources():
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            if _called(call) in ("problem", "tell") and call.args:
                first = call.args[0]
                if isinstance(first, ast.Constant) and first.value in PROBLEMS:
                    found.append(_told(str(first.value), call, path))
    return found


def _calls() -> Iterator[Told]:
    for path, tree in sources():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                yield _told(_called(node), node, path)


def _called(call: ast.Call) -> str:
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _told(name: str, call: ast.Call, path: Path) -> Told:
    facts = tuple(keyword.arg or "**" for keyword in call.keywords)
    return Told(name, facts, f"{path.relative_to(ROOT)}:{call.lineno}")


def error_classes() -> list[type[MemsyncError]]:
    """The errors with a code of their own, in the order of ``errors``."""
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type)]
    ours = [kind for kind in kinds if issubclass(kind, MemsyncError) and kind is not MemsyncError]
    return [kind for kind in ours if "code" in vars(kind)]


def places_in(template: str) -> set[str]:
    """The facts that a sentence asks for."""
    return {name for _, name, _, _ in string.Formatter().parse(template) if name}


def layers() -> list[list[str]]:
    """The rooms of pyproject.toml from the top down; those of one layer may not see each other."""
    with (ROOT / "pyproject.toml").open("rb") as stream:
        contract = tomllib.load(stream)["tool"]["importlinter"]["contracts"][0]
    return [[name.strip() for name in layer.split("|")] for layer in contract["layers"]]


def room_files(room: str) -> list[Path]:
    """The modules of a room."""
    folder = ROOT / "memsync" / room
    return sorted(folder.rglob("*.py")) if folder.is_dir() else [folder.with_suffix(".py")]


def libraries(room: str) -> set[str]:
    """The libraries that a room imports, beside Python's own; and SQLite."""
    found: set[str] = set()
    for path in room_files(room):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module.partition(".")[0])
    own = set(sys.stdlib_module_names) - {"sqlite3"}
    return found - own - {"memsync"}


# --- docs/errors.md --------------------------------------------------------------------------

_ERRORS = """# Errors and exit statuses

A command that fails says why on standard error: a code in brackets that stays the same from version
to version, a sentence, and where there is something that helps, a second line.

```
$ memsync show m-4k7q
error[record-not-found] no memory has the id or title 'm-4k7q'
  `memsync search` finds by words, `memsync list` shows all.
```

With `--json` the same comes as one object on standard error; `facts` are what the sentence was made
of, and standard output stays empty:

```json
{"error": {"code": "record-not-found", "message": "no memory has …", "facts": {"wanted": "m-4k7q"}}}
```

Errors of reading the command line itself have the code `usage`.

## Exit statuses

"""


def errors_page() -> str:
    """The page of all errors, by their exit status."""
    text = (
        _HEAD
        + _ERRORS
        + table(("status", "meaning"), ((str(int(s)), told) for s, told in STATUSES.items()))
    )
    facts = _facts_by_class()  # what is never made is no promise yet
    for status in Exit:
        kinds = [kind for kind in error_classes() if kind.exit_status is status]
        kinds = [kind for kind in kinds if kind.__name__ in facts]
        if kinds:
            text += f"\n## Status {int(status)}: {STATUSES[status].partition(';')[0]}\n\n"
            text += table(
                ("code", "says", "when", "facts", "what helps"),
                (_error_row(kind, facts.get(kind.__name__, set())) for kind in kinds),
            )
    text += "\n## Notices\n\n"
    text += textwrap.fill(
        "What a command tells beside its result, under `notices` (`attention` and `switchedOff` in "
        "`status`) with `--json`; `facts` fill the places in their order.",
        100,
    )
    text += "\n\n" + table(
        ("code", "says"),
        ((_code(code), re.sub(r"\{(\d)\}", r"*fact \1*", told)) for code, told in _notices()),
    )
    text += "\nProblems of single files, which `lint` and `status` show, are in "
    return text + "[the format](format.md#problems-of-a-file).\n"


def _notices() -> list[tuple[str, str]]:
    return [*notices(ENGLISH).items()]


def _facts_by_class() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for told in errors_made():
        found.setdefault(told.name, set()).update(told.facts)
    return found


def _error_row(kind: type[MemsyncError], facts: set[str]) -> tuple[str, ...]:
    when = _rst((kind.__doc__ or "").partition("\n")[0])
    listed = ", ".join(_code(fact) for fact in sorted(facts))
    return _code(kind.code), spoken(kind.template), when, listed, advice(kind.code, ENGLISH)


# --- docs/commands.md ------------------------------------------------------------------------

_COMMANDS = """# Commands

`memsync COMMAND …`. Results go to standard output, everything else to standard error. Nothing asks
a question. The [exit status](errors.md#exit-statuses) says how it ended.

Every command takes these, before or after its name:

| option | meaning |
| --- | --- |
| `-C PATH` | work as if started in this folder of the code project |
| `--json` | one JSON object with the schema `memsync.cli.v1` in place of text |
| `-h`, `--help` | what the command does and takes |

`memsync` alone shows the help. PATH is a folder of the code project, by default the current one. ID
is an id, any unique beginning of one, or an exact title.

Where files of memories cannot be read, `list`, `search` and `retrieve` answer without them, say so
on standard error (with `--json` they are in `broken`) and end with status 0; `status` and `lint`
name what is wrong and end with 4.

| variable | meaning |
| --- | --- |
| `MEMSYNC_HOME` | the folder of the memory repository; default `~/.memsync` |
| `VISUAL`, `EDITOR` | the editor of `edit` and `resolve --edit`; else git's `core.editor`, `vi` |
| `COLUMNS` | the width of lines; else a terminal's own, and whole lines in a pipe |
| `NO_COLOR` | no colours; without it a terminal gets them and a pipe does not |
| `LC_ALL`, `LC_MESSAGES`, `LANG` | the language of labels, where the memory states none |

Shell completion knows ids and project keys. For bash, zsh or fish:
`_MEMSYNC_COMPLETE=bash_source memsync` prints the script (`zsh_source`, `fish_source`).
"""


#: Calls that show what a command is for.
EXAMPLES = {
    "remember": (
        'memsync remember "Lead with the answer" --scope global',
        'memsync remember "Use pnpm, never npm" --path "web/**" --operation install',
        "memsync remember < note.md",
    ),
    "list": ("memsync list", "memsync list --all --state conflict", "memsync list ../api --tag go"),
    "show": ("memsync show m-4k7q", 'memsync show "Use pnpm, never npm"'),
    "search": ("memsync search pnpm", "memsync search 数据库 --here"),
    "edit": ("memsync edit m-4k7q",),
    "correct": (
        'memsync correct m-4k7q "Use pnpm 9, never npm"',
        'memsync correct m-4k7q --path "web/**" --path "app/**" --category tooling',
        "memsync correct m-4k7q --tag '' --valid-until 2027-01-31",
    ),
    "forget": ("memsync forget m-4k7q",),
    "rollback": ("memsync rollback m-4k7q", "memsync rollback m-4k7q --to 9f3c1e7a"),
    "history": ("memsync history m-4k7q --limit 5",),
    "diff": ("memsync diff m-4k7q", "memsync diff m-4k7q --from 9f3c1e7a --to current"),
    "resolve": ("memsync resolve m-4k7q --take 1", 'memsync resolve m-4k7q --text "Use pnpm 9"'),
    "inbox accept": ("memsync inbox accept m-4k7q",),
    "retrieve": (
        'memsync retrieve --task "Add a package" --path web/app.ts',
        'memsync retrieve ../api --task "Add a package" --operation install --why-not',
    ),
    "expand": ("memsync expand m-4k7q",),
    "explain": ('memsync explain m-4k7q --task "Write the release notes"',),
    "lint": ("memsync lint", "memsync lint ../a-copy-of-my-memory"),
    "doctor": ("memsync doctor --fix",),
    "import": ("memsync import memory.jsonl",),
    "export": ("memsync export --output memory.jsonl",),
    "config": (
        "memsync config language zh-CN",
        "memsync config memory.retrieval off",
        "memsync config memory.retrieval --unset",
    ),
    "pause": ("memsync pause m-4k7q", "memsync pause --project .", "memsync pause --learning"),
    "resume": ("memsync resume --project .",),
    "project alias": ("memsync project alias git@github.com:acme/api.git ../api",),
}


def commands_page() -> str:
    """The page of all commands, grouped as in the help."""
    text = _HEAD + _COMMANDS
    context = click.Context(app.program, info_name="memsync")
    for group, listed in app.COMMANDS.items():
        text += f"\n## {group}\n"
        for name in listed:
            command = app.program.get_command(context, name)
            assert command is not None
            text += _command(command, f"memsync {name}")
    return text


def _command(command: click.Command, called: str) -> str:
    text = f"\n### {called.removeprefix('memsync ')}\n\n"
    if isinstance(command, click.Group):
        text += _help(command)
        return text + "".join(
            _command(inner, f"{called} {name}") for name, inner in command.commands.items()
        )
    text += f"```\n{usage(command, called)}\n```\n\n{_help(command)}"
    options = [p for p in command.params if isinstance(p, click.Option) and p.expose_value]
    if options:
        text += "\n" + table(("option", "meaning"), (_option(option) for option in options))
    examples = EXAMPLES.get(called.removeprefix("memsync "))
    if examples:
        text += "\n```sh\n" + "\n".join(examples) + "\n```\n"
    return text


def _help(command: click.Command) -> str:
    return textwrap.fill(" ".join((command.help or "").split()), 100) + "\n"


def usage(command: click.Command, called: str) -> str:
    """How a command is called, in one line."""
    words = [called]
    if any(isinstance(p, click.Option) and p.expose_value for p in command.params):
        words.append("[OPTIONS]")
    for argument in (p for p in command.params if isinstance(p, click.Argument)):
        word = argument.metavar or (argument.name or "").upper()
        if argument.nargs == -1:
            word += "..."
        words.append(word if argument.required or word.startswith("[") else f"[{word}]")
    return " ".join(words)


def _option(option: click.Option) -> tuple[str, str]:
    shown = ", ".join(_code(name) for name in [*option.opts, *option.secondary_opts])
    if not option.is_flag:
        shown = f"{shown} {_value(option)}"
    told = option.help or ""
    if option.multiple and "repeat" not in told:
        told = f"{told} Repeatable."
    if option.show_default and option.default not in (None, ""):
        told = f"{told} Default: {option.default}."
    return shown, told


def _value(option: click.Option) -> str:
    kind: Any = option.type
    if isinstance(kind, click.Choice):
        return " \\| ".join(_code(str(choice)) for choice in kind.choices).replace("\\|", "or")
    if option.metavar:
        return option.metavar
    return {"integer": "N", "integer range": "N", "file": "FILE"}.get(kind.name, "TEXT")


# --- sections of other pages -----------------------------------------------------------------


def problems_section() -> str:
    """Every problem of a file: its code, what it says, what would be right."""
    rows = [(_code(c), spoken(says), spoken(right)) for c, (says, right) in PROBLEMS.items()]
    return table(("code", "says", "what would be right"), rows)


def weights_section() -> str:
    """What raises or lowers a memory."""
    return table(("what", "weight"), ((_code(n), str(w)) for n, w in ranking.WEIGHTS.items()))


def numbers_section() -> str:
    """The numbers of retrieval."""
    numbers = {
        "characters of the text, at most, unless asked otherwise": TaskQuery().max_chars,
        "share of them that is kept for the lines": rendering.LINES_SHARE,
        "share of them for the core profile, at most": round(rendering.PROFILE_SHARE, 2),
        "words of a question that are asked, at most": select.TERMS,
        "share of the question from which an episode is relevant": select.RELEVANT_SHARE,
        "days after which an outcome counts half": round(ranking.HALF_LIFE_DAYS),
        "memories left out that are named, at most": select.NAMED_EXCLUSIONS,
    }
    return table(("what", "number"), ((told, str(number)) for told, number in numbers.items()))


def reasons_section() -> str:
    """Every reason for which a memory applies."""
    rows = [(_code(c), t.replace("{}", "*…*")) for c, t in reasons(ENGLISH).items()]
    return table(("code", "in words"), rows)


def exclusions_section() -> str:
    """Every reason for which a memory stays out."""
    return table(("code", "in words"), ((_code(c), t) for c, t in exclusions(ENGLISH).items()))


def rooms_section() -> str:
    """The rooms from the top down: what each is for, by its own first sentence."""
    rows = []
    for layer in layers():
        for room in layer:
            files = room_files(room)
            main = next((f for f in files if f.name == "__init__.py"), files[0])
            told = ast.get_docstring(ast.parse(main.read_text(encoding="utf-8"))) or ""
            beside = ", ".join(_code(other) for other in layer if other != room)
            used = ", ".join(sorted(libraries(room)))
            rows.append((_code(room), _rst(told.split("\n\n")[0]), beside, used))
    return table(("room", "what it is", "may not see", "libraries"), rows)


def _rst(text: str) -> str:
    return text.replace("``", "`")


SECTIONS = {
    "problems": problems_section,
    "weights": weights_section,
    "numbers": numbers_section,
    "reasons": reasons_section,
    "exclusions": exclusions_section,
    "rooms": rooms_section,
}


def main(arguments: Sequence[str]) -> int:
    """Write the pages, or with ``--check`` tell where one is not what the code says."""
    differing = 0
    for path, wanted in pages().items():
        file = ROOT / path
        current = file.read_text(encoding="utf-8") if file.exists() else ""
        if current == wanted:
            continue
        differing += 1
        if "--check" in arguments:
            lines = difflib.unified_diff(
                current.splitlines(), wanted.splitlines(), path, "as the code says", lineterm=""
            )
            print("\n".join([*lines][:40]))
        else:
            file.write_text(wanted, encoding="utf-8")
            print(f"wrote {path}")
    if differing and "--check" in arguments:
        print("not current; run `make docs`")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
