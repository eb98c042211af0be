"""Reading the memory: a fresh index, records whole, names resolved. Nothing here writes a file."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from memsync import errors, files, record
from memsync.config import Settings
from memsync.contract.codec import from_json
from memsync.contract.shared import Entry
from memsync.errors import Problem, problem
from memsync.gitrepo import MemoryRepo
from memsync.identity import Known
from memsync.index import Index, Mark, Row, discard, telling_damage
from memsync.record import Record, Scope
from memsync.store import layout
from memsync.store.scan import BLOB_DIGITS, Seen, blob_of, scan

if TYPE_CHECKING:
    from memsync.contract.memories import Forgotten

#: How many whole records a long-lived reader keeps at hand.
HELD_RECORDS = 256


@dataclass
class Reader:
    """The memory as it is on this disk.

    ``vouched`` says whether somebody who watches the files answers for the index; then a read
    does not walk them. ``now`` and ``now_ns`` are the clocks.
    """

    home: str
    repo: MemoryRepo | None
    index: Index
    now: Callable[[], datetime]
    now_ns: Callable[[], int]
    vouched: Callable[[], bool] = lambda: False
    seen: Seen = field(default_factory=Seen)
    _held: dict[tuple[str, str, str], Record] = field(default_factory=dict)
    _known: tuple[str, list[Known]] = field(default_factory=lambda: ("?", []))

    @classmethod
    def open(
        cls,
        home: str,
        repo: MemoryRepo,
        now: Callable[[], datetime],
        now_ns: Callable[[], int],
        vouched: Callable[[], bool] = lambda: False,
    ) -> Reader:
        """Open the index of a repository. The first ``refresh`` fills it if need be.

        Raises AlreadyInitialised for a repository of something else, such as a code project.
        """
        folder = os.path.join(repo.git_dir, "memsync")
        if not (os.path.isdir(folder) or os.path.lexists(os.path.join(home, layout.SETTINGS))):
            raise errors.AlreadyInitialised(path=home, detail=f"it has no {layout.SETTINGS}")
        return cls(home, repo, Index.open(folder), now, now_ns, vouched)

    def refresh(self) -> None:
        """Bring the index up to the files. Raises NotARepository, NewerFormat."""
        if self.vouched() and self.index.is_current():
            return
        if not os.path.isdir(self.home):
            raise errors.NotARepository(path=self.home)
        if not self.index.is_current():
            self.index.close()
            self.index = Index.open(os.path.dirname(self.index.path))
        try:
            with telling_damage():
                if not self.index.writable:
                    self.index = self.index.in_memory_copy()
                self._scan(self.repo)
        except (errors.IndexBusy, errors.DiskFull):
            # The index is derived: a command must not fail because it cannot be written.
            self.index = self.index.in_memory_copy()
            self._scan(self.repo)
        except errors.IndexDamaged:
            self.begin_anew()
            self._scan(self.repo)
        except (errors.RepositoryDamaged, errors.GitFailed):
            # What git would say of files without an id is unknown: nothing of this is kept.
            self.index = self.index.in_memory_copy()
            self._scan(None)

    def _scan(self, repo: MemoryRepo | None) -> None:
        self.seen = scan(self.home, repo, self.index, self.now_ns)
        self.__dict__.pop("settings", None)

    def begin_anew(self) -> None:
        """Put an empty index in the place of a damaged one."""
        path = self.index.path
        self.index.close()
        try:
            discard(path)
            self.index = Index.open(os.path.dirname(path))
        except OSError:
            self.index = Index.in_memory()

    def known_blob(self, path: str) -> str | None:
        """The blob of a file as of the last refresh, empty for none; None where that is unknown."""
        if layout.kind_of(path) is None:
            return None
        found = self.index.facts_of(path)
        if found is None:
            return ""
        return found[1] if len(found[1]) == BLOB_DIGITS else None

    def close(self) -> None:
        """Close the index."""
        self.index.close()

    @cached_property
    def settings(self) -> Settings:
        """The settings that all machines share."""
        return Settings.from_data(json.loads(self.index.meta().get("settings", "{}")))

    @property
    def now_text(self) -> str:
        """The time, as the index compares it."""
        return record.stamp(self.now())

    # --- finding ---------------------------------------------------------------------------

    def find(self, wanted: str, projects: Sequence[str] | None = None) -> Row:
        """The living record of an id, a unique prefix or an exact title.

        ``projects`` keeps the answer to global records and those of these projects.

        Raises RecordNotFound, RecordForgotten, RecordAmbiguous; never the nearest match.
        """
        found = self.index.named(wanted)
        if projects is not None:
            found = [row for row in found if row.project is None or row.project in projects]
        if len(found) == 1:
            return found[0]
        if found:
            listed = ", ".join(f"{row.id} ({row.title})" for row in found[:8])
            raise errors.RecordAmbiguous(wanted=wanted, ids=listed)
        mark = self.find_mark(wanted)
        if mark and mark.permanent:
            raise errors.ForgottenForGood(id=mark.id, forgottenAt=mark.forgotten_at)
        if mark:
            raise errors.RecordForgotten(id=mark.id, forgottenAt=mark.forgotten_at)
        raise errors.RecordNotFound(wanted=wanted)

    def find_mark(self, wanted: str) -> Mark | None:
        """The tombstone in force of an id or a unique prefix of one."""
        start = wanted if wanted.startswith("m-") else "m-" + wanted
        fits = [m for m in self.index.marks_in_force() if m.id.startswith(start)]
        exact = [m for m in fits if m.id == wanted]
        if exact:
            return exact[0]
        return fits[0] if len(fits) == 1 and len(start) > 3 else None

    def broken(self, wanted: str) -> tuple[Problem, ...]:
        """The errors of the broken file that states this id or has this path."""
        paths = {wanted} | {path for _, path in self.index.paths_stating([wanted])}
        return tuple(p for p in self.index.problems() if p.path in paths and p.level == "error")

    # --- whole records ---------------------------------------------------------------------

    def raw(self, row: Row) -> bytes:
        """The file of a record, exactly as the index has it.

        Raises CannotRead, RevisionMoved where the file changed since the index was refreshed.
        """
        content = files.read(os.path.join(self.home, row.path), record.FILE_BYTES + 1)
        found = blob_of(content)
        if found != row.blob:
            raise errors.RevisionMoved(id=row.id, expected=row.blob[:12], actual=found[:12])
        return content

    def records(self, rows: Sequence[Row], bodies: bool = True) -> list[Record]:
        """The records of rows; with their texts, which come from the files."""
        data = self.index.json_of(rows)
        found = []
        for row in rows:
            known = data[row.n]
            found.append(self._whole(row, known) if bodies else from_json(Record, known))
        return found

    def _whole(self, row: Row, known: dict[str, Any]) -> Record:
        """A record with its text; where the person saved it meanwhile, as it is now."""
        content = files.read(os.path.join(self.home, row.path), record.FILE_BYTES + 1)
        if blob_of(content) == row.blob:
            known["body"] = record.canonical_body(content[row.body_at :].decode())
            return from_json(Record, known)
        from memsync.frontmatter.schema import decode

        now = decode(content, row.path, layout.place_of(row.path), row.id).record
        if now is None:
            raise errors.RevisionMoved(id=row.id, expected=row.blob[:12], actual="unreadable")
        return replace(now, id=row.id)

    def entries(self, rows: Sequence[Row], bodies: bool = True) -> tuple[Entry, ...]:
        """The records of rows with what their files do not say."""
        now = self.now_text
        items = self.records(rows, bodies)
        return tuple(_entry(row, item, now) for row, item in zip(rows, items, strict=True))

    def entry(self, row: Row, written: bytes | None = None) -> Entry:
        """One record with what its file does not say.

        ``written`` is what the caller has just put there: it is not read again.
        """
        if written is None or blob_of(written) != row.blob:
            return self.entries([row])[0]
        body = record.canonical_body(written[row.body_at :].decode())
        item = replace(self.records([row], bodies=False)[0], body=body)
        return _entry(row, item, self.now_text)

    def entry_again(self, row: Row) -> Entry:
        """As ``entry``, for one who asks about the same few records over and over."""
        key = (row.path, row.blob, row.id)
        item = self._held.get(key)
        if item is None:
            if len(self._held) >= HELD_RECORDS:
                self._held.clear()
            item = self._held[key] = self.records([row])[0]
        return _entry(row, item, self.now_text)

    def forgotten(self) -> tuple[Forgotten, ...]:
        """The tombstones in force, newest first."""
        from memsync.contract.memories import Forgotten

        return tuple(
            Forgotten(m.id, Scope(m.scope), m.project, m.forgotten_at, m.reason, bool(m.permanent))
            for m in self.index.marks_in_force()
        )

    def known_projects(self) -> list[Known]:
        """The projects that the memory knows, for resolving a folder to one of them."""
        generation = self.index.generation()
        if self._known[0] != generation:
            self._known = (generation, self._read_known())
        return self._known[1]

    def _read_known(self) -> list[Known]:
        found = {
            key: Known(
                key,
                _text(data.get("name")) or key,
                tuple(_texts(data.get("aliases"))),
                _text(data.get("mergedInto")),
                data.get("paused") == "true",
            )
            for key, data in self.index.projects().items()
        }
        for key in self.index.project_keys():
            found.setdefault(key, Known(key, key, ()))
        return sorted(found.values(), key=lambda k: k.key)

    # --- problems --------------------------------------------------------------------------

    def problems(self) -> tuple[Problem, ...]:
        """All that is wrong with files: in them, about their kind, about their names."""
        found = [*self.index.problems(), *self.seen.problems, *self._collisions()]
        return tuple(sorted(found, key=lambda p: (p.path, p.line, p.code)))

    def out_of_action(self) -> tuple[str, ...]:
        """The files of memories that cannot be read, by path."""
        found = (*self.index.problems(), *self.seen.problems)
        paths = {p.path for p in found if p.level == "error" and layout.is_record(p.path)}
        return tuple(sorted(paths))

    def _collisions(self) -> list[Problem]:
        """Names that other systems take for one."""
        first: dict[str, str] = {}
        found = []
        for (path,) in self.index.all_paths():
            other = first.setdefault(record.path_key(path), path)
            if other != path:
                found.append(problem("name-collision", path, 0, "notice", other=other))
        return found

    def taken_names(self, folder: str) -> set[str]:
        """The names in a folder, whether the index knows them or not."""
        try:
            return set(os.listdir(os.path.join(self.home, folder)))
        except FileNotFoundError:
            return set()
        except OSError as error:
            raise errors.CannotRead(path=folder, detail=error.strerror or "") from error

    def path_for(self, item: Record) -> str:
        """A free, readable path for a new record."""
        return layout.new_path(item, self.taken_names(layout.folder_of(item)))

    def settled_path(self, path: str, item: Record) -> str:
        """Where a record's file belongs: a candidate that became active leaves ``candidates/``."""
        if layout.kind_of(path) == "candidate" and record.supported_until(item) >= self.now_text:
            return self.path_for(item)
        return path


def _entry(row: Row, item: Record, now: str) -> Entry:
    return Entry(
        record=item,
        path=row.path,
        revision=row.blob[:12],
        state=row.state(now),
        provisional=bool(row.provisional),
        evidence_count=len(item.evidence),
        confirmed=record.confirmed_at(item),
    )


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [v for v in value if isinstance(v, str)] if isinstance(value, list) else []
