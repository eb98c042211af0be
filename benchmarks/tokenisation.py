"""Which tokenisation finds what: memsync's, plain unicode61, trigram and jieba, all in FTS5.

Run it from the repository:

    python benchmarks/tokenisation.py [--also FOLDER] [--noise N] [--misses]

``tokenisation_set.jsonl`` holds short memories and questions with the memories that each must
find. ``--also`` adds the Markdown files of a folder as further memories that no question wants,
``--noise`` adds memories of random Chinese words, each as common as it is in jieba's dictionary.
"""

import argparse
import json
import random
import re
import sqlite3
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import jieba

from memsync import tokens

SET = Path(__file__).with_name("tokenisation_set.jsonl")
KINDS = ("one", "two", "three", "sentence", "identifier", "path")
LANGUAGES = ("zh", "ja", "ko", "en", "mixed")
TIMED_RECORDS = 10_000


@dataclass(frozen=True)
class Memory:
    id: str
    title: str
    body: str


@dataclass(frozen=True)
class Question:
    ask: str
    language: str
    kind: str
    find: tuple[str, ...]


@dataclass(frozen=True)
class Way:
    """One way to tokenise: FTS5's part, and what is done to texts and questions before it."""

    name: str
    fts: str
    text: Callable[[str], str]
    match: Callable[[str], str]


@dataclass(frozen=True)
class Answer:
    question: Question
    found: tuple[str, ...]

    @property
    def recall(self) -> float:
        return len(set(self.question.find) & set(self.found[:5])) / len(self.question.find)

    @property
    def reciprocal_rank(self) -> float:
        ranks = [n for n, id_ in enumerate(self.found, 1) if id_ in self.question.find]
        return 1 / ranks[0] if ranks else 0.0


def any_of(parts: Iterable[str]) -> str:
    return " OR ".join(f'"{part}"' for part in dict.fromkeys(parts))


def trigrams(question: str) -> str:
    """All overlapping threes of the question's words: the fairest thing to ask of trigram."""
    found = re.findall(r"\w+", question)
    return any_of(w[i : i + 3] for w in found for i in range(len(w) - 2))


def segmented(text: str) -> list[str]:
    return [w for w in jieba.cut_for_search(text) if re.search(r"\w", w)]


def ways() -> list[Way]:
    def same(text: str) -> str:
        return text

    def asked(question: str) -> str:
        return tokens.match_expression(tokens.query_terms(question))

    return [
        Way("memsync", "porter unicode61", tokens.index_text, asked),
        Way(
            "memsync's index, every gram asked",
            "porter unicode61",
            tokens.index_text,
            lambda q: any_of(re.findall(r"\w+", tokens.index_text(q))),
        ),
        Way("unicode61", "unicode61", same, lambda q: any_of(re.findall(r"\w+", q))),
        Way("trigram", "trigram", same, trigrams),
        Way(
            "jieba + unicode61",
            "unicode61",
            lambda text: " ".join(segmented(text)),
            lambda q: any_of(segmented(q)),
        ),
    ]


def read_set() -> tuple[list[Memory], list[Question]]:
    memories: list[Memory] = []
    questions: list[Question] = []
    for line in SET.read_text(encoding="utf-8").splitlines():
        item = json.loads(line)
        if "memory" in item:
            memories.append(Memory(item["memory"], item["title"], item["body"]))
        else:
            find = tuple(item["find"])
            questions.append(Question(item["ask"], item["language"], item["kind"], find))
    return memories, questions


def read_folder(folder: Path) -> list[Memory]:
    """The Markdown files of a folder, front matter left out."""
    found: list[Memory] = []
    for file in sorted(folder.rglob("*.md")):
        text = file.read_text(encoding="utf-8", errors="replace")
        title = re.search(r"^title: *(.+)$", text, re.MULTILINE)
        body = re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.DOTALL)
        found.append(Memory(file.name, title[1] if title else "", body))
    return found


def noise(count: int) -> list[Memory]:
    """Memories of five to forty random words, always the same ones."""
    chance = random.Random(7)
    common = {word: n for word, n in jieba.dt.FREQ.items() if n > 2}
    drawn = iter(chance.choices(list(common), list(common.values()), k=count * 40))

    def text(length: int) -> str:
        return "".join(next(drawn) for _ in range(length))

    return [
        Memory(f"noise{n}", text(4), "，".join(text(5) for _ in range(chance.randint(1, 7))))
        for n in range(count)
    ]


