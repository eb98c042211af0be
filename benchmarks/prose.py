"""Believable sentences of a developer, made from the lists of ``vocabulary.yaml``.

A sentence is a pattern with ``<words>`` in it. Words near the head of a list come up more often
than those at its end, as they do in real notes; identifiers, ports and versions are made up.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import yaml

#: Languages of the corpus and their shares.
SHARES = {"en": 0.60, "zh-CN": 0.35, "ja": 0.03, "ko": 0.02}
#: How strongly the head of a word list is preferred; 1 is not at all.
_SKEW = 1.4
#: How often a place that a sentence names is the topic of its text.
_ON_TOPIC = 0.6

_SLOT = re.compile(r"<(\w+)>")
_ARTICLE = re.compile(r"\b([Aa]) (?=(?!uni|use)[aeiou])")


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The words and sentence patterns of one language; a pattern alternates text and slot."""

    code: str
    joiner: str
    words: dict[str, tuple[str, ...]]
    patterns: dict[str, tuple[tuple[str, ...], ...]]


@cache
def vocabulary(language: str) -> Vocabulary:
    """The vocabulary of ``en``, ``zh-CN``, ``ja`` or ``ko``; KeyError for another."""
    own = _data()["languages"][language]
    words: dict[str, list[str]] = _data()["shared"] | own["words"]
    patterns = {kind: own[kind] for kind in own if kind not in {"joiner", "words"}}
    return Vocabulary(
        language,
        own["joiner"],
        {name: tuple(entries) for name, entries in words.items()},
        {kind: tuple(tuple(_SLOT.split(p)) for p in made) for kind, made in patterns.items()},
    )


@cache
def shared(name: str) -> tuple[str, ...]:
    """A list of words that all languages use, such as ``tag`` or ``project``."""
    return tuple(_data()["shared"][name])


@cache
def _data() -> Any:
    text = (Path(__file__).parent / "vocabulary.yaml").read_text(encoding="utf-8")
    return yaml.load(text, Loader=yaml.CSafeLoader)


@dataclass(slots=True)
class Pen:
    """Writes in one language on one topic, from the random source given."""

    rng: Random
    language: str
    _vocabulary: Vocabulary = field(init=False)
    _topic: str = field(init=False)

    def __post_init__(self) -> None:
        self._vocabulary = vocabulary(self.language)
        self._topic = self.pick(self._vocabulary.words["area"])

    @property
    def joiner(self) -> str:
        """What stands between two sentences of a paragraph."""
        return self._vocabulary.joiner

    def pick(self, entries: tuple[str, ...]) -> str:
        """One entry, those at the head more often."""
        return entries[int(len(entries) * self.rng.random() ** _SKEW)]

    def word(self, name: str) -> str:
        """One word of the list ``name``."""
        return self.pick(self._vocabulary.words[name])

    def sentence(self, kind: str) -> str:
        """One sentence of a kind: ``rules``, ``details``, ``tasks``, ``lessons`` and so on."""
        patterns = self._vocabulary.patterns[kind]
        pattern = patterns[int(len(patterns) * self.rng.random())]
        parts = list(pattern)
        for at in range(1, len(parts), 2):
            parts[at] = self._fill(pattern[at], parts)
        text = "".join(parts)
        if self.language == "en":
            text = _ARTICLE.sub(r"\1n ", text)
            text = text[0].upper() + text[1:]
        return text

    def paragraph(self, kinds: list[str]) -> str:
        """Sentences of these kinds, one after the other."""
        return self.joiner.join(self.sentence(kind) for kind in kinds)

    def identifier(self) -> str:
        """A made-up name out of code, in one of the usual spellings."""
        verb, first, second = self.word("verb"), self.word("noun"), self.word("noun")
        style = int(self.rng.random() * 5)
        if style == 0:
            return verb + first
        if style == 1:
            return f"{verb}_{first.lower()}"
        if style == 2:
            return f"{first.lower()}-{second.lower()}"
        if style == 3:
            return f"{first.upper()}_{second.upper()}"
        return first + second

    def _fill(self, slot: str, so_far: list[str]) -> str:
        if slot == "area" and self._topic not in so_far and self.rng.random() < _ON_TOPIC:
            return self._topic
        for _ in range(8):
            word = self._one(slot)
            if word not in so_far:
                break
        return word

    def _one(self, slot: str) -> str:
        rng = self.rng
        if slot == "identifier":
            return self.identifier()
        if slot == "number":
            return str(int(2 + 58 * rng.random()))
        if slot == "share":
            return str(int(5 + 90 * rng.random()))
        if slot == "milliseconds":
            return str(int(2 + 90 * rng.random()) * 10)
        if slot == "port":
            return str(int(3000 + 6000 * rng.random()))
        if slot == "version":
            return f"{int(1 + 9 * rng.random())}.{int(20 * rng.random())}"
        return self.word(slot)


def sentences(seed: int, n: int, language: str) -> list[str]:
    """``n`` different tasks that a person would give an agent, the same for the same seed."""
    rng = Random(f"tasks {seed} {language}")
    found: dict[str, None] = {}
    while len(found) < n:
        found[Pen(rng, language).sentence("tasks")] = None
    return list(found)
