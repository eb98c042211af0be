"""Languages: which one speaks, and the words for labels and reasons (gettext catalogues)."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

#: Languages with a complete catalogue. Others pass through and are labelled in English.
CONTRACTS = ("en", "zh-CN")

Translate = Callable[[str], str]


def choose(*wishes: str | None) -> str:
    """The first language that is wished for, as a tag like ``zh-CN``; ``en`` where none is.

    The order of wishes is: project, shared settings, locale (design, 6.6).
    """
    for wish in wishes:
        if wish and wish.strip():
            return _tag(wish)
    return "en"


def _tag(wish: str) -> str:
    parts = wish.strip().replace("_", "-").split("-")
    if parts[0].lower() == "zh":
        traditional = {"tw", "hk", "mo", "hant"} & {part.lower() for part in parts[1:]}
        return "zh-TW" if traditional else "zh-CN"
    if parts[0].lower() == "en":
        return "en"
    return "-".join([parts[0].lower(), *(part.upper() for part in parts[1:2])])


@lru_cache(maxsize=8)
def translator(language: str) -> Translate:
    """The function that turns an English label into one of this language."""
    if language.startswith("en"):
        return _same
    import gettext

    from memsync import resources

    names = [language.replace("-", "_"), language.partition("-")[0]]
    found = gettext.translation("memsync", str(resources.locales()), languages=names, fallback=True)
    return found.gettext


def _same(text: str) -> str:
    return text
