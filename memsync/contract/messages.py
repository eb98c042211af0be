"""Requests and results as the messages that carry them."""

from __future__ import annotations

from typing import Any

from memsync import errors
from memsync.contract import SCHEMA
from memsync.contract.changes import INPUTS, Applied, Input
from memsync.contract.codec import from_json, to_json
from memsync.contract.memories import (
    ConflictsQuery,
    ExpandQuery,
    History,
    HistoryQuery,
    Listing,
    ManageQuery,
    SearchQuery,
    Status,
)
from memsync.contract.shared import Entry
from memsync.contract.tasks import (
    Explained,
    Manifest,
    ManifestQuery,
    Profile,
    ProfileQuery,
    TaskQuery,
)

Query = (
    ProfileQuery
    | TaskQuery
    | ManifestQuery
    | ManageQuery
    | SearchQuery
    | ExpandQuery
    | HistoryQuery
    | ConflictsQuery
)
QUERIES: tuple[type[Query], ...] = (
    ProfileQuery,
    TaskQuery,
    ManifestQuery,
    ManageQuery,
    SearchQuery,
    ExpandQuery,
    HistoryQuery,
    ConflictsQuery,
)
Result = Manifest | Explained | Profile | Listing | Entry | History


def query_to_json(query: Query) -> dict[str, Any]:
    """A query as the message that carries it."""
    return {"schema": SCHEMA, "view": query.view, "query": to_json(query)}


def input_to_json(operation: Input) -> dict[str, Any]:
    """An operation as the message that carries it."""
    return {"schema": SCHEMA, "operation": operation.operation, "input": to_json(operation)}


def query_from_json(message: object) -> Query:
    """Read a query's message. Raises SchemaUnknown, RequestInvalid."""
    body = _checked(message)
    for kind in QUERIES:
        if kind.view == body.get("view"):
            return from_json(kind, body.get("query", {}), "$.query")
    raise errors.RequestInvalid(where="$.view", detail=f"unknown view {body.get('view')!r}")


def input_from_json(message: object) -> Input:
    """Read an operation's message. Raises SchemaUnknown, RequestInvalid."""
    body = _checked(message)
    for kind in INPUTS:
        if kind.operation == body.get("operation"):
            return from_json(kind, body.get("input", {}), "$.input")
    detail = f"unknown operation {body.get('operation')!r}"
    raise errors.RequestInvalid(where="$.operation", detail=detail)


def result_to_json(result: Result | Applied | Status) -> dict[str, Any]:
    """A result as the message that carries it."""
    return {"schema": SCHEMA, "kind": type(result).__name__, "result": to_json(result)}


def result_from_json(message: object, kind: type[Any]) -> Any:
    """Read a result's message as the kind that was asked for."""
    body = _checked(message)
    if body.get("kind") != kind.__name__:
        raise errors.RequestInvalid(where="$.kind", detail=f"{kind.__name__} is expected")
    return from_json(kind, body.get("result"), "$.result")


def _checked(message: object) -> dict[str, Any]:
    if not isinstance(message, dict):
        raise errors.RequestInvalid(where="$", detail="an object is expected")
    if message.get("schema") != SCHEMA:
        raise errors.SchemaUnknown(found=str(message.get("schema")), known=SCHEMA)
    return message
