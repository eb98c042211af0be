"""The corpus of the benchmarks is a believable memory, and the limits do what they claim."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import frontmatter as independent
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks import bench, corpus, history, layout, straight
from memsync import tombstone
from memsync.frontmatter.codec import front_matter_of
from memsync.frontmatter.document import parse_yaml
from memsync.frontmatter.model import Place
from memsync.frontmatter.schema import decode
from memsync.record import (
    BODY_BYTES,
    TITLE_CHARACTERS,
    Authority,
    Lifecycle,
    MemoryType,
    Record,
    Scope,
    instant,
    is_id,
    meaning_of,
    supported_until,
)

if TYPE_CHECKING:
    from memsync.errors import Problem

RECORDS = 2000


@pytest.fixture(scope="module")
def made() -> corpus.Corpus:
    return corpus.make(RECORDS, seed=7)


def files_below(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".git" not in path.relative_to(folder).parts
    }


def read(memory: corpus.Memory) -> tuple[Record | None, tuple[Problem, ...]]:
    record = memory.record
    by_folder = Place(record.scope, record.project_key)
    anywhere = Place(None, None)
    place = anywhere if memory.path.startswith("candidates/") else by_folder
    raw = layout.record_text(record).encode()
    decoded = decode(raw, memory.path, place, "m-0000000000000000")
    return decoded.record, decoded.problems


# --- the corpus ------------------------------------------------------------------------------


def test_one_seed_makes_one_memory_in_every_process(tmp_path: Path) -> None:
    corpus.write(tmp_path / "here", records=120, seed=3)
    environment = os.environ | {"PYTHONHASHSEED": "4711"}
    line = [sys.executable, "-m", "benchmarks.corpus", str(tmp_path / "there")]
    root = Path(corpus.__file__).parent.parent
    subprocess.run(
        [*line, "--records", "120", "--seed", "3"], check=True, env=environment, cwd=root
    )
    corpus.write(tmp_path / "other", records=120, seed=4)

    assert files_below(tmp_path / "here") == files_below(tmp_path / "there")
    assert files_below(tmp_path / "here") != files_below(tmp_path / "other")


def test_a_folder_in_use_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.md").write_text("mine")
    with pytest.raises(FileExistsError):
        corpus.write(tmp_path, records=1)
    assert files_below(tmp_path) == {"mine.md": b"mine"}
    assert corpus.main([str(tmp_path), "--records", "1"]) == 1


def test_the_folder_is_a_memory_repository(tmp_path: Path) -> None:
    summary = corpus.write(tmp_path, records=300, seed=2)
    found = files_below(tmp_path)

    assert {"memsync.yaml", ".gitattributes", ".gitignore", "README.md"} <= set(found)
    settings = parse_yaml(found["memsync.yaml"], "memsync.yaml")
    assert settings.data["format"] == "1"
    places = Counter(path.partition("/")[0] for path in found)
    assert places["tombstones"] == summary.tombstones == 3
    assert places["candidates"] == summary.candidates > 0
    assert sum(path.endswith("/project.yaml") for path in found) == summary.projects == 25
    assert summary.bytes == sum(map(len, found.values()))
    memories = [p for p in found if p.endswith(".md") and not p.startswith(("tomb", "README"))]
    assert len(memories) == summary.records == 300


def test_memsync_reads_every_record_as_it_was_meant() -> None:
    reached: Counter[str] = Counter()

    @settings(max_examples=20, deadline=None)
    @given(st.integers(0, 2**32))
    def whatever_the_seed(seed: int) -> None:
        for memory in corpus.make(40, seed).memories:
            record, problems = read(memory)
            assert problems == ()
            assert record == memory.record
            reached.update(list(front_matter_of(memory.record)))

    whatever_the_seed()
    usual = {"id", "title", "tags", "selectors", "evidence", "episode", "source", "application"}
    rare = {"candidateKey", "supersedes", "supersededBy", "validUntil", "reason", "projectKey"}
    assert all(reached[key] for key in usual | rare), reached


def test_every_key_of_the_format_comes_up(made: corpus.Corpus) -> None:
    keys: Counter[str] = Counter()
    for memory in made.memories:
        keys.update(list(front_matter_of(memory.record)))
    rare = {"validFrom", "validUntil", "epoch", "conflict", "paused", "allow"}
    assert all(keys[key] for key in rare), keys


def test_an_independent_reader_sees_the_same_texts(made: corpus.Corpus) -> None:
    for memory in made.memories[:300]:
        record = memory.record
        post = independent.loads(layout.record_text(record))
        assert post["title"] == record.title
        assert post.get("tags", []) == list(record.tags)
        evidence: Any = post["evidence"]
        assert [item["key"] for item in evidence] == [e.key for e in record.evidence]
        assert post.content == record.body


def test_ids_paths_and_texts_are_unique(made: corpus.Corpus) -> None:
    records = [memory.record for memory in made.memories]
    gone = [path.partition("/")[2][:-3] for path in made.other if path.startswith("tombstones/")]
    ids = [record.id for record in records] + gone
    assert all(map(is_id, ids))
    assert len(set(ids)) == RECORDS + RECORDS // 100
    assert len({memory.path.casefold() for memory in made.memories}) == RECORDS
    assert len({meaning_of(record.title, record.body) for record in records}) == RECORDS


def test_tombstones_read_and_hold_no_text(made: corpus.Corpus) -> None:
    stones = {path: text for path, text in made.other.items() if path.startswith("tombstones/")}
    for path, text in stones.items():
        decoded = tombstone.decode(text.encode(), path)
        assert decoded.problems == ()
        assert decoded.tombstone is not None
        assert f"tombstones/{decoded.tombstone.id}.md" == path
        assert len(text) < 400


def test_records_agree_with_each_other_and_with_their_folders(made: corpus.Corpus) -> None:
    by_id = {memory.record.id: memory.record for memory in made.memories}
    candidates = superseded = 0
    for memory in made.memories:
        record = memory.record
        folder = f"projects/{record.project_key}/" if record.project_key else "global/"
        in_candidates = memory.path.startswith("candidates/")
        candidates += in_candidates
        assert memory.path.startswith("candidates/" if in_candidates else folder)
        assert in_candidates == (supported_until(record) == "")
        assert (record.superseded_by is not None) == (record.lifecycle is Lifecycle.SUPERSEDED)
        if record.superseded_by:
            superseded += 1
            assert record.id in by_id[record.superseded_by].supersedes
            assert by_id[record.superseded_by].project_key == record.project_key
        assert len(record.title) <= TITLE_CHARACTERS
        assert len(record.body.encode()) <= BODY_BYTES
        assert 1 <= len(record.evidence) <= 4
        created, updated = instant(record.created), instant(record.updated)
        assert created is not None
        assert updated is not None
        assert created <= updated <= corpus.END
    assert candidates > RECORDS * 0.01
    assert superseded > RECORDS * 0.01


def test_shares_and_sizes_are_believable(made: corpus.Corpus) -> None:
    records = [memory.record for memory in made.memories]

    def share(wanted: int) -> float:
        return wanted / RECORDS

    languages = Counter(record.language for record in records)
    assert share(languages["en"]) == pytest.approx(0.60, abs=0.05)
    assert share(languages["zh-CN"]) == pytest.approx(0.35, abs=0.05)
    assert share(languages["ja"] + languages["ko"]) == pytest.approx(0.05, abs=0.02)
    assert share(sum(r.scope is Scope.GLOBAL for r in records)) == pytest.approx(0.2, abs=0.04)
    assert share(sum(bool(r.selectors) for r in records)) == pytest.approx(0.33, abs=0.05)
    episodes = sum(r.memory_type is MemoryType.PERSONAL_EPISODE for r in records)
    assert share(episodes) == pytest.approx(0.25, abs=0.04)
    proven = [r for r in records if r.lifecycle is Lifecycle.PROVEN]
    assert share(sum(r.authority is Authority.EXPLICIT for r in proven)) > 0.7
    lengths = sorted(len(record.body) for record in records)
    assert 250 <= statistics.median(lengths) <= 350
    assert lengths[0] >= 100
    assert 0.005 < share(sum(length > 950 for length in lengths)) < 0.05


# --- task sentences --------------------------------------------------------------------------


@pytest.mark.parametrize("language", ["en", "zh-CN", "ja", "ko"])
def test_task_sentences_differ_and_repeat_by_seed(language: str) -> None:
    said = corpus.sentences(5, 200, language)
    assert len(set(said)) == 200
    assert said == corpus.sentences(5, 200, language)
    assert said != corpus.sentences(6, 200, language)
    letters = "".join(said)
    scripts = {
        "zh-CN": any("\u4e00" <= letter <= "\u9fff" for letter in letters),
        "ja": any("\u3040" <= letter <= "\u30ff" for letter in letters),
        "ko": any("\uac00" <= letter <= "\ud7a3" for letter in letters),
    }
    assert [name for name, seen in scripts.items() if seen and name != "zh-CN"] == (
        [language] if language in {"ja", "ko"} else []
    )
    assert scripts["zh-CN"] == (language in {"zh-CN", "ja"})


def test_an_unknown_language_is_an_error() -> None:
    with pytest.raises(KeyError):
        corpus.sentences(1, 1, "xx")


# --- history ---------------------------------------------------------------------------------


def test_each_further_commit_changes_one_record(tmp_path: Path) -> None:
    summary = corpus.write(tmp_path / "a", records=60, seed=5, commits=40)
    again = corpus.write(tmp_path / "b", records=60, seed=5, commits=40)
    git = partial(history.git, tmp_path / "a")

    assert summary == again
    assert summary.commits == 41 == int(git("rev-list", "--count", "HEAD"))
    assert git("rev-parse", "HEAD") == history.git(tmp_path / "b", "rev-parse", "HEAD")
    assert git("status", "--porcelain") == ""
    git("fsck", "--strict")
    touched = git("log", "-z", "--name-status", "--format=", "HEAD~40..HEAD").split("\0")
    assert touched[:-1:2] == ["M"] * 40
    assert all(path.endswith(".md") for path in touched[1::2])
    assert git("log", "--format=%s", "-1").startswith("correct: ")
    assert len(set(git("log", "--format=%ct").split())) == 41


def test_revisions_move_forward_and_stay_readable(made: corpus.Corpus) -> None:
    before = {memory.path: memory.record for memory in made.memories}
    for memory in corpus.revisions(made, seed=1, count=50):
        old = before[memory.path]
        record, problems = read(memory)
        assert problems == ()
        assert record == memory.record
        assert memory.record.id == old.id
        assert (memory.record.updated or "") > (old.updated or "")
        assert memory.record.body.startswith(old.body)
        before[memory.path] = replace(memory.record, body=old.body)


# --- limits and the table --------------------------------------------------------------------


def test_the_limits_do_the_whole_work(tmp_path: Path) -> None:
    home = tmp_path / "memory"
    corpus.write(home, records=50, seed=1, commits=0)
    found = files_below(home)
    assert straight.count_files(str(home)) == len(found)
    texts = [path for path in found if path.endswith(".md")]
    assert straight.fill(str(tmp_path / "fts.sqlite"), str(home)) == len(texts) - 1  # README

    for seconds in (
        straight.interpreter(2),
        straight.sh(2),
        straight.walk(home, 2),
        straight.read_all(home, 2),
        straight.git(home, "status", rounds=2),
    ):
        assert len(seconds) == 2
        assert all(second > 0 for second in seconds)


def measure(ours: float | None, limit: float | None, bar: float) -> bench.Result:
    def rounds(seconds: float | None) -> bench.Round | None:
        return None if seconds is None else lambda: [seconds]

    return bench.run(bench.Measure("a row", bar, rounds(ours), rounds(limit), rounds=3))


@pytest.mark.parametrize(
    ("ours", "limit", "bar", "verdict", "row"),
    [
        (0.020, 0.010, 2, "ok", "| a row | 20.00 | 10.00 | 2.00 | 2 | ok |"),
        (0.021, 0.010, 2, "over", "| a row | 21.00 | 10.00 | 2.10 | 2 | over |"),
        (0.004, None, 5, "ok", "| a row | 4.00 | — | — | 5 ms | ok |"),
        (0.006, None, 5, "over", "| a row | 6.00 | — | — | 5 ms | over |"),
        (None, 0.010, 2, "open", "| a row | — | — | — | 2 | open |"),
    ],
)
def test_a_row_is_held_against_its_bar(
    ours: float | None, limit: float | None, bar: float, verdict: str, row: str
) -> None:
    result = measure(ours, limit, bar)
    assert result.verdict == verdict
    assert list(bench.table([result]))[2] == row


def test_both_sides_take_turns_and_the_first_round_only_warms_up() -> None:
    turns: list[str] = []

    def side(name: str) -> list[float]:
        turns.append(name)
        return [1.0 if len(turns) <= 2 else 0.001]

    result = bench.run(
        bench.Measure("a row", 1, partial(side, "ours"), partial(side, "limit"), 2, quantile=0.99)
    )
    assert turns == ["ours", "limit"] * 3
    assert result.ours == pytest.approx(1.0)


def test_a_command_that_fails_is_no_fast_command() -> None:
    line = [sys.executable, "-c", "import sys; sys.exit('it broke')"]
    result = bench.run(bench.Measure("a row", 9, partial(straight.command, line), straight.sh))
    assert (result.verdict, result.failure) == ("failed", "it broke")


def test_quantiles_are_those_of_the_measurements() -> None:
    seconds = [float(n) for n in range(100, 0, -1)]
    assert bench.quantile(seconds, 0.5) == 50.5
    assert bench.quantile(seconds, 0.95) == 95.0
    assert bench.quantile([3.0], 0.95) == 3.0


def test_the_ground_is_a_copy_and_the_corpus_is_made_once(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    ground = bench.prepare(tmp_path, 30, 0, cache)
    (original,) = cache.iterdir()
    made_at = original.stat().st_mtime_ns

    assert files_below(ground.home) == files_below(original)
    assert history.git(ground.home, "status", "--porcelain") == ""
    assert bench.cached(30, 0, cache) == original
    assert original.stat().st_mtime_ns == made_at
    assert not any(name.startswith("GIT_DIR") for name in ground.environment)
