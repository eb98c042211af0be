"""Every error of memsync: its code, its exit status, its facts.

An error carries facts; the edge that shows it words the advice.
A code is a kebab-case word that stays the same once published.
"""

from __future__ import annotations

from enum import IntEnum
from typing import ClassVar

from memsync.errors.problems import PROBLEMS as PROBLEMS
from memsync.errors.problems import Facts as Facts
from memsync.errors.problems import Problem as Problem
from memsync.errors.problems import listed as listed
from memsync.errors.problems import problem as problem
from memsync.errors.problems import problem_facts as problem_facts
from memsync.errors.problems import summarise as summarise


class Exit(IntEnum):
    """Exit statuses of the command line (design, section 11)."""

    DONE = 0
    REFUSED = 1
    USAGE = 2
    NOT_FOUND = 3
    ATTENTION = 4
    BUSY = 5
    NETWORK = 6


class MemsyncError(Exception):
    """The root of all errors that memsync raises on purpose.

    ``code`` names the kind, ``template`` is the sentence that the facts fill in. A subclass
    sets both. Facts are strings, numbers, booleans, or lists of them, so that they go to JSON.
    """

    code: ClassVar[str] = "internal-error"
    exit_status: ClassVar[Exit] = Exit.REFUSED
    template: ClassVar[str] = "something failed: {detail}"

    def __init__(self, **facts: object) -> None:
        self.facts: dict[str, object] = facts
        super().__init__(self.template.format_map(Facts(facts)))


class Refused(MemsyncError):
    """Refused or failed; nothing was changed."""


class WrongUsage(MemsyncError):
    """The call itself is wrong."""

    exit_status = Exit.USAGE


class NoSuchThing(MemsyncError):
    """What the call names does not exist."""

    exit_status = Exit.NOT_FOUND


class Busy(MemsyncError):
    """Somebody else holds it, or it took too long; a later try may work."""

    exit_status = Exit.BUSY


class NetworkTrouble(MemsyncError):
    """The network or the remote failed."""

    exit_status = Exit.NETWORK


class UsageWrong(WrongUsage):
    """The command line could not be read."""

    code = "usage"
    template = "{detail}"


# --- records -------------------------------------------------------------------------------


class RecordNotFound(NoSuchThing):
    """No memory has this id, prefix or title."""

    code = "record-not-found"
    template = "no memory has the id or title {wanted!r}"


class RecordAmbiguous(WrongUsage):
    """A prefix or a title fits more than one memory."""

    code = "record-ambiguous"
    template = "{wanted!r} fits more than one memory: {ids}"


class RecordElsewhere(WrongUsage):
    """A title or the beginning of an id names a memory of another project than the caller's."""

    code = "record-elsewhere"
    template = "{wanted!r} names {id}, which belongs to the project {projectKey}"


class RecordForgotten(NoSuchThing):
    """The memory was forgotten."""

    code = "record-forgotten"
    template = "{id} was forgotten on {forgottenAt}"


class ForgottenForGood(Refused):
    """A permanent forget cannot be taken back."""

    code = "forgotten-for-good"
    template = "{id} was forgotten permanently on {forgottenAt}; its text is gone"


class NothingToRollBack(Refused):
    """A rollback without an earlier version was asked for."""

    code = "nothing-to-roll-back"
    template = "{id} has no earlier version"


class RevisionNotFound(NoSuchThing):
    """The memory has no such revision."""

    code = "revision-not-found"
    template = "{id} has no revision {revision!r}"


class RevisionMoved(Refused):
    """The caller's expected revision is not the current one."""

    code = "revision-moved"
    template = "{id} is at revision {actual}, not {expected}"


class InvalidRecord(Refused):
    """Values of a memory break the format; ``problems`` has them all."""

    code = "invalid-record"
    template = "this memory cannot be written: {summary}"


class BrokenFile(Refused):
    """The file of the memory cannot be read, so it cannot be changed."""

    code = "broken-file"
    template = "{path} cannot be read: {summary}"


class EditWouldDamage(Refused):
    """A machine edit of this file would have changed more than it was asked to."""

    code = "edit-would-damage"
    template = "the layout of {path} does not allow a safe edit of {keys}"


class TextEmpty(WrongUsage):
    """No text was given."""

    code = "text-empty"
    template = "there is no text to keep"


class TextNotReadable(Refused):
    """The text given is not UTF-8 text."""

    code = "text-not-readable"
    template = "the text is not readable: {detail}"


class NoConflict(Refused):
    """The memory has no open conflict of that number."""

    code = "no-such-conflict"
    template = "{id} has no conflict {number}; open conflicts: {count}"


class InvalidValue(WrongUsage):
    """An option or request field has a value that is not allowed."""

    code = "invalid-value"
    template = "{field}: {value!r} is not allowed; it takes {allowed}"


# --- the memory repository -----------------------------------------------------------------


class NotARepository(NoSuchThing):
    """There is no memory repository where one was expected."""

    code = "no-memory-repository"
    template = "there is no memory repository at {path}"


class AlreadyInitialised(Refused):
    """A repository that is not memsync's, or files, stand where ``init`` was asked to work."""

    code = "not-a-memory-repository"
    template = "{path} is in use and is no memory repository: {detail}"


