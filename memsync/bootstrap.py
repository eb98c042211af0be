"""Putting the parts together for a front door: environment, home, provider."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING

from memsync import language
from memsync.config import Environment
from memsync.contract import Provider
from memsync.providers.local import LocalProvider
from memsync.store.reading import Reader

if TYPE_CHECKING:
    from memsync.store.writing import Store


def environment(variables: Mapping[str, str]) -> Environment:
    """The environment of this process."""
    return Environment(
        variables=dict(variables),
        now=lambda: datetime.now(UTC),
        now_ns=time.time_ns,
        entropy=os.urandom,
        process=os.getpid(),
        program=sys.executable,
    )


@dataclass
class Machine:
    """This machine's memory, for a front door. Nothing is opened before it is asked for."""

    environment: Environment
    progress: Callable[[str], None] = lambda _: None

    @cached_property
    def home(self) -> str:
        """The folder of the memory repository. Raises HomeUnknown."""
        return self.environment.home()

    @cached_property
    def local(self) -> LocalProvider:
        """The local provider."""
        return LocalProvider(self.home, self.environment, self.progress)

    @property
    def provider(self) -> Provider:
        """The provider that is configured."""
        return self.local

    def store(self) -> Store:
        """The repository of this machine, for what is outside the contract."""
        from memsync.store.writing import Store

        return Store.open(self.home, self.environment)

    def reader(self) -> Reader:
        """A fresh reader, for what is about this machine's repository and not the contract's."""
        from memsync.gitrepo import MemoryRepo

        repo = MemoryRepo.at(self.home, self.environment.variables)
        reader = Reader.open(self.home, repo, self.environment.now, self.environment.now_ns)
        reader.refresh()
        return reader

    def language(self) -> str:
        """The language of labels, as far as it can be told without looking at a project."""
        shared = None
        if os.path.isdir(os.path.join(self.home, ".git")):
            shared = self.local.shared_language()
        return language.choose(shared, self.environment.locale_language())

    def close(self) -> None:
        """Close what was opened."""
        if "local" in self.__dict__:
            self.local.close()
