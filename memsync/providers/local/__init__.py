"""The local provider: the contract over the memory repository on this disk."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar, cast

from memsync import errors
from memsync.config import Environment
from memsync.index import telling_damage
from memsync.providers.local.reads import Reads
from memsync.store.reading import Reader

if TYPE_CHECKING:
    from memsync.contract.changes import Applied, Input
    from memsync.contract.memories import Status
    from memsync.contract.shared import Asks, ProjectRef
    from memsync.providers.local.writes import Work

R = TypeVar("R")
#: How often a read or a write is begun before what is in its way is told.
ATTEMPTS = 4


@dataclass
class LocalProvider:
    """``status``, ``query`` and ``apply`` on this machine (design, section 8).

    Reads open the index and the files; a write takes the store's lock. ``progress`` is told what
    long work is at. ``vouched`` says whether a watcher answers for the index. ``lock_seconds``
    is how long a write waits for another one; None is the store's usual patience.
    """

    home: str
    environment: Environment
    progress: Callable[[str], None] = lambda _: None
    vouched: Callable[[], bool] = lambda: False
    lock_seconds: float | None = None
    _reads: Reads | None = field(default=None, repr=False)

    def _opened(self) -> Reads:
        if self._reads is None:
            from memsync.gitrepo import MemoryRepo

            repo = MemoryRepo.at(self.home, self.environment.variables)
            reader = Reader.open(
                self.home, repo, self.environment.now, self.environment.now_ns, self.vouched
            )
            self._reads = Reads(reader, self.environment)
        return self._reads

    def shared_language(self) -> str | None:
        """The language that the shared settings ask for, as the index last saw them."""
        return self._opened().reader.settings.language

    def close(self) -> None:
        """Close the index."""
        if self._reads is not None:
            self._reads.reader.close()
            self._reads = None

    def _answered(self, act: Callable[[Reads], R]) -> R:
        """Read; once more where a file was saved meanwhile, or the index turns out damaged."""
        for left in reversed(range(ATTEMPTS)):
            try:
                with telling_damage():
                    return act(self._opened())
            except (errors.RevisionMoved, errors.CannotRead):
                if not left:
                    raise
            except errors.IndexDamaged:
                if not left:
                    raise
                self._opened().reader.begin_anew()
        raise AssertionError("unreachable")

    def status(self, project: ProjectRef | None = None) -> Status:
        """How the memory stands."""
        from memsync.providers.local import management

        return self._answered(lambda opened: management.status(opened, project))

    def query(self, query: Asks[R]) -> R:
        """Answer a question; changes no file of the memory and makes no commit."""
        # What a task needs is not made to wait for what management needs.
        if query.view in ("task", "manifest", "profile"):
            from memsync.providers.local.tasks import answer
        else:
            from memsync.providers.local.management import answer  # type: ignore[assignment]
        return cast(R, self._answered(lambda opened: answer(opened, query)))

    def apply(self, operation: Input) -> Applied:
        """Change the memory and say what was done, or raise and change nothing."""
        from memsync.contract import changes
        from memsync.providers.local import forgetting, writes

        acts: dict[type, Callable[[writes.Work, Any], Applied]] = {
            changes.RememberInput: writes.remember,
            changes.CorrectInput: writes.correct,
            changes.ResolveInput: writes.resolve,
            changes.PauseInput: writes.pause,
            changes.SettingsInput: writes.settings,
            changes.ForgetInput: forgetting.forget,
            changes.RollbackInput: forgetting.roll_back,
        }
        act = acts[type(operation)]
        return self.changing(lambda work: act(work, operation))

    def changing(self, act: Callable[[Work], Applied]) -> Applied:
        """Run a change over a store of its own, which is closed afterwards.

        It is begun again where the person saved a file in its way, which changes nothing.
        """
        from memsync.providers.local.writes import Work
        from memsync.store.writing import LOCK_SECONDS, Store

        seconds = LOCK_SECONDS if self.lock_seconds is None else self.lock_seconds
        for left in reversed(range(ATTEMPTS)):
            store = Store.open(self.home, self.environment, seconds)
            try:
                with telling_damage():
                    return act(Work(store, self.environment, self.progress))
            except errors.RevisionMoved:
                if not left:
                    raise
            except errors.IndexDamaged:
                if not left:
                    raise
                store.reader.begin_anew()
            finally:
                store.reader.close()
        raise AssertionError("unreachable")
