"""The message catalogues: texts are found in the code, merged into the .po, compiled to the .mo.

``make catalogues`` runs this. Beside calls of ``_``, texts stand where no usual tool looks: in
the templates of errors, in the problems of files, in the list of commands, in facts that are
phrases.
"""

from __future__ import annotations

import ast
import io
import re
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from babel.messages.catalog import Catalog, Message
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from memsync import config, errors
from memsync.cli.app import COMMANDS
from memsync.cli.phrases import PATTERNS, PHRASED, YAML_SAYS

ROOT = Path(__file__).resolve().parent.parent
LOCALES = ROOT / "memsync" / "locale"
TEMPLATE = LOCALES / "memsync.pot"
LANGUAGES = ("zh_CN",)
#: The time in the headers stands still, so that the same texts make the same files.
_STILL = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
_HEADER = "# Texts of memsync. Made by `make catalogues`; translations are kept.\n#"
#: Calls that take a phrase without a keyword, and from which argument on.
_POSITIONS = {"wrong": 1, "invalid": 2, "Check": 2, "State": 2, "user_evidence": 1}
#: Made texts in such places that are put together from phrases, or that git reads.
_NO_PHRASES = ("{0} Did you mean {1}?", "{0} ({1})", "{0}^{commit}")

Text = str | tuple[str, str]


def catalogue(language: str) -> Path:
    """The translated texts of a language."""
    return LOCALES / language / "LC_MESSAGES" / "memsync.po"


# --- texts in the code ---------------------------------------------------------------------


