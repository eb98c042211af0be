"""What the table measures inside the process: index, reconcile, a warm retrieve."""

from __future__ import annotations

import itertools
import os
import shutil
import time
from functools import cached_property
from pathlib import Path

from benchmarks import corpus, straight
from memsync import bootstrap
from memsync.contract.shared import ProjectRef
from memsync.contract.tasks import TaskQuery
from memsync.gitrepo import MemoryRepo
from memsync.index import Row
from memsync.providers.local import LocalProvider
from memsync.store import history
from memsync.store.reading import Reader

#: Sentences of each language in one round of ``retrieve``.
SENTENCES = 100


class Product:
    """memsync on one memory, as the daemon or the MCP server would hold it."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._round = 0
        self._machine = bootstrap.Machine(
            bootstrap.environment({**os.environ, "MEMSYNC_HOME": str(home)})
        )

    def full_index(self) -> list[float]:
        """Build the index from nothing."""
        shutil.rmtree(self._home / ".git" / "memsync", ignore_errors=True)
        begun = time.perf_counter()
        reader = self._machine.reader()
        took = time.perf_counter() - begun
        reader.close()
        return [took]

    @cached_property
    def _reader(self) -> Reader:
        reader = self._machine.reader()
        time.sleep(2.1)  # what was just written is looked at twice
        reader.refresh()
        return reader

    def reconcile(self) -> list[float]:
        """Compare the files with the index where nothing changed."""
        reader = self._reader
        begun = time.perf_counter()
        reader.refresh()
        return [time.perf_counter() - begun]

    @cached_property
    def _vouched(self) -> LocalProvider:
        self._machine.reader().close()
        return LocalProvider(str(self._home), self._machine.environment, vouched=lambda: True)

    def retrieve(self) -> list[float]:
        """Tasks of both languages in five projects; some name a path."""
        # Other sentences in every round: what is kept from the round before must not flatter.
        self._round += 1
        keys = list(corpus.projects())[:5]
        tasks = itertools.chain.from_iterable(
            zip(
                corpus.sentences(self._round, SENTENCES, "en"),
                corpus.sentences(self._round, SENTENCES, "zh-CN"),
                strict=True,
            )
        )
        took = []
        for number, task in enumerate(tasks):
            paths = ("web/src/app.ts",) if number % 3 == 0 else ()
            query = TaskQuery(ProjectRef(key=keys[number % len(keys)]), task, paths)
            begun = time.perf_counter()
            self._vouched.query(query)
            took.append(time.perf_counter() - begun)
        return took

    @cached_property
    def _some(self) -> list[Row]:
        return self._reader.index.rows(order="r.id")[:: self._reader.index.count() // 5 or 1][:5]

    def history(self) -> list[float]:
        """The versions of five records, followed by their ids."""
        repo = MemoryRepo.at(str(self._home), self._machine.environment.variables)
        took = []
        for row in self._some:
            begun = time.perf_counter()
            history.versions(repo, row.id, row.path)
            took.append(time.perf_counter() - begun)
        return took

    def bare_history(self) -> list[float]:
        """What git takes for the logs of the same five paths without its changed-path filters."""
        words = ("-c", "core.commitGraph=false", "log", "--format=%H", "--")
        return [straight.git(self._home, *words, row.path, rounds=1)[0] for row in self._some]