def build(way: Way, memories: Sequence[Memory]) -> sqlite3.Connection:
    base = sqlite3.connect(":memory:")
    base.execute(
        f"CREATE VIRTUAL TABLE m USING fts5(id UNINDEXED, title, body, tokenize='{way.fts}')"
    )
    rows = ((m.id, way.text(m.title), way.text(m.body)) for m in memories)
    base.executemany("INSERT INTO m VALUES (?, ?, ?)", rows)
    base.commit()
    return base


def ask(base: sqlite3.Connection, way: Way, question: Question) -> Answer:
    match = way.match(question.ask)
    if not match:
        return Answer(question, ())
    rows = base.execute("SELECT id FROM m WHERE m MATCH ? ORDER BY rank, rowid LIMIT 50", (match,))
    return Answer(question, tuple(id_ for (id_,) in rows))


def index_seconds(way: Way, memories: Sequence[Memory]) -> float:
    """The best of three builds of an index of ten thousand records."""
    many = [memories[n % len(memories)] for n in range(TIMED_RECORDS)]
    spent: list[float] = []
    for _ in range(3):
        start = time.perf_counter()
        build(way, many).close()
        spent.append(time.perf_counter() - start)
    return min(spent)


def mean(values: Iterable[float]) -> str:
    found = list(values)
    return f"{statistics.fmean(found):.2f}" if found else "–"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def report(answers: dict[str, list[Answer]], seconds: dict[str, float]) -> str:
    by_kind: list[list[str]] = []
    by_language: list[list[str]] = []
    for name, all_of in answers.items():
        wanted = [a for a in all_of if a.question.find]
        nothing = [a for a in all_of if not a.question.find]
        row = [mean(a.recall for a in wanted if a.question.kind == kind) for kind in KINDS]
        tail = [
            mean(a.recall for a in wanted),
            mean(a.reciprocal_rank for a in wanted),
            mean(bool(a.found) for a in nothing),
            f"{seconds[name]:.2f} s",
        ]
        by_kind.append([name, *row, *tail])
        by_language.append(
            [name, *(mean(a.recall for a in wanted if a.question.language == x) for x in LANGUAGES)]
        )
    first = table(
        ["recall@5", *KINDS, "all", "MRR", "negatives with hits", "10,000 records"], by_kind
    )
    return first + "\n\n" + table(["recall@5", *LANGUAGES], by_language)


def misses(answers: Iterable[Answer]) -> str:
    lines = []
    for answer in answers:
        question = answer.question
        if question.find and answer.recall < 1:
            lines.append(f"- {question.ask!r}: wanted {question.find}, got {answer.found[:5]}")
        elif not question.find and answer.found:
            lines.append(f"- {question.ask!r}: wanted nothing, got {answer.found[:5]}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare tokenisations in FTS5.")
    parser.add_argument("--also", type=Path, help="a folder of Markdown files to add")
    parser.add_argument("--noise", type=int, default=0, help="how many random memories to add")
    parser.add_argument("--misses", action="store_true", help="list what memsync missed")
    arguments = parser.parse_args()
    memories, questions = read_set()
    if arguments.also:
        memories += read_folder(arguments.also)
    jieba.setLogLevel(60)
    start = time.perf_counter()
    jieba.initialize()
    dictionary = time.perf_counter() - start
    memories += noise(arguments.noise)
    answers: dict[str, list[Answer]] = {}
    seconds: dict[str, float] = {}
    for way in ways():
        base = build(way, memories)
        answers[way.name] = [ask(base, way, question) for question in questions]
        base.close()
        seconds[way.name] = index_seconds(way, memories)
    print(f"{len(memories)} memories, {len(questions)} questions; SQLite {sqlite3.sqlite_version};")
    print(f"loading jieba's dictionary took {dictionary:.2f} s and is not in the table.\n")
    print(report(answers, seconds))
    if arguments.misses:
        print("\nMissed by memsync:\n\n" + misses(answers["memsync"]))


if __name__ == "__main__":
    main()
