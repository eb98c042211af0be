"""Forgetting for good: the content leaves history, index and caches of this machine."""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from memsync import errors, files
from memsync.config import Settings
from memsync.contract.shared import Why
from memsync.frontmatter.codec import dump_yaml
from memsync.frontmatter.document import parse, parse_yaml
from memsync.frontmatter.edits import edit_yaml
from memsync.gitrepo import MemoryRepo, rewrite
from memsync.record import Record, Scope, title_from
from memsync.store import layout
from memsync.store.effects import Effects
from memsync.store.reading import Reader
from memsync.tombstone import (
    ForgetReason,
    Tombstone,
    encode,
    permanent_hash,
    permanent_key_hash,
)

_PENDING = "purge.json"
#: A line of so many bytes is known again where it stands outside of its record.
TELLING_BYTES = 12
#: How many places that were not reached are told one by one.
MOST_TOLD = 20
#: A word that is none of a language: with a digit or a sign within, as secrets and names have.
_ODD_WORD = r"(?=\S*[^\W\d_])\S*\w[\d_@/.+=-]\w\S*"


def permanent_tombstone(gone: Record, salt: str, now_text: str) -> bytes:
    """The tombstone of a record that is forgotten for good: nothing to guess the text from."""
    salted = bytes.fromhex(salt)
    key = gone.candidate_key
    return encode(
        Tombstone(
            id=gone.id,
            scope=gone.scope,
            project_key=gone.project_key if gone.scope is Scope.PROJECT else None,
            epoch=gone.epoch,
            forgotten_at=now_text,
            reason=ForgetReason.USER_FORGET,
            permanent=True,
            scrypt=permanent_hash(gone.title, gone.body, salted),
            candidate_scrypt=permanent_key_hash(key, salted) if key else None,
        )
    )


def note(effects: Effects, record_id: str) -> None:
    """Write down that this id has still to be purged; a crash does not lose it."""
    _write(effects, [*pending(effects), record_id])


def take_back(effects: Effects, record_id: str) -> None:
    """Take an id out of the note: the forget itself did not happen."""
    _write(effects, [noted for noted in pending(effects) if noted != record_id])


def _write(effects: Effects, ids: Iterable[str]) -> None:
    listed = [*dict.fromkeys(ids)]
    if listed:
        effects.write_own(_PENDING, json.dumps(listed).encode())
    else:
        files.remove(os.path.join(effects.folder, _PENDING))


def pending(effects: Effects) -> list[str]:
    """The ids that have still to be purged."""
    raw = files.read_if_there(os.path.join(effects.folder, _PENDING))
    return [str(item) for item in json.loads(raw)] if raw else []


def purge(
    effects: Effects, reader: Reader, now_ns: Callable[[], int], step: Callable[[str], None]
) -> tuple[Why, ...]:
    """Take the content of the noted ids out of history, index and caches. Can be run again.

    ``step`` is told what begins, for progress. Returns where some of the text is still found:
    what a person wrote elsewhere is not memsync's to change. Raises OddState where stashes are in
    the way, GitFailed, GitTimeout, DiskFull, IndexBusy; the note stays then.
    """
    noted = pending(effects)
    # A note whose forget did not happen (a crash came first) must not touch a living record.
    ids = {i for i in noted if reader.index.marks("t.id = ? AND t.permanent", (i,))}
    if not ids:
        if noted:
            _write(effects, ())
        return ()
    repo = effects.repo
    rewrite.refuse_stashes(repo)
    step("looking for the text in history")
    found = _found(repo, ids)
    _clear_kept(effects, {*found.titles, *found.lines})  # while the history still tells them
    if found.dropped:
        step("rewriting history")
        _rewrite(effects, found, now_ns)
    step("removing what is left")
    rewrite.sweep(repo)
    reader.index.clear()
    reader.refresh()
    reader.index.purge_text()
    step("looking for what was not reached")
    left = _bounded(_survivors(repo, _told_elsewhere(repo, found)))
    _write(effects, ())
    return left


@dataclass(frozen=True, slots=True)
class _Found:
    """The blobs to drop, and title -> id and telling line -> id of all versions."""

    dropped: frozenset[str]
    titles: dict[str, str]
    lines: dict[str, str]


def _found(repo: MemoryRepo, ids: set[str]) -> _Found:
    """What the history has of these records.

    A version without an id of its own belongs to the record whose path it had. An earlier,
    ordinary tombstone is taken out too: its hash could be guessed back into a short text.
    """
    listed = [(o, p) for o, p in rewrite.blobs_in_history(repo) if _may_hold(p)]
    paths: dict[str, str] = {}
    dropped: set[str] = set()
    owner: dict[str, str] = {}
    titles: dict[str, str] = {}
    unnamed: list[tuple[str, str, str]] = []
    where = dict(listed)
    kept = set(repo.blobs_at([layout.tombstone_file(i) for i in ids]).values())
    for oid, raw in repo.read_blobs(where):
        path = where[oid]
        document = parse(raw, path)
        stated = document.data.get("id")
        title = document.data.get("title") or title_from(document.body)
        if isinstance(stated, str) and stated in ids:
            if layout.kind_of(path) == "tombstone":
                if oid not in kept:
                    dropped.add(oid)
                continue
            dropped.add(oid)
            owner[oid] = paths[path] = stated
            titles[str(title)] = stated
        elif stated is None:
            unnamed.append((oid, path, str(title)))
    for oid, path, title in unnamed:
        if path in paths:
            dropped.add(oid)
            owner[oid] = titles[title] = paths[path]
    named = {t: i for t, i in titles.items() if t.strip()}
    lines = {line: owner[o] for o, raw in repo.read_blobs(owner) for line in _lines_of(raw)}
    return _Found(frozenset(dropped), named, lines)


