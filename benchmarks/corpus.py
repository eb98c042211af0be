"""A made-up memory repository of any size, the same for the same seed.

``python -m benchmarks.corpus OUT --records 10000 --seed 1 [--commits N]``

Its shares follow what a person who uses memsync for years would have: a fifth of the records is
global, the rest lies in 25 projects of different sizes; most are explicit, a quarter tells an
episode, a third has selectors, and for every hundred records one was forgotten.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from random import Random

from benchmarks import history, layout
from benchmarks.memories import END, Memory, between, memory, projects
from benchmarks.prose import Pen, sentences
from memsync.record import Lifecycle, Record, meaning_of, stamp

__all__ = [
    "END",
    "Corpus",
    "Memory",
    "Summary",
    "make",
    "projects",
    "revisions",
    "sentences",
    "write",
]

#: From one revision to the next: 20,000 of them take a day.
_STEP = timedelta(seconds=4)


@dataclass(frozen=True, slots=True)
class Corpus:
    """A whole memory: its records, and the text of every other file by path."""

    memories: tuple[Memory, ...]
    other: Mapping[str, str]

    def files(self) -> dict[str, str]:
        """Every file by path."""
        return dict(self.other) | {m.path: layout.record_text(m.record) for m in self.memories}


@dataclass(frozen=True, slots=True)
class Summary:
    """What was written. ``bytes`` counts the files alone, ``commits`` is 0 without Git."""

    records: int
    candidates: int
    tombstones: int
    projects: int
    bytes: int
    commits: int


def make(records: int, seed: int) -> Corpus:
    """A corpus of ``records`` living records and one tombstone for every hundred."""
    rng = Random(f"corpus {seed}")
    taken: set[str] = set()
    meanings: set[str] = set()
    memories = [memory(rng, taken, meanings) for _ in range(records)]
    other = {
        "memsync.yaml": layout.SETTINGS,
        "README.md": layout.README,
        ".gitattributes": layout.ATTRIBUTES,
        ".gitignore": layout.IGNORED,
    }
    for key, alias in projects().items():
        other[f"projects/{key}/project.yaml"] = layout.project_text(alias.rpartition("/")[2], alias)
    for _ in range(records // 100):
        gone = memory(rng, set(), meanings).record
        other[f"tombstones/{gone.id}.md"] = layout.tombstone_text(
            gone,
            stamp(between(rng, gone.updated, None)),
            rng.choice(("user-forget", "user-forget", "file-deleted", "review-forget")),
            hashlib.sha256(meaning_of(gone.title, gone.body).encode()).hexdigest(),
        )
    return Corpus(tuple(_chained(memories)), other)


def revisions(corpus: Corpus, seed: int, count: int) -> Iterator[Memory]:
    """``count`` later states of the corpus's records, each of one record; in order of time."""
    rng = Random(f"revisions {seed}")
    for at in range(count):
        chosen = corpus.memories[int(len(corpus.memories) * rng.random())]
        record = chosen.record
        said = Pen(rng, record.language or "en").sentence("details")
        yield Memory(
            chosen.path,
            record.replacing(
                body=f"{record.body}\n\n{said}", updated=stamp(END + (at + 1) * _STEP)
            ),
        )


def write(out: Path, records: int = 10_000, seed: int = 1, commits: int | None = None) -> Summary:
    """Write a corpus into the empty or new folder ``out``.

    With ``commits`` it becomes a Git repository: one commit with everything, then that many
    commits that change one record each. Raises FileExistsError where ``out`` has content.
    """
    out.mkdir(parents=True, exist_ok=True)
    if any(out.iterdir()):
        raise FileExistsError(f"{out} is not empty")
    corpus = make(records, seed)
    files = corpus.files()
    made = 0
    if commits is not None:
        first = dict(files)
        made = history.write(out, _commits(corpus, first, files, seed, commits))
    for folder in ("global", "projects", "candidates", "tombstones"):
        (out / folder).mkdir()
    for folder in sorted({path.rpartition("/")[0] for path in files}):
        (out / folder).mkdir(parents=True, exist_ok=True)
    for path, text in files.items():
        (out / path).write_bytes(text.encode())
    if commits is not None:
        history.git(out, "update-index", "-q", "--refresh")
    starts = Counter(path.partition("/")[0] for path in files)
    size = sum(len(text.encode()) for text in files.values())
    return Summary(records, starts["candidates"], starts["tombstones"], len(projects()), size, made)


def _commits(
    corpus: Corpus, first: Mapping[str, str], files: dict[str, str], seed: int, count: int
) -> Iterator[history.Commit]:
    """The history; ``files`` follows it and holds the last state at its end."""
    yield history.Commit(int(END.timestamp()), "init: a generated memory", first)
    for at, changed in enumerate(revisions(corpus, seed, count)):
        text = files[changed.path] = layout.record_text(changed.record)
        moment = int((END + (at + 1) * _STEP).timestamp())
        yield history.Commit(moment, f"correct: {changed.record.title}", {changed.path: text})


def _chained(memories: list[Memory]) -> Iterator[Memory]:
    """The memories, each superseded one with its heir: the next living one of its folder."""
    heirs: dict[str | None, Record] = {}
    olds: dict[str, tuple[str, ...]] = {}
    by: dict[str, str] = {}
    for record in (m.record for m in reversed(memories)):
        heir = heirs.get(record.project_key)
        if record.lifecycle is Lifecycle.PROVEN:
            heirs[record.project_key] = record
        elif record.lifecycle is Lifecycle.SUPERSEDED and heir:
            by[record.id] = heir.id
            olds[heir.id] = (*olds.get(heir.id, ()), record.id)
    for path, record in ((m.path, m.record) for m in memories):
        if record.lifecycle is Lifecycle.SUPERSEDED and record.id not in by:
            yield Memory(path, record.replacing(lifecycle=Lifecycle.PROVEN))
        else:
            old = olds.get(record.id, ())
            yield Memory(path, record.replacing(supersedes=old, superseded_by=by.get(record.id)))


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.corpus", description=__doc__)
    parser.add_argument("out", type=Path, metavar="OUT")
    parser.add_argument("--records", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--commits", type=int, help="make a Git repository with so many changes")
    chosen = parser.parse_args(arguments)
    try:
        print(write(chosen.out, chosen.records, chosen.seed, chosen.commits))
    except FileExistsError as refused:
        print(refused, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