class InsideOtherWorkTree(Refused):
    """The memory's folder lies inside somebody else's work tree."""

    code = "inside-other-work-tree"
    template = "{path} lies inside the work tree {outer}"


class NewerFormat(Refused):
    """The repository was written by a newer memsync."""

    code = "newer-format"
    template = "{path} has format {found}; this memsync knows up to {known}"


class OwnedByOther(Refused):
    """The repository belongs to another user of this machine."""

    code = "owned-by-other"
    template = "{path} belongs to {owner}"


class OddState(Refused):
    """Git is in the middle of something, or HEAD is not where memsync writes."""

    code = "repository-state"
    template = "the memory repository is not ready for a write: {state}"


class RepositoryDamaged(Refused):
    """Git's own files of a repository are damaged or missing."""

    code = "repository-damaged"
    template = "the Git repository in {path} is damaged: {detail}"


class ConfigBroken(Refused):
    """A settings file cannot be read; ``problems`` has them all."""

    code = "broken-settings"
    template = "{path} cannot be read: {summary}"


class SettingUnknown(NoSuchThing):
    """There is no setting of this name."""

    code = "setting-unknown"
    template = "there is no setting {name!r}"


class HomeUnknown(WrongUsage):
    """Neither MEMSYNC_HOME nor HOME says where the memory lives."""

    code = "home-unknown"
    template = "neither MEMSYNC_HOME nor HOME is set"


class CannotWrite(Refused):
    """The operating system refused a write."""

    code = "cannot-write"
    template = "cannot write {path}: {detail}"


class AnswerLost(MemsyncError):
    """What was asked for is done, and its answer could not be written."""

    code = "answer-lost"
    exit_status = Exit.ATTENTION
    template = "it is done, but the answer could not be written: {detail}"


class CannotRead(Refused):
    """The operating system refused a read."""

    code = "cannot-read"
    template = "cannot read {path}: {detail}"


class DiskFull(Refused):
    """No space is left."""

    code = "disk-full"
    template = "no space is left for {path}"


class Locked(Busy):
    """Another memsync process holds the write lock."""

    code = "locked"
    template = "another memsync has held the lock for {seconds} s ({holder})"


class IndexBusy(Busy):
    """The index is being written by another process."""

    code = "index-busy"
    template = "the index stayed busy for {seconds} s"


class IndexDamaged(Refused):
    """The index cannot be read, and building it anew did not help."""

    code = "index-damaged"
    template = "the index cannot be read: {detail}"


# --- git -----------------------------------------------------------------------------------


class GitMissing(Refused):
    """There is no git program."""

    code = "git-missing"
    template = "no git program was found on PATH"


class GitTooOld(Refused):
    """The git program is older than memsync can work with."""

    code = "git-too-old"
    template = "git {found} is older than {needed}"


class GitFailed(Refused):
    """A git command failed."""

    code = "git-failed"
    template = "git {command} failed with status {status}: {detail}"


class GitTimeout(Busy):
    """A git command took too long and was stopped."""

    code = "git-timeout"
    template = "git {command} was stopped after {seconds} s"


class GitLocked(Busy):
    """Another git process holds the repository's index or a ref."""

    code = "git-locked"
    template = "git's lock {path} has stood for {seconds} s (held by {holder})"


# --- projects ------------------------------------------------------------------------------


class NotAProject(WrongUsage):
    """The folder belongs to no code project, and one is needed."""

    code = "not-a-project"
    template = "{path} belongs to no code project"


class ProjectNotFound(NoSuchThing):
    """No project has this key or name."""

    code = "project-not-found"
    template = "no project has the key or name {wanted!r}"


class AliasTaken(Refused):
    """Another project already has this alias."""

    code = "alias-taken"
    template = "{alias} already belongs to {projectKey}"


class CurrentFolderGone(NoSuchThing):
    """The folder in which the command was called was removed."""

    code = "current-folder-gone"
    template = "the current folder does not exist any more"


class PathNotFound(NoSuchThing):
    """The folder given does not exist."""

    code = "path-not-found"
    template = "{path} does not exist"


# --- contract, import, editor --------------------------------------------------------------


class SchemaUnknown(Refused):
    """A request or response carries a schema of another major version."""

    code = "schema-unknown"
    template = "the schema {found!r} is not known; this is {known}"


class RequestInvalid(WrongUsage):
    """A request does not fit the contract."""

    code = "request-invalid"
    template = "{where}: {detail}"


class ImportRefused(Refused):
    """A stream cannot be imported; nothing was."""

    code = "import-refused"
    template = "line {line}: {detail}"


class EditorFailed(Refused):
    """The editor could not be started or ended with an error."""

    code = "editor-failed"
    template = "the editor {editor!r} failed: {detail}"


class EditorUnknown(WrongUsage):
    """Nothing names an editor, and there is no ``vi`` or no terminal for it."""

    code = "editor-unknown"
    template = "no editor is known: neither VISUAL nor EDITOR is set, and git names none"


class DemoFailed(Refused):
    """A step of the demo did not do what it shows."""

    code = "demo-failed"
    template = "the demo stopped at `{command}`: {detail}"


class Interrupted(Busy):
    """The person stopped the command."""

    code = "interrupted"
    template = "stopped"
