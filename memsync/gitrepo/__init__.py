"""The only room that speaks Git."""

from memsync.gitrepo.memory import SEEN, Change, Commit, MemoryRepo, State
from memsync.gitrepo.run import Git

__all__ = ["SEEN", "Change", "Commit", "Git", "MemoryRepo", "State"]
