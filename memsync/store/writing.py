"""THE write path: lock → recover → check → take in hand edits → write → commit → index."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from memsync import errors, files
from memsync.config import Environment
from memsync.contract.shared import Why
from memsync.gitrepo import MemoryRepo
from memsync.store import purging
from memsync.store.effects import Effects, Plan, Step
from memsync.store.ingest import Ingest, Missing, decide_ingest
from memsync.store.reading import Reader
from memsync.store.scan import blob_of

#: How long a command waits for another one's lock, in seconds.
LOCK_SECONDS = 15.0
#: How often an ingest is begun anew where the person saves meanwhile.
ATTEMPTS = 4
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
    restorable: Mapping[str, bytes] = field(default_factory=dict)

    def restore(self, message: str) -> str | None:
        """Put back the missing files that the person wants back. Returns the commit."""
        self.effects.holding = False
        return self.commit(Plan(message, dict(self.restorable)))

    def commit(self, plan: Plan) -> str | None:
        """Carry out a plan: all of it, or (on an error) nothing. Returns the commit."""
        commit = carry_out(self.effects, plan, self.reader.known_blob)
        with contextlib.suppress(errors.MemsyncError):  # it is done; the index follows later
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
    def open(cls, home: str, environment: Environment, lock_seconds: float = LOCK_SECONDS) -> Store:
        """Open the repository at ``home``; a write waits ``lock_seconds`` for another one.

        Raises NotARepository, OwnedByOther.
        """
        repo = MemoryRepo.at(home, environment.variables)
        reader = Reader.open(home, repo, environment.now, environment.now_ns)
        return cls(reader, repo, Effects(repo), environment, lock_seconds)

    @contextlib.contextmanager
    def transaction(self, what: str, missing: Missing = Missing.UNSAID) -> Iterator[Transaction]:
        """Hold the lock, finish what a crash left, take in hand edits, then let the caller write.

        Raises Locked, OddState, RepositoryDamaged, NewerFormat, GitTooOld, GitMissing, CannotWrite.
        """
        with self._alone(what):
            taken = self._take_in(missing)
            notices = [*taken.notices, *self._go_on_purging()]
            ids = taken.plan.ids if taken.plan else ()
            restorable = taken.restorable
            yield Transaction(self.reader, self.effects, taken.paths, ids, notices, restorable)
            self._upkeep()

    def ingest(self) -> Ingest:
        """Take in and commit what the person edited by hand. The one way, whoever noticed."""
        with self._alone("ingest"):
            return self._take_in(Missing.UNSAID)

    def lock(self, what: str) -> contextlib.AbstractContextManager[None]:
        """Be the only memsync that writes here; ``what`` tells the others why."""
        path = os.path.join(self.effects.folder, "lock")
        holder = f"process {self.environment.process}: {what}\n"
        return files.lock(path, self.lock_seconds, holder)

    @contextlib.contextmanager
    def _alone(self, what: str) -> Iterator[None]:
        with self.lock(what):
            self.repo.git.check_version()
            self.check_state()
            if not self.repo.has_index():
                self.repo.make_index()
            recover(self.effects)
            self.reader.refresh()
            yield

    def check_state(self) -> None:
        """Raise OddState where git is in the middle of something or on another branch.

        Raises RepositoryDamaged too.
        """
        state = self.repo.state()
        if state.problem:
            raise errors.OddState(state=state.problem)

    def _take_in(self, missing: Missing) -> Ingest:
        for left in reversed(range(ATTEMPTS)):
            now = self.environment.now()
            decided = decide_ingest(self.reader, self.repo, now, missing)
            try:
                self._carry_in(decided)
                return decided
            except errors.RevisionMoved:  # the person saved again just now
                if not left:
                    raise
                self.reader.refresh()
        raise AssertionError("unreachable")

    def _carry_in(self, decided: Ingest) -> None:
        # What is asked about stays unseen, through every later commit, until it is answered.
        self.effects.holding = bool(decided.missing or decided.restorable)
        if decided.left:
            self.effects.keep_commit(decided.left)
        if decided.dropped:
            self.effects.unstage(decided.dropped)
        if decided.plan is not None:
            carry_out(self.effects, decided.plan, self.reader.known_blob)
            self.reader.refresh()
        elif decided.see:
            self.effects.see(decided.see)

    def _go_on_purging(self) -> list[Why]:
        """Finish what is noted to be forgotten for good; what prevents that blocks nothing else."""
        try:
            now_ns = self.environment.now_ns
            return [*purging.purge(self.effects, self.reader, now_ns, lambda _: None)]
        except errors.MemsyncError:
            return [Why("purge-unfinished", (", ".join(purging.pending(self.effects)),))]

    def _upkeep(self) -> None:
        """Keep Git quick: pack what many commits left loose, and index paths for ``history``."""
        if self.repo.loose_objects() > LOOSE_OBJECTS:
            with contextlib.suppress(errors.MemsyncError):  # the change itself is done
                self.repo.pack()
                self.repo.write_commit_graph()


def carry_out(
    effects: Effects, plan: Plan, known: Callable[[str], str | None] = lambda _: None
) -> str | None:
    """Do what a plan says: all of it and its commit, or nothing and an error.

    ``known`` gives the blob that the plan was made from. Raises RevisionMoved where the person
    saved one of the files since then.
    """
    effects.begin()
    steps = _staged(effects, plan, known)
    try:
        effects.decide(plan, steps)
        for step in steps:
            if step.old != step.new:
                _refuse_moved(step, _blob_at(effects, step.path), step.old)
                effects.put(step)
        commit = effects.commit(plan.full_message(), tuple(plan.files))
    except (errors.MemsyncError, OSError, KeyboardInterrupt) as error:
        commit = effects.landed(steps)
        if commit is None:
            undo(effects, steps)
            raise
        if isinstance(error, KeyboardInterrupt):
            _end(effects, commit)
            raise
    _end(effects, commit)
    return commit


def _staged(effects: Effects, plan: Plan, known: Callable[[str], str | None]) -> tuple[Step, ...]:
    steps = []
    for number, (path, content) in enumerate(plan.files.items()):
        old = _blob_at(effects, path)
        new = blob_of(content) if content is not None else ""
        step = Step(path, number, old, new)
        if old != new:
            _refuse_moved(step, old, known(path))
            effects.stage(number, path, content)
        steps.append(step)
    return tuple(steps)


def _refuse_moved(step: Step, found: str, expected: str | None) -> None:
    if expected is not None and found != expected:
        raise errors.RevisionMoved(
            id=step.path, expected=expected[:12] or "absent", actual=found[:12] or "absent"
        )


def _end(effects: Effects, commit: str | None) -> None:
    """The change has happened; what fails from here on is caught up with by the next write."""
    with contextlib.suppress(errors.MemsyncError, OSError):
        if commit:
            effects.see(commit)
        effects.settle()


def undo(effects: Effects, steps: tuple[Step, ...]) -> None:
    """Put everything back as it was before a plan that failed."""
    if effects.begin_undo():
        _put_back(effects, steps)


def _put_back(effects: Effects, steps: tuple[Step, ...]) -> None:
    for step in reversed(steps):
        if step.old != step.new and _blob_now(effects, step.path) == step.new:
            effects.put_back(step)
    paths = tuple(step.path for step in steps)
    with contextlib.suppress(errors.MemsyncError):  # the files are what counts
        effects.unstage(paths)
    effects.end_undo()


def recover(effects: Effects) -> None:
    """Finish what a crash left: a decided change happens, an undo is completed.

    A file that the person changed since then stays as the person left it; what should have
    come in its place is kept aside.
    """
    left = effects.pending()
    if left is None:
        return
    folder, message, steps = left
    if folder == effects.undoing:
        _put_back(effects, steps)
        return
    for step in steps:
        waiting = effects.waiting(step)
        current = _blob_now(effects, step.path)
        if current == step.old and step.old != step.new and (waiting or not step.new):
            effects.put(step)
        elif waiting and current != step.new:
            name = f"interrupted-{step.new[:12]}-{os.path.basename(step.path)}"
            effects.keep_aside(name, files.read(waiting))
    ours = tuple(s.path for s in steps if _blob_now(effects, s.path) == s.new)
    theirs = tuple(s.path for s in steps if s.path not in ours)
    if theirs:
        effects.unstage(theirs)  # git may have taken our version of them into its index
    effects.commit(message, ours)
    effects.settle()  # what it changed is seen by the ingest that follows


def _blob_now(effects: Effects, path: str) -> str | None:
    """As ``_blob_at``; None for what is no file that can be read, and so is nobody's version."""
    try:
        return _blob_at(effects, path)
    except errors.CannotRead:
        return None


def _blob_at(effects: Effects, path: str) -> str:
    current = files.read_if_there(effects.at(path))
    return blob_of(current) if current is not None else ""
