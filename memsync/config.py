"""Settings: what the process was given, what the person set for all machines, and for a project.

The environment is handed in once, as a value. ``memsync.yaml`` holds what all machines share.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from memsync import errors, language

#: setting, as memsync.yaml spells it -> what it is for
NAMES: dict[str, str] = {
    "language": "language of labels and of new automatic text",
    "memory.learning": "whether anything is learned",
    "memory.retrieval": "whether tasks get memories",
}

#: A code project's own settings.
PROJECT_FILE = ".memsync.yaml"
#: What a switch takes, in a command and in a file.
_ON, _OFF = ("true", "on", "yes"), ("false", "off", "no")


class Environment(NamedTuple):
    """What the process was given: variables, clocks, randomness.

    ``program`` is the interpreter that runs memsync, for others that are to start it.
    """

    variables: Mapping[str, str]
    now: Callable[[], datetime]
    now_ns: Callable[[], int]
    entropy: Callable[[int], bytes]
    process: int = 0
    program: str = ""

    def home(self) -> str:
        """The folder of the memory repository: MEMSYNC_HOME, else ``~/.memsync``.

        Raises HomeUnknown.
        """
        stated = self.variables.get("MEMSYNC_HOME")
        if stated:
            return os.path.abspath(os.path.expanduser(stated))
        base = self.variables.get("HOME")
        if not base:
            raise errors.HomeUnknown()
        return os.path.join(os.path.abspath(base), ".memsync")

    def locale_language(self) -> str | None:
        """The language that the process's locale asks for, as ``zh-CN``; None for none."""
        return locale_language(self.variables)


def locale_language(variables: Mapping[str, str]) -> str | None:
    """The language that a process's locale asks for, as ``zh-CN``; None for none."""
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        value = variables.get(name, "").partition(".")[0].partition("@")[0]
        if value:
            return None if value in ("C", "POSIX") else value.replace("_", "-")
    return None


def early_language(variables: Mapping[str, str]) -> str:
    """The language of labels before any memory is opened, and after that has failed.

    A look at one line of the shared settings: no YAML, no index, no error.
    """
    shared = None
    stated = variables.get("MEMSYNC_HOME") or os.path.join(variables.get("HOME", ""), ".memsync")
    path = os.path.join(os.path.expanduser(stated), "memsync.yaml")
    try:
        with open(path, encoding="utf-8", errors="replace") as stream:
            for line in stream.readlines(4096):
                key, _, value = line.partition(":")
                if key == "language":
                    shared = value.partition("#")[0].strip(" \"'\n")
    except OSError:
        pass
    return language.choose(shared, locale_language(variables))


class Settings(NamedTuple):
    """``memsync.yaml`` as far as this version reads it."""

    format: int = 1
    generation: int = 1
    language: str | None = None
    salts: tuple[str, ...] = ()
    learning: bool = True
    retrieval: bool = True

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Settings:
        """Read the values of the file; what cannot be read falls back to its default."""
        memory = data.get("memory")
        memory = memory if isinstance(memory, Mapping) else {}
        salts = data.get("salts")
        return cls(
            format=_number(data.get("format"), 1),
            generation=_number(data.get("generation"), 1),
            language=data.get("language") if isinstance(data.get("language"), str) else None,
            salts=tuple(s for s in salts if isinstance(s, str)) if isinstance(salts, list) else (),
            learning=_flag(memory.get("learning")),
            retrieval=_flag(memory.get("retrieval")),
        )


class ProjectSettings(NamedTuple):
    """A code project's own ``.memsync.yaml``."""

    language: str | None = None
    learning: bool = True
    retrieval: bool = True


def project_settings(top: str | None) -> ProjectSettings:
    """Read ``.memsync.yaml`` at the top of a code project; absent means the defaults.

    Raises ConfigBroken, which names the file and the lines.
    """
    path = os.path.join(top or "", PROJECT_FILE)
    if top is None or not os.path.isfile(path):
        return ProjectSettings()
    from memsync.files import read
    from memsync.frontmatter.document import parse_yaml
    from memsync.record import FILE_BYTES

    document = parse_yaml(read(path, FILE_BYTES + 1), path)
    if document.broken:
        raise errors.ConfigBroken(
            path=path,
            summary=errors.summarise(document.problems),
            problems=errors.problem_facts(document.problems),
        )
    read_values = Settings.from_data(document.data)
    return ProjectSettings(read_values.language, read_values.learning, read_values.retrieval)


def checked(name: str, value: str) -> str | bool:
    """A setting's value as it is written. Raises SettingUnknown, InvalidValue."""
    if name not in NAMES:
        raise errors.SettingUnknown(name=name, known=sorted(NAMES))
    if name != "language":
        if value.lower() not in (*_ON, *_OFF):
            raise errors.InvalidValue(field=name, value=value, allowed="true or false")
        return value.lower() in _ON
    if not language.is_tag(value):
        raise errors.InvalidValue(field=name, value=value, allowed="a language tag such as zh-CN")
    return value


def _number(value: Any, default: int) -> int:
    return int(value) if isinstance(value, str) and value.isdecimal() else default


def _flag(value: Any) -> bool:
    return not (isinstance(value, str) and value.lower() in _OFF)
