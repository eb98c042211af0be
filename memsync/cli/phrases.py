"""Facts that are phrases, said in the person's language.

The rooms below put short English phrases into facts (``detail``, ``allowed``) and into the
problems of files. These cross the index, JSON and processes as plain text, so the edge knows them
again by their form.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from memsync import errors
from memsync.errors import PROBLEMS, Facts, Problem
from memsync.language import Translate

#: The facts of errors and problems that hold a phrase; the others are names, paths and numbers.
PHRASED = frozenset({"allowed", "detail", "expected", "holder", "question", "state"})
#: Phrases with places; those without any are found in the catalogue as they are.
PATTERNS = (
    "a {0} is expected",
    "a {0} is under way",
    "an item with the key `{0}`",
    "branch {0} has lost its commits",
    "branch {0} is checked out, not {1}",
    "byte 0x{0} is not UTF-8",
    "byte {0} is not UTF-8",
    "it ended with status {0}",
    "it has more than {0} bytes",
    "it has no {0}",
    "it holds {0}",
    "its answer lacks {0}",
    "its answer still has {0}",
    "lacks {0}",
    "one of {0}",
    "process {0} on {1}",
    "status {0}",
    "status {0}; what it saved is kept in {1}",
    "the field {0} is missing",
    "the new history changed {0}",
    "this is not {0}",
    "unknown field {0}",
    "unknown operation {0}",
    "unknown view {0}",
    "{0} indexed, equal to the files",
    "{0} and {1} more",
    "{0} does not go with {1}",
    "{0} is a file and a folder",
    "{0} is expected",
    "{0} is no path of a memory",
    "{0} stands twice",
    # What click says in a help, and of a wrong call, in the words of its releases.
    "Commands",
    "Options",
    "Show the version and exit.",
    "Show this message and exit.",
    "Got unexpected extra argument ({0})",
    "Got unexpected extra arguments ({0})",
    "Invalid value for {0}: {1}",
    "Invalid value: {0}",
    "Missing argument {0}.",
    "Missing option {0}.",
    "No such command {0}. Did you mean {1}?",
    "No such command {0}.",
    "No such option {0}. (Did you mean one of: {1}?)",
    "No such option {0}. Did you mean {1}?",
    "No such option {0}.",
    "No such option: {0} Did you mean {1}?",
    "No such option: {0}",
    "Option {0} does not take a value.",
    "Option {0} requires an argument.",
    "{0} is not a valid {1}.",
    "{0} is not in the range {1}.",
    "{0} is not one of {1}.",
    "{0} is not {1}.",
)

#: What libyaml says of a text that it cannot read; what is rarer than these stays in English.
YAML_SAYS = (
    "block sequence entries are not allowed in this context",
    "did not find expected ',' or ']'",
    "did not find expected ',' or '}'",
    "did not find expected '-' indicator",
    "did not find expected <document start>",
    "did not find expected comment or line break",
    "did not find expected node content",
    "did not find expected whitespace or line break",
    "found a tab character that violates indentation",
    "found a tab character where an indentation space is expected",
    "found character that cannot start any token",
    "found unexpected ':'",
    "found unexpected document indicator",
    "found unknown escape character",
    "mapping keys are not allowed in this context",
)


def said(text: str, _: Translate) -> str:
    """A phrase in the person's language; what is no phrase of memsync stays as it is."""
    told = _(text)
    if told != text:
        return told
    for pattern in PATTERNS:
        found = _form(pattern).fullmatch(text)
        if found:
            return _(pattern).format(*(said(part, _) for part in found.groups()))
    return text


def problem(found: Problem, _: Translate) -> tuple[str, str]:
    """What a problem says, and what would be right."""
    return _problem(found.code, found.message, found.remedy, _)


def error(found: errors.MemsyncError, _: Translate) -> str:
    """The sentence of an error."""
    facts = _said(found.facts, _)
    problems = found.facts.get("problems")
    if isinstance(problems, list):
        facts["summary"] = " · ".join(_in_line(item, _) for item in problems)
    return _(found.template).format_map(Facts(facts))


def _in_line(item: Mapping[str, Any], _: Translate) -> str:
    message, _remedy = _problem(item["code"], item["message"], item["remedy"], _)
    told = f"{message} ({item['code']})"
    return _("line {}: ").replace("{}", str(item["line"])) + told if item["line"] else told


def _problem(code: str, message: str, remedy: str, _: Translate) -> tuple[str, str]:
    templates = PROBLEMS.get(code, ("", ""))
    return _filled_anew(templates[0], message, _), _filled_anew(templates[1], remedy, _)


def _filled_anew(template: str, text: str, _: Translate) -> str:
    found = _form(template).fullmatch(text)
    if found is None:
        return text
    return _(template).format_map(Facts(_said(found.groupdict(), _)))


def _said(facts: Mapping[str, object], _: Translate) -> dict[str, object]:
    return {
        name: said(value, _) if name in PHRASED and isinstance(value, str) else value
        for name, value in facts.items()
    }


@lru_cache(maxsize=256)
def _form(template: str) -> re.Pattern[str]:
    """The form of a text that was made from a template; its places are groups."""
    parts = re.split(r"\{(\w+)\}", template)
    form = re.escape(parts[0])
    for name, literal in zip(parts[1::2], parts[2::2], strict=True):
        form += f"(?P<{name}>.*)" if name.isidentifier() else "(.*)"
        form += re.escape(literal)
    return re.compile(form, re.DOTALL)
