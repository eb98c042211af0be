"""The operations of the local provider that take memories away and bring them back."""

from __future__ import annotations

import contextlib
import os

from memsync import errors, files, record
from memsync.contract.changes import Applied, ForgetInput, RollbackInput
from memsync.contract.shared import Why
from memsync.frontmatter.edits import edit_yaml
from memsync.frontmatter.schema import decode
from memsync.gitrepo import rewrite
from memsync.index import Mark
from memsync.providers.local.reads import find_to_change
from memsync.providers.local.writes import Work, refresh_profile
from memsync.record import Record
from memsync.store import history, layout, plans, purging, unreadable
from memsync.store.beginning import SALT_BYTES
from memsync.store.effects import Plan
from memsync.store.ingest import Missing
from memsync.store.writing import Transaction


def forget(work: Work, wanted: ForgetInput) -> Applied:
    """Forget a record, or all records whose files are missing."""
    if wanted.missing:
        return _forget_missing(work)
    if wanted.id is None:
        raise errors.InvalidValue(field="id", value=None, allowed="a memory's id or title")
    if wanted.permanent:
        return _forget_for_good(work, wanted)
    with work.store.transaction("forget") as transaction:
        now = work.current(transaction, wanted.id, wanted.expected_revision, wanted.project)
        plan = plans.forget(now, work.environment.now())
        applied = work.done(transaction, "forget", plan, None)
        with contextlib.suppress(errors.IndexBusy, errors.DiskFull):  # it is out of the answers
            transaction.reader.index.purge_text()
        return applied


def _forget_missing(work: Work) -> Applied:
    with work.store.transaction("forget", Missing.FORGET) as transaction:
        return Applied(
            "forget",
            changed=transaction.taken_in,
            notices=tuple(transaction.notices),
            ids=transaction.taken_ids,
        )


# --- for good ------------------------------------------------------------------------------


def _forget_for_good(work: Work, wanted: ForgetInput) -> Applied:
    """Forget a record and take its content out of everything on this machine."""
    assert wanted.id is not None
    with work.store.transaction("forget") as transaction:
        rewrite.refuse_stashes(transaction.effects.repo)
        gone, row_path = _to_purge(work, transaction, wanted)
        plan = _purge_plan(work, transaction, gone, row_path)
        purging.note(transaction.effects, gone.id)
        try:
            applied = work.done(transaction, "forget", plan, None)
        except errors.MemsyncError:
            purging.take_back(transaction.effects, gone.id)
            raise
        told = _purge(work, transaction, gone.id) + tuple(
            Why("remote-not-reached", (name,)) for name in transaction.effects.repo.remotes()
        )
        head = transaction.effects.repo.resolve("HEAD") or ""
        return Applied(
            "forget",
            commit=head[:12],
            changed=applied.changed,
            taken_in=applied.taken_in,
            notices=(*applied.notices, *told),
            ids=(gone.id,),
        )


def _purge(work: Work, transaction: Transaction, record_id: str) -> tuple[Why, ...]:
    """Carry out the purge that is noted down; where it fails, the next write goes on with it."""
    try:
        left = purging.purge(
            transaction.effects, transaction.reader, work.environment.now_ns, work.progress
        )
    except errors.MemsyncError:
        return (Why("purge-unfinished", (record_id,)),)
    return (*left, *refresh_profile(work, transaction))


def _to_purge(
    work: Work, transaction: Transaction, wanted: ForgetInput
) -> tuple[Record, str | None]:
    """The record to purge, and its path where it still lives."""
    assert wanted.id is not None
    try:
        now = work.current(transaction, wanted.id, wanted.expected_revision, wanted.project)
    except (errors.RecordForgotten, errors.ForgottenForGood):
        mark = transaction.reader.find_mark(wanted.id)
        assert mark is not None
        if mark.permanent:
            raise errors.ForgottenForGood(id=mark.id, forgottenAt=mark.forgotten_at) from None
        old, _, _ = _last_version(transaction, mark)
        return old, None
    return now.record, now.row.path


def _purge_plan(work: Work, transaction: Transaction, gone: Record, path: str | None) -> Plan:
    """The permanent tombstone in the record's place; the settings get a salt if they have none."""
    wanted: dict[str, bytes | None] = {}
    broken = tuple(
        p
        for p in transaction.reader.index.problems()
        if p.path == layout.SETTINGS and p.level == "error"
    )
    if broken:
        raise errors.ConfigBroken(
            path=layout.SETTINGS,
            summary=errors.summarise(broken),
            problems=errors.problem_facts(broken),
        )
    salts = transaction.reader.settings.salts
    if not salts:
        salts = (work.environment.entropy(SALT_BYTES).hex(),)
        with open(os.path.join(transaction.reader.home, layout.SETTINGS), "rb") as stream:
            content = stream.read()
        wanted[layout.SETTINGS] = edit_yaml(content, layout.SETTINGS, {"salts": [*salts]})
    stamp = record.stamp(work.environment.now())
    wanted[layout.tombstone_file(gone.id)] = purging.permanent_tombstone(gone, salts[0], stamp)
    if path is not None:
        wanted[path] = None
    return Plan(f"forget for good: {gone.id}", wanted, (gone.id,))


