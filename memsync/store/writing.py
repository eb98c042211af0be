"""THE write path: lock → recover → check → take in hand edits → write → commit → index."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, field

from memsync import errors, files
from memsync.config import Environment
from memsync.contract.results import Why
from memsync.gitrepo import MemoryRepo
from memsync.store import purging
from memsync.store.effects import Effects, Plan, Step
from memsync.store.ingest import Ingest, decide_ingest
from memsync.store.reading import Reader
from memsync.store.scan import blob_of

#: How long a command waits for another one's lock, in seconds.
LOCK_SECONDS = 15.0
#: From about this many loose objects on, a write packs them.
LOOSE_OBJECTS = 6000


@dataclass
class Transaction:
    """The memory while this process alone may write it. Every method leaves it whole."""

    reader: Reader
    effects: Effects
    taken_in: tuple[str, ...] = ()
    taken_ids: tuple[str, ...] = ()
    notices: list[Why] = field(default_factory=list)

    def commit(self, plan: Plan) -> str | None:
        """Carry out a plan: all of it, or (on an error) nothing. Returns the commit."""
        commit = carry_out(self.effects, plan)
        self.reader.refresh()
        return commit


@dataclass
class Store:
    """The memory repository of this machine, for writing."""

    reader: Reader
    repo: MemoryRepo
    effects: Effects
    environment: Environment
    lock_seconds: float = LOCK_SECONDS

    @classmethod
    def open(cls, home: str, environment: Environment) -> Store:
        """Open the repository at ``home``. Raises NotARepository, OwnedByOther."""
        repo = MemoryRepo.at(home, environment.variables)
        reader = Reader.open(home, repo, environment.now, environment.now_ns)
        return cls(reader, repo, Effects(repo), environment)

    @contextlib.contextmanager
    def transaction(self, what: str, accept_missing: bool = False) -> Iterator[Transaction]:
        """Hold the lock, finish what a crash left, take in hand edits, then let the caller write.

        ``accept_missing`` means that the person has said that missing files are meant.

        Raises Locked, OddState, NewerFormat, GitTooOld, GitMissing, CannotWrite.
        """
        with self._alone(what):
            taken = self._take_in(accept_missing)
            purging.purge(self.effects, self.reader, self.environment.now_ns, lambda _: None)
            ids = taken.plan.ids if taken.plan else ()
            yield Transaction(self.reader, self.effects, taken.paths, ids, [*taken.notices])
            self._upkeep()

    def ingest(self) -> Ingest:
        """Take in and commit what the person edited by hand. The one way, whoever noticed."""
        with self._alone("ingest"):
            return self._take_in(accept_missing=False)

    @contextlib.contextmanager
    def _alone(self, what: str) -> Iterator[None]:
        path = os.path.join(self.effects.folder, "lock")
        holder = f"process {self.environment.process}: {what}\n"
        with files.lock(path, self.lock_seconds, holder):
            self.repo.git.check_version()
            self.check_state()
            recover(self.effects)
            self.reader.refresh()
            yield

    def check_state(self) -> None:
        """Raise OddState where git is in the middle of something or on another branch."""
        state = self.repo.state(self.repo.setting("memsync.branch"))
        if state.problem:
            raise errors.OddState(state=state.problem)

    def _take_in(self, accept_missing: bool) -> Ingest:
        decided = decide_ingest(self.reader, self.repo, self.environment.now(), accept_missing)
        if decided.plan is not None:
            carry_out(self.effects, decided.plan)
            self.reader.refresh()
        elif decided.see:
            self.effects.see(decided.see)
        return decided

    def _upkeep(self) -> None:
        """Keep Git quick: pack what many commits left loose, and index paths for ``history``."""
        if self.repo.loose_objects() > LOOSE_OBJECTS:
            self.repo.pack()
            self.repo.write_commit_graph()


def carry_out(effects: Effects, plan: Plan) -> str | None:
    """Do what a plan says: all of it and its commit, or nothing and an error."""
    effects.begin()
    steps = []
    for number, (path, content) in enumerate(plan.files.items()):
        current = files.read_if_there(effects.at(path))
        old = blob_of(current) if current is not None else ""
        new = blob_of(content) if content is not None else ""
        steps.append(Step(path, number, old, new))
        if old != new:
            effects.stage(number, path, content)
    chosen = tuple(steps)
    effects.decide(plan, chosen)
    try:
        for step in chosen:
            if step.old != step.new:
                effects.put(step)
        commit = effects.commit(plan.full_message(), tuple(plan.files))
    except (errors.MemsyncError, OSError, KeyboardInterrupt):
        undo(effects, chosen)
        raise
    if commit:
        effects.see(commit)
    effects.settle()
    return commit


def undo(effects: Effects, steps: tuple[Step, ...]) -> None:
    """Put everything back as it was before a plan that failed."""
    effects.begin_undo()
    _put_back(effects, steps)


def _put_back(effects: Effects, steps: tuple[Step, ...]) -> None:
    for step in reversed(steps):
        if step.old != step.new and _blob_at(effects, step.path) == step.new:
            effects.put_back(step)
    paths = tuple(step.path for step in steps)
    with contextlib.suppress(errors.MemsyncError):  # the files are what counts
        effects.unstage(paths)
    effects.end_undo()


def recover(effects: Effects) -> None:
    """Finish what a crash left: a decided change happens, an undo is completed.

    A file that the person changed since then stays as the person left it.
    """
    left = effects.pending()
    if left is None:
        return
    folder, message, steps = left
    if folder == effects.undoing:
        _put_back(effects, steps)
        return
    for step in steps:
        current = _blob_at(effects, step.path)
        if current == step.old and step.old != step.new:
            effects.put(step)
    ours = tuple(s.path for s in steps if _blob_at(effects, s.path) == s.new)
    commit = effects.commit(message, ours)
    if commit:
        effects.see(commit)
    effects.settle()


def _blob_at(effects: Effects, path: str) -> str:
    current = files.read_if_there(effects.at(path))
    return blob_of(current) if current is not None else ""
