"""Languages: which one speaks, and the words for labels and reasons (gettext catalogues)."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gettext import NullTranslations

#: Languages with a complete catalogue. Others pass through and are labelled in English.
CONTRACTS = ("en", "zh-CN")


class Translate:
    """Turns an English label into one of a language; English stays as it is."""

    def __init__(self, catalogue: NullTranslations | None = None) -> None:
        self._catalogue = catalogue

    def __call__(self, text: str) -> str:
        """The label in this language; where the catalogue lacks it, the English one."""
        if self._catalogue is None or not text:
            return text
        return self._catalogue.gettext(text)

    def counted(self, one: str, many: str, count: int) -> str:
        """The form that fits a number, with the number in the place of ``{}``."""
        if self._catalogue is None:
            text = one if count == 1 else many
        else:
            text = self._catalogue.ngettext(one, many, count)
        return text.replace("{}", str(count))


def is_tag(text: str) -> bool:
    """Whether a text has the form of a language tag: language, script, region, variants."""
    subtags = r"(?:[-_][a-z]{4})?(?:[-_](?:[a-z]{2}|\d{3}))?(?:[-_](?:[a-z\d]{5,8}|\d[a-z\d]{3}))*"
    return re.fullmatch("[a-z]{2,3}" + subtags, text, re.ASCII | re.IGNORECASE) is not None


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
    """The labels of a language; those of a language without a catalogue are English."""
    if language.startswith("en"):
        return Translate()
    import gettext

    from memsync import resources

    folder, names = str(resources.locales()), [language.replace("-", "_")]
    return Translate(gettext.translation("memsync", folder, languages=names, fallback=True))
