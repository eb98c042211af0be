"""The table of memsync's costs beside the straight-line limits, measured side by side.

``python -m benchmarks.bench [--records 10000] [--only NAME]`` prints it as Markdown and ends
with 1 where a number is over its bar or could not be measured.
"""

from __future__ import annotations

import argparse
import hashlib
import math
import os
import platform
import shlex
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks import corpus, history, layout, straight
from benchmarks.product import Product
from memsync.gitrepo import driver

_HERE = Path(__file__).resolve().parent
_CACHE = _HERE / ".corpus"
_SEED = 1
#: What decides the content of a corpus, beside the vocabulary.
_GENERATOR = ("corpus.py", "prose.py", "layout.py", "history.py", "memories.py")

#: One round: does the work and says how many seconds it took, once or several times.
Round = Callable[[], list[float]]


#: 5 ms where a bare interpreter starts in 13 ms (design, sections 10 and 12): as a ratio, the bar
#: means the same on a slower machine.
WARM_RETRIEVE = 5 / 13


@dataclass(frozen=True, slots=True)
class Measure:
    """One row. ``bar`` is the ratio ours/limit, or milliseconds where there is no limit.

    ``quantile`` 0.5 compares medians. A row without ``ours`` is announced and not measured.
    """

    name: str
    bar: float
    ours: Round | None
    limit: Round | None
    rounds: int = 15
    quantile: float = 0.5


@dataclass(frozen=True, slots=True)
class Result:
    """What a row came to, in milliseconds; ``failure`` says why there is no number."""

    measure: Measure
    ours: float | None = None
    limit: float | None = None
    failure: str = ""

    @property
    def value(self) -> float | None:
        """What the bar is held against."""
        if self.ours is None or self.limit is None:
            return self.ours
        return self.ours / self.limit

    @property
    def verdict(self) -> str:
        """``ok``, ``over``, ``failed`` or ``open``."""
        if self.failure:
            return "failed"
        if self.value is None:
            return "open"
        return "ok" if self.value <= self.measure.bar else "over"


@dataclass(frozen=True, slots=True)
class Ground:
    """Where the measures run: a memory of their own, and a code project beside it."""

    home: Path
    project: Path
    environment: dict[str, str] = field(default_factory=dict)

    def memsync(self, *words: str) -> Round:
        """A cold command line."""
        line = [sys.executable, "-m", "memsync", *words]
        return lambda: straight.command(line, 1, self.project, self.environment)

    def merge_driver(self) -> Round:
        """What git starts for one memory of which both sides changed the text."""
        folder = self.project.parent
        record = corpus.make(1, _SEED).memories[0].record
        texts = {
            "base": record,
            "ours": record.replacing(body=f"First.\n\n{record.body}"),
            "theirs": record.replacing(body=f"{record.body}\n\nLast."),
        }
        for name, side in texts.items():
            (folder / name).write_text(layout.record_text(side), encoding="utf-8")
        files = [str(folder / name) for name in texts]
        line = [*shlex.split(driver.started(sys.executable)), "merge-driver", *files, "global/a.md"]
        return lambda: straight.command(line, 1, folder, self.environment)


def measures(ground: Ground) -> tuple[Measure, ...]:
    """Every row of the table."""
    product = Product(ground.home)
    return (
        Measure("memsync --help, cold", 5, ground.memsync("--help"), straight.interpreter),
        Measure(
            "memsync retrieve, cold, no daemon",
            15,
            ground.memsync("retrieve", ".", "--task", "Modify the authentication module"),
            straight.interpreter,
        ),
        Measure("merge-driver, one memory", 5, ground.merge_driver(), straight.interpreter),
        Measure(
            "full index", 2, product.full_index, lambda: straight.read_all(ground.home), rounds=3
        ),
        Measure("no-change reconcile", 2, product.reconcile, lambda: straight.walk(ground.home)),
        Measure(
            "warm retrieve, p95",
            WARM_RETRIEVE,
            product.retrieve,
            lambda: [statistics.median(straight.interpreter(5))],
            rounds=3,
            quantile=0.95,
        ),
        Measure(
            "history of a record, beside `git log` without filters",
            1,
            product.history,
            product.bare_history,
            rounds=5,
        ),
    )