def texts() -> dict[Text, list[str]]:
    """Every text that a person may see, with the files that it stands in."""
    found: dict[Text, list[str]] = {}
    for path in sorted((ROOT / "memsync").rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for text in (*_called(tree), *_constant_phrases(tree), *_help(tree)):
            if name not in found.setdefault(text, []):
                found[text].append(name)
    for name, text in _listed():
        found.setdefault(text, [name])
    return found


def _called(tree: ast.AST) -> Iterator[Text]:
    """The arguments of ``_("…")``, ``translate("…")`` and ``_.counted("…", "…", n)``."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        given = [a.value for a in node.args if isinstance(a, ast.Constant)]
        literal = [value for value in given if isinstance(value, str)]
        if isinstance(node.func, ast.Attribute) and node.func.attr == "counted":
            yield (literal[0], literal[1])
        elif _translates(node.func) and literal:
            yield literal[0]


def _help(tree: ast.AST) -> Iterator[str]:
    """What the help says: of an option, and of a command by its docstring."""
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg == "help":
            if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
                yield node.value.value
        elif isinstance(node, ast.FunctionDef):
            calls = [d.func for d in node.decorator_list if isinstance(d, ast.Call)]
            made = {call.attr for call in calls if isinstance(call, ast.Attribute)}
            told = ast.get_docstring(node)
            if told and made & {"command", "group"}:
                yield told


def _translates(function: ast.expr) -> bool:
    if isinstance(function, ast.Call):
        return isinstance(function.func, ast.Name) and function.func.id == "translator"
    name = getattr(function, "attr", None) or getattr(function, "id", None)
    return name in ("_", "translate", "_translate") and not (
        isinstance(function, ast.Attribute) and isinstance(function.value, ast.Constant)
    )


def phrases(tree: ast.AST) -> Iterator[ast.expr]:
    """The expressions whose value is a phrase that an error or a check has as its fact."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            names = [target.id for target in node.targets if isinstance(target, ast.Name)]
            if any(n in ("allowed", "detail", "told") or n.endswith("_FORM") for n in names):
                yield from _branches(node.value)
            if "_PLAINER" in names and isinstance(node.value, ast.Dict):
                yield from node.value.values
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", None) or getattr(node.func, "id", None)
            for keyword in node.keywords:
                if keyword.arg in PHRASED:
                    yield from _branches(keyword.value)
            for argument in node.args[_POSITIONS.get(str(name), len(node.args)) :][:2]:
                yield from _branches(argument)
            owner = node.func.value if isinstance(node.func, ast.Attribute) else None
            if name in ("text", "optional") and isinstance(owner, ast.Name):
                yield from node.args[2:3] if owner.id == "reader" else ()


def _branches(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.IfExp):
        yield from (node.body, node.orelse)
    elif isinstance(node, ast.BoolOp):
        yield from node.values
    else:
        yield node


def _constant_phrases(tree: ast.AST) -> Iterator[str]:
    for node in phrases(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value:
            yield node.value


def made_phrases() -> Iterator[tuple[str, str]]:
    """Phrases with facts in them, as their pattern, with the file they stand in."""
    for path in sorted((ROOT / "memsync").rglob("*.py")):
        for node in phrases(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr):
                number, pattern = 0, ""
                for part in node.values:
                    if isinstance(part, ast.Constant):
                        pattern += str(part.value)
                    else:
                        pattern += f"{{{number}}}"
                        number += 1
                if pattern not in _NO_PHRASES:
                    yield path.relative_to(ROOT).as_posix(), pattern


def _listed() -> Iterator[tuple[str, str]]:
    """The texts that stand in tables."""
    for kind in error_classes():
        yield "memsync/errors/__init__.py", kind.template
    for message, remedy in errors.PROBLEMS.values():
        yield "memsync/errors/problems.py", message
        yield "memsync/errors/problems.py", remedy
    for group, commands in COMMANDS.items():
        yield "memsync/cli/app.py", group
        yield from (("memsync/cli/app.py", brief) for _, brief in commands.values())
    for purpose in config.NAMES.values():
        yield "memsync/config.py", purpose
    for phrase in (*PATTERNS, *YAML_SAYS):
        yield "memsync/cli/phrases.py", phrase


def error_classes() -> list[type[errors.MemsyncError]]:
    """Every class of error, by its code."""
    found = [errors.MemsyncError]
    for kind in found:
        found += kind.__subclasses__()
    return sorted(set(found), key=lambda kind: (kind.code, kind.__name__))


# --- catalogues ----------------------------------------------------------------------------


def template() -> Catalog:
    """All texts, untranslated."""
    made = _catalogue()
    found = texts()
    for text in sorted(found, key=lambda t: t if isinstance(t, str) else t[0]):
        made.add(text, locations=[(name, 0) for name in found[text]])
    return made


def _catalogue(language: str | None = None) -> Catalog:
    made = Catalog(
        locale=language,
        project="memsync",
        version="1",
        msgid_bugs_address="-",
        header_comment=_HEADER,
        fuzzy=False,
        charset="utf-8",
    )
    made.creation_date = made.revision_date = _STILL
    made.last_translator = made.language_team = "memsync"
    return made


def merged(language: str) -> Catalog:
    """The template with the translations that are there; what is gone from the code is dropped."""
    kept = read(language)
    made = _catalogue(language)
    for message in template():
        if message.id:
            old = kept.get(message.id) if kept else None
            made.add(
                message.id,
                old.string if old else None,
                locations=message.locations,
                flags=old.flags if old else (),
            )
    return made


def read(language: str) -> Catalog | None:
    """The .po of a language as it is; None where there is none yet."""
    path = catalogue(language)
    if not path.is_file():
        return None
    with path.open("rb") as stream:
        return read_po(stream, locale=language)


def as_po(found: Catalog) -> bytes:
    """A catalogue in the form of translators."""
    stream = io.BytesIO()
    write_po(stream, found, width=96, no_location=True, sort_output=True)
    return re.sub(rb'"Generated-By: .*\n', b"", stream.getvalue())


def as_mo(found: Catalog) -> bytes:
    """A catalogue in the form that gettext reads."""
    found.creation_date = found.revision_date = _STILL
    stream = io.BytesIO()
    write_mo(stream, found)
    return stream.getvalue()


def key(message: Message) -> Text:
    """The text of a message, or its two forms."""
    return message.id if isinstance(message.id, str) else (message.id[0], message.id[1])


def untranslated(found: Catalog) -> list[Message]:
    """The messages without a translation, or with one that somebody doubts."""
    return [
        message
        for message in found
        if message.id
        and (
            message.fuzzy
            or not all(message.string if isinstance(message.string, tuple) else [message.string])
        )
    ]


def main() -> int:
    """Write the template and the catalogues; tell what still needs a translation."""
    TEMPLATE.parent.mkdir(parents=True, exist_ok=True)
    TEMPLATE.write_bytes(as_po(template()))
    left = 0
    for language in LANGUAGES:
        found = merged(language)
        path = catalogue(language)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(as_po(found))
        path.with_suffix(".mo").write_bytes(as_mo(found))
        for message in untranslated(found):
            left += 1
            print(f"{language}: {message.id!r} needs a translation", file=sys.stderr)
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
