"""What is given beside a text: its kind, when it applies and how long, laid over a memory."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from memsync import errors, record
from memsync.contract.changes import CorrectInput, RememberInput
from memsync.record import Record

_SELECTORS = ("paths", "tasks", "operations", "phases")
_VALUES = ("category", "memory_type", "memory_class", "valid_from", "valid_until")


def laid_over(item: Record, given: RememberInput | CorrectInput) -> Record:
    """The memory with what was given: a list takes the place of the old one, an empty text takes
    a value or a list away, and what is absent stays.

    Raises InvalidValue.
    """
    changes: dict[str, Any] = {}
    for name in _VALUES:
        value = getattr(given, name)
        if value is not None:
            changes[name] = value or None
    chosen = {name: _listed(getattr(given, name)) for name in _SELECTORS if getattr(given, name)}
    changes["selectors"] = item.selectors._replace(**chosen)
    if given.tags:
        changes["tags"] = tuple(dict.fromkeys(_listed(given.tags)))
    new = item.replacing(**changes)
    check_times(new.valid_from, new.valid_until)
    return new


def _listed(given: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(entry for entry in given if entry.strip())


def check_times(valid_from: str | None, valid_until: str | None) -> None:
    """Raise InvalidValue where these are no times, or the last is before the first."""
    for name, value in (("validFrom", valid_from), ("validUntil", valid_until)):
        if value is not None and record.instant(value) is None:
            allowed = "a date such as 2027-01-31, or a date and time"
            raise errors.InvalidValue(field=name, value=value, allowed=allowed)
    begins, ends = record.instant(valid_from), record.end_of(valid_until)
    if begins and ends and ends <= begins:
        allowed = "a time after validFrom"
        raise errors.InvalidValue(field="validUntil", value=valid_until, allowed=allowed)


def refuse_over(valid_until: str | None, now: datetime) -> None:
    """Raise InvalidValue for a time that is over: such a memory would never reach a task."""
    ends = record.end_of(valid_until)
    if ends and ends <= now:
        allowed = "a time that is not over"
        raise errors.InvalidValue(field="validUntil", value=valid_until, allowed=allowed)