def run(measure: Measure) -> Result:
    """Measure one row: one round of each to warm up, then both in turn."""
    if measure.ours is None:
        return Result(measure)
    ours: list[float] = []
    limit: list[float] = []
    try:
        for warm in range(measure.rounds + 1):
            took = measure.ours()
            least = measure.limit() if measure.limit else []
            if warm:
                ours += took
                limit += least
    except subprocess.CalledProcessError as failed:
        said = (failed.stderr or b"").decode(errors="replace").strip().splitlines()
        return Result(measure, failure=said[-1] if said else f"status {failed.returncode}")
    return Result(
        measure,
        quantile(ours, measure.quantile) * 1000,
        quantile(limit, measure.quantile) * 1000 if limit else None,
    )


def quantile(seconds: list[float], share: float) -> float:
    """The value that ``share`` of the measurements do not exceed; the median at 0.5."""
    if share == 0.5 or len(seconds) < 2:
        return statistics.median(seconds)
    ordered = sorted(seconds)
    return ordered[math.ceil(share * len(ordered)) - 1]


def table(results: list[Result]) -> Iterator[str]:
    """The lines of the Markdown table."""
    yield "| what | ours, ms | limit, ms | ratio | bar | verdict |"
    yield "| --- | ---: | ---: | ---: | ---: | --- |"
    for result in results:
        ratio = f"{result.value:.2f}" if result.value is not None and result.limit else "—"
        cells = (
            result.measure.name,
            _milliseconds(result.ours),
            _milliseconds(result.limit),
            ratio,
            f"{result.measure.bar:g}" + ("" if result.measure.limit else " ms"),
            f"{result.verdict} {result.failure}".strip(),
        )
        yield f"| {' | '.join(cells)} |"


def _milliseconds(value: float | None) -> str:
    return "—" if value is None else f"{value:.2f}"


def cached(records: int, commits: int = 0, cache: Path = _CACHE) -> Path:
    """A corpus as a Git repository, made once for each generator and size."""
    sources = sorted((*_HERE.glob("*.yaml"), *map(_HERE.joinpath, _GENERATOR)))
    made_by = hashlib.sha256(b"\0".join(path.read_bytes() for path in sources)).hexdigest()[:12]
    wanted = cache / f"{records}-{commits}-{_SEED}-{made_by}"
    if not wanted.is_dir():
        cache.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache) as place:
            corpus.write(Path(place, "memory"), records, _SEED, commits=commits)
            os.rename(Path(place, "memory"), wanted)
    return wanted


def prepare(place: Path, records: int, commits: int = 0, cache: Path = _CACHE) -> Ground:
    """Copy the corpus into ``place``, outside of any work tree, and make a code project."""
    home, project = place / "memory", place / "project"
    shutil.copytree(cached(records, commits, cache), home)
    history.git(home, "update-index", "-q", "--refresh")
    project.mkdir()
    history.git(project, "init", "-q", "-b", "main")
    history.git(project, "remote", "add", "origin", f"https://{_first_alias()}.git")
    environment = history.environment() | {
        "MEMSYNC_HOME": str(home),
        "PYTHONPATH": str(_HERE.parent),
    }
    return Ground(home, project, environment)


def _first_alias() -> str:
    return next(iter(corpus.projects().values()))


def machine() -> str:
    """What the numbers were measured with."""
    git = history.git(_HERE, "--version").split()[2]
    return (
        f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, git {git}, "
        f"{platform.system()}, {os.cpu_count()} processors"
    )


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bench", description=__doc__)
    parser.add_argument("--records", type=int, default=10_000)
    parser.add_argument(
        "--commits", type=int, default=0, help="commits after the first, for `memsync history`"
    )
    parser.add_argument("--only", default="", metavar="NAME", help="rows whose name contains this")
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as place:
        ground = prepare(Path(place), chosen.records, chosen.commits)
        wanted = [m for m in measures(ground) if chosen.only in m.name]
        if not chosen.commits:  # without commits there is no history to be slow in
            wanted = [m for m in wanted if not m.name.startswith("history")]
        results = [run(measure) for measure in wanted]
    print(f"{chosen.records} records, {chosen.commits + 1} commits; {machine()}\n")
    print("\n".join(table(results)))
    return int(any(result.verdict in {"over", "failed"} for result in results))


if __name__ == "__main__":
    sys.exit(main())
