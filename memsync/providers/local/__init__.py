"""The local provider: the contract over the memory repository on this disk."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar, cast

from memsync.config import Environment
from memsync.contract.requests import (
    Asks,
    CorrectInput,
    ForgetInput,
    Input,
    PauseInput,
    ProjectRef,
    Query,
    RememberInput,
    ResolveInput,
    RollbackInput,
    SettingsInput,
)
from memsync.contract.results import Applied, Status
from memsync.providers.local import reads
from memsync.providers.local.reads import Reads
from memsync.store.reading import Reader

if TYPE_CHECKING:
    from memsync.providers.local.writes import Work

R = TypeVar("R")


@dataclass
class LocalProvider:
    """``status``, ``query`` and ``apply`` on this machine (design, section 8).

    Reads open the index and the files; a write takes the store's lock. ``progress`` is told what
    long work is at. ``vouched`` says whether a watcher answers for the index.
    """

    home: str
    environment: Environment
    progress: Callable[[str], None] = lambda _: None
    vouched: Callable[[], bool] = lambda: False
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

    def status(self, project: ProjectRef | None = None) -> Status:
        """How the memory stands."""
        return reads.status(self._opened(), project)

    def query(self, query: Asks[R]) -> R:
        """Answer a question; changes no file of the memory and makes no commit."""
        return cast(R, reads.answer(self._opened(), cast(Query, query)))

    def apply(self, operation: Input) -> Applied:
        """Change the memory and say what was done, or raise and change nothing."""
        from memsync.providers.local import forgetting, writes

        acts: dict[type[Input], Callable[[writes.Work, Any], Applied]] = {
            RememberInput: writes.remember,
            CorrectInput: writes.correct,
            ResolveInput: writes.resolve,
            PauseInput: writes.pause,
            SettingsInput: writes.settings,
            ForgetInput: forgetting.forget,
            RollbackInput: forgetting.roll_back,
        }
        act = acts[type(operation)]
        return self.changing(lambda work: act(work, operation))

    def changing(self, act: Callable[[Work], Applied]) -> Applied:
        """Run a change over a store of its own, which is closed afterwards."""
        from memsync.providers.local.writes import Work
        from memsync.store.writing import Store

        store = Store.open(self.home, self.environment)
        try:
            return act(Work(store, self.environment, self.progress))
        finally:
            store.reader.close()
