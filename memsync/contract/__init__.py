"""``memsync.provider.v1``: requests, results, and the protocol that every provider speaks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from memsync.contract.changes import Applied, Input
    from memsync.contract.memories import Status
    from memsync.contract.shared import Asks, ProjectRef

SCHEMA = "memsync.provider.v1"
R = TypeVar("R")


class Provider(Protocol):
    """A memory, wherever it is kept."""

    def status(self, project: ProjectRef | None = None) -> Status:
        """How the memory stands, for a project's folder where one is given."""

    def query(self, query: Asks[R]) -> R:
        """Answer a question; changes nothing."""

    def apply(self, operation: Input) -> Applied:
        """Change the memory, or raise and change nothing."""