# --- back ----------------------------------------------------------------------------------


def roll_back(work: Work, wanted: RollbackInput) -> Applied:
    """Bring back an earlier version, a forgotten record, or missing files."""
    if wanted.missing:
        return _restore_missing(work)
    if wanted.id is None:
        raise errors.InvalidValue(field="id", value=None, allowed="a memory's id or title")
    with work.store.transaction("rollback") as transaction:
        try:
            row = find_to_change(work.reads, wanted.id, wanted.project)
        except errors.RecordForgotten:
            mark = transaction.reader.find_mark(wanted.id)
            assert mark is not None
            return _bring_back(work, transaction, mark, wanted.to)
        except errors.BrokenFile:
            return _mend(work, transaction, wanted)
        now = work.current(transaction, row.id, wanted.expected_revision)
        found = history.versions(transaction.effects.repo, row.id, row.path)
        if wanted.to is not None:
            version = history.pick(found, wanted.to, row.id)
        else:
            earlier = history.before(found, row.blob)
            if earlier is None:
                raise errors.NothingToRollBack(id=row.id)
            version = earlier
        raw, old = _read_version(transaction, version, row.id)
        plan = plans.roll_back(now, old, raw, work.environment.now())
        return work.done(transaction, "rollback", plan, row.id, _went_back_to(version, old))


def _went_back_to(version: history.Version, old: Record) -> tuple[Why, ...]:
    told = version.revision
    return (Why("went-back-to", (told.revision or "", told.when, old.title)),)


def _mend(work: Work, transaction: Transaction, wanted: RollbackInput) -> Applied:
    """Put the last good (or a named) version in the place of a file that cannot be read.

    What stands in the file is kept aside.
    """
    assert wanted.id is not None
    effects = transaction.effects
    good = unreadable.last_good(transaction.reader, effects.repo, wanted.id)
    if good is None:
        raise errors.RecordNotFound(wanted=wanted.id)
    content, item = good.content, good.record
    if wanted.to is not None:
        found = history.versions(effects.repo, item.id, good.path)
        content, item = _read_version(transaction, history.pick(found, wanted.to, item.id), item.id)
    stamp = record.stamp(work.environment.now()).replace(":", "")
    broken = files.read_if_there(effects.at(good.path)) or b""
    kept = effects.keep_aside(f"{stamp}-{os.path.basename(good.path)}", broken)
    plan = Plan(f"rollback: {item.title}", {good.path: content}, (item.id,))
    told = (Why("broken-file-kept", (good.path, kept)),)
    return work.done(transaction, "rollback", plan, item.id, told)


def _bring_back(work: Work, transaction: Transaction, mark: Mark, to: str | None) -> Applied:
    if mark.permanent:
        raise errors.ForgottenForGood(id=mark.id, forgottenAt=mark.forgotten_at)
    old, raw, version = _last_version(transaction, mark, to)
    path = version.revision.path
    if os.path.lexists(os.path.join(transaction.reader.home, path)):
        path = transaction.reader.path_for(old)
    plan = plans.bring_back(mark, old, raw, path, work.environment.now())
    return work.done(transaction, "rollback", plan, mark.id, _went_back_to(version, old))


def _last_version(
    transaction: Transaction, mark: Mark, to: str | None = None
) -> tuple[Record, bytes, history.Version]:
    """The record and file of a forgotten record's last (or a named) version."""
    found = history.versions(transaction.effects.repo, mark.id, None)
    version = history.pick(found, to, mark.id) if to else next((v for v in found if v.blob), None)
    if version is None:
        raise errors.NothingToRollBack(id=mark.id)
    raw, old = _read_version(transaction, version, mark.id)
    return old, raw, version


def _read_version(
    transaction: Transaction, version: history.Version, record_id: str
) -> tuple[bytes, Record]:
    assert version.blob is not None
    raw = transaction.effects.repo.read_blob(version.blob)
    path = version.revision.path
    decoded = decode(raw, path, layout.place_of(path), record_id)
    if decoded.record is None:
        told = tuple(p for p in decoded.problems if p.level == "error")
        raise errors.BrokenFile(
            path=f"{path} in {version.revision.commit}",
            summary=errors.summarise(told),
            problems=errors.problem_facts(told),
        )
    return raw, decoded.record


def _restore_missing(work: Work) -> Applied:
    """Put back the files that are missing, as Git last had them."""
    with work.store.transaction("rollback", Missing.RESTORE) as transaction:
        back = tuple(sorted(transaction.restorable))
        commit = transaction.restore("rollback: files that were missing") if back else None
        return Applied(
            "rollback",
            commit=commit[:12] if commit else None,
            changed=back,
            taken_in=transaction.taken_in,
            notices=tuple(transaction.notices),
        )
