"""Data files that ship with memsync: templates, hooks, the sample repository, catalogues.

In a wheel they lie inside the package (``memsync/_data``); in a checkout and in an editable
install they lie beside it.
"""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def folder(name: str) -> Path:
    """The folder of shipped data called ``templates``, ``hooks`` or ``sample-repo``.

    Raises FileNotFoundError where the installation is incomplete.
    """
    for parent in (_PACKAGE / "_data", _PACKAGE.parent):
        found = parent / name
        if found.is_dir():
            return found
    raise FileNotFoundError(f"memsync was installed without its {name} folder")


def text(relative: str) -> str:
    """A shipped text file, by its path from the folder's name on."""
    name, _, rest = relative.partition("/")
    return (folder(name) / rest).read_text(encoding="utf-8")


def locales() -> Path:
    """The folder of the message catalogues."""
    return _PACKAGE / "locale"