def _may_hold(path: str) -> bool:
    return layout.kind_of(path) in ("record", "candidate", "tombstone")


def _lines_of(content: bytes) -> Iterator[str]:
    """The lines of a record that are long enough to be known again elsewhere."""
    for line in parse(content, "").body.splitlines():
        words = line.strip("#*->` \t")
        if len(words.encode()) >= TELLING_BYTES:
            yield words


def _told_elsewhere(repo: MemoryRepo, found: _Found) -> set[str]:
    """What must not be found any more: lines, and titles and odd words that no file here has."""
    words = {w.strip(".,;:!?()'\"") for line in found.lines for w in re.findall(_ODD_WORD, line)}
    rare = {word for word in {*words, *found.titles} if len(word.encode()) >= TELLING_BYTES // 2}
    for _, content in repo.read_blobs(repo.tree().values()):
        rare = {word for word in rare if word.encode() not in content}
    return {*found.lines, *rare}


def _survivors(repo: MemoryRepo, texts: set[str]) -> Iterator[Why]:
    """Every place in Git's object store where one of these texts still is."""
    wanted = [text.encode() for text in texts]
    holding = [o for o in rewrite.every_object(repo) if any(w in o.content for w in wanted)]
    paths = dict(rewrite.blobs_in_history(repo, "")) if holding else {}
    for item in holding:
        path = paths.get(item.oid, "")
        if item.kind == "tag":
            yield Why("tag-not-reached", (item.name,))
        elif item.kind == "commit":
            yield Why("message-not-reached", (item.oid[:12],))
        elif re.fullmatch("[0-9a-f/]{40,}", path):
            yield Why("note-not-reached", (path.replace("/", "")[:12],))
        else:
            yield Why("file-not-reached", (path or item.oid[:12],))


def _bounded(left: Iterable[Why]) -> tuple[Why, ...]:
    every = tuple(dict.fromkeys(left))
    if len(every) <= MOST_TOLD:
        return every
    return (*every[:MOST_TOLD], Why("more-not-reached", (str(len(every) - MOST_TOLD),)))


def _rewrite(effects: Effects, found: _Found, now_ns: Callable[[], int]) -> None:
    repo = effects.repo
    current = files.read(effects.at(layout.SETTINGS))
    generation = Settings.from_data(parse_yaml(current, layout.SETTINGS).data).generation + 1
    replaced = _settings_replaced(repo, generation)
    first = dump_yaml({"format": 1, "generation": generation})
    change = rewrite.Rewrite(
        dropped=found.dropped,
        replaced=replaced,
        message=lambda old, touched: scrubbed_message(old, touched, found.titles, found.lines),
        settings_path=layout.SETTINGS,
        root_blob=rewrite.store_blob(repo, first),
        root_message="memsync: history without what was forgotten for good\n",
        when=now_ns() // 1_000_000_000,
    )
    old_tip = repo.resolve("HEAD") or ""
    tip = rewrite.rewrite(repo, change)
    differs = set(repo.changed_between(old_tip, tip, ())) - {layout.SETTINGS}
    if differs:
        rewrite.discard_growth(repo)
        raise errors.GitFailed(
            command="fast-import", status=0, detail=f"the new history changed {sorted(differs)[:3]}"
        )
    tree = repo.tree(tip)
    settings = repo.read_blob(tree[layout.SETTINGS])
    # The file first, the refs last: a crash between the two is an edit that is run over again.
    effects.write_generated(layout.SETTINGS, settings)
    rewrite.publish(repo, tip)
    repo.git.run("update-index", "--add", "--", layout.SETTINGS)


def _settings_replaced(repo: MemoryRepo, generation: int) -> dict[str, str]:
    """Every version of the settings file -> the same with the next generation."""
    listed = rewrite.blobs_in_history(repo, layout.SETTINGS)
    found = {}
    for oid, raw in repo.read_blobs([oid for oid, path in listed if path == layout.SETTINGS]):
        with contextlib.suppress(errors.MemsyncError):  # a broken old version stays as it was
            new = edit_yaml(raw, layout.SETTINGS, {"generation": generation})
            found[oid] = rewrite.store_blob(repo, new)
    return found


def scrubbed_message(
    old: bytes, touched: bool, titles: Mapping[str, str], gone: Mapping[str, str]
) -> bytes:
    """A message without the titles and (``gone``) lines of what was forgotten: ids stand there."""
    text = old.decode("utf-8", "surrogateescape")
    lines = [_scrubbed_line(line, titles, gone) for line in text.split("\n")]
    if touched and lines and lines[0] == text.split("\n")[0]:
        verb = re.match(r"[\w ]{1,20}:", lines[0])
        named = next(iter(titles.values()), "")
        lines[0] = f"{verb[0] if verb else 'edit:'} {named}"
        lines[1:] = [line for line in lines[1:] if not line or line.startswith("Memsync-Id: ")]
    return "\n".join(lines).encode("utf-8", "surrogateescape")


def _scrubbed_line(line: str, titles: Mapping[str, str], gone: Mapping[str, str]) -> str:
    for text, wanted in gone.items():
        line = line.replace(text, wanted)
    for title, wanted in titles.items():
        if line == title or line.endswith((f": {title}", f"- {title}")):
            return line[: len(line) - len(title)] + wanted
    return line


def _clear_kept(effects: Effects, texts: set[str]) -> None:
    """Remove what was kept aside and speaks of a forgotten record, and all scratch files."""
    for name in ("tmp", "kept"):
        folder = os.path.join(effects.folder, name)
        for entry in os.listdir(folder) if os.path.isdir(folder) else ():
            path = os.path.join(folder, entry)
            text = files.read(path).decode("utf-8", "replace")
            if name == "tmp" or any(known in text for known in texts):
                files.remove(path)
